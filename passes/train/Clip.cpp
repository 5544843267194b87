// Gradient norm and clipping.
#include "passes/train/Parts.h"

#include "dialects/graph/Build.h"

using namespace mlir;
using namespace cleave::graph;

namespace cleave::train {

Value buildNorm(OpBuilder &b, ArrayRef<Trained> trained) {
  Value sum;
  for (const Trained &parameter : trained) {
    Value g = widened(b, parameter.gradient);
    Value square = MulOp::create(b, g.getLoc(), g, g);
    Value one =
        buildReduce(b, Reduction::Sum, square, llvm::to_vector(llvm::seq<int64_t>(0, rankOf(g))));
    if (sum)
      one = buildCast(b, one, elementTypeOf(sum));
    sum = sum ? AddOp::create(b, sum.getLoc(), sum, one).getResult() : one;
  }
  return SqrtOp::create(b, sum.getLoc(), sum);
}

void clip(OpBuilder &b, Value norm, double maximum, MutableArrayRef<Trained> trained) {
  Location loc = norm.getLoc();
  Value shifted = AddOp::create(b, loc, norm, buildSplatLike(b, norm, 1e-6));
  Value ratio = DivOp::create(b, loc, buildSplatLike(b, norm, maximum), shifted);
  Value factor = MinOp::create(b, loc, ratio, buildSplatLike(b, norm, 1));
  for (Trained &parameter : trained) {
    Value g = parameter.gradient;
    Value spread = buildBroadcast(b, loc, buildCast(b, factor, elementTypeOf(g)), shapeOf(g));
    parameter.gradient = MulOp::create(b, g.getLoc(), g, spread);
  }
}

} // namespace cleave::train
