// ModelEdges: which module of a model feeds which in the forward pass, and what passes.
#pragma once

#include "runtime/artifact/program.pb.h"

#include <cstdint>
#include <string>
#include <vector>

namespace cleave::dump {

// A value that one module computes and another one reads.
struct ModelEdge {
  std::string from, to; // modules: names of parameters without the last part
  std::string value;    // type and shape of the block of a rank, as computed: `f32[2x128x768]`
  uint64_t bytes = 0;   // of the block
  std::string layout;   // `[dp, _, tp]`, of the result of a product; may be empty
  std::string passage;  // what moves it between ranks: `all-gather over tp`; may be empty
  bool isSkip = false;  // a longer path leads to the reader, through other modules
  bool isOfParameters = false; // the value is a parameter or is computed from parameters alone
};

// The edges, ordered by their first reader; equal values between two modules appear once. An
// instruction belongs to the module of its owners (InstructionOwners.h). If it has several, as a
// fused kernel may, it belongs to the one that the forward pass reaches last. Collectives, copies
// and messages pass values on. Values computed from inputs and constants alone have no module. A
// parameter that a kernel of another module also reads is an edge only if no other value passes
// between the two.
std::vector<ModelEdge> modelEdges(const plan::Plan &plan);

} // namespace cleave::dump
