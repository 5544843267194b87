// Kernels of attention and its gradient, compared with the ops' evaluation, for every form.
#include "test/unit/codegen/KernelHarness.h"

#include <catch2/catch.hpp>

#include <regex>

using cleave::test::KernelCase;
using cleave::test::worstDifference;

namespace {

struct Form {
  int batch = 1, heads = 1, groups = 1, queries, keys, width = 8, depth = 8;
  std::string type = "f32", bias = {}, mask = {}; // types of the tensors; empty: absent
  bool hasSeed = false;
  std::string attributes = "causal, scale = 0.35 : f64", offsets = {}; // "d,d…"
};

std::string tensor(std::initializer_list<int> sizes, const std::string &type) {
  std::string text = "tensor<";
  for (int size : sizes)
    text += std::to_string(size) + "x";
  return text + type + ">";
}

// A list of named arguments, and of their types.
struct Arguments {
  std::string declared, types;
  void add(const std::string &name, const std::string &type) {
    declared += (declared.empty() ? "%" : ", %") + name + ": " + type;
    types += (types.empty() ? "" : ", ") + type;
  }
};

std::string textOf(const Form &f, bool isGradient) {
  std::string query = tensor({f.batch, f.heads, f.queries, f.width}, f.type),
              key = tensor({f.batch, f.groups, f.keys, f.width}, f.type),
              value = tensor({f.batch, f.groups, f.keys, f.depth}, f.type),
              result = tensor({f.batch, f.heads, f.queries, f.depth}, f.type),
              lse = tensor({f.batch, f.heads, f.queries}, "f32");
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
double toleranceOf(const Form &f) {
  return f.type == "bf16" ? 1.0 / 128 : f.type == "f16" ? 1.0 / 1024 : 1e-5;
}

void checkForward(const Form &f, double low = -2, double high = 2) {
  KernelCase testCase{textOf(f, false), {}, toleranceOf(f), low, high};
  INFO(testCase.text);
  CHECK(worstDifference(testCase) <= testCase.tolerance);
}

// The factors of the sums are rounded, too, and larger than the sums.
void checkGradient(const Form &f, double low = -1, double high = 1) {
  KernelCase testCase{textOf(f, true), {}, (f.type == "f32" ? 4 : 8) * toleranceOf(f), low, high};
  INFO(testCase.text);
  CHECK(worstDifference(testCase) <= testCase.tolerance);
}

void check(const Form &f) {
  checkForward(f);
  checkGradient(f);
}

const std::string kPlain = "scale = 0.35 : f64", kCausal = "causal, " + kPlain,
                  kFinite = kCausal + ", fill = -1.0e9 : f64";

} // namespace

TEST_CASE("attention of one tile in all types, and of several") {
  for (const char *type : {"f32", "bf16", "f16"})
    check({.queries = 5, .keys = 7, .width = 3, .depth = 5, .type = type, .attributes = kCausal});
  check({.batch = 2, .queries = 5, .keys = 7, .attributes = kPlain});
  check({.queries = 67, .keys = 70, .width = 3, .depth = 5});
  checkForward({.queries = 64, .keys = 64, .width = 64, .depth = 16, .type = "bf16"});
}

TEST_CASE("attention by matrix instructions, of rows in 16 bytes and others") {
  for (const char *type : {"bf16", "f16"}) {
    check({.heads = 2, .queries = 67, .keys = 101, .width = 24, .depth = 16, .type = type});
    check(
        {.queries = 33, .keys = 66, .width = 21, .depth = 40, .type = type, .attributes = kPlain});
  }
  // Too wide to be kept in shared memory.
  check({.queries = 3, .keys = 40, .width = 144, .depth = 136, .type = "bf16"});
  // Hidden keys that have weights, and dropped ones.
  check({.queries = 66,
         .keys = 130,
         .width = 2,
         .depth = 2,
         .type = "bf16",
         .attributes = kCausal + ", fill = -3.0 : f64"});
  check({.queries = 34,
         .keys = 70,
         .type = "bf16",
         .hasSeed = true,
         .attributes = kCausal + ", dropout = 0.3 : f64"});
}

TEST_CASE("heads of attention share keys and values, and columns come in several chunks") {
  check({.batch = 2, .heads = 4, .groups = 2, .queries = 3, .keys = 4, .width = 3, .depth = 2});
  check({.queries = 4, .keys = 5, .width = 40, .depth = 35});
}

TEST_CASE("attention with a bias and a mask, also of repeated dims") {
  check({.heads = 2,
         .groups = 2,
         .queries = 5,
         .keys = 67,
         .width = 2,
         .depth = 2,
         .bias = "tensor<1x2x5x67xf32>",
         .attributes = kPlain});
  check({.batch = 2,
         .queries = 5,
         .keys = 7,
         .width = 2,
         .depth = 2,
         .type = "bf16",
         .bias = "tensor<1x1x5x7xbf16>",
         .mask = "tensor<2x1x1x7xi1>",
         .attributes = kFinite});
}

TEST_CASE("attention of queries that see no key") {
  for (const char *attributes :
       {"scale = 0.35 : f64", "safe, scale = 0.35 : f64", "scale = 0.35 : f64, fill = -30.0 : f64"})
    checkForward(
        {.queries = 29, .keys = 2, .mask = "tensor<1x1x29x2xi1>", .attributes = attributes});
}

TEST_CASE("keys that a causal attention hides have the weight of its fill") {
  // Beside the other scores it counts, or not.
  for (const char *fill : {"-3.0", "-1.0e9"})
    check({.queries = 66,
           .keys = 130,
           .width = 2,
           .depth = 2,
           .attributes = kCausal + ", fill = " + fill + " : f64"});
}

TEST_CASE("attention drops weights by their positions in the scores of all ranks") {
  Form block{.heads = 2,
             .groups = 2,
             .queries = 3,
             .keys = 5,
             .width = 2,
             .depth = 2,
             .hasSeed = true,
             .attributes = kCausal + ", dropout = 0.3 : f64"};
  check(block);
  for (const char *dims : {"0,1,2", "2"}) {
    block.offsets = dims;
    checkForward(block, 0, 3);
    checkGradient(block, 0, 3);
  }
}
