// Recurrent networks: LSTM, GRU and RNN, in one direction or both.
#include "compiler/frontend/emit/Recurrent.h"

#include "compiler/frontend/emit/Activation.h"
#include "compiler/frontend/onnx/ops/OpTable.h"

namespace cleave::onnx {
namespace {

using namespace emit;
using emit::Activation;

// -- activations ----------------------------------------------------------------------------------

// An activation, the number of its parameters (alpha, beta) and their defaults.
struct KnownActivation {
  const char *name;
  int numbers;
  double alpha, beta;
  Value (*build)(const Emitter &e, Value x, double alpha, double beta);
};

Value clampedUnit(const Emitter &e, Value x) { return e.max(e.min(x, 1), 0); }
Value expLess1(const Emitter &e, Value x) { return e.unary<graph::Expm1Op>(x); }

constexpr KnownActivation kActivations[] = {
    {"affine", 2, 1, 0,
     [](const Emitter &e, Value x, double a, double b) { return e.add(e.mul(x, a), b); }},
    {"elu", 1, 1, 0,
     [](const Emitter &e, Value x, double a, double) {
       return e.add(e.max(x, 0), e.mul(expLess1(e, e.min(x, 0)), a));
     }},
    {"hardsigmoid", 2, 0.2, 0.5,
     [](const Emitter &e, Value x, double a, double b) {
       return clampedUnit(e, e.add(e.mul(x, a), b));
     }},
    {"leakyrelu", 1, 0.01, 0,
     [](const Emitter &e, Value x, double a, double) {
       return e.add(e.max(x, 0), e.mul(e.min(x, 0), a));
     }},
    {"relu", 0, 0, 0,
     [](const Emitter &e, Value x, double, double) { return e.unary<graph::ReluOp>(x); }},
    {"scaledtanh", 2, 1, 1,
     [](const Emitter &e, Value x, double a, double b) {
       return e.mul(e.unary<graph::TanhOp>(e.mul(x, b)), a);
     }},
    {"sigmoid", 0, 0, 0,
     [](const Emitter &e, Value x, double, double) { return emit::sigmoid(e, x); }},
    {"softplus", 0, 0, 0,
     [](const Emitter &e, Value x, double, double) {
       Value small = e.unary<graph::ExpOp>(e.neg(e.abs(x)));
       return e.add(e.max(x, 0), e.unary<graph::Log1pOp>(small));
     }},
    {"softsign", 0, 0, 0,
     [](const Emitter &e, Value x, double, double) { return e.div(x, e.add(e.abs(x), 1)); }},
    {"tanh", 0, 0, 0,
     [](const Emitter &e, Value x, double, double) { return e.unary<graph::TanhOp>(x); }},
    {"thresholdedrelu", 1, 1, 0,
     [](const Emitter &e, Value x, double a, double) {
       return e.select(e.compare(Predicate::GT, x, a), x, e.splat(x, 0));
     }},
};

// The activations of all directions in order. The alphas and betas of the node belong to those
// activations that take some, in order.
std::vector<Activation> readActivations(NodeImport &n, std::vector<std::string> usual,
                                        size_t directions) {
  std::vector<std::string> names = n.strings("activations").value_or(std::vector<std::string>());
  if (names.empty())
    for (size_t d = 0; d < directions; ++d)
      names.insert(names.end(), usual.begin(), usual.end());
  if (names.size() != usual.size() * directions)
    fail("attribute 'activations' has ", names.size(), " entries, expected ",
         usual.size() * directions);
  std::vector<double> alphas = n.decimals("activation_alpha").value_or(std::vector<double>()),
                      betas = n.decimals("activation_beta").value_or(std::vector<double>());
  size_t nextAlpha = 0, nextBeta = 0;
  std::vector<Activation> activations;
  for (const std::string &name : names) {
    std::string lower = llvm::StringRef(name).lower();
    const auto *known = llvm::find_if(kActivations, [&](const auto &k) { return lower == k.name; });
    if (known == std::end(kActivations))
      fail("has the unknown activation '", name, "'");
    double alpha = known->alpha, beta = known->beta;
    if (known->numbers > 0 && nextAlpha < alphas.size())
      alpha = alphas[nextAlpha++];
    if (known->numbers > 1 && nextBeta < betas.size())
      beta = betas[nextBeta++];
    activations.push_back([build = known->build, alpha, beta](const Emitter &e, Value x) {
      return build(e, x, alpha, beta);
    });
  }
  return activations;
}

// -- layers ---------------------------------------------------------------------------------------

// Inputs of all recurrent operators.
enum RecurrentInput : size_t {
  kInput,         // [steps, batch, size]; [batch, steps, size] with layout 1
  kWeight,        // [directions, gates · hidden, size]
  kRecurrence,    // [directions, gates · hidden, hidden]
  kBias,          // [directions, 2 · gates · hidden]: of weight and recurrence
  kLengths,       // [batch]: steps of each line
  kInitialHidden, // [directions, batch, hidden]; [batch, directions, hidden] with layout 1
  kInitialCell,   // as kInitialHidden
  kPeepholes,     // [directions, 3 · hidden]
};

// Steps of a sequence, which are unrolled.
constexpr int64_t kMaxSteps = 4096;

class RecurrentImport {
public:
  // `gates`: the number of gates of a cell; `usual`: the default activations of a direction.
  RecurrentImport(NodeImport &n, int64_t gates, std::vector<std::string> usual)
      : n_(n), gates_(gates), each_(usual.size()) {
    std::string direction = n.string("direction", "forward");
    if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
      fail("attribute 'direction' is '", direction,
           "', expected forward, reverse or bidirectional");
    backwardFirst_ = direction == "reverse";
    directions_ = direction == "bidirectional" ? 2 : 1;
    batchFirst_ = n.integer("layout", 0);
    n.ignore({"hidden_size", "output_sequence"}); // follow from the weights
    if (n.hasAttribute("clip"))
      clip_ = n.decimal("clip", 0);
    activations_ = readActivations(n, std::move(usual), directions_);
    for (size_t i : {kInput, kWeight, kRecurrence})
      if (rankOf(n.input(i)) != 3)
        fail("has operands of ", rankOf(n.input(i)), " dims, expected 3");
    int64_t steps = n.number(n.dim(n.input(kInput), batchFirst_ ? 1 : 0), "number of time steps");
    if (steps > kMaxSteps)
      fail("has ", steps, " time steps, expected at most ", kMaxSteps);
    if (n_.dim(n.input(kWeight), 0) != Polynomial(directions_))
      fail("has weights ", showShape(shapeOf(n.input(kWeight))), " for ", directions_,
           " directions");
  }

  size_t directions() const { return directions_; }
  const Activation &activation(size_t direction, size_t i) const {
    return activations_[direction * each_ + i];
  }

  // Input i of one direction, without the dim of directions; null if it is left out.
  Value part(size_t i, size_t direction) const {
    if (!n_.hasInput(i))
      return {};
    bool isState = i == kInitialHidden || i == kInitialCell;
    int64_t dim = batchFirst_ && isState && rankOf(n_.input(i)) == 3 ? 1 : 0;
    return n_.dropDim(n_.slice(n_.input(i), dim, static_cast<int64_t>(direction), 1), dim);
  }

  RecurrentLayer layer(size_t direction) const {
    RecurrentLayer layer;
    layer.input = batchFirst_ ? n_.swapDims(n_.input(kInput), 0, 1) : n_.input(kInput);
    layer.weight = part(kWeight, direction);
    layer.recurrence = part(kRecurrence, direction);
    layer.lengths = n_.optionalInput(kLengths);
    layer.hidden = part(kInitialHidden, direction);
    layer.backward = direction == 1 || backwardFirst_;
    layer.clip = clip_;
    if (Value biases = part(kBias, direction)) {
      Polynomial rows = gates_ * n_.dim(layer.recurrence, 1);
      layer.inputBias = n_.slice(biases, 0, 0, rows);
      layer.recurrentBias = n_.slice(biases, 0, rows, rows);
    }
    return layer;
  }

  // The outputs Y, Y_h and, of an LSTM, Y_c.
  Values join(const std::vector<RecurrentResult> &results) const {
    Values all, hidden, cell;
    for (const RecurrentResult &result : results) {
      all.push_back(n_.insertDim(result.all, 1));
      hidden.push_back(n_.insertDim(result.hidden, 0));
      if (result.cell)
        cell.push_back(n_.insertDim(result.cell, 0));
    }
    Values outputs = {n_.concat(all, 1), n_.concat(hidden, 0)};
    if (!cell.empty())
      outputs.push_back(n_.concat(cell, 0));
    if (!batchFirst_)
      return outputs;
    outputs[0] = n_.transpose(outputs[0], {2, 0, 1, 3});
    for (Value &state : llvm::drop_begin(outputs))
      state = n_.swapDims(state, 0, 1);
    return outputs;
  }

private:
  NodeImport &n_;
  int64_t gates_;
  size_t each_, directions_ = 1; // activations per direction
  bool backwardFirst_ = false, batchFirst_ = false;
  std::optional<double> clip_;
  std::vector<Activation> activations_;
};

Values importLstm(NodeImport &n) {
  n.checkInputs(3, 8);
  RecurrentImport r(n, 4, {"sigmoid", "tanh", "tanh"});
  bool coupled = n.integer("input_forget", 0);
  std::vector<RecurrentResult> results;
  for (size_t d = 0; d < r.directions(); ++d) {
    RecurrentLayer layer = r.layer(d);
    layer.cell = r.part(kInitialCell, d);
    LstmCell cell;
    cell.order = {0, 2, 3, 1};
    cell.gate = r.activation(d, 0), cell.candidate = r.activation(d, 1),
    cell.output = r.activation(d, 2);
    cell.coupled = coupled;
    if (Value peepholes = r.part(kPeepholes, d)) { // of i, o, f
      Polynomial hidden = n.dim(layer.recurrence, 1);
      for (auto [gate, place] : {std::pair(0, 0), std::pair(1, 2), std::pair(2, 1)})
        cell.peepholes[gate] = n.slice(peepholes, 0, hidden * place, hidden);
    }
    results.push_back(lstm(n, layer, cell));
  }
  return r.join(results);
}

Values importGru(NodeImport &n) {
  n.checkInputs(3, 6);
  RecurrentImport r(n, 3, {"sigmoid", "tanh"});
  bool resetAfter = n.integer("linear_before_reset", 0);
  std::vector<RecurrentResult> results;
  for (size_t d = 0; d < r.directions(); ++d) {
    GruCell cell;
    cell.order = {1, 0, 2};
    cell.gate = r.activation(d, 0), cell.candidate = r.activation(d, 1);
    cell.resetAfter = resetAfter;
    results.push_back(gru(n, r.layer(d), cell));
  }
  return r.join(results);
}

Values importRnn(NodeImport &n) {
  n.checkInputs(3, 6);
  RecurrentImport r(n, 1, {"tanh"});
  std::vector<RecurrentResult> results;
  for (size_t d = 0; d < r.directions(); ++d)
    results.push_back(rnn(n, r.layer(d), r.activation(d, 0)));
  return r.join(results);
}

constexpr OpEntry kRecurrentOps[] = {
    {"GRU", 7, importGru},
    {"LSTM", 7, importLstm},
    {"RNN", 7, importRnn},
};

} // namespace

llvm::ArrayRef<OpEntry> recurrentOps() { return kRecurrentOps; }

} // namespace cleave::onnx
