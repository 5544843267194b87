// Imports of small handwritten programs: parameters and buffers, control flow, refusals.
#include "test/unit/torchscript/ImportFile.h"

#include <catch2/catch.hpp>

namespace cleave::torchscript {
namespace {

TEST_CASE("parameters and inputs are arguments, returned tensors are numbered results") {
  ArchiveFile file;
  file.parameters = {"w"};
  file.lines = "    w = self.w\n    return (torch.mul(x, w), (torch.add(x, w), None))\n";
  Result result = import(file.write());
  REQUIRE(result.status.message() == "");
  CHECK(result.arguments == Names{"input x", "parameter w"});
  CHECK(result.results == Names{"output 0", "output 1"});
}

TEST_CASE("a dictionary's results have its keys as names") {
  ArchiveFile file;
  file.lines = "    return {\"out\": torch.add(x, 1), \"aux\": x}\n";
  CHECK(import(file.write()).results == Names{"output out", "output aux"});
}

TEST_CASE("a written buffer is a state, one that is only read a constant") {
  ArchiveFile file;
  file.buffers = {"seen", "table"};
  file.lines = "    seen = self.seen\n    _0 = torch.add_(seen, 1)\n"
               "    return torch.add(torch.add(x, seen), self.table)\n";
  Result result = import(file.write());
  REQUIRE(result.status.message() == "");
  CHECK(result.arguments == Names{"input x", "state seen"});
  CHECK(result.results == Names{"output 0", "state seen"});
}

TEST_CASE("an attribute that is assigned a tensor is a state, with its old value until then") {
  ArchiveFile file;
  file.buffers = {"seen"};
  file.lines = "    old = self.seen\n    self.seen = torch.add(old, x)\n    return old\n";
  Result result = import(file.write());
  REQUIRE(result.status.message() == "");
  CHECK(result.results == Names{"output 0", "state seen"});
}

TEST_CASE("a frozen parameter that is written is a state") {
  ArchiveFile file;
  file.parameters = {"teacher"}; // the test's tensors have requires_grad=False
  file.lines = "    _0 = torch.add_(self.teacher, x)\n    return torch.mul(x, self.teacher)\n";
  Result result = import(file.write());
  REQUIRE(result.status.message() == "");
  CHECK(result.arguments == Names{"input x", "state teacher"});
  CHECK(result.results == Names{"output 0", "state teacher"});
}

TEST_CASE("an attribute that is no tensor keeps its value, or is set before it is read") {
  ArchiveFile file;
  file.moreAttributes = torch::text("calls") + torch::integer(2) + torch::text("last") + "N";
  file.lines = "    calls = self.calls\n    self.calls = torch.add(calls, 1)\n"
               "    return torch.mul(x, calls)\n";
  CHECK(has(complaint(file), "the program changes the attribute 'calls' (int, then int) and reads "
                             "it in the next step"));
  file.lines = "    last = self.last\n    self.last = x\n    return x\n";
  CHECK(has(complaint(file), "the attribute 'last' (None, then tensor)"));
  file.lines =
      "    self.last = x\n    self.calls = 5\n    return torch.mul(self.last, self.calls)\n";
  CHECK(complaint(file) == "");
}

TEST_CASE("a no_grad block stops the gradients of its results") {
  ArchiveFile file;
  file.parameters = {"w"};
  file.functions = "class no_grad:\n  prev : bool\n"
                   "  def __init__(self: __torch__.m.no_grad) -> NoneType:\n    self.prev = False\n"
                   "    return None\n";
  file.lines =
      "    _0 = __torch__.m.no_grad.__new__(__torch__.m.no_grad)\n    _1 = (_0).__init__()\n"
      "    with _0:\n      y = torch.exp(self.w)\n      z = torch.exp(x)\n"
      "    return torch.add(torch.mul(y, z), torch.mul(self.w, x))\n";
  Result result = import(file.write());
  REQUIRE(result.status.message() == "");
  CHECK(result.count("graph.stop_gradient") == 1);
  CHECK(result.count("graph.frozen") == 1); // the test's tensors have requires_grad=False
}

TEST_CASE("ops in a block that disables autocast are between borders") {
  for (const char *enabled : {"False", "True"}) {
    ArchiveFile file;
    file.functions =
        "class autocast:\n  fast_dtype : int\n  _enabled : bool\n"
        "  def __init__(self: __torch__.m.autocast, enabled: bool) -> NoneType:\n"
        "    self.fast_dtype = torch.get_autocast_dtype(\"cpu\")\n    self._enabled = enabled\n"
        "    return None\n";
    file.lines =
        "    _0 = __torch__.m.autocast.__new__(__torch__.m.autocast)\n    _1 = (_0).__init__(" +
        std::string(enabled) +
        ")\n    with _0:\n      y = torch.exp(x)\n"
        "    return torch.neg(y)\n";
    Result result = import(file.write());
    REQUIRE(result.status.message() == "");
    const size_t borders = std::string(enabled) == "False";
    CHECK(result.count("graph.enter_f32") == borders);
    CHECK(result.count("graph.leave_f32") == borders);
  }
}

TEST_CASE("products of Fourier transforms and grids are between borders") {
  ArchiveFile file;
  file.lines = "    return torch.view_as_real(torch.fft_rfft(x))\n";
  Result transform = import(file.write());
  file.lines = "    return torch.affine_grid_generator(x, [1, 1, 4, 4], True)\n";
  Result grid = import(file.write(), {"x=float32[1,2,3]"});
  for (const Result &result : {transform, grid}) {
    REQUIRE(result.status.message() == "");
    const size_t products = result.count("graph.dot_general");
    CHECK(products > 0);
    CHECK(result.count("graph.leave_f32") == products);
  }
}

TEST_CASE("members of an enumeration have the values in the file") {
  ArchiveFile file;
  file.functions = "class Order(Enum):\n  UP = \"up\"\n  DOWN = \"down\"\n";
  file.moreAttributes =
      torch::text("order") + torch::global("__torch__.m", "Order") + torch::text("down") + "R";
  file.lines =
      "    order = self.order\n    _0 = __torch__.m.Order.UP\n    if torch.eq(order, _0):\n"
      "      y = torch.exp(x)\n    else:\n      y = torch.neg(x)\n    return y\n";
  Result result = import(file.write());
  REQUIRE(result.status.message() == "");
  CHECK(result.count("graph.neg") == 1);
  CHECK(result.count("graph.exp") == 0);
}

TEST_CASE("two names of one stored tensor are one parameter") {
  ArchiveFile file;
  file.parameters = {"a"};
  file.moreAttributes = torch::text("b") + torch::floats("of_a", 4, 0, {4}, {1});
  file.lines = "    return torch.add(self.a, torch.add(self.b, x))\n";
  Result result = import(file.write());
  CHECK(result.arguments == Names{"input x", "parameter a"});
  file.parameters = {"a", "b"}; // b is written below a's storage of its own: two parameters
  file.moreAttributes.clear();
  CHECK(import(file.write()).arguments == Names{"input x", "parameter a", "parameter b"});
}

TEST_CASE("loops are unrolled, calls inlined, and known conditions decide branches") {
  ArchiveFile file;
  file.lines = "    y = x\n    for i in range(torch.len(torch.size(x))):\n"
               "      y = __torch__.m.twice(y, )\n    n = 0\n    _1 = True\n    while _1:\n"
               "      y = torch.add(y, 1)\n      n = torch.add(n, 1)\n      _1 = torch.lt(n, 3)\n"
               "    if torch.eq(torch.size(x, 0), 4):\n      z = torch.neg(y)\n    else:\n"
               "      z = torch.exp(y)\n    return z\n";
  file.functions = "def twice(t: Tensor, times: int=2) -> Tensor:\n  return torch.mul(t, times)\n";
  Result result = import(file.write());
  REQUIRE(result.status.message() == "");
  CHECK(result.count("graph.mul ") == 1);
  CHECK(result.count("graph.add ") == 3);
  CHECK(result.count("graph.neg ") == 1);
  CHECK(result.count("graph.exp ") == 0);
}

TEST_CASE("values of different kinds are neither equal nor identical") {
  ArchiveFile file;
  file.lines =
      "    same = \"a\" in [1, 2.5, True, None, [1]]\n    found = 1.0 in [\"a\", 1]\n"
      "    if same:\n      y = torch.exp(x)\n    else:\n      y = torch.neg(x)\n"
      "    if found:\n      z = torch.neg(y)\n    else:\n      z = torch.exp(y)\n    return z\n";
  Result result = import(file.write());
  REQUIRE(result.status.message() == "");
  CHECK(result.count("graph.neg ") == 2);
}

TEST_CASE("a branch that depends on data is computed both ways and selected from") {
  ArchiveFile file;
  file.lines = "    if bool(torch.gt(torch.sum(x), 0)):\n      y = torch.neg(x)\n      n = 1\n"
               "    else:\n      y = torch.exp(x)\n      n = 1\n    return torch.add(y, n)\n";
  Result result = import(file.write());
  REQUIRE(result.status.message() == "");
  CHECK(result.count("graph.neg ") == 1);
  CHECK(result.count("graph.exp ") == 1);
  CHECK(result.count("graph.select ") == 1);
}

TEST_CASE("an assertion about data is skipped with a warning") {
  ArchiveFile file;
  file.lines = "    if bool(torch.gt(torch.sum(x), 0)):\n      pass\n    else:\n"
               "      ops.prim.RaiseException(\"negative\")\n    return torch.neg(x)\n";
  Result result = import(file.write());
  REQUIRE(result.status.message() == "");
  CHECK(result.remarks == Names{"warning the model"});
}

TEST_CASE("control flow that cannot be computed both ways is refused with its line") {
  ArchiveFile file;
  file.lines = "    y = x\n    while bool(torch.gt(torch.sum(y), 0)):\n"
               "      y = torch.sub(y, 1)\n    return y\n";
  has(complaint(file), "code/__torch__/m.py:6: how often this loop runs depends on data");
  file.lines = "    if bool(torch.gt(torch.sum(x), 0)):\n      y = torch.neg(x)\n    else:\n"
               "      y = torch.sum(x)\n    return y\n";
  has(complaint(file), "different shapes");
  file.lines = "    if bool(torch.gt(torch.sum(x), 0)):\n      _0 = torch.add_(x, 1)\n    else:\n"
               "      pass\n    return x\n";
  has(complaint(file), "aten::add_ writes in a branch that depends on data");
  file.lines = "    m = torch.zeros([4])\n    v = torch.ones([4])\n"
               "    if bool(torch.gt(torch.sum(x), 0)):\n"
               "      y = torch.batch_norm(x, None, None, m, v, True, 0.1, 1e-05, True)\n"
               "    else:\n      y = x\n    return y\n";
  has(complaint(file, {"x=float32[2,4]"}),
      "aten::batch_norm writes in a branch that depends on data");
  file.lines = "    if torch.eq(torch.size(x, 0), 4):\n"
               "      ops.prim.RaiseException(\"four!\")\n    else:\n      pass\n    return x\n";
  has(complaint(file), "m.py:6: the program raises four!");
}

TEST_CASE("all unsupported operators are listed") {
  ArchiveFile file;
  file.otherCode = "def f(x: Tensor) -> Tensor:\n  return ops.shop.steal(x)\n";
  file.lines = "    y = torch.frobnicate(x)\n    if False:\n      z = ops.shop.sell(y)\n    else:\n"
               "      z = y\n    return z\n";
  std::string text = complaint(file);
  has(text, "aten::frobnicate (code/__torch__/m.py:5)");
  has(text, "shop::sell (code/__torch__/m.py:7)");
  has(text, "shop::steal (code/__torch__/other.py:2)"); // in a file that is not reached
}

TEST_CASE("operands with too few dims are user errors") {
  ArchiveFile file;
  file.lines = "    line = torch.select(torch.select(x, 0, 0), 0, 0)\n"
               "    return torch.diagonal_scatter(x, line)\n";
  has(complaint(file, {"x=float32[2,3,3]"}), "has data [3], expected at least 2 dims");
}

TEST_CASE("unsupported arguments of operators are user errors") {
  auto saidOf = [](const std::string &expression) {
    ArchiveFile file;
    file.lines = "    return " + expression + "\n";
    return complaint(file, {"x=float32[2,3]"});
  };
  has(saidOf("torch.tensordot(x, x, [1], [0])"), "expected equal sizes");
  has(saidOf("torch.flip(x, [0, 0])"), "0 is named twice");
  has(saidOf("torch.softmax(x, 0, 3)"), "expected floating-point numbers");
  has(saidOf("torch.adaptive_avg_pool1d(x, [1000000])"), "expected at most 4096");
  has(saidOf("torch.diag_embed(x, -9223372036854775807)"), "more elements than fit into memory");
}

TEST_CASE("inputs need types, which --input and --set give") {
  ArchiveFile file;
  file.lines = "    return torch.neg(x)\n";
  has(complaint(file, {}), "--input x=float32");
  has(complaint(file, {"x=float32[batch]"}), "--set batch=8");
  has(complaint(file, {"y=float32[4]"}), "the model has no input 'y': expected x");
  frontend::ImportOptions options;
  options.symbols["batch"] = 6;
  CHECK(import(file.path, {"x=float32[batch,2]"}, options).status.isOk());
  options.symbols["seq"] = 6;
  has(import(file.path, {"x=float32[batch,2]"}, options).status.message(), "'seq'");
  CHECK_FALSE(frontend::parseInput("x=float33[2]").isOk());
  CHECK_FALSE(frontend::parseInput("x=float32[2,]").isOk());
  CHECK_FALSE(frontend::parseInput("=3").isOk());
}

TEST_CASE("an input with a value is a constant of its type") {
  ArchiveFile file;
  file.lines = "    return torch.add(x, 1)\n";
  frontend::ImportOptions options;
  options.values["x"] = {1, 2, 3, 4};
  Result result = import(file.write(), {"x=float32[rows,2]"}, options);
  REQUIRE(result.status.message() == "");
  CHECK(result.arguments == Names{});
  CHECK(result.count("dense<[[1.000000e+00, 2.000000e+00], [3.000000e+00, 4.000000e+00]]>") == 1);
  has(import(file.path, {"x=float32[3]"}, options).status.message(), "has 4 elements");
  has(import(file.path, {}, options).status.message(), "give --input x=int64[4]");
  options.values["y"] = {1};
  has(import(file.path, {"x=float32[4]"}, options).status.message(),
      "the model has no input 'y': expected x");
}

TEST_CASE("programs that run without end or exhaust memory are refused") {
  const std::pair<const char *, const char *> cases[] = {
      {"    a = [x]\n    _0 = torch.append(a, a)\n", "puts a container into itself"},
      {"    a = [x]\n    for i in range(1000):\n      a = [a]\n", "nests containers"},
      {"    s = \"ab\"\n    for i in range(60):\n      s = torch.format(\"{}{}\", s, s)\n",
       "a string of more than"},
      {"    a = [1]\n    for i in range(60):\n      a = torch.add(a, a)\n", "a list of more than"},
      {"    for i in range(100000):\n      for j in range(1000):\n        pass\n", "small steps"},
      {"    a = [x]\n    for i in range(60):\n      a = [a, a]\n    return a\n",
       "returns more than"},
  };
  for (const auto &[lines, words] : cases) {
    ArchiveFile file;
    file.lines = std::string(lines) + "    return x\n";
    has(complaint(file), words);
  }
}

TEST_CASE("damaged archives are refused with one message") {
  ArchiveFile file;
  file.parameters = {"w"};
  file.lines = "    return torch.add(x, self.w)\n";
  REQUIRE(import(file.write()).status.isOk());
  std::string good = file.bytes;
  has(import(file.write(good.substr(0, good.size() / 2))).status.message(), "damaged");
  file.storedFloats = 3;
  has(complaint(file), "has 12 bytes, expected 4 elements of 4");
  file.storedFloats = 4;
  file.moreAttributes = torch::text("child") + torch::global("__torch__.m", "Gone") + ")\x81}b";
  has(complaint(file), "no such class");
  file.moreAttributes = torch::text("child") + torch::global("builtins", "eval") + ")R";
  has(complaint(file), "'builtins.eval'");
  file.moreAttributes.clear();
  file.lines = "    return __torch__.m.again(x, )\n";
  file.functions = "def again(t: Tensor) -> Tensor:\n  return __torch__.m.again(t, )\n";
  has(complaint(file), "nested too deeply");
}

} // namespace
} // namespace cleave::torchscript
