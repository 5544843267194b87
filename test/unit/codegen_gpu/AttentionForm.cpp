// Text of the ops, and tolerances by type. See AttentionForm.h.
#include "test/unit/codegen_gpu/AttentionForm.h"

#include "test/unit/codegen/KernelHarness.h"

#include <catch2/catch.hpp>

#include <initializer_list>

namespace cleave::test {

namespace {

// A list of named arguments, and of their types.
struct Arguments {
  std::string declared, types;
  void add(const std::string &name, const std::string &type) {
    declared += (declared.empty() ? "%" : ", %") + name + ": " + type;
    types += (types.empty() ? "" : ", ") + type;
  }
};

std::string textOf(const AttentionForm &f, bool isGradient) {
  std::string query = tensorText({f.batch, f.heads, f.queries, f.width}, f.type),
              key = tensorText({f.batch, f.groups, f.keys, f.width}, f.type),
              value = tensorText({f.batch, f.groups, f.keys, f.depth}, f.type),
              result = tensorText({f.batch, f.heads, f.queries, f.depth}, f.type),
              lse = tensorText({f.batch, f.heads, f.queries}, "f32");
  Arguments arguments;
  arguments.add("q", query), arguments.add("k", key), arguments.add("v", value);
  std::string op = "%q, %k, %v";
  if (isGradient) {
    arguments.add("y", result), arguments.add("l", lse), arguments.add("dy", result);
    op += ", %y, %l, %dy";
  }
  if (!f.bias.empty())
    arguments.add("b", f.bias), op += " bias %b";
  if (!f.mask.empty())
    arguments.add("m", f.mask), op += " mask %m";
  if (f.hasSeed)
    arguments.add("s", "tensor<i64>"), op += " seed %s";
  std::string attributes = f.attributes;
  if (!f.offsets.empty()) {
    op += " at ";
    for (size_t i = 0; i < f.offsets.size(); i += 2) {
      std::string name = "o" + std::to_string(i);
      arguments.add(name, "tensor<i64>"), op += (i ? ", %" : "%") + name;
    }
    attributes += ", offset_dims = array<i64: " + f.offsets +
                  ">, whole = array<i64: " + std::to_string(f.batch + 3) + ", " +
                  std::to_string(f.heads + 3) + ", " + std::to_string(f.queries + 3) + ", " +
                  std::to_string(f.keys) + ">";
  }
  std::string types = isGradient ? query + ", " + key + ", " + value : result + ", " + lse;
  std::string count = isGradient ? "3" : "2",
              name = isGradient ? "graph.attention_grad " : "graph.attention ";
  return "func.func @f(" + arguments.declared + ") -> (" + types + ") {\n%r:" + count + " = " +
         name + op + " {" + attributes + "} : (" + arguments.types + ") -> (" + types +
         ")\nreturn " + (isGradient ? "%r#0, %r#1, %r#2" : "%r#0, %r#1") + " : " + types + "\n}";
}

// In 16-bit floats results are rounded once, from a sum that may have rounded to either side.
double toleranceOf(const AttentionForm &f) {
  return f.type == "bf16" ? 1.0 / 128 : f.type == "f16" ? 1.0 / 1024 : 1e-5;
}

} // namespace

void checkForward(const AttentionForm &f, double low, double high) {
  KernelCase testCase{textOf(f, false), {}, toleranceOf(f), low, high};
  INFO(testCase.text);
  CHECK(worstDifference(testCase) <= testCase.tolerance);
}

// The factors of the sums are rounded, too, and larger than the sums.
void checkGradient(const AttentionForm &f, double low, double high) {
  KernelCase testCase{textOf(f, true), {}, (f.type == "f32" ? 4 : 8) * toleranceOf(f), low, high};
  INFO(testCase.text);
  CHECK(worstDifference(testCase) <= testCase.tolerance);
}

void check(const AttentionForm &f) {
  checkForward(f);
  checkGradient(f);
}

} // namespace cleave::test
