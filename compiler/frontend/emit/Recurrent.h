// Recurrent networks: LSTM, GRU and plain ones, one layer in one direction, unrolled over time. Frontends put layers
// and directions together.
#pragma once

#include "compiler/frontend/emit/Emitter.h"

#include <functional>

namespace cleave::emit {

using Activation = std::function<Value(const Emitter &, Value)>;

// One layer in one direction. G: gates (LSTM 4, GRU 3, plain 1), H: hidden size. What is null is not there.
struct RecurrentLayer {
  Value input;         // [steps, batch, features]; the number of steps must be known
  Value weight;        // [G H, features]
  Value recurrence;    // [G H, H], with a projection [G H, P]
  Value inputBias;     // [G H]
  Value recurrentBias; // [G H]
  Value projection;    // LSTM: [P, H], makes states of P numbers of those that come out
  Value hidden;        // [batch, H or P], zero if null
  Value cell;          // LSTM: [batch, H], zero if null
  Value lengths;       // [batch] integers: each line ends after so many steps
  bool backward = false;
  // Bounds of what goes into activations.
  std::optional<double> clip;
};

struct RecurrentResult {
  Value all;    // [steps, batch, H or P]; zero behind a line's end
  Value hidden; // [batch, H or P], after each line's last step
  Value cell;   // LSTM
};

// Gates and activations of an LSTM: i, f, o by `gate`, the candidate g and the cell's way out.
struct LstmCell {
  // Where i, f, g, o stand among the gates of the weights: PyTorch {0, 1, 2, 3}, ONNX {0, 2, 3, 1}.
  std::array<int64_t, 4> order = {0, 1, 2, 3};
  Activation gate, candidate, output; // default: sigmoid, tanh, tanh
  Value peepholes[3];                 // of i, f, o: [H], on the cell
  bool coupled = false;               // f = 1 - i
};
RecurrentResult lstm(const Emitter &e, const RecurrentLayer &layer, const LstmCell &cell);

struct GruCell {
  // Where r, z, n stand: PyTorch {0, 1, 2}, ONNX {1, 0, 2}.
  std::array<int64_t, 3> order = {0, 1, 2};
  Activation gate, candidate; // default: sigmoid, tanh
  // n = f(x W + r (h R + b)), as PyTorch does; otherwise f(x W + (r h) R + b).
  bool resetAfter = true;
};
RecurrentResult gru(const Emitter &e, const RecurrentLayer &layer, const GruCell &cell);

// h = f(x W + h R + b); f is tanh if it is null.
RecurrentResult rnn(const Emitter &e, const RecurrentLayer &layer, const Activation &activation);

} // namespace cleave::emit
