// From gradients to new parameters: the norm, clipping and the optimizers.
#include "passes/train/Steps.h"

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

// Adds states as arguments and their new values as results; they are part of the signature from
// commit() on.
class StateAdder {
public:
  explicit StateAdder(func::FuncOp step)
      : context(step.getContext()), edit(step), zeros(toAttribute(TensorOrigin(), context)) {}

  // A tensor that begins with zeros; `parameter` is whose state it is, empty for the step counter.
  Value argument(Type type, const std::string &name, StringRef parameter) {
    BlockArgument argument = edit.addArgument(type, name, "state", zeros);
    if (!parameter.empty())
      edit.setArgAttr(argument.getArgNumber(), "graph.parameter",
                      StringAttr::get(context, parameter));
    return argument;
  }

  // The new value of an argument.
  void result(Value value, unsigned argument) {
    auto text = [&](const char *name) {
      return cast<StringAttr>(edit.argAttr(argument, name)).getValue();
    };
    edit.addResult(value, text("graph.name"), text("graph.role"), argument);
  }
  void result(Value value, Value argument) {
    result(value, cast<BlockArgument>(argument).getArgNumber());
  }

  void commit() { edit.commit(); }

private:
  MLIRContext *context;
  SignatureEdit edit;
  Attribute zeros;
};

// One optimizer applied to one parameter after the other.
class Updater {
public:
  Updater(OpBuilder &b, func::FuncOp step, const OptimizerOption &option)
      : b(b), step(step), option(option), states(step) {}

  void run(ArrayRef<Trained> trained) {
    Type counterType = RankedTensorType::get({}, b.getF64Type());
    Value before = states.argument(counterType, "step", "");
    counter = AddOp::create(b, step.getLoc(), before, buildSplat(b, step.getLoc(), counterType, 1));
    for (const Trained &parameter : trained)
      if (option.kind != OptimizerOption::Kind::Sgd)
        adam(parameter);
      else if (option.momentum != 0)
        momentum(parameter);
      else
        descend(parameter);
    states.result(counter, before);
    states.commit();
  }

private:
  std::string stateName(const Trained &parameter, const char *state) {
    return argName(step, parameter.argument).str() + "/" + state;
  }

  // Gradient descent without a state: p - lr (g + weight_decay p).
  void descend(const Trained &parameter) {
    Value p = step.getArgument(parameter.argument), g = parameter.gradient;
    Location loc = p.getLoc();
    auto scaled = [&](Value x, double factor) {
      return MulOp::create(b, loc, x, buildSplatLike(b, x, factor));
    };
    if (option.weightDecay != 0)
      g = AddOp::create(b, loc, g, scaled(p, option.weightDecay));
    states.result(SubOp::create(b, loc, p, scaled(g, option.lr)), parameter.argument);
  }

  void momentum(const Trained &parameter) {
    Value p = step.getArgument(parameter.argument);
    Value velocity = states.argument(p.getType(), stateName(parameter, "sgd.velocity"),
                                     argName(step, parameter.argument));
    auto update =
        SgdOp::create(b, p.getLoc(), p, parameter.gradient, velocity, counter, APFloat(option.lr),
                      APFloat(option.momentum), APFloat(option.dampening),
                      APFloat(option.weightDecay), option.nesterov);
    states.result(update.getNewParameter(), parameter.argument);
    states.result(update.getNewVelocity(), velocity);
  }

  void adam(const Trained &parameter) {
    Value p = step.getArgument(parameter.argument);
    StringRef name = argName(step, parameter.argument);
    Value m = states.argument(p.getType(), stateName(parameter, "adam.m"), name);
    Value v = states.argument(p.getType(), stateName(parameter, "adam.v"), name);
    bool decoupled = option.kind == OptimizerOption::Kind::AdamW;
    auto update = AdamOp::create(b, p.getLoc(), p, parameter.gradient, m, v, counter,
                                 APFloat(option.lr), APFloat(option.beta1), APFloat(option.beta2),
                                 APFloat(option.eps), APFloat(option.weightDecay), decoupled);
    states.result(update.getNewParameter(), parameter.argument);
    states.result(update.getNewFirstMoment(), m);
    states.result(update.getNewSecondMoment(), v);
  }

  OpBuilder &b;
  func::FuncOp step;
  const OptimizerOption &option;
  StateAdder states;
  Value counter; // of this step, from 1
};

} // namespace

void buildUpdates(OpBuilder &b, func::FuncOp step, const OptimizerOption &optimizer,
                  ArrayRef<Trained> trained) {
  Updater(b, step, optimizer).run(trained);
}

} // namespace cleave::train
