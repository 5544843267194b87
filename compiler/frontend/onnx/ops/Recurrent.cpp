// Recurrent networks: LSTM, GRU, RNN, in one direction or both.
#include "compiler/frontend/emit/Recurrent.h"

#include "compiler/frontend/emit/Activation.h"
#include "compiler/frontend/onnx/ops/OpTable.h"

namespace cleave::onnx {
namespace {

using namespace emit;
using emit::Activation;

// -- activations ----------------------------------------------------------------------------------

// How many numbers an activation takes, and what they are if the model does not say.
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

// The activations of all directions in order; numbers go to those that take some, as they come.
std::vector<Activation> readActivations(NodeImport &n, std::vector<std::string> usual,
                                        size_t directions) {
  std::vector<std::string> names = n.texts("activations").value_or(std::vector<std::string>());
  if (names.empty())
    for (size_t d = 0; d < directions; ++d)
      names.insert(names.end(), usual.begin(), usual.end());
  if (names.size() != usual.size() * directions)
    fail("attribute 'activations' has " + std::to_string(names.size()) + " entries, expected " +
         std::to_string(usual.size() * directions));
  std::vector<double> alphas = n.decimals("activation_alpha").value_or(std::vector<double>()),
                      betas = n.decimals("activation_beta").value_or(std::vector<double>());
  size_t nextAlpha = 0, nextBeta = 0;
  std::vector<Activation> activations;
  for (const std::string &name : names) {
    std::string lower = llvm::StringRef(name).lower();
    const auto *known = llvm::find_if(kActivations, [&](const auto &k) { return lower == k.name; });
    if (known == std::end(kActivations))
      fail("has the unknown activation '" + name + "'");
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

class RecurrentImport {
public:
  // `gates`: per cell; `usual`: its activations.
  RecurrentImport(NodeImport &n, int64_t gates, std::vector<std::string> usual)
      : n_(n), gates_(gates), each_(usual.size()) {
    std::string direction = n.text("direction", "forward");
    if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
      fail("attribute 'direction' is '" + direction +
           "', expected forward, reverse or bidirectional");
    backwardFirst_ = direction == "reverse";
    directions_ = direction == "bidirectional" ? 2 : 1;
    batchFirst_ = n.integer("layout", 0);
    n.ignore({"hidden_size", "output_sequence"}); // the weights say it
    if (n.hasAttribute("clip"))
      clip_ = n.decimal("clip", 0);
    activations_ = readActivations(n, std::move(usual), directions_);
    for (size_t i : {0, 1, 2})
      if (rankOf(n.input(i)) != 3)
        fail("has operands of " + std::to_string(rankOf(n.input(i))) + " dims, expected 3");
    constexpr int64_t most = 4096; // each is written out
    if (int64_t steps = n.number(n.dim(n.input(0), batchFirst_ ? 1 : 0), "number of time steps");
        steps > most)
      fail("has " + std::to_string(steps) + " time steps, expected at most " +
           std::to_string(most));
    if (n_.dim(n.input(1), 0) != Polynomial(directions_))
      fail("has weights " + showShape(shapeOf(n.input(1))) + " for " + std::to_string(directions_) +
           " directions");
  }

  size_t directions() const { return directions_; }
  const Activation &activation(size_t direction, size_t i) const {
    return activations_[direction * each_ + i];
  }

  // Input i of one direction, without the dim of directions; null where it is left out.
  Value part(size_t i, size_t direction) const {
    if (!n_.hasInput(i))
      return {};
    int64_t dim = batchFirst_ && rankOf(n_.input(i)) == 3 && i >= 5
                      ? 1
                      : 0; // states are [batch, directions, …]
    return n_.dropDim(n_.slice(n_.input(i), dim, static_cast<int64_t>(direction), 1), dim);
  }

  RecurrentLayer layer(size_t direction) const {
    RecurrentLayer layer;
    layer.input = batchFirst_ ? n_.swapDims(n_.input(0), 0, 1) : n_.input(0);
    layer.weight = part(1, direction);
    layer.recurrence = part(2, direction);
    layer.lengths = n_.optionalInput(4);
    layer.hidden = part(5, direction);
    layer.backward = direction == 1 || backwardFirst_;
    layer.clip = clip_;
    if (Value biases = part(3, direction)) {
      Polynomial rows = gates_ * n_.dim(layer.recurrence, 1);
      layer.inputBias = n_.slice(biases, 0, 0, rows);
      layer.recurrentBias = n_.slice(biases, 0, rows, rows);
    }
    return layer;
  }

  // Y, Y_h and, of an LSTM, Y_c.
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
    layer.cell = r.part(6, d);
    LstmCell cell;
    cell.order = {0, 2, 3, 1};
    cell.gate = r.activation(d, 0), cell.candidate = r.activation(d, 1),
    cell.output = r.activation(d, 2);
    cell.coupled = coupled;
    if (Value peepholes = r.part(7, d)) { // of i, o, f
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

constexpr OpEntry kOps[] = {
    {"GRU", 7, importGru},
    {"LSTM", 7, importLstm},
    {"RNN", 7, importRnn},
};

} // namespace

llvm::ArrayRef<OpEntry> recurrentOps() { return kOps; }

} // namespace cleave::onnx
