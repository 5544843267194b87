// See RandomKeys.h.
#include "compiler/frontend/step/RandomKeys.h"

#include "dialects/graph/Build.h"

namespace cleave::frontend {

using mlir::Value;

// The name of the state that counts the runs of `forward`.
static constexpr const char *kCounterName = "random.step";

Value RandomKeys::next() {
  constexpr double kKeysPerStep = 65536, kKeysPerDraw = 2;
  mlir::OpBuilder &b = step_.builder();
  if (!counter_)
    counter_ = step_.addArgument(Role::State, graph::tensorOf(graph::Shape(), b.getF64Type()),
                                 kCounterName,
                                 graph::TensorOrigin()); // begins with 0
  Value first = graph::MulOp::create(b, step_.location(), counter_,
                                     graph::buildSplatLike(b, counter_, kKeysPerStep));
  Value number = graph::AddOp::create(b, step_.location(), first,
                                      graph::buildSplatLike(b, first, kKeysPerDraw * draws_++));
  return graph::buildCast(b, number, b.getI64Type());
}

void RandomKeys::addStateResult() {
  if (!counter_)
    return;
  mlir::OpBuilder &b = step_.builder();
  Value next =
      graph::AddOp::create(b, step_.location(), counter_, graph::buildSplatLike(b, counter_, 1));
  step_.addStateResult(counter_, next);
}

} // namespace cleave::frontend
