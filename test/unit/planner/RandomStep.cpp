#include "test/unit/planner/RandomStep.h"

#include "runtime/base/Concat.h"

namespace cleave::test {

using namespace cleave::planner;

namespace {

using Shape = std::vector<int64_t>;

class StepMaker {
public:
  StepMaker(int dims, std::mt19937 &random)
      : dims_(dims), random_(random), microBatches_(pick({1, 1, 3})) {}

  StepModel make(int layers) {
    int x = addArgument(Role::Input, "x", {size(), size()});
    if (dims_ > 2)
      model_.values[x].shape.push_back(size());
    for (int i = 0; i < layers; ++i) {
      x = addLayer(x);
      for (int64_t more = pick({0, 1, 1, 2}); more > 0; --more)
        x = addRandomOp(x);
    }
    std::string loss = letters(shapeOf(x).size(), 'a') + " ->";
    int sum = addOp(loss, {x}, {Shape()}, true);
    model_.outputs.push_back({"loss", Role::Loss, sum, -1});
    for (const Layer &layer : layers_)
      addUpdate(layer);
    classifyOps(model_);
    return std::move(model_);
  }

private:
  struct Layer {
    int input, weight, output; // values
  };

  int64_t pick(std::initializer_list<int64_t> among) {
    return among.begin()[random_() % among.size()];
  }
  int64_t size() { return pick({4, 6, 7, 16, 96, 512, 2048, 4096}); }
  const Shape &shapeOf(int value) const { return model_.values[value].shape; }

  // `a b c` for 3 dims, beginning with `first`.
  static std::string letters(size_t count, char first) {
    std::string text;
    for (size_t i = 0; i < count; ++i)
      text += concat(i ? " " : "", static_cast<char>(first + i));
    return text;
  }

  int addValue(Shape shape, int producer, int result, int argument) {
    Value value;
    value.shape = std::move(shape);
    value.producer = producer;
    value.result = result;
    value.argument = argument;
    model_.values.push_back(std::move(value));
    return static_cast<int>(model_.values.size()) - 1;
  }

  int addArgument(Role role, const std::string &name, Shape shape,
                  const std::string &parameter = "") {
    const int index = static_cast<int>(model_.arguments.size());
    const int value = addValue(std::move(shape), -1, 0, index);
    model_.arguments.push_back({name, {}, role, parameter, value, -1});
    return value;
  }

  // Returns the first result.
  int addOp(const std::string &notation, const std::vector<int> &operands,
            const std::vector<Shape> &results, bool isLinear, bool isProduct = false) {
    const int index = static_cast<int>(model_.ops.size());
    std::vector<std::vector<Polynomial>> operandShapes, resultShapes;
    Op op;
    op.name = concat("op", index);
    op.kind = "test.op";
    op.operands = operands;
    for (size_t i = 0; i < operands.size(); ++i) {
      model_.values[operands[i]].uses.push_back({index, static_cast<int>(i)});
      operandShapes.emplace_back(shapeOf(operands[i]).begin(), shapeOf(operands[i]).end());
    }
    for (size_t i = 0; i < results.size(); ++i) {
      op.results.push_back(addValue(results[i], index, static_cast<int>(i), -1));
      resultShapes.emplace_back(results[i].begin(), results[i].end());
    }
    op.rule = FactorRule::parse(notation, operandShapes, resultShapes);
    op.rule.linear = isLinear;
    op.work.isProduct = isProduct;
    op.work.flops = isProduct ? 2 : 1;
    for (const Factor &factor : op.rule.factors)
      op.work.flops *= static_cast<double>(*factor.size.constant());
    op.repeats = microBatches_;
    model_.ops.push_back(std::move(op));
    return model_.ops.back().results[0];
  }

  int addLayer(int x) {
    Shape shape = shapeOf(x);
    const std::string rows = letters(shape.size() - 1, 'a');
    const Shape weightShape = {shape.back(), size()};
    shape.back() = weightShape[1];
    const int weight = addArgument(Role::Parameter, concat("w", layers_.size()), weightShape);
    const int y = addOp(rows + " x, x y -> " + rows + " y", {x, weight}, {shape}, false, true);
    layers_.push_back({x, weight, y});
    return y;
  }

  // Returns a value with at least two dims.
  int addRandomOp(int x) {
    const Shape shape = shapeOf(x);
    const std::string all = letters(shape.size(), 'a'), rows = letters(shape.size() - 1, 'a');
    switch (random_() % 6) {
    case 0: // a pointwise op, perhaps linear
      return addOp(all + " -> " + all, {x}, {shape}, random_() % 2);
    case 1: { // a residual sum
      const int y = addOp(all + " -> " + all, {x}, {shape}, false);
      return addOp(all + ", " + all + " -> " + all, {x, y}, {shape}, true);
    }
    case 2: // needs whole rows
      return addOp(rows + " !x -> " + rows + " !x", {x}, {shape}, false);
    case 3: { // statistics of rows, used by the next op
      const int sum = addOp(rows + " x -> " + rows, {x}, {Shape(shape.begin(), shape.end() - 1)},
                            random_() % 2);
      return addOp(rows + " x, " + rows + " -> " + rows + " x", {x, sum}, {shape}, false);
    }
    case 4: { // swaps the first two dims
      Shape swapped = shape;
      std::swap(swapped[0], swapped[1]);
      const std::string tail = shape.size() > 2 ? " c" : "";
      const int y = addOp("a b" + tail + " -> b a" + tail, {x}, {swapped}, true);
      model_.ops.back().isView = true;
      model_.ops.back().hasKernel = false;
      return y;
    }
    default: { // a product with itself
      Shape square = shape;
      square.back() = shape[shape.size() - 2];
      const std::string batch = shape.size() > 2 ? "a " : "";
      return addOp(batch + "m k, " + batch + "n k -> " + batch + "m n", {x, x}, {square}, false,
                   true);
    }
    }
  }

  void addReplacement(Role role, int argumentValue, int value) {
    const int argument = model_.values[argumentValue].argument;
    model_.arguments[argument].output = static_cast<int>(model_.outputs.size());
    model_.outputs.push_back({model_.arguments[argument].name, role, value, argument});
  }

  void addUpdate(const Layer &layer) {
    const std::string rows = letters(shapeOf(layer.input).size() - 1, 'a');
    const Shape shape = shapeOf(layer.weight);
    int gradient = addOp(rows + " x, " + rows + " y -> x y", {layer.input, layer.output}, {shape},
                         false, true);
    if (microBatches_ > 1) {
      gradient = addOp("x y -> x y", {gradient}, {shape}, true);
      model_.ops.back().isAccumulate = true;
      model_.ops.back().moves = {{.kind = Move::Kind::Fill}}; // cleared before
    }
    const std::string &name = model_.arguments[model_.values[layer.weight].argument].name;
    const int state = addArgument(Role::State, name + ".m", shape, name);
    const int updated =
        addOp("x y, x y, x y -> x y, x y", {layer.weight, gradient, state}, {shape, shape}, false);
    model_.ops.back().repeats = 1;
    addReplacement(Role::Parameter, layer.weight, updated);
    addReplacement(Role::State, state, updated + 1);
  }

  int dims_;
  std::mt19937 &random_;
  int64_t microBatches_;
  StepModel model_;
  std::vector<Layer> layers_;
};

} // namespace

StepModel randomStep(int layers, int dims, std::mt19937 &random) {
  return StepMaker(dims, random).make(layers);
}

} // namespace cleave::test
