// Losses over the outputs of the model, with labels as new arguments, and their metrics.
#include "passes/train/Parts.h"
#include "passes/train/Train.h"
#include "passes/train/WholeStep.h"

#include "compiler/frontend/emit/Loss.h"
#include "dialects/graph/Build.h"
#include "dialects/graph/Step.h"
#include "runtime/base/Concat.h"
#include "runtime/base/Nearest.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace cleave::graph;

namespace cleave::train {

static std::vector<unsigned> outputsOf(func::FuncOp step) {
  std::vector<unsigned> outputs;
  for (unsigned i = 0; i < step.getNumResults(); ++i)
    if (resultRole(step, i) == Role::Output)
      outputs.push_back(i);
  return outputs;
}

std::optional<unsigned> outputNamed(func::FuncOp step, StringRef name) {
  const std::vector<unsigned> outputs = outputsOf(step);
  for (unsigned output : outputs)
    if (resultName(step, output) == name)
      return output;
  size_t number = 0;
  if (name.empty() ? outputs.size() == 1
                   : llvm::to_integer(name, number, 10) && number < outputs.size())
    return outputs[number];
  return std::nullopt;
}

static std::vector<std::string> outputNames(func::FuncOp step) {
  std::vector<std::string> names;
  for (unsigned output : outputsOf(step))
    names.push_back(resultName(step, output).str());
  return names;
}

std::string lossesToChoose(func::FuncOp step) {
  const std::string names = "`" + llvm::join(outputNames(step), "`, `") + "`";
  for (unsigned output : outputsOf(step)) {
    const auto type = cast<RankedTensorType>(step.getResultTypes()[output]);
    if (isa<FloatType>(type.getElementType()))
      return concat("the model's outputs are ", names, "; for example --loss ",
                    type.getRank() == 0 ? "output:" : "softmax-cross-entropy:",
                    resultName(step, output).str());
  }
  return "no output of the model is a floating-point number: " + names;
}

// The output that a loss names; sets `name` to its name. Null after an error.
static Value findOutput(func::FuncOp step, std::string &name) {
  if (std::optional<unsigned> output = outputNamed(step, name)) {
    name = resultName(step, *output).str();
    return step.getBody().front().getTerminator()->getOperand(*output);
  }
  const std::vector<std::string> known = outputNames(step);
  if (name.empty())
    emitError(step.getLoc()) << "the loss names no output, but the model has several: "
                             << llvm::join(known, ", ") << "; choose one: KIND:OUTPUT";
  else
    emitError(step.getLoc()) << "the loss names the output `" << name
                             << "`, which the model does not have" << suggestion(name, known);
  return {};
}

// The label as an argument, which several losses may share.
static Value addLabel(func::FuncOp step, const std::string &name, Type type) {
  std::optional<unsigned> existing = argNamed(step, name);
  if (!existing)
    return addArgument(step, type, name, Role::Label);
  if (argRole(step, *existing) != Role::Label || step.getArgument(*existing).getType() != type) {
    auto diag = emitError(step.getLoc())
                << "the label `" << name << "` would be a new input of type " << type
                << ", but that name is taken; choose another one: KIND:OUTPUT,LABEL";
    diag.attachNote(step.getArgument(*existing).getLoc())
        << "the " << StringRef(cleave::name(argRole(step, *existing))) << " `" << name
        << "` has type " << step.getArgument(*existing).getType();
    return {};
  }
  return step.getArgument(*existing);
}

Value widened(OpBuilder &b, Value value) {
  bool isShort = elementTypeOf(value).getIntOrFloatBitWidth() < 32;
  return isShort ? buildCast(b, value, b.getF32Type()) : value;
}

// A weight for each class, or for each element of the last dim, as a constant of one dim.
static Value weightsOf(const emit::Emitter &e, const std::vector<double> &weights, Value like) {
  if (weights.empty())
    return {};
  Tensor tensor(toElementType(elementTypeOf(like)), {static_cast<int64_t>(weights.size())});
  for (auto [i, weight] : llvm::enumerate(weights))
    tensor.set(static_cast<int64_t>(i), weight);
  return e.constant(tensor);
}

static emit::LossReduction reductionOf(const LossOption &loss) {
  return loss.isSum ? emit::LossReduction::Sum : emit::LossReduction::Mean;
}

// The dim of the classes; none after an error was reported.
static std::optional<int64_t> classDimOf(func::FuncOp step, const LossOption &loss, Value output) {
  int64_t rank = rankOf(output), dim = loss.classDim.value_or(rank - 1);
  dim = dim < 0 ? dim + rank : dim;
  if (rank >= 2 && dim >= 0 && dim < rank)
    return dim;
  auto diag = emitError(step.getLoc())
              << nameOf(loss.kind) << " needs an output with a batch and classes as its "
              << (loss.classDim ? "dim " + std::to_string(*loss.classDim) : "last dim") << ", but `"
              << loss.output << "` is " << output.getType();
  diag.attachNote(output.getLoc()) << "the output is computed here";
  return std::nullopt;
}

// What a loss of integer labels is computed from.
struct ClassLoss {
  LossOption::Kind kind;
  Value scores, labels;
  emit::ClassLossOptions options;

  // Whether the mean is one op.
  bool isPlain() const {
    return kind == LossOption::Kind::SoftmaxCrossEntropy && !options.weights &&
           options.smoothing == 0;
  }
  Value build(const emit::Emitter &e, emit::LossReduction reduction) const {
    emit::ClassLossOptions chosen = options;
    chosen.reduction = reduction;
    return kind == LossOption::Kind::Nll ? emit::negativeLogLikelihood(e, scores, labels, chosen)
                                         : emit::crossEntropy(e, scores, labels, chosen);
  }
  // The number of these labels that count, or their weight.
  Value count(const emit::Emitter &e, Value of) const {
    Value weights = emit::positionWeights(e, of, elementTypeOf(scores), options);
    return emit::reduced(e, weights, emit::LossReduction::Sum);
  }
};

// The part of a micro-batch in the loss of the step (WholeStep.h).
static Value partOf(const emit::Emitter &e, const ClassLoss &loss, WholeStep &whole) {
  if (loss.options.reduction == emit::LossReduction::Sum)
    return whole.partOfSum(e.b, loss.build(e, emit::LossReduction::Sum));
  const bool isOnlyOne = whole.microBatches() == 1;
  Value mean = loss.isPlain() ? loss.build(e, emit::LossReduction::Mean) : Value();
  if (mean && isOnlyOne)
    return mean;
  Value all = loss.count(e, isOnlyOne ? loss.labels : whole.allOf(loss.labels));
  if (mean)
    return whole.partOfMean(e.b, mean, loss.count(e, loss.labels), all);
  return whole.partOfQuotient(e.b, loss.build(e, emit::LossReduction::Sum), all);
}

// None after an error was reported.
static std::optional<ClassLoss> classLossOf(const emit::Emitter &e, func::FuncOp step,
                                            const LossOption &loss, Value output) {
  std::optional<int64_t> classDim = classDimOf(step, loss, output);
  if (!classDim)
    return std::nullopt;
  Shape shape = shapeOf(output);
  shape.erase(shape.begin() + *classDim);
  Value labels = addLabel(step, loss.label, tensorOf(shape, e.b.getI64Type()));
  if (!labels)
    return std::nullopt;
  Value scores = widened(e.b, output);
  emit::ClassLossOptions options{*classDim, weightsOf(e, loss.classWeights, scores), loss.ignored,
                                 reductionOf(loss), loss.smoothing};
  return ClassLoss{loss.kind, scores, labels, options};
}

// The losses of elements beside labels with the type of the output.
static Value elementLosses(const emit::Emitter &e, func::FuncOp step, const LossOption &loss,
                           Value output) {
  Value label = addLabel(step, loss.label, output.getType());
  if (!label)
    return {};
  Value x = widened(e.b, output), target = widened(e.b, label), losses;
  size_t weights = loss.posWeights.size();
  if (weights > 1 && (rankOf(x) == 0 || shapeOf(x).back() != Polynomial(int64_t(weights))))
    emit::fail("has ", weights,
               " numbers as pos-weight, expected 1 or one for each element of its "
               "last dim, ",
               rankOf(x) == 0 ? "1" : shapeOf(x).back().str());
  switch (loss.kind) {
  case LossOption::Kind::Bce:
    losses = emit::binaryCrossEntropyOfLogits(e, x, target, weightsOf(e, loss.posWeights, x));
    break;
  case LossOption::Kind::L1:
    losses = e.abs(e.sub(x, target));
    break;
  case LossOption::Kind::SmoothL1:
    losses = emit::smoothAbsolute(e, x, target, loss.bound);
    break;
  case LossOption::Kind::Huber:
    losses = emit::huber(e, x, target, loss.bound);
    break;
  default: {
    Value difference = e.sub(x, target);
    losses = e.mul(difference, difference);
  }
  }
  return losses;
}

static Value ofElements(const emit::Emitter &e, func::FuncOp step, const LossOption &loss,
                        Value output, WholeStep &whole) {
  Value losses = elementLosses(e, step, loss, output);
  if (!losses)
    return {};
  Value one = emit::reduced(e, losses, reductionOf(loss));
  return loss.isSum ? whole.partOfSum(e.b, one) : one;
}

static Value outputAsLoss(OpBuilder &b, func::FuncOp step, const LossOption &loss, Value output,
                          WholeStep &whole) {
  if (elementCount(output.getType()) == Polynomial(1))
    return buildReshape(
        b, whole.microBatches() > 1 ? whole.partOfOutput(b, output, loss.output) : output, {});
  auto diag = emitError(step.getLoc())
              << "the loss output:" << loss.output << " needs a single number, but that output is "
              << output.getType();
  diag.attachNote(output.getLoc()) << "the output is computed here";
  return {};
}

static Value buildOne(OpBuilder &b, func::FuncOp step, LossOption loss, WholeStep &whole) {
  Value output = findOutput(step, loss.output);
  if (!output)
    return {};
  emit::Evaluator evaluator;
  emit::Emitter e(b, output.getLoc(), evaluator);
  if (!isa<FloatType>(elementTypeOf(output))) {
    auto diag = emitError(step.getLoc()) << "a loss needs an output of floats, but `" << loss.output
                                         << "` is " << output.getType();
    diag.attachNote(output.getLoc()) << "the output is computed here";
    return {};
  }
  try {
    switch (loss.kind) {
    case LossOption::Kind::SoftmaxCrossEntropy:
    case LossOption::Kind::Nll: {
      std::optional<ClassLoss> found = classLossOf(e, step, loss, output);
      return found ? partOf(e, *found, whole) : Value();
    }
    case LossOption::Kind::Output:
      return outputAsLoss(e.b, step, loss, output, whole);
    default:
      return ofElements(e, step, loss, output, whole);
    }
  } catch (const emit::Failure &failure) {
    emitError(step.getLoc()) << "the loss " << nameOf(loss.kind) << " of `" << loss.output << "` "
                             << failure.status.message();
    return {};
  }
}

Value buildLoss(OpBuilder &b, func::FuncOp step, const std::vector<LossOption> &losses,
                int64_t microBatches) {
  WholeStep whole(step, microBatches);
  Value sum;
  for (const LossOption &loss : losses) {
    Value one = buildOne(b, step, loss, whole);
    if (!one)
      return {};
    if (loss.factor != 1)
      one = MulOp::create(b, one.getLoc(), one, buildSplatLike(b, one, loss.factor));
    if (sum && sum.getType() != one.getType())
      one = buildCast(b, one, elementTypeOf(sum));
    sum = sum ? AddOp::create(b, step.getLoc(), sum, one).getResult() : one;
  }
  if (!sum)
    emitError(step.getLoc()) << "training needs at least one loss, given as KIND[:OUTPUT[,LABEL]]";
  return sum;
}

// -- metrics --------------------------------------------------------------------------------------

// With the role of a loss, so that all ops of an evaluation are those of a forward pass.
static void addMetric(func::FuncOp step, Value value, const std::string &name) {
  addResult(step, value, name, Role::Loss);
}

// The sum of all elements.
static Value total(OpBuilder &b, Value value) {
  return buildReduce(b, Reduction::Sum, value,
                     llvm::to_vector(llvm::seq<int64_t>(0, rankOf(value))));
}

// `value` where `isCounted`, else 0.
static Value countedOnly(OpBuilder &b, Value isCounted, Value value) {
  return SelectOp::create(b, value.getLoc(), value.getType(), isCounted, value,
                          buildSplatLike(b, value, 0));
}

// The number of the first class with the largest score.
static Value predicted(OpBuilder &b, Value scores, int64_t dim) {
  Location loc = scores.getLoc();
  Value best = buildReduce(b, Reduction::Max, scores, dim);
  Value isBest =
      CompareOp::create(b, loc, Predicate::EQ, scores, buildBroadcastOver(b, best, scores, dim));
  Value number = IotaOp::create(b, loc, tensorOf(shapeOf(scores), b.getI64Type()), dim);
  Value nowhere = buildSizeLike(b, number, shapeOf(scores)[dim]);
  Value candidate = SelectOp::create(b, loc, number.getType(), isBest, number, nowhere);
  return buildReduce(b, Reduction::Min, candidate, dim);
}

// The labels that fill the last micro-batch of an evaluation are these, which do not count.
constexpr double kFiller = -100;

// Loss and accuracy over the labels that are not ignored, with the weights of a mean. The mean over
// none is NaN.
static LogicalResult classMetrics(OpBuilder &b, func::FuncOp step, LossOption loss, Value output,
                                  const std::string &suffix) {
  emit::Evaluator evaluator;
  emit::Emitter e(b, output.getLoc(), evaluator);
  loss.isSum = false;
  std::optional<ClassLoss> found = classLossOf(e, step, loss, output);
  if (!found)
    return failure();
  const auto ignored = static_cast<double>(loss.ignored);
  if (ignored != kFiller)
    found->labels = e.select(e.compare(Predicate::EQ, found->labels, kFiller),
                             e.splat(found->labels, ignored), found->labels);
  Type element = elementTypeOf(found->scores);
  Value weight = found->count(e, found->labels), sum;
  if (found->isPlain()) {
    Value mean = found->build(e, emit::LossReduction::Mean);
    sum = e.mul(countedOnly(b, e.compare(Predicate::GT, weight, 0.0), mean), weight);
  } else {
    sum = found->build(e, emit::LossReduction::Sum);
  }
  Value counted = e.cast(e.compare(Predicate::NE, found->labels, ignored), element);
  Value best = predicted(b, found->scores, *found->options.classDim);
  Value right = e.mul(e.cast(e.compare(Predicate::EQ, best, found->labels), element), counted);
  addMetric(step, sum, "loss" + suffix + ".sum");
  addMetric(step, weight, "loss" + suffix + ".count");
  addMetric(step, total(b, right), "accuracy" + suffix + ".sum");
  addMetric(step, total(b, counted), "accuracy" + suffix + ".count");
  return success();
}

static bool isOfClasses(const LossOption &loss) {
  return loss.kind == LossOption::Kind::SoftmaxCrossEntropy || loss.kind == LossOption::Kind::Nll;
}

// The mean loss of the elements whose label is a number.
static LogicalResult elementMetrics(OpBuilder &b, func::FuncOp step, const LossOption &loss,
                                    Value output, const std::string &suffix) {
  Location loc = output.getLoc();
  emit::Evaluator evaluator;
  Value losses = elementLosses(emit::Emitter(b, loc, evaluator), step, loss, output);
  if (!losses)
    return failure();
  Value label = step.getArgument(*argNamed(step, loss.label));
  Value isCounted = CompareOp::create(b, loc, Predicate::EQ, label, label);
  addMetric(step, total(b, countedOnly(b, isCounted, losses)), "loss" + suffix + ".sum");
  addMetric(step, total(b, buildCast(b, isCounted, elementTypeOf(losses))),
            "loss" + suffix + ".count");
  return success();
}

LogicalResult buildMetrics(OpBuilder &b, func::FuncOp step, const std::vector<LossOption> &losses) {
  WholeStep whole(step, /*microBatches=*/1);
  for (auto [i, given] : llvm::enumerate(losses)) {
    LossOption loss = given;
    Value output = findOutput(step, loss.output);
    Value value = output ? buildOne(b, step, loss, whole) : output;
    if (!value)
      return failure(); // with the errors of a training
    const std::string suffix = losses.size() > 1 ? "." + std::to_string(i) : "";
    LogicalResult built = success();
    if (loss.kind == LossOption::Kind::Output)
      addMetric(step, widened(b, value), "loss" + suffix + ".mean");
    else
      built = isOfClasses(loss) ? classMetrics(b, step, loss, output, suffix)
                                : elementMetrics(b, step, loss, output, suffix);
    if (failed(built))
      return failure();
  }
  return success();
}

} // namespace cleave::train
