// Profile: what a step costs, as polynomials of the model's symbols: parameters, arithmetic of the
// forward and the backward pass, activations that wait for the backward pass, the peak of memory.
// Nothing is executed, no weight is read; the costs are those that the ops state themselves
// (CostInterface).
//
// Memory is that of one device before kernels are formed: every op's result takes a buffer, except
// those that only rename one (reshape) or that no kernel stores (constants, broadcasts). Kernel
// groups take less; cleave-dump --memory shows what a plan really takes.
#pragma once

#include "dialects/interfaces/Polynomial.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <string>
#include <vector>

namespace cleave::profile {

// Bytes, FLOPs and multiply-accumulates (dialects/graph/Macs.h) of one micro-batch and one update.
// The backward pass counts what it computes.
struct Costs {
  Polynomial parameters; // elements, of those that are read here first
  Polynomial parameterBytes;
  Polynomial forwardMacs, backwardMacs;
  Polynomial forwardFlops, backwardFlops, updateFlops;
  Polynomial outputBytes; // results of the forward pass
  Polynomial savedBytes;  // of these, what the backward pass reads

  Costs &operator+=(const Costs &other);
};

// One operator of the model: all ops that were made of one node of the file.
struct Row {
  std::string module; // the PyTorch module it stands in; empty where the file does not say
  std::string name;   // of the node
  std::string kind;   // the graph ops of its forward pass, `dot_general+add`
  Costs costs;
};

// Bytes at the moment when most are needed. With symbols nobody knows which moment that is: these
// are all that it can be, without those that never exceed another one.
struct Peak {
  Polynomial bytes;
  std::string at; // the node whose result is computed then
};

struct Profile {
  std::vector<Row> rows;  // in the order of the step
  size_t rowsLeftOut = 0; // of which only the total knows
  Costs total;
  bool trains = false;
  Polynomial inputBytes; // inputs, labels and constants
  Polynomial stateBytes; // optimizer states and running statistics
  Polynomial gradientBytes;
  std::vector<Peak> peaks;
  std::vector<Polynomial> assumptions; // sizes that must be at least 0 for all this to hold

  // With numbers for the symbols that `binding` names.
  Profile substitute(const Polynomial::Binding &binding) const;
};

// Profiles a step (dialects/graph/Step.h). A training step must have been built with at least two
// micro-batches: the sums over them tell where the backward pass ends; they are not counted, and
// all numbers are those of one micro-batch and one update.
Profile profileStep(mlir::func::FuncOp step);

} // namespace cleave::profile
