// Gradient norm, clipping and optimizers.
#include "passes/train/Parts.h"

#include "dialects/graph/Build.h"
#include "dialects/graph/SignatureEdit.h"

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

namespace {

// Adds states as arguments and their new values as results; commit() adds them to the signature.
// With a loss scale, values are as before the step if its gradients overflowed.
class StateAdder {
public:
  // `scale` may be null.
  StateAdder(OpBuilder &b, func::FuncOp step, const LossScale *scale)
      : b_(b), context_(step.getContext()), edit_(step), step_(step), scale_(scale),
        zeros_(toAttribute(TensorOrigin(), context_)) {}

  // A tensor that begins with zeros. `parameter`: the parameter whose state it is; empty for the
  // step counter.
  Value argument(Type type, const std::string &name, StringRef parameter) {
    BlockArgument argument = edit_.addArgument(type, name, "state", zeros_);
    if (!parameter.empty())
      edit_.setArgAttr(argument.getArgNumber(), "graph.parameter",
                       StringAttr::get(context_, parameter));
    return argument;
  }

  // Adds the new value of an argument as a result.
  void result(Value value, unsigned argument) {
    auto text = [&](const char *name) {
      return cast<StringAttr>(edit_.argAttr(argument, name)).getValue();
    };
    if (scale_)
      value = scale_->unlessOverflow(b_, value, step_.getArgument(argument));
    edit_.addResult(value, text("graph.name"), text("graph.role"), argument);
  }
  void result(Value value, Value argument) {
    result(value, cast<BlockArgument>(argument).getArgNumber());
  }

  void commit() { edit_.commit(); }

private:
  OpBuilder &b_;
  MLIRContext *context_;
  SignatureEdit edit_;
  func::FuncOp step_;
  const LossScale *scale_;
  Attribute zeros_;
};

// Builds the updates of one parameter after the other.
class Updater {
public:
  Updater(OpBuilder &b, func::FuncOp step, const OptimizerOption &option, const LossScale *scale)
      : b_(b), step_(step), option_(option), states_(b, step, scale) {}

  void run(ArrayRef<Trained> trained) {
    Type counterType = RankedTensorType::get({}, b_.getF64Type());
    Value before = states_.argument(counterType, "step", "");
    counter_ =
        AddOp::create(b_, step_.getLoc(), before, buildSplat(b_, step_.getLoc(), counterType, 1));
    for (const Trained &parameter : trained)
      if (option_.kind != OptimizerOption::Kind::Sgd)
        adam(parameter);
      else if (option_.momentum != 0)
        momentum(parameter);
      else
        descend(parameter);
    states_.result(counter_, before);
    states_.commit();
  }

private:
  std::string stateName(const Trained &parameter, const char *state) {
    return argName(step_, parameter.argument).str() + "/" + state;
  }

  // Gradient descent without a state: p - lr (g + weight_decay p).
  void descend(const Trained &parameter) {
    Value p = step_.getArgument(parameter.argument), g = parameter.gradient;
    Location loc = p.getLoc();
    auto scaled = [&](Value x, double factor) {
      return MulOp::create(b_, loc, x, buildSplatLike(b_, x, factor));
    };
    if (option_.weightDecay != 0)
      g = AddOp::create(b_, loc, g, scaled(p, option_.weightDecay));
    states_.result(SubOp::create(b_, loc, p, scaled(g, option_.lr)), parameter.argument);
  }

  void momentum(const Trained &parameter) {
    Value p = step_.getArgument(parameter.argument);
    Value velocity = states_.argument(p.getType(), stateName(parameter, "sgd.velocity"),
                                      argName(step_, parameter.argument));
    auto update =
        SgdOp::create(b_, p.getLoc(), p, parameter.gradient, velocity, counter_,
                      APFloat(option_.lr), APFloat(option_.momentum), APFloat(option_.dampening),
                      APFloat(option_.weightDecay), option_.nesterov);
    states_.result(update.getNewParameter(), parameter.argument);
    states_.result(update.getNewVelocity(), velocity);
  }

  void adam(const Trained &parameter) {
    Value p = step_.getArgument(parameter.argument);
    StringRef name = argName(step_, parameter.argument);
    Value m = states_.argument(p.getType(), stateName(parameter, "adam.m"), name);
    Value v = states_.argument(p.getType(), stateName(parameter, "adam.v"), name);
    bool decoupled = option_.kind == OptimizerOption::Kind::AdamW;
    auto update =
        AdamOp::create(b_, p.getLoc(), p, parameter.gradient, m, v, counter_, APFloat(option_.lr),
                       APFloat(option_.beta1), APFloat(option_.beta2), APFloat(option_.eps),
                       APFloat(option_.weightDecay), decoupled);
    states_.result(update.getNewParameter(), parameter.argument);
    states_.result(update.getNewFirstMoment(), m);
    states_.result(update.getNewSecondMoment(), v);
  }

  OpBuilder &b_;
  func::FuncOp step_;
  const OptimizerOption &option_;
  StateAdder states_;
  Value counter_; // number of this step, from 1
};

} // namespace

void buildUpdates(OpBuilder &b, func::FuncOp step, const OptimizerOption &optimizer,
                  ArrayRef<Trained> trained, const LossScale *scale) {
  Updater(b, step, optimizer, scale).run(trained);
}

} // namespace cleave::train
