// Profile: the cost of a step as polynomials of the model's symbols: parameters, arithmetic of the
// forward and the backward pass, activations saved for the backward pass, peak memory. Nothing is
// executed, no weight is read; costs come from the ops' CostInterface.
//
// Memory is that of one device before kernels are formed: every result of an op takes a buffer,
// except views (reshape) and values that no kernel stores (constants, broadcasts). Kernel groups
// take less: cleave-dump --memory shows the memory of a plan.
#pragma once

#include "dialects/interfaces/Polynomial.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <string>
#include <vector>

namespace cleave::profile {

// Bytes, FLOPs and multiply-accumulates (dialects/graph/Macs.h) of one micro-batch and one update.
// The backward pass counts the ops that it has, with no fixed ratio to the forward pass.
struct Amounts {
  Polynomial parameters; // elements of parameters whose first reader this is
  Polynomial parameterBytes;
  Polynomial forwardMacs, backwardMacs;
  Polynomial forwardFlops, backwardFlops, updateFlops;
  Polynomial outputBytes; // results of the forward pass
  Polynomial savedBytes;  // those of them that the backward pass reads

  Amounts &operator+=(const Amounts &other);
};

// One operator of the model: all ops imported from one node of the file.
struct Row {
  std::string module; // its PyTorch module; empty if the file does not state it
  std::string name;   // of the node
  std::string kind;   // the graph ops of its forward pass, `dot_general+add`
  Amounts costs;
};

// Live bytes at one moment that is a candidate for the peak. With symbols there may be several
// candidates, none of which is always exceeded by another one.
struct Peak {
  Polynomial bytes;
  std::string at; // the node whose result is computed at that moment; empty: the step's begin
};

// The profile of a step.
struct Profile {
  std::vector<Row> rows;               // in the order of the step
  size_t rowsLeftOut = 0;              // rows that only `total` includes
  Amounts total;                       // of all rows, the latter too
  bool trains = false;                 // whether the step trains a parameter
  Polynomial inputBytes;               // inputs, labels and constants
  Polynomial stateBytes;               // optimizer states and running statistics
  Polynomial gradientBytes;            // gradients of the trained parameters
  std::vector<Peak> peaks;             // exactly one if all sizes are numbers
  std::vector<Polynomial> assumptions; // sizes that must be >= 0 for the profile to hold

  // The profile with the values of `binding` for its symbols.
  Profile substitute(const Polynomial::Binding &binding) const;
};

// Profiles a step (dialects/graph/Step.h). A training step must have at least two micro-batches:
// their sums mark the end of the backward pass. The sums are not counted; all numbers are those of
// one micro-batch and one update.
Profile profileStep(mlir::func::FuncOp step);

} // namespace cleave::profile
