// The parser: text that PyTorch writes, and text that is refused.
#include "compiler/frontend/emit/Failure.h"
#include "compiler/frontend/torchscript/Source.h"

#include <catch2/catch.hpp>

#include <random>

namespace cleave::torchscript {
namespace {

using EK = Expression::Kind;
using SK = Statement::Kind;

SourceFile parse(const std::string &text) { return parseSource("code/m.py", text); }

std::string complaint(const std::string &text) {
  try {
    parse(text);
  } catch (const emit::Failure &failure) {
    return failure.status.message();
  }
  return "";
}

const char *kModule = R"(class Net(Module):
  __parameters__ = ["weight", "bias", ]
  __buffers__ = ["mean", ]
  weight : Tensor
  training : bool
  __annotations__["0"] = __torch__.a.B
  size : Final[Tuple[int, int]] = (3, 4)
  def forward(self: __torch__.Net,
    x: Tensor,
    scale: Optional[float]=None) -> Tuple[Tensor, int]:
    _0 = torch.conv2d(x, self.weight, None, [1, 1], padding=[0, 0])
    a, b, = _0
    if torch.gt(torch.len(torch.size(x)), 2):
      y : Optional[Tensor] = x
    else:
      ops.prim.RaiseException("it\'s \"bad\"\n", "builtins.ValueError")
      y = uninitialized(Tensor)
    for i in range(-3):
      y0 = (y)[i]
    return (y, -1.5e-05, )
def helper(n: int=3) -> int:
  return n
)";

TEST_CASE("a class has its parameters, buffers, fields, constants and methods") {
  SourceFile file = parse(kModule);
  const Class &net = file.classes.at("Net");
  CHECK(net.base == "Module");
  CHECK(net.parameters == std::vector<std::string>{"weight", "bias"});
  CHECK(net.buffers == std::vector<std::string>{"mean"});
  CHECK(net.fields == std::vector<std::string>{"weight", "training", "0"});
  CHECK(net.constants.at("size")->items.size() == 2);
  CHECK(file.functions.at("helper").parameters[0].absent->integer == 3);
}

TEST_CASE("statements and expressions keep their structure and lines") {
  SourceFile file = parse(kModule);
  const Function &forward = file.classes.at("Net").methods.at("forward");
  REQUIRE(forward.parameters.size() == 3);
  CHECK(forward.parameters[2].absent->kind == EK::None);
  REQUIRE(forward.body.size() == 5);
  const Statement &call = forward.body[0];
  CHECK(call.line == 11);
  CHECK(call.value->kind == EK::Call);
  CHECK(call.value->items.size() == 5);
  CHECK(call.value->keywords[0].first == "padding");
  CHECK(forward.body[1].target->items.size() == 2);
  const Statement &branch = forward.body[2];
  CHECK(branch.kind == SK::If);
  CHECK(branch.otherwise[0].value->items[1]->text == "it's \"bad\"\n");
  CHECK(forward.body[3].kind == SK::For);
  const Expression &result = *forward.body[4].value;
  CHECK(result.kind == EK::Tuple);
  CHECK(result.items[1]->items[0]->number == 1.5e-05);
}

TEST_CASE("the operator set and the imports of old programs are skipped") {
  SourceFile file = parse("op_version_set = 1\nimport __torch__.a.b\nimport __torch__.c\n"
                          "def f(self, x: Tensor) -> Tensor:\n  return x\n"
                          "import __torch__\nclass A:\n  x : int\n");
  CHECK(file.functions.at("f").line == 4);
  CHECK_FALSE(file.functions.at("f").parameters[0].type);
  CHECK(file.classes.contains("A"));
  CHECK(complaint("op_version_set = x\n").find("expected a number") != std::string::npos);
  CHECK(complaint("def f():\n  pass\nop_version_set = 1\n").find("expected a class") !=
        std::string::npos);
  CHECK(complaint("import").find("expected a class") != std::string::npos);
}

TEST_CASE("text that PyTorch does not write is refused with its line") {
  CHECK(complaint("class A(Module):\n  x = \n").find("code/m.py:2: ") == 0);
  CHECK(complaint("import os\n").find("expected a class or a function") != std::string::npos);
  CHECK(complaint("def f():\n    a = 1\n  b = 2\n").find("indented") != std::string::npos);
  CHECK(complaint("def f():\n  x = \"abc\n").find("string without an end") != std::string::npos);
  CHECK(complaint("def f():\n  x = $\n").find("found '$'") != std::string::npos);
}

TEST_CASE("unbounded nesting of any kind is refused") {
  for (const char *piece : {"(", "[", "-", "f(", "not ", "{1: "}) {
    std::string text = "def f():\n  x = ";
    for (int i = 0; i < 100000; ++i)
      text += piece;
    CHECK(complaint(text).find("nesting") != std::string::npos);
  }
  std::string chain = "def f():\n  x = a", blocks = "def f():\n";
  for (int i = 0; i < 100000; ++i)
    chain += ".b";
  CHECK(complaint(chain + "\n").find("shorter") != std::string::npos);
  for (int i = 1; i < 1000; ++i)
    blocks += std::string(2 * i, ' ') + "if a:\n";
  CHECK(complaint(blocks).find("nesting") != std::string::npos);
}

TEST_CASE("damaged text crashes nothing") {
  std::mt19937 random(3);
  for (int round = 0; round < 3000; ++round) {
    std::string text = kModule;
    for (int i = 0; i < 3; ++i)
      text[random() % text.size()] = static_cast<char>(random());
    complaint(text);
  }
}

} // namespace
} // namespace cleave::torchscript
