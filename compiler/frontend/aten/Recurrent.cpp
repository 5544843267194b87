// LSTM, GRU and plain RNN: combines the single layers and directions of emit/Recurrent.h.
#include "compiler/frontend/aten/OpCall.h"

#include "compiler/frontend/emit/Random.h"
#include "compiler/frontend/emit/Recurrent.h"

namespace cleave::aten {
namespace {

using emit::RecurrentLayer;
using emit::RecurrentResult;

// One layer in one direction.
using Cell = RecurrentResult (*)(emit::Emitter &, const RecurrentLayer &);

// Parameters of one call.
struct Network {
  Arrays parameters;
  size_t perDirection = 0; // parameters of one layer in one direction
  int64_t layers = 1, directions = 1;
  bool hasBiases = true, hasProjection = false, batchFirst = false;
  double dropout = 0; // between layers
};

Network networkOf(OpCall &c, bool mayProject) {
  Network out;
  out.parameters = c.tensors("params");
  out.hasBiases = c.boolean("has_biases");
  out.layers = c.plainInteger("num_layers");
  out.directions = c.boolean("bidirectional") ? 2 : 1;
  out.batchFirst = c.boolean("batch_first");
  out.perDirection = out.hasBiases ? 4 : 2;
  auto most = static_cast<int64_t>(out.parameters.size());
  auto cells = static_cast<size_t>(std::clamp<int64_t>(out.layers, 0, most + 1) * out.directions);
  out.hasProjection = mayProject && out.parameters.size() == cells * (out.perDirection + 1);
  out.perDirection += out.hasProjection;
  if (out.layers < 1 || out.parameters.size() != cells * out.perDirection)
    fail("has ", out.parameters.size(), " parameters for ", out.layers, " layers, expected ",
         cells * out.perDirection);
  if (c.boolean("train"))
    out.dropout = c.number("dropout");
  return out;
}

RecurrentLayer layerOf(const Network &network, Array input, int64_t number) {
  size_t first = static_cast<size_t>(number) * network.perDirection;
  RecurrentLayer layer;
  layer.input = input;
  layer.weight = network.parameters[first];
  layer.recurrence = network.parameters[first + 1];
  if (network.hasBiases) {
    layer.inputBias = network.parameters[first + 2];
    layer.recurrentBias = network.parameters[first + 3];
  }
  if (network.hasProjection)
    layer.projection = network.parameters[first + network.perDirection - 1];
  layer.backward = network.directions == 2 && number % 2 == 1;
  return layer;
}

struct Outcome {
  Array all, hidden, cell; // hidden, cell: [layers directions, batch, H]
};

// Item `i` of the first states, which are null or [layers directions, batch, H].
Array stateOf(OpCall &c, Array states, int64_t i) {
  return states ? c.e.dropDim(c.e.slice(states, 0, i, 1), 0) : Array();
}

Outcome run(OpCall &c, const Network &network, Array hidden, Array cell, Cell makeCell) {
  Array x = c.tensor("input");
  bool hasBatch = rankOf(x) == 3;
  if (!hasBatch) {
    x = c.e.insertDim(x, 1);
    hidden = c.e.insertDim(hidden, 1);
    cell = cell ? c.e.insertDim(cell, 1) : cell;
  } else if (network.batchFirst) {
    x = c.e.swapDims(x, 0, 1);
  }
  emit::Values hiddens, cells;
  for (int64_t layer = 0; layer < network.layers; ++layer) {
    emit::Values directions;
    for (int64_t direction = 0; direction < network.directions; ++direction) {
      c.e.evaluator.checkOps(); // each layer adds ops per time step
      int64_t number = layer * network.directions + direction;
      RecurrentLayer one = layerOf(network, x, number);
      one.hidden = stateOf(c, hidden, number);
      one.cell = stateOf(c, cell, number);
      RecurrentResult result = makeCell(c.e, one);
      directions.push_back(result.all);
      hiddens.push_back(c.e.insertDim(result.hidden, 0));
      if (result.cell)
        cells.push_back(c.e.insertDim(result.cell, 0));
    }
    x = directions.size() == 1 ? directions[0] : c.e.concat(directions, 2);
    if (layer + 1 < network.layers)
      x = emit::dropout(c.e, x, network.dropout);
  }
  Outcome out{x, c.e.concat(hiddens, 0), cells.empty() ? Array() : c.e.concat(cells, 0)};
  if (!hasBatch) {
    out.all = c.e.dropDim(out.all, 1);
    out.hidden = c.e.dropDim(out.hidden, 1);
    out.cell = out.cell ? c.e.dropDim(out.cell, 1) : out.cell;
  } else if (network.batchFirst) {
    out.all = c.e.swapDims(out.all, 0, 1);
  }
  return out;
}

Results lstm(OpCall &c) {
  Arrays states = c.tensors("hx");
  if (states.size() != 2)
    fail("has ", states.size(), " states, expected 2");
  Outcome out = run(c, networkOf(c, true), states[0], states[1],
                    [](emit::Emitter &e, const RecurrentLayer &layer) {
                      return emit::lstm(e, layer, emit::LstmCell());
                    });
  return {out.all, out.hidden, out.cell};
}

template <Cell cell> Results network(OpCall &c) {
  Outcome out = run(c, networkOf(c, false), c.tensor("hx"), Array(), cell);
  return {out.all, out.hidden};
}

RecurrentResult gruCell(emit::Emitter &e, const RecurrentLayer &layer) {
  return emit::gru(e, layer, emit::GruCell());
}
RecurrentResult tanhCell(emit::Emitter &e, const RecurrentLayer &layer) {
  return emit::rnn(e, layer,
                   [](const emit::Emitter &e, Array x) { return e.unary<graph::TanhOp>(x); });
}
RecurrentResult reluCell(emit::Emitter &e, const RecurrentLayer &layer) {
  return emit::rnn(e, layer,
                   [](const emit::Emitter &e, Array x) { return e.unary<graph::ReluOp>(x); });
}

// -- a single step --------------------------------------------------------------------------------
RecurrentLayer stepOf(OpCall &c) {
  RecurrentLayer layer;
  layer.input = c.e.insertDim(c.tensor("input"), 0);
  layer.weight = c.tensor("w_ih");
  layer.recurrence = c.tensor("w_hh");
  if (c.has("b_ih"))
    layer.inputBias = c.tensor("b_ih");
  if (c.has("b_hh"))
    layer.recurrentBias = c.tensor("b_hh");
  return layer;
}

Results lstmStep(OpCall &c) {
  Arrays states = c.tensors("hx");
  if (states.size() != 2)
    fail("has ", states.size(), " states, expected 2");
  RecurrentLayer layer = stepOf(c);
  layer.hidden = states[0];
  layer.cell = states[1];
  RecurrentResult result = emit::lstm(c.e, layer, emit::LstmCell());
  return {result.hidden, result.cell};
}

template <Cell cell> Results step(OpCall &c) {
  RecurrentLayer layer = stepOf(c);
  layer.hidden = c.tensor("hx");
  return cell(c.e, layer).hidden;
}

#define CLEAVE_NETWORK                                                                             \
  "T[] params, b has_biases, i num_layers, f dropout, b train, b bidirectional, b batch_first"
#define CLEAVE_STEP "T w_ih, T w_hh, T? b_ih=None, T? b_hh=None"

constexpr OpEntry kRecurrentOps[] = {
    {"gru", "T input, T hx, " CLEAVE_NETWORK, network<gruCell>},
    {"gru_cell", "T input, T hx, " CLEAVE_STEP, step<gruCell>},
    {"lstm", "T input, T[] hx, " CLEAVE_NETWORK, lstm},
    {"lstm_cell", "T input, T[] hx, " CLEAVE_STEP, lstmStep},
    {"rnn_relu", "T input, T hx, " CLEAVE_NETWORK, network<reluCell>},
    {"rnn_relu_cell", "T input, T hx, " CLEAVE_STEP, step<reluCell>},
    {"rnn_tanh", "T input, T hx, " CLEAVE_NETWORK, network<tanhCell>},
    {"rnn_tanh_cell", "T input, T hx, " CLEAVE_STEP, step<tanhCell>},
};

} // namespace

llvm::ArrayRef<OpEntry> recurrentOps() { return kRecurrentOps; }

} // namespace cleave::aten
