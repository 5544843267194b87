// Losses over the outputs of the model, with labels as new arguments, and their metrics.
#include "passes/train/Parts.h"

#include "dialects/graph/Build.h"
#include "dialects/graph/Step.h"

using namespace mlir;
using namespace cleave::graph;

namespace cleave::train {

// The value of the output with this name; null after an error.
static Value findOutput(func::FuncOp step, const std::string &name) {
  std::string known;
  for (unsigned i = 0; i < step.getNumResults(); ++i) {
    if (resultRole(step, i) != "output")
      continue;
    if (resultName(step, i) == name)
      return step.getBody().front().getTerminator()->getOperand(i);
    known += (known.empty() ? "" : ", ") + resultName(step, i).str();
  }
  emitError(step.getLoc()) << "the loss names the output `" << name
                           << "`, but the model's outputs are: " << known;
  return {};
}

// The label as an argument, which several losses may share.
static Value addLabel(func::FuncOp step, const std::string &name, Type type) {
  std::optional<unsigned> existing = argNamed(step, name);
  if (!existing)
    return addArgument(step, type, name, "label");
  if (argRole(step, *existing) != "label" || step.getArgument(*existing).getType() != type) {
    auto diag = emitError(step.getLoc())
                << "the label `" << name << "` would be a new input of type " << type
                << ", but that name is taken; choose another one: KIND:OUTPUT,LABEL";
    diag.attachNote(step.getArgument(*existing).getLoc())
        << "the " << argRole(step, *existing) << " `" << name << "` has type "
        << step.getArgument(*existing).getType();
    return {};
  }
  return step.getArgument(*existing);
}

Value widened(OpBuilder &b, Value value) {
  bool isShort = elementTypeOf(value).getIntOrFloatBitWidth() < 32;
  return isShort ? buildCast(b, value, b.getF32Type()) : value;
}

static Value crossEntropy(OpBuilder &b, func::FuncOp step, const LossOption &loss, Value output) {
  Shape shape = shapeOf(output);
  if (shape.size() < 2) {
    auto diag =
        emitError(step.getLoc())
        << "softmax-cross-entropy needs an output with a batch and classes as its last dim, but `"
        << loss.output << "` is " << output.getType();
    diag.attachNote(output.getLoc()) << "the output is computed here";
    return {};
  }
  shape.pop_back();
  Value labels = addLabel(step, loss.label, tensorOf(shape, b.getI64Type()));
  if (!labels)
    return {};
  return SoftmaxCrossEntropyOp::create(b, output.getLoc(), widened(b, output), labels);
}

static Value meanSquare(OpBuilder &b, func::FuncOp step, const LossOption &loss, Value output) {
  Value label = addLabel(step, loss.label, output.getType());
  if (!label)
    return {};
  Value difference =
      SubOp::create(b, output.getLoc(), widened(b, output), widened(b, label)).getResult();
  Value square = MulOp::create(b, output.getLoc(), difference, difference);
  return buildMean(b, square, llvm::to_vector(llvm::seq<int64_t>(0, rankOf(output))));
}

static Value outputAsLoss(OpBuilder &b, func::FuncOp step, const LossOption &loss, Value output) {
  if (elementCount(output.getType()) == Polynomial(1))
    return buildReshape(b, output, {});
  auto diag = emitError(step.getLoc())
              << "the loss output:" << loss.output << " needs a single number, but that output is "
              << output.getType();
  diag.attachNote(output.getLoc()) << "the output is computed here";
  return {};
}

static Value buildOne(OpBuilder &b, func::FuncOp step, const LossOption &loss) {
  Value output = findOutput(step, loss.output);
  if (!output)
    return {};
  if (!isa<FloatType>(elementTypeOf(output))) {
    auto diag = emitError(step.getLoc()) << "a loss needs an output of floats, but `" << loss.output
                                         << "` is " << output.getType();
    diag.attachNote(output.getLoc()) << "the output is computed here";
    return {};
  }
  switch (loss.kind) {
  case LossOption::Kind::SoftmaxCrossEntropy:
    return crossEntropy(b, step, loss, output);
  case LossOption::Kind::Mse:
    return meanSquare(b, step, loss, output);
  case LossOption::Kind::Output:
    return outputAsLoss(b, step, loss, output);
  }
  return {};
}

Value buildLoss(OpBuilder &b, func::FuncOp step, const std::vector<LossOption> &losses) {
  Value sum;
  for (const LossOption &loss : losses) {
    Value one = buildOne(b, step, loss);
    if (!one)
      return {};
    if (sum && sum.getType() != one.getType())
      one = buildCast(b, one, elementTypeOf(sum));
    sum = sum ? AddOp::create(b, step.getLoc(), sum, one).getResult() : one;
  }
  if (!sum)
    emitError(step.getLoc()) << "training needs at least one loss, given as KIND:OUTPUT[,LABEL]";
  return sum;
}

// -- metrics --------------------------------------------------------------------------------------

// With the role of a loss, so that all ops of an evaluation are those of a forward pass.
static void addMetric(func::FuncOp step, Value value, const std::string &name) {
  addResult(step, value, name, "loss");
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

// The number of the first class with the largest logit.
static Value predicted(OpBuilder &b, Value logits) {
  const int64_t dim = rankOf(logits) - 1;
  Location loc = logits.getLoc();
  Value best = buildReduce(b, Reduction::Max, logits, dim);
  Value isBest =
      CompareOp::create(b, loc, Predicate::EQ, logits, buildBroadcastOver(b, best, logits, dim));
  Value number = IotaOp::create(b, loc, tensorOf(shapeOf(logits), b.getI64Type()), dim);
  Value nowhere = buildSizeLike(b, number, shapeOf(logits)[dim]);
  Value candidate = SelectOp::create(b, loc, number.getType(), isBest, number, nowhere);
  return buildReduce(b, Reduction::Min, candidate, dim);
}

// Loss and accuracy over the labels that are not ignored. The mean over none is NaN.
static void crossEntropyMetrics(OpBuilder &b, func::FuncOp step, SoftmaxCrossEntropyOp op,
                                Value output, const std::string &suffix) {
  Location loc = op.getLoc();
  Value labels = op.getLabels(), mean = op.getResult();
  Value ignored =
      buildSplatLike(b, labels, static_cast<double>(static_cast<int64_t>(op.getIgnoreIndex())));
  Value isCounted = CompareOp::create(b, loc, Predicate::NE, labels, ignored);
  Value count = total(b, buildCast(b, isCounted, elementTypeOf(mean)));
  Value isAny = CompareOp::create(b, loc, Predicate::GT, count, buildSplatLike(b, count, 0));
  Value sum = MulOp::create(b, loc, countedOnly(b, isAny, mean), count);
  Value isRight = CompareOp::create(b, loc, Predicate::EQ, predicted(b, output), labels);
  Value right = total(b, buildCast(b, isRight, elementTypeOf(mean)));
  addMetric(step, sum, "loss" + suffix + ".sum");
  addMetric(step, count, "loss" + suffix + ".count");
  addMetric(step, right, "accuracy" + suffix + ".sum");
  addMetric(step, count, "accuracy" + suffix + ".count");
}

// The mean square over the elements whose label is a number.
static void meanSquareMetrics(OpBuilder &b, func::FuncOp step, Value output, Value label,
                              const std::string &suffix) {
  Location loc = output.getLoc();
  Value isCounted = CompareOp::create(b, loc, Predicate::EQ, label, label);
  Value difference = SubOp::create(b, loc, widened(b, output), widened(b, label));
  Value square = MulOp::create(b, loc, difference, difference);
  addMetric(step, total(b, countedOnly(b, isCounted, square)), "loss" + suffix + ".sum");
  addMetric(step, total(b, buildCast(b, isCounted, elementTypeOf(square))),
            "loss" + suffix + ".count");
}

LogicalResult buildMetrics(OpBuilder &b, func::FuncOp step, const std::vector<LossOption> &losses) {
  for (auto [i, loss] : llvm::enumerate(losses)) {
    const std::string suffix = losses.size() > 1 ? "." + std::to_string(i) : "";
    Value output = findOutput(step, loss.output), value = buildOne(b, step, loss);
    if (!output || !value)
      return failure();
    if (auto entropy = value.getDefiningOp<SoftmaxCrossEntropyOp>();
        entropy && loss.kind == LossOption::Kind::SoftmaxCrossEntropy)
      crossEntropyMetrics(b, step, entropy, output, suffix);
    else if (loss.kind == LossOption::Kind::Mse)
      meanSquareMetrics(b, step, output, step.getArgument(*argNamed(step, loss.label)), suffix);
    else
      addMetric(step, widened(b, value), "loss" + suffix + ".mean");
  }
  return success();
}

} // namespace cleave::train
