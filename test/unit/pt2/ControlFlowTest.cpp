// Control flow in archives: branches, loops and torch.vmap, and where they are refused. What they
// compute is compared with PyTorch by test/e2e/operators.py.
#include "test/unit/pt2/ArchiveText.h"

#include <catch2/catch.hpp>

using namespace cleave::test;

namespace {

std::string tensorText(const std::string &name) {
  return R"({"as_tensor": {"name": ")" + name + R"("}})";
}

// An argument by position.
std::string input(const std::string &value) {
  return R"({"name": "", "arg": )" + value + R"(, "kind": 1})";
}
std::string named(const std::string &name, const std::string &value) {
  return R"({"name": ")" + name + R"(", "arg": )" + value + R"(, "kind": 1})";
}

// A node whose only result is `name`.
std::string nodeText(const std::string &target, const std::string &name,
                     const std::string &inputs) {
  return R"({"target": ")" + target + R"(", "name": ")" + name + R"(", "inputs": [)" + inputs +
         R"(], "outputs": [)" + tensorText(name) + R"(], "metadata": {}})";
}

// A graph of the tensors `x` and, if there are two, `y`, with the result `out`.
std::string graph(const std::string &nodes, bool isOfTwo = false) {
  return R"({"as_graph": {"name": "g", "graph": {"inputs": [)" + tensorText("x") +
         (isOfTwo ? "," + tensorText("y") : "") + R"(], "outputs": [)" + tensorText("out") +
         R"(], "nodes": [)" + nodes +
         R"(], "tensor_values": {}, "sym_int_values": {}, "sym_bool_values": {}}}})";
}

std::string unary(const std::string &op, const std::string &name, const std::string &of) {
  return nodeText("torch.ops.aten." + op + ".default", name, named("self", tensorText(of)));
}

// x [4, 2], w [2] and these nodes, of which `add` is the output.
ArchiveText with(const std::string &nodes) {
  ArchiveText archive;
  std::string &model = archive.entries["models/model.json"];
  model = smallProgram();
  const size_t begin = model.find(R"({"target")"), end = model.find(R"("tensor_values")");
  model = model.substr(0, begin) + nodes + "],\n" + model.substr(end);
  return archive;
}

const std::string kTensorX = R"({"as_tensors": [{"name": "x"}]})";
const std::string kNone = R"({"as_tensors": []})";

// cond(any(x), yes, no) on x.
ArchiveText condition(const std::string &yes, const std::string &no) {
  return with(unary("any", "any", "x") + "," +
              nodeText("torch.ops.higher_order.cond", "add",
                       input(tensorText("any")) + "," + input(graph(yes)) + "," + input(graph(no)) +
                           "," + input(kTensorX)));
}

ArchiveText loop(const std::string &condition) {
  return with(nodeText("torch.ops.higher_order.while_loop", "add",
                       input(graph(condition)) + "," + input(graph(unary("sin", "out", "x"))) +
                           "," + input(kTensorX) + "," + input(kNone)));
}

// torch.vmap over `samples` of x.
ArchiveText mapped(const std::string &samples, const std::string &randomness) {
  const std::string functorch = "torch._functorch.predispatch.";
  auto mark = [&](const std::string &name, const std::string &inputs) {
    return R"({"target": ")" + functorch + name + R"(", "name": ")" + name + R"(", "inputs": [)" +
           inputs + R"(], "outputs": [{"as_none": true}], "metadata": {}})";
  };
  const std::string zero = input(R"({"as_int": 0})"), one = input(R"({"as_int": 1})");
  return with(
      mark("lazy_load_decompositions", "") + "," +
      mark("_vmap_increment_nesting", input(R"({"as_int": )" + samples + "}") + "," +
                                          input(R"({"as_string": ")" + randomness + R"("})")) +
      "," +
      nodeText(functorch + "_add_batch_dim", "sample",
               input(tensorText("x")) + "," + zero + "," + one) +
      "," + unary("sin", "sin", "sample") + "," +
      nodeText(functorch + "_remove_batch_dim", "add",
               input(tensorText("sin")) + "," + one + "," +
                   input(R"({"as_int": )" + samples + "}") + "," + zero) +
      "," + mark("_vmap_decrement_nesting", ""));
}

} // namespace

TEST_CASE("of two branches by data the results are selected, and each has a gradient where it is "
          "active") {
  ArchiveText archive = condition(unary("sqrt", "out", "x"), unary("exp", "out", "x"));
  CHECK(archive.problem() == "");
  const std::string imported = archive.imported();
  CHECK_THAT(imported, Catch::Contains("graph.sqrt") && Catch::Contains("graph.exp") &&
                           Catch::Contains("graph.select"));
}

TEST_CASE("branches by data whose results differ in shape are refused") {
  CHECK_THAT(condition(unary("sin", "out", "x"), unary("sum", "out", "x")).problem(),
             Catch::Contains("has a result 0 of float32[4, 2] or float32[]") &&
                 Catch::Contains("expected one type and shape"));
}

TEST_CASE("an operator that a branch lacks is listed") {
  CHECK_THAT(condition(unary("frobnicate", "out", "x"), unary("sin", "out", "x")).problem(),
             Catch::Contains("torch.ops.aten.frobnicate.default ('out')"));
}

TEST_CASE("a loop whose rounds depend on data is refused") {
  CHECK_THAT(loop(unary("any", "out", "x")).problem(),
             Catch::Contains("needs the condition to go on to be known, but it depends on"));
}

TEST_CASE("a loop of too many rounds is refused") {
  std::string always = nodeText("torch.ops.aten.full.default", "out",
                                named("size", R"({"as_ints": []})") + "," +
                                    named("fill_value", R"({"as_bool": true})"));
  CHECK_THAT(loop(always).problem(), Catch::Contains("runs for more than 4096 rounds"));
}

TEST_CASE("torch.vmap runs its nodes once per sample") {
  ArchiveText archive = mapped("4", "error");
  CHECK(archive.problem() == "");
  CHECK_THAT(archive.imported(), Catch::Contains("graph.concat"));
}

TEST_CASE("a torch.vmap that cannot run sample by sample is refused with a way out") {
  CHECK_THAT(mapped("4", "same").problem(),
             Catch::Contains("randomness='same'") && Catch::Contains("run_decompositions()"));
  CHECK_THAT(mapped("5000", "error").problem(),
             Catch::Contains("maps over 5000 samples, expected at most 4096") &&
                 Catch::Contains("run_decompositions()"));
}
