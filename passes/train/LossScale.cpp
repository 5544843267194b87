// Dynamic loss scaling (P. Micikevicius et al., Mixed Precision Training, 2018), with the defaults
// of torch.amp.GradScaler.
#include "passes/train/Parts.h"

#include "dialects/graph/Build.h"
#include "dialects/graph/Step.h"

#include <limits>

using namespace mlir;
using namespace cleave::graph;

namespace cleave::train {

namespace {
constexpr double kFirstScale = 65536, kGrowth = 2, kBackoff = 0.5;
constexpr double kGrowthInterval = 2000; // steps without overflow after which the scale grows

Value add(OpBuilder &b, Value x, double number) {
  return AddOp::create(b, x.getLoc(), x, buildSplatLike(b, x, number));
}
Value multiply(OpBuilder &b, Value x, double number) {
  return MulOp::create(b, x.getLoc(), x, buildSplatLike(b, x, number));
}
Value select(OpBuilder &b, Value condition, Value x, Value y) {
  return SelectOp::create(b, x.getLoc(), x.getType(), condition, x, y);
}
Value select(OpBuilder &b, Value condition, Value x, double y) {
  return select(b, condition, x, buildSplatLike(b, x, y));
}
} // namespace

LossScale::LossScale(func::FuncOp step) : step_(step) {
  Type scalar = RankedTensorType::get({}, Float32Type::get(step.getContext()));
  TensorOrigin first, zero;
  first.fill = kFirstScale;
  scale_ = addArgument(step, scalar, "loss_scale", Role::State, &first);
  goodSteps_ = addArgument(step, scalar, "loss_scale.good_steps", Role::State, &zero);
}

Value LossScale::scaled(OpBuilder &b, Value loss) const {
  return MulOp::create(b, loss.getLoc(), loss, buildCast(b, scale_, elementTypeOf(loss)));
}

void LossScale::unscale(OpBuilder &b, MutableArrayRef<Trained> trained) const {
  Location loc = scale_.getLoc();
  Value inverse = DivOp::create(b, loc, buildSplatLike(b, scale_, 1), scale_);
  for (Trained &parameter : trained) {
    Value g = parameter.gradient;
    Value spread = buildBroadcast(b, loc, buildCast(b, inverse, elementTypeOf(g)), shapeOf(g));
    parameter.gradient = MulOp::create(b, g.getLoc(), g, spread);
  }
}

void LossScale::check(OpBuilder &b, Value &norm) {
  double infinite = std::numeric_limits<double>::infinity();
  isFinite_ = CompareOp::create(b, norm.getLoc(), Predicate::LT, norm,
                                buildSplatLike(b, norm, infinite)); // false for NaN
  norm = select(b, isFinite_, norm, 0);
}

Value LossScale::unlessOverflow(OpBuilder &b, Value updated, Value before) const {
  Location loc = updated.getLoc();
  return select(b, buildBroadcast(b, loc, isFinite_, shapeOf(updated)), updated, before);
}

void LossScale::update(OpBuilder &b) const {
  Location loc = scale_.getLoc();
  Value good = select(b, isFinite_, add(b, goodSteps_, 1), 0);
  Value grows =
      CompareOp::create(b, loc, Predicate::GE, good, buildSplatLike(b, good, kGrowthInterval));
  Value larger = select(b, grows, multiply(b, scale_, kGrowth), scale_);
  Value next = select(b, isFinite_, larger, multiply(b, scale_, kBackoff));
  addResult(step_, scale_, "loss_scale", Role::Metric);
  addResult(step_, next, "loss_scale", Role::State, scale_.getArgNumber());
  addResult(step_, select(b, grows, buildSplatLike(b, good, 0), good), "loss_scale.good_steps",
            Role::State, goodSteps_.getArgNumber());
}

} // namespace cleave::train
