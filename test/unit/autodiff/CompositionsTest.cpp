// Compares gradients of compositions that importers build of many ops with central differences.
#include "compiler/frontend/emit/Determinant.h"
#include "compiler/frontend/emit/Regions.h"
#include "test/unit/autodiff/FiniteDifference.h"
#include "test/unit/graph_text/GraphText.h"

#include <catch2/catch.hpp>

#include <functional>

using namespace cleave;
using namespace cleave::emit;

namespace {

// `build` of arguments of float64 with these dims, as text.
std::string composed(const std::vector<std::vector<int64_t>> &arguments,
                     const std::function<Value(const Emitter &, const Values &)> &build) {
  std::string list;
  for (size_t i = 0; i < arguments.size(); ++i) {
    list += (i ? ", %a" : "%a") + std::to_string(i) + ": tensor<";
    for (int64_t size : arguments[i])
      list += std::to_string(size) + "x";
    list += "f64>";
  }
  test::GraphText text("func.func @f(" + list + ") { return }");
  mlir::func::FuncOp function = text.function();
  mlir::Operation *end = function.getBody().front().getTerminator();
  mlir::OpBuilder b(end);
  Evaluator evaluator;
  Emitter e(b, b.getUnknownLoc(), evaluator);
  Value result = build(e, Values(function.getArguments()));
  end->setOperands(result);
  function.setFunctionType(
      b.getFunctionType(function.getArgumentTypes(), mlir::TypeRange{result.getType()}));
  return text.str();
}

void check(const std::vector<std::vector<int64_t>> &arguments,
           const std::function<Value(const Emitter &, const Values &)> &build, double low = -1,
           double high = 1) {
  for (unsigned seed : {1, 2})
    test::checkGradients(composed(arguments, build), low, high, seed);
}

} // namespace

TEST_CASE("determinants have the gradients that differences say") {
  for (int64_t rows : {1, 2, 4})
    check({{3, rows, rows}},
          [](const Emitter &e, const Values &in) { return determinant(e, in[0]); });
}

TEST_CASE("regions of interest have gradients by data and boxes") {
  RoiAlignOptions options{2, 3, 2, 0.5, true, false};
  auto align = [&](const Emitter &e, const Values &in) {
    Value batch = e.constant(Tensor(ElementType::I64, {3}, 1));
    // Boxes around the middle, as data would have them.
    Value corners = e.broadcast(e.constant([] {
      Tensor t(ElementType::F64, {4});
      t.values = {1, 2, 7, 8};
      return t;
    }()),
                                {3, 4});
    return roiAlign(e, in[0], e.add(in[1], corners), batch, options);
  };
  check({{2, 2, 5, 6}, {3, 4}}, align);
  options.halfPixel = false;
  check({{2, 2, 5, 6}, {3, 4}}, align);
  options.largest = true;
  check({{2, 2, 5, 6}, {3, 4}}, align, 0.1, 1);
}

TEST_CASE("deformed convolutions have gradients by all their operands") {
  Window window;
  window.padsLow = window.padsHigh = {1, 1};
  window.strides = {2, 1};
  auto plain = [&](const Emitter &e, const Values &in) {
    return deformableConvolution(e, in[0], in[1], in[2], {}, {}, window, 1, 1);
  };
  check({{1, 2, 4, 4}, {2, 2, 2, 2}, {1, 8, 3, 5}}, plain);
  auto grouped = [&](const Emitter &e, const Values &in) {
    return deformableConvolution(e, in[0], in[1], in[2], in[3], in[4], window, 2, 2);
  };
  check({{1, 4, 4, 4}, {2, 2, 2, 2}, {1, 16, 3, 5}, {2}, {1, 8, 3, 5}}, grouped);
}
