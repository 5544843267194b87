// The updates: the states of the optimizer, its hyperparameters, and new parameters by its formula
// (optimizers/).
#include "passes/train/optimizers/Update.h"
#include "dialects/graph/Build.h"
#include "dialects/graph/SignatureEdit.h"
#include "passes/train/Parts.h"
#include "runtime/base/Glob.h"

using namespace mlir;
using namespace cleave::graph;

namespace cleave::train {

namespace {

// Adds arguments to the step, and new values of them as results; commit() adds them to the
// signature. With a loss scale, values are as before the step if its gradients overflowed.
class StepEdit {
public:
  // `scale` may be null.
  StepEdit(OpBuilder &b, func::FuncOp step, const LossScale *scale)
      : b_(b), context_(step.getContext()), edit_(step), step_(step), scale_(scale) {}

  // A tensor that begins with `fill` in all elements. `parameter`: the parameter whose state it is;
  // empty for other arguments.
  Value argument(Type type, const std::string &name, Role role, double fill = 0,
                 StringRef parameter = "") {
    TensorOrigin origin;
    origin.fill = fill;
    BlockArgument argument = edit_.addArgument(type, name, role, toAttribute(origin, context_));
    if (!parameter.empty())
      edit_.setArgAttr(argument.getArgNumber(), "graph.parameter",
                       StringAttr::get(context_, parameter));
    return argument;
  }

  // Adds the new value of an argument as a result.
  void result(Value value, unsigned argument) {
    auto text = [&](const char *attribute) {
      return cast<StringAttr>(edit_.argAttr(argument, attribute)).getValue();
    };
    if (scale_)
      value = scale_->unlessOverflow(b_, value, step_.getArgument(argument));
    edit_.addResult(value, text("graph.name"), *roleNamed(text("graph.role")), argument);
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
};

// The states of one parameter, `PARAMETER/STATE`. Their results come behind that of the parameter.
class ParameterStates : public StateStore {
public:
  ParameterStates(StepEdit &edit, StringRef parameter) : edit_(edit), parameter_(parameter) {}

  Value add(const std::string &name, Type type, double fill) override {
    return edit_.argument(type, parameter_ + "/" + name, Role::State, fill, parameter_);
  }
  void set(Value state, Value value) override { updated_.emplace_back(value, state); }

  void addResults() {
    for (auto [value, state] : updated_)
      edit_.result(value, state);
  }

private:
  StepEdit &edit_;
  std::string parameter_;
  SmallVector<std::pair<Value, Value>> updated_;
};

// Builds the updates of one parameter after the other.
class Updater {
public:
  Updater(OpBuilder &b, func::FuncOp step, const TrainOptions &options, const LossScale *scale)
      : b_(step.getLoc(), b), step_(step), options_(options),
        optimizer_(*findOptimizer(options.optimizer.name)), edit_(b_, step, scale),
        scalar_(RankedTensorType::get({}, b.getF64Type())) {}

  void run(ArrayRef<Trained> trained) {
    Value before = edit_.argument(scalar_, kStepCounter, Role::State);
    counter_ = Term{&b_, before} + 1;
    for (const Trained &parameter : trained)
      update(parameter);
    edit_.result(counter_, before);
    edit_.commit();
  }

private:
  // The group that chooses the parameter, or null.
  const GroupOption *groupOf(unsigned argument) const {
    for (const GroupOption &group : options_.groups)
      if (isInGroup(step_, argument, group))
        return &group;
    return nullptr;
  }

  // The learning rate as an argument: one for the optimizer, and one for each group with its own.
  Term rateOf(const GroupOption *group, double value) {
    bool isOwn = group && group->values.contains(kLearningRate);
    std::string name = isOwn ? concat(kLearningRate, '/', group->pattern) : kLearningRate;
    auto [rate, isNew] = rates_.try_emplace(name);
    if (isNew)
      rate->second = edit_.argument(scalar_, name, Role::Hyperparameter, value);
    return {&b_, rate->second};
  }

  void update(const Trained &parameter) {
    Value p = step_.getArgument(parameter.argument);
    b_.setLoc(p.getLoc());
    const GroupOption *group = groupOf(parameter.argument);
    Hyperparameters values = hyperparametersOf(options_.optimizer, group ? *group : GroupOption());
    ParameterStates states(edit_, argName(step_, parameter.argument));
    Update update({&b_, p}, {&b_, parameter.gradient}, counter_,
                  rateOf(group, values.at(kLearningRate)), values, states);
    optimizer_.build(update);
    if (options_.ema)
      average(update, *options_.ema);
    edit_.result(update.updated(), parameter.argument);
    states.addResults();
  }

  // The moving average as torch.optim.swa_utils.AveragedModel computes it with get_ema_avg_fn: the
  // first one is the parameter.
  void average(Update &update, double decay) {
    Term before = update.state(kAverage.str()), p = update.updated();
    Term isFirst = everywhere(counter_ <= 1, p);
    update.setState(before, select(isFirst, p, before * decay + p * (1 - decay)));
  }

  ImplicitLocOpBuilder b_;
  func::FuncOp step_;
  const TrainOptions &options_;
  const Optimizer &optimizer_;
  StepEdit edit_;
  Type scalar_;
  Term counter_;                       // number of this step, from 1
  std::map<std::string, Value> rates_; // arguments by name
};

} // namespace

void buildUpdates(OpBuilder &b, func::FuncOp step, const TrainOptions &options,
                  ArrayRef<Trained> trained, const LossScale *scale) {
  Updater(b, step, options, scale).run(trained);
}

} // namespace cleave::train
