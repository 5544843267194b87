// Imports of archives: mistakes of the user and of the exporter, and what archives leave out.
#include "compiler/frontend/pt2/Autocast.h"
#include "test/unit/pt2/ArchiveText.h"

#include <catch2/catch.hpp>

using namespace cleave::test;

// The archive with something replaced in its program.
static std::string problemWith(const std::string &from, const std::string &to,
                               const std::map<std::string, int64_t> &symbols = {{"x.0", 4}}) {
  ArchiveText archive;
  archive.entries["models/model.json"] = replaced(smallProgram(), from, to);
  return archive.problem(symbols);
}

TEST_CASE("a valid archive is imported") { CHECK(ArchiveText().problem() == ""); }

TEST_CASE("symbols are set by the input's name or the file's, within their range") {
  ArchiveText archive;
  CHECK(archive.problem({{"s0", 4}}) == "");
  CHECK(archive.problem({}) == "the symbolic dims 'x.0' have no sizes: give --set x.0=8, say");
  CHECK(archive.problem({{"x.0", 65}}) ==
        "--set x.0=65: the model was exported for sizes from 2 to 64; give one of these, or export "
        "it with other dynamic_shapes");
  CHECK(archive.problem({{"seq", 4}}) ==
        "--set seq=4: the model has no symbol 'seq': expected batch or x.0");
  CHECK(archive.problem({{"x.0", 0}}) == "--set x.0=0: expected a size of at least 1");
}

TEST_CASE("batch is the first dim of inputs") {
  ArchiveText archive;
  CHECK(archive.problem({{"batch", 4}}) == "");
  CHECK(archive.problem({{"batch", 65}}) ==
        "--set x.0=65: the model was exported for sizes from 2 to 64; give one of these, or export "
        "it with other dynamic_shapes");
  CHECK(archive.problem({{"batch", 4}, {"x.0", 8}}) == ""); // the own name counts
}

TEST_CASE("an input with a value is a constant, whose open dim follows from it") {
  ArchiveText archive;
  CHECK(archive.problem({{"x.0", 2}}, {{"x", {1, 2, 3, 4}}}) == "");
  CHECK(archive.problem({}, {{"x", {1, 2, 3, 4}}}) == "");
  CHECK_THAT(archive.problem({{"x.0", 3}}, {{"x", {1, 2, 3, 4}}}),
             Catch::Contains("has 4 elements, but the input is"));
  CHECK(archive.problem({{"x.0", 2}}, {{"y", {1}}}) ==
        "--value y=…: the model has no input 'y': expected x");
}

TEST_CASE("all unsupported operators are listed") {
  CHECK(problemWith("aten.add.Tensor", "custom.frobnicate.default") ==
        "the model has operators that Cleave does not support: torch.ops.custom.frobnicate.default "
        "('add')");
  CHECK_THAT(problemWith("torch.ops.aten.add.Tensor", "torch.ops.higher_order.flex_attention"),
             Catch::Contains("torch.ops.higher_order.flex_attention"));
}

TEST_CASE("a failure in a node names the node and the reason") {
  CHECK(
      problemWith("\"name\": \"other\"", "\"name\": \"others\"") ==
      "node 'add': aten::add: has the arguments (others=tensor, self=tensor), which none of its 3 "
      "forms takes");
  CHECK(problemWith(R"("arg": {"as_tensor": {"name": "p_w"}}, "kind")",
                    R"("arg": {"as_tensor": {"name": "q"}}, "kind")") ==
        "node 'add': reads 'q', which is not defined");
  CHECK(problemWith(R"("arg": {"as_tensor": {"name": "p_w"}}, "kind")",
                    R"("arg": {"as_complex": {"real": 1, "imag": 0}}, "kind")") ==
        "node 'add': has an argument of the kind 'as_complex', which Cleave does not support");
}

TEST_CASE("a new tensor without a type has the type that the program's exporter had as default") {
  auto problemWith = [](const std::string &dtype) {
    std::string program = replaced(smallProgram(), R"("nodes": [)", R"("nodes": [
        {"target": "torch.ops.aten.full.default", "name": "full",
         "inputs": [{"name": "size", "arg": {"as_ints": [2]}, "kind": 1},
                    {"name": "fill_value", "arg": {"as_float": 0.1}, "kind": 1}],
         "outputs": [{"as_tensor": {"name": "full"}}], "metadata": {}}, )");
    program = replaced(program, "add.Tensor", "matmul.default");
    program = replaced(program, R"("arg": {"as_tensor": {"name": "x"}}, "kind")",
                       R"("arg": {"as_tensor": {"name": "full"}}, "kind")");
    program = replaced(program, R"("tensor_values": {)", R"("tensor_values": {
        "full": {"dtype": )" + dtype + R"(, "sizes": [{"as_int": 2}],
                 "strides": [{"as_int": 1}], "storage_offset": {"as_int": 0}}, )");
    ArchiveText archive;
    archive.entries["models/model.json"] = program;
    return archive.problem();
  };
  CHECK(problemWith("7") == ""); // as p_w
  CHECK(problemWith("8") == "node 'add': aten::matmul: has operands of float64 and float32, "
                            "expected the same type");
}

TEST_CASE("a constant of complex numbers is one of pairs") {
  std::string program = replaced(smallProgram(), R"("nodes": [)", R"("nodes": [
      {"target": "torch.ops.aten.imag.default", "name": "imag",
       "inputs": [{"name": "self", "arg": {"as_tensor": {"name": "p_w"}}, "kind": 1}],
       "outputs": [{"as_tensor": {"name": "imag"}}], "metadata": {}}, )");
  program = replaced(program, R"("arg": {"as_tensor": {"name": "p_w"}}, "kind": 1}],
                 "outputs")",
                     R"("arg": {"as_tensor": {"name": "imag"}}, "kind": 1}],
                 "outputs")");
  program =
      replaced(program, R"({"parameter": {"arg": {"name": "p_w"}, "parameter_name": "fc.w"}})",
               R"({"buffer": {"arg": {"name": "p_w"}, "buffer_name": "fc.w",
                                    "persistent": true}})");
  program = replaced(program, R"("p_w": {"dtype": 7)", R"("p_w": {"dtype": 10)");
  ArchiveText archive;
  archive.entries["models/model.json"] = program;
  std::string &weights = archive.entries["data/weights/model_weights_config.json"];
  weights = replaced(weights, R"("dtype": 7)", R"("dtype": 10)");
  archive.entries["data/weights/weight_0"] =
      std::string("\0\0\x80\x3f\0\0\0\x40\0\0\x40\x40\0\0\x80\x40", 16); // 1 + 2i, 3 + 4i
  CHECK(archive.problem() == "");
  CHECK_THAT(archive.imported(),
             Catch::Contains("dense<[[1.000000e+00, 2.000000e+00], [3.000000e+00, "
                             "4.000000e+00]]>") &&
                 Catch::Contains("dim 1 from 1 step 1"));
  program = replaced(program, R"({"name": "imag"}}, "kind": 1}],
                 "outputs")",
                     R"({"name": "p_w"}}, "kind": 1}],
                 "outputs")");
  archive.entries["models/model.json"] = replaced(program, "aten.add.Tensor", "aten.mul.Tensor");
  CHECK(archive.problem() ==
        "the output 'sum' has complex numbers; return torch.view_as_real of it");
}

TEST_CASE("a parameter of complex numbers is refused with a way out") {
  ArchiveText archive;
  archive.entries["models/model.json"] =
      replaced(smallProgram(), R"("p_w": {"dtype": 7)", R"("p_w": {"dtype": 10)");
  std::string &weights = archive.entries["data/weights/model_weights_config.json"];
  weights = replaced(weights, R"("dtype": 7)", R"("dtype": 10)");
  CHECK_THAT(archive.problem(), Catch::StartsWith("'fc.w' has elements of complex64, which") &&
                                    Catch::Contains("call torch.view_as_complex on it"));
}

TEST_CASE("numbers that only assertions read may depend on data") {
  auto problemWith = [](const std::string &reader) {
    ArchiveText archive;
    archive.entries["models/model.json"] = replaced(smallProgram(), R"("nodes": [)", R"("nodes": [
        {"target": "torch.ops.aten.sum.default", "name": "sum",
         "inputs": [{"name": "self", "arg": {"as_tensor": {"name": "x"}}, "kind": 1}],
         "outputs": [{"as_tensor": {"name": "sum"}}], "metadata": {}},
        {"target": "torch.ops.aten.item.default", "name": "item",
         "inputs": [{"name": "self", "arg": {"as_tensor": {"name": "sum"}}, "kind": 1}],
         "outputs": [{"as_sym_int": {"as_name": "item"}}], "metadata": {}},
        {"target": "_operator.le", "name": "le",
         "inputs": [{"name": "", "arg": {"as_sym_int": {"as_name": "item"}}, "kind": 1},
                    {"name": "", "arg": {"as_int": 9}, "kind": 1}],
         "outputs": [{"as_sym_bool": {"as_name": "le"}}], "metadata": {}},
        )" + reader + ", ");
    return archive.problem();
  };
  CHECK(problemWith(R"({"target": "torch.ops.aten._assert_scalar.default", "name": "check",
         "inputs": [{"name": "self", "arg": {"as_sym_bool": {"as_name": "le"}}, "kind": 1},
                    {"name": "assert_msg", "arg": {"as_string": "too large"}, "kind": 1}],
         "outputs": [], "metadata": {}})") == "");
  CHECK_THAT(problemWith(R"({"target": "torch.ops.aten.zeros.default", "name": "more",
         "inputs": [{"name": "size", "arg": {"as_sym_ints": [{"as_name": "item"}]}, "kind": 1}],
         "outputs": [{"as_tensor": {"name": "more"}}], "metadata": {}})"),
             Catch::StartsWith("node 'more': aten::zeros: has a list with a number computed "
                               "from data as 'size', expected list of integer"));
}

TEST_CASE("weights that are missing, pickled, truncated or of another type are refused by name") {
  auto with = [](const std::string &from, const std::string &to) {
    ArchiveText archive;
    std::string &list = archive.entries["data/weights/model_weights_config.json"];
    list = replaced(list, from, to);
    return archive.problem();
  };
  CHECK(with("\"fc.w\"", "\"fc.v\"") == "the archive has no data for 'fc.w'");
  CHECK_THAT(with("\"use_pickle\": false", "\"use_pickle\": true"),
             Catch::Contains("'fc.w' are a pickled object"));
  CHECK_THAT(with("\"dtype\": 7", "\"dtype\": 8"), Catch::Contains("'fc.w' are float64"));
  CHECK_THAT(with("weight_0", "weight_1"), Catch::Contains("weight_1"));
  ArchiveText archive;
  archive.entries["data/weights/weight_0"].resize(4);
  CHECK_THAT(archive.problem(), Catch::Contains("fc.w"));
  archive.entries.erase("data/weights/model_weights_config.json");
  CHECK_THAT(archive.problem(), Catch::Contains("has no list of weights"));
}

TEST_CASE("the message for archives of old layouts says how to export again") {
  ArchiveText archive;
  archive.entries.erase("models/model.json");
  CHECK(archive.problem() == "the archive holds no model (models/model.json)");
  archive.entries["models/a.json"] = archive.entries["models/b.json"] = smallProgram();
  CHECK_THAT(archive.problem(), Catch::Contains("several models (models/a.json, models/b.json)"));
  archive.entries["serialized_exported_program.json"] = R"({"torch_version": "2.6.0"})";
  CHECK_THAT(archive.problem(), Catch::Contains("written by torch 2.6.0 in the layout before 2.8"));
  archive.entries["serialized_exported_program.json"] = "{}";
  CHECK_THAT(archive.problem(), Catch::Contains("written by torch 2.4 or older"));
}

TEST_CASE("programs with unsupported features are refused") {
  CHECK_THAT(problemWith("\"x\": {\"dtype\": 7", "\"x\": {\"dtype\": 10"),
             Catch::Contains("complex64"));
  CHECK_THAT(problemWith("Symbol('s0', integer=True)", "Mod(s0, 2)", {}),
             Catch::Contains("Mod(s0, 2)"));
  CHECK_THAT(
      problemWith(
          R"({"user_output": {"arg": {"as_tensor": {"name": "add"}}}})",
          R"({"gradient_to_parameter": {"arg": {"name": "add"}, "parameter_name": "fc.w"}})"),
      Catch::Contains("gradient_to_parameter"));
}

// The archive as PyTorch writes it of a model on the meta device.
static ArchiveText onMetaDevice(const std::string &from, const std::string &to) {
  ArchiveText archive;
  std::string &list = archive.entries["data/weights/model_weights_config.json"];
  list =
      replaced(list, R"("dtype": 7,)", R"("dtype": 7, "device": {"type": "meta", "index": null},)");
  archive.entries["data/weights/weight_0"] = "";
  std::string &model = archive.entries["models/model.json"];
  model = replaced(model, from, to);
  return archive;
}

TEST_CASE("parameters of the meta device begin as those of PyTorch's layers") {
  ArchiveText added = onMetaDevice("aten.add.Tensor", "aten.add.Tensor");
  CHECK(added.problem() == "");
  CHECK_THAT(added.imported(), Catch::Contains("graph.source = {fill = 0.000000e+00"));
  CHECK_THAT(onMetaDevice("aten.add.Tensor", "aten.mul.Tensor").imported(),
             Catch::Contains("graph.source = {fill = 1.000000e+00"));
}

// The archive whose parameter is a buffer instead, with these nodes.
static ArchiveText withBuffer(const std::string &name, const std::string &nodes) {
  ArchiveText archive;
  std::string &model = archive.entries["models/model.json"],
              &list = archive.entries["data/weights/model_weights_config.json"];
  list = replaced(list, "fc.w", name);
  model = replaced(model, R"({"parameter": {"arg": {"name": "p_w"}, "parameter_name": "fc.w"}})",
                   R"({"buffer": {"arg": {"name": "p_w"}, "persistent": true, "buffer_name": ")" +
                       name + "\"}}");
  const size_t begin = model.find(R"({"target")"), end = model.find(R"("tensor_values")");
  model = model.substr(0, begin) + nodes + "],\n" + model.substr(end);
  return archive;
}

// A call of an operator, one of its arguments, and a tensor as an argument, as text.
static std::string node(const std::string &target, const std::string &result,
                        const std::string &inputs) {
  return R"({"target": "torch.ops.aten.)" + target + R"(", "name": ")" + result +
         R"(", "inputs": [)" + inputs + R"(], "outputs": [{"as_tensor": {"name": ")" + result +
         R"("}}], "metadata": {}})";
}
static std::string input(const std::string &name, const std::string &value) {
  return R"({"name": ")" + name + R"(", "arg": )" + value + R"(, "kind": 1})";
}
static std::string tensor(const std::string &name) {
  return R"({"as_tensor": {"name": ")" + name + R"("}})";
}

// Adds 1 to `value` in place, and gives the sum of that and x.
static std::string addingTo(const std::string &value) {
  return node("add_.Tensor", "written",
              input("self", tensor(value)) + "," + input("other", R"({"as_int": 1})")) +
         "," +
         node("add.Tensor", "add",
              input("self", tensor("x")) + "," + input("other", tensor("p_w")));
}

TEST_CASE("a buffer that is written, itself or through a view, is a state") {
  const std::string half =
      node("slice.Tensor", "half",
           input("self", tensor("p_w")) + "," + input("end", R"({"as_int": 1})"));
  for (const std::string &nodes : {addingTo("p_w"), half + "," + addingTo("half")}) {
    ArchiveText archive = withBuffer("queue", nodes);
    CHECK(archive.problem() == "");
    CHECK_THAT(archive.imported(),
               Catch::Contains("graph.name = \"queue\", graph.per_micro_batch, graph.role = "
                               "\"state\""));
  }
}

TEST_CASE("a buffer of random numbers is a state, drawn anew for each micro-batch") {
  const std::string sum =
      node("add.Tensor", "add", input("self", tensor("x")) + "," + input("other", tensor("p_w")));
  ArchiveText archive = withBuffer(
      "noise", node("normal_.default", "drawn", input("self", tensor("p_w"))) + "," + sum);
  CHECK(archive.problem() == "");
  for (const char *name : {"noise", "random.step"})
    CHECK_THAT(archive.imported(),
               Catch::Contains("graph.name = \"" + std::string(name) +
                               "\", graph.per_micro_batch, graph.role = \"state\""));
}

// The archive with these nodes, and a parameter that is frozen or not.
static ArchiveText withParameter(bool isFrozen, const std::string &nodes) {
  ArchiveText archive = withBuffer("fc.w", nodes);
  std::string &model = archive.entries["models/model.json"],
              &list = archive.entries["data/weights/model_weights_config.json"];
  model = replaced(
      model, R"({"buffer": {"arg": {"name": "p_w"}, "persistent": true, "buffer_name": "fc.w"}})",
      R"({"parameter": {"arg": {"name": "p_w"}, "parameter_name": "fc.w"}})");
  list =
      replaced(list, R"("dtype": 7,)",
               std::string(R"("dtype": 7, "requires_grad": )") + (isFrozen ? "false," : "true,"));
  return archive;
}

TEST_CASE("a frozen parameter may be written, a trained one may not") {
  ArchiveText frozen = withParameter(true, addingTo("p_w"));
  CHECK(frozen.problem() == "");
  CHECK_THAT(frozen.imported(), Catch::Contains("graph.role = \"state\""));
  CHECK(withParameter(false, addingTo("p_w")).problem() ==
        "node 'written': aten::add_: writes in place to the parameter 'fc.w', which only the "
        "optimizer changes; write to a copy of it (clone), or freeze it before the export "
        "(requires_grad_(False))");
}

// The archive with a second buffer `other`, which lies at this offset of the first one's memory.
static ArchiveText withShared(int offset, const std::string &nodes) {
  ArchiveText archive = withBuffer("queue", nodes);
  std::string &model = archive.entries["models/model.json"],
              &list = archive.entries["data/weights/model_weights_config.json"];
  const std::string meta = R"({"dtype": 7, "sizes": [{"as_int": 1}], "strides": [{"as_int": 1}],
      "storage_offset": {"as_int": )";
  model = replaced(model, R"("inputs": [)", R"("inputs": [{"as_tensor": {"name": "b_other"}},)");
  model =
      replaced(model, R"("tensor_values": {)", R"("tensor_values": {"b_other": )" + meta + "0}},");
  model = replaced(
      model, R"("input_specs": [)",
      R"("input_specs": [{"buffer": {"arg": {"name": "b_other"}, "persistent": true, "buffer_name": "other"}},)");
  list = replaced(list, R"({"config": {)",
                  R"({"config": {"other": {"path_name": "weight_0", "is_param": false,
                  "use_pickle": false, "tensor_meta": )" +
                      meta + std::to_string(offset) + "}}},");
  return archive;
}

TEST_CASE("a written buffer that shares memory with another one is refused") {
  CHECK(withShared(1, addingTo("p_w")).problem() ==
        "the program writes to 'queue', which shares memory with 'other'; make one of them a copy "
        "(clone) before the export");
  CHECK(withShared(1, addingTo("b_other")).problem() ==
        "the program writes to 'other', which shares memory with 'queue'; make one of them a copy "
        "(clone) before the export");
}

TEST_CASE("statistics that a norm in eval mode reads stay arguments, other small buffers do not") {
  const std::string name = "norm.running_mean";
  auto norm = [&](const std::string &statistics) {
    return node("batch_norm.default", "add",
                input("input", tensor("x")) + "," + input("weight", R"({"as_none": true})") + "," +
                    input("bias", R"({"as_none": true})") + "," +
                    input("running_mean", tensor(statistics)) + "," +
                    input("running_var", tensor(statistics)) + "," +
                    input("training", R"({"as_bool": false})") + "," +
                    input("momentum", R"({"as_float": 0.1})") + "," +
                    input("eps", R"({"as_float": 1e-5})") + "," +
                    input("cudnn_enabled", R"({"as_bool": false})"));
  };
  const std::string repeat =
      node("repeat.default", "again",
           input("self", tensor("p_w")) + "," + input("repeats", R"({"as_ints": [1]})"));
  for (const std::string &nodes : {norm("p_w"), repeat + "," + norm("again")}) {
    ArchiveText archive = withBuffer(name, nodes);
    CHECK(archive.problem() == "");
    CHECK_THAT(archive.imported(), Catch::Contains("graph.name = \"" + name + "\""));
  }
  ArchiveText added =
      withBuffer(name, node("add.Tensor", "add",
                            input("self", tensor("x")) + "," + input("other", tensor("p_w"))));
  CHECK(added.problem() == "");
  CHECK_THAT(added.imported(), !Catch::Contains("graph.name = \"" + name + "\""));
}

TEST_CASE("buffers of the meta device have no value") {
  CHECK(onMetaDevice(
            R"({"parameter": {"arg": {"name": "p_w"}, "parameter_name": "fc.w"}})",
            R"({"buffer": {"arg": {"name": "p_w"}, "buffer_name": "fc.w", "persistent": true}})")
            .problem() ==
        "the archive has no elements of the buffer 'fc.w', since the model was exported on "
        "PyTorch's meta device; create it on another one: only parameters and statistics of norms "
        "can do without");
}

// x·w, whose result the program states to be of this element type (PyTorch's number).
static std::string productOf(const std::string &dtype) {
  ArchiveText archive;
  std::string &model = archive.entries["models/model.json"];
  model = replaced(model, "aten.add.Tensor", "aten.mv.default");
  model = replaced(model, "\"name\": \"other\"", "\"name\": \"vec\"");
  model = replaced(model, R"("tensor_values": {)",
                   R"("tensor_values": {"add": {"dtype": )" + dtype +
                       R"(, "sizes": [{"as_expr": {"expr_str": "s0"}}], "strides": [{"as_int": 1}],
                          "storage_offset": {"as_int": 0}},)");
  return archive.imported();
}

TEST_CASE("products are in the type that torch.autocast gave them") {
  CHECK_THAT(productOf("7"), Catch::Contains("tensor<2xf32> -> tensor<4xf32>"));
  CHECK_THAT(productOf("13"), Catch::Contains("tensor<2xbf16> -> tensor<4xbf16>"));
}

// x·w in a region of torch.autocast on a device, whose result the program states to be f32; and the
// product's result plus itself outside.
static std::string regionOf(const std::string &device, const std::string &type,
                            const std::string &enabled) {
  const std::string tensor = R"({"dtype": 7, "sizes": [{"as_expr": {"expr_str": "s0"}}],
      "strides": [{"as_int": 1}], "storage_offset": {"as_int": 0}, "device": {"type": "cpu"}})";
  const std::string graph =
      R"({"inputs": [{"as_tensor": {"name": "a"}}, {"as_tensor": {"name": "b"}}],
      "outputs": [{"as_tensor": {"name": "mv"}}],
      "nodes": [{"target": "torch.ops.aten.mv.default", "name": "mv",
                 "inputs": [{"name": "self", "arg": {"as_tensor": {"name": "a"}}, "kind": 1},
                            {"name": "vec", "arg": {"as_tensor": {"name": "b"}}, "kind": 1}],
                 "outputs": [{"as_tensor": {"name": "mv"}}], "metadata": {}}],
      "tensor_values": {"mv": )" +
      tensor + R"(}, "sym_int_values": {}, "sym_bool_values": {}})";
  auto argument = [](const std::string &value) {
    return R"({"name": "", "arg": )" + value + R"(, "kind": 1})";
  };
  const std::string wrapper =
      R"({"target": "torch.ops.higher_order.wrap_with_autocast", "name": "wrap", "inputs": [)" +
      argument(R"({"as_string": ")" + device + R"("})") + ", " + argument(type) + ", " +
      argument(R"({"as_bool": )" + enabled + "}") + ", " + argument(R"({"as_bool": true})") + ", " +
      argument(R"({"as_graph": {"name": "submod", "graph": )" + graph + "}}") + ", " +
      argument(R"({"as_tensor": {"name": "x"}})") + ", " +
      argument(R"({"as_tensor": {"name": "p_w"}})") +
      R"(], "outputs": [{"as_tensor": {"name": "y"}}], "metadata": {}}, )";
  ArchiveText archive;
  std::string &model = archive.entries["models/model.json"];
  model = replaced(model, "\"nodes\": [", "\"nodes\": [" + wrapper);
  model = replaced(model, R"("name": "self", "arg": {"as_tensor": {"name": "x"}})",
                   R"("name": "self", "arg": {"as_tensor": {"name": "y"}})");
  model = replaced(model, R"("name": "other", "arg": {"as_tensor": {"name": "p_w"}})",
                   R"("name": "other", "arg": {"as_tensor": {"name": "y"}})");
  return archive.imported() + archive.problem();
}

TEST_CASE("borders enclose a region that disables autocast") {
  for (const char *device : {"cpu", "cuda"}) {
    const std::string text = regionOf(device, R"({"as_none": true})", "false");
    CHECK_THAT(text, Catch::Matches("[^]*%(\\d+) = graph.enter_f32 %arg[^]*graph.dot_general[^]*"
                                    "%(\\d+) = graph.leave_f32 [^]*graph.add [^]*"));
    CHECK_THAT(text, Catch::Contains("tensor<2xf32> -> tensor<4xf32>"));
  }
}

TEST_CASE("products of an enabled region have its type where a strict export says f32") {
  CHECK_THAT(regionOf("cpu", R"({"as_scalar_type": 13})", "true"),
             Catch::Contains("tensor<2xbf16> -> tensor<4xbf16>"));
  CHECK_THAT(regionOf("cpu", R"({"as_scalar_type": 6})", "true"),
             Catch::Contains("tensor<2xf16> -> tensor<4xf16>"));
  // Without a type it is PyTorch's default.
  CHECK_THAT(regionOf("cpu", R"({"as_none": true})", "true"),
             Catch::Contains("tensor<2xbf16> -> tensor<4xbf16>"));
  // A region of another device casts nothing.
  CHECK_THAT(regionOf("cuda", R"({"as_none": true})", "true"),
             Catch::Contains("tensor<2xf32> -> tensor<4xf32>"));
  CHECK_THAT(regionOf("cpu", R"({"as_none": true})", "true"),
             !Catch::Contains("f32_region") && !Catch::Contains("graph.enter_f32"));
}

TEST_CASE("a region of an element type that Cleave lacks is refused") {
  CHECK_THAT(regionOf("cpu", R"({"as_scalar_type": 9})", "true"),
             Catch::Contains("casts to an element type that Cleave does not support"));
}

// A region of torch.autocast around nothing.
static cleave::pt2::Node region(const std::string &name, bool isEnabled) {
  cleave::pt2::Argument device, type, enabled;
  device.kind = cleave::pt2::Argument::Kind::String;
  device.text = "cpu";
  enabled.kind = cleave::pt2::Argument::Kind::Bool;
  enabled.boolean = isEnabled;
  return {"torch.ops.higher_order.wrap_with_autocast",
          name,
          "",
          {{"", device}, {"", type}, {"", enabled}},
          {}};
}

TEST_CASE("a region that torch.export may have split at no_grad is a warning") {
  cleave::pt2::Graph graph;
  graph.nodes = {region("first", true),
                 region("second", false),
                 region("third", true),
                 {"torch.ops.aten.add.Tensor", "add", "", {}, {}},
                 region("fourth", true)};
  CHECK(cleave::pt2::warningsOfRegions(graph).empty());
  graph.nodes.push_back(region("fifth", true));
  graph.nodes.push_back(region("sixth", true));
  std::vector<cleave::frontend::Remark> found = cleave::pt2::warningsOfRegions(graph);
  REQUIRE(found.size() == 1);
  CHECK(found[0].name == "fifth");
  CHECK_THAT(found[0].text, Catch::Contains("2 such places"));
  CHECK(found[0].kind == cleave::frontend::Remark::Kind::TrainingWarning);
}
