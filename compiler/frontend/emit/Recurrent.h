// Recurrent networks: LSTM, GRU and plain RNN, one layer in one direction, unrolled over time.
// Frontends combine layers and directions.
#pragma once

#include "compiler/frontend/emit/Emitter.h"

#include <functional>

namespace cleave::emit {

// An activation function of a cell.
using Activation = std::function<Value(const Emitter &, Value)>;

// One layer in one direction. G: gates (LSTM 4, GRU 3, plain 1), H: hidden size, P: projected size.
// Absent values are null.
struct RecurrentLayer {
  Value input;         // [steps, batch, features]; `steps` must be a known number
  Value weight;        // [G H, features]
  Value recurrence;    // [G H, H]; with a projection [G H, P]
  Value inputBias;     // [G H]
  Value recurrentBias; // [G H]
  Value projection;    // LSTM: [P, H], applied to the hidden state
  Value hidden;        // initial hidden state [batch, H or P]; null: zero
  Value cell;          // LSTM: initial cell state [batch, H]; null: zero
  Value lengths;       // [batch] integers: steps of each sequence
  bool backward = false;
  // The inputs of activations are clamped to [-clip, clip].
  std::optional<double> clip;
};

// The states of one layer.
struct RecurrentResult {
  Value all;    // [steps, batch, H or P]; zero after the end of a sequence
  Value hidden; // [batch, H or P] after the last step of each sequence
  Value cell;   // LSTM: likewise, [batch, H]
};

// The equations of an LSTM: activation of the gates i, f, o, of the candidate g, and of the cell
// state in the output.
struct LstmCell {
  // Positions of i, f, g, o among the G gates: PyTorch {0, 1, 2, 3}, ONNX {0, 2, 3, 1}.
  std::array<int64_t, 4> order = {0, 1, 2, 3};
  Activation gate, candidate, output; // default: sigmoid, tanh, tanh
  Value peepholes[3];                 // of i, f, o: [H] weights of the cell state; null: none
  bool coupled = false;               // f = 1 - i
};
RecurrentResult lstm(const Emitter &e, const RecurrentLayer &layer, const LstmCell &cell);

// The equations of a GRU.
struct GruCell {
  // Positions of r, z, n among the G gates: PyTorch {0, 1, 2}, ONNX {1, 0, 2}.
  std::array<int64_t, 3> order = {0, 1, 2};
  Activation gate, candidate; // default: sigmoid, tanh
  // True: n = f(x W + r (h R + b)), as in PyTorch. False: n = f(x W + (r h) R + b).
  bool resetAfter = true;
};
RecurrentResult gru(const Emitter &e, const RecurrentLayer &layer, const GruCell &cell);

// A plain RNN: h = f(x W + h R + b) with f = `activation`; null: tanh.
RecurrentResult rnn(const Emitter &e, const RecurrentLayer &layer, const Activation &activation);

} // namespace cleave::emit
