// Pointwise ops and reductions on every element type.
#include "test/unit/codegen/KernelHarness.h"

#include <catch2/catch.hpp>

#include <vector>

using cleave::test::worstDifference;

namespace {

const std::vector<std::string> kIntegers = {"i8",  "i16",  "i32",  "i64",
                                            "ui8", "ui16", "ui32", "ui64"};
const std::vector<std::string> kFloats = {"f16", "bf16", "f32", "f64"};

std::string matrix(const std::string &element) { return "tensor<5x37x" + element + ">"; }

// One group that computes all of `results`, each a graph op on %a and %b with its type.
struct TypedResult {
  std::string op, type;
};
std::string group(const std::string &operand, const std::vector<TypedResult> &results) {
  std::string types, values, outer, body;
  for (size_t i = 0; i < results.size(); ++i) {
    std::string comma = i ? ", " : "", number = std::to_string(i);
    types += comma + results[i].type;
    values += comma + "%v" + number;
    outer += comma + "%r#" + number;
    body += "%v" + number + " = graph." + results[i].op + "\n";
  }
  std::string count = std::to_string(results.size());
  std::string result = results.size() == 1 ? "%r" : "%r:" + count;
  if (results.size() == 1)
    outer = "%r";
  return "func.func @f(%x: " + operand + ", %y: " + operand + ") -> (" + types + ") {\n" + result +
         " = graph.fusion (%a = %x : " + operand + ", %b = %y : " + operand + ") -> (" + types +
         ") {\n" + body + "graph.yield " + values + " : " + types + "\n}\nreturn " + outer + " : " +
         types + "\n}";
}

double toleranceOf(const std::string &element) {
  return element == "bf16" ? 1e-2 : element == "f16" ? 2e-3 : 3e-6;
}

} // namespace

TEST_CASE("integers of every width, with and without a sign, wrap around and do not trap") {
  for (const std::string &element : kIntegers) {
    std::string type = matrix(element);
    std::vector<TypedResult> results;
    for (const char *op : {"add", "mul", "div", "rem", "max", "min", "and", "or", "xor",
                           "shift_left", "shift_right"})
      results.push_back({std::string(op) + " %a, %b : " + type, type});
    results.push_back({"abs %a : " + type, type});
    if (element != "ui64") { // what wraps around has more digits there than the reference
      results.push_back({"sub %a, %b : " + type, type});
      for (const char *op : {"neg", "not"})
        results.push_back({std::string(op) + " %a : " + type, type});
    }
    for (const char *predicate : {"lt", "le", "gt", "ge", "eq", "ne"})
      results.push_back({std::string("compare ") + predicate + " %a, %b : " + type, matrix("i1")});
    INFO(element);
    double low = element[0] == 'u' ? 0 : -9;
    CHECK(worstDifference({.text = group(type, results), .tolerance = 0, .low = low, .high = 9}) ==
          0);
  }
}

TEST_CASE("casts between all element types") {
  std::vector<std::string> all = kIntegers;
  all.insert(all.end(), kFloats.begin(), kFloats.end());
  all.push_back("i1");
  for (const std::string &from : all) {
    std::vector<TypedResult> results;
    for (const std::string &to : all)
      results.push_back({"cast %a : " + matrix(from) + " -> " + matrix(to), matrix(to)});
    INFO(from);
    // Negative numbers as unsigned ones of 64 bits exist in no other type.
    CHECK(worstDifference({.text = group(matrix(from), results),
                           .tolerance = 0,
                           .low = from == "ui64" ? 0.0 : -100.0,
                           .high = 100}) == 0);
  }
}

TEST_CASE("floats of every width are computed with at least single precision") {
  for (const std::string &element : kFloats) {
    std::string type = matrix(element);
    std::vector<TypedResult> results;
    for (const char *op : {"add", "mul", "div", "max", "min", "pow"})
      results.push_back({std::string(op) + " %a, %b : " + type, type});
    std::vector<std::string> functions = {"neg",   "abs",   "exp",  "log",  "sqrt",
                                          "rsqrt", "floor", "ceil", "round"};
    if (element != "f64" || cleave::test::kHasDoubleFunctions)
      for (const char *op : {"expm1", "log1p", "sin", "cos", "tanh", "atan", "erf"})
        functions.push_back(op);
    for (const std::string &op : functions)
      results.push_back({op + " %a : " + type, type});
    INFO(element);
    CHECK(worstDifference({.text = group(type, results),
                           .tolerance = toleranceOf(element),
                           .low = 0.5,
                           .high = 4}) <= toleranceOf(element));
  }
}

TEST_CASE("sines and cosines of large angles are as exact as those of small ones") {
  const std::string type = matrix("f32");
  const std::string text = group(type, {{"sin %a : " + type, type}, {"cos %a : " + type, type}});
  for (double most : {100.0, 12'000.0, 100'000.0})
    CHECK(worstDifference({.text = text, .tolerance = 1e-6, .low = -most, .high = most}) <= 1e-6);
}

TEST_CASE("reductions of every element type, over rows and over columns") {
  std::vector<std::string> all = kIntegers;
  all.insert(all.end(), kFloats.begin(), kFloats.end());
  for (const std::string &element : all)
    for (auto [dims, shape] : {std::pair("[1]", "5x"), std::pair("[0]", "37x")}) {
      std::string type = matrix(element), reduced = std::string("tensor<") + shape + element + ">";
      std::vector<TypedResult> results;
      for (const char *kind : {"sum", "max", "min"})
        results.push_back(
            {std::string("reduce ") + kind + " %a over " + dims + " : " + type + " -> " + reduced,
             reduced});
      INFO(element << " over " << dims);
      double low = element[0] == 'u' ? 0 : -3;
      CHECK(worstDifference({.text = group(type, results),
                             .tolerance = toleranceOf(element),
                             .low = low,
                             .high = 6}) <= toleranceOf(element));
    }
}

TEST_CASE("random numbers are the same in kernels as in the reference") {
  CHECK(
      worstDifference(
          {.text = R"(func.func @f(%x: tensor<5x37xi64>, %y: tensor<5x37xi64>) -> tensor<5x37xf32> {
    %r = graph.fusion (%a = %x : tensor<5x37xi64>, %b = %y : tensor<5x37xi64>) -> (tensor<5x37xf32>) {
      %v = graph.random %a, %b : tensor<5x37xi64> -> tensor<5x37xf32>
      graph.yield %v : tensor<5x37xf32>
    }
    return %r : tensor<5x37xf32>
  })",
           .tolerance = 0,
           .low = 0,
           .high = 1e12}) == 0);
}
