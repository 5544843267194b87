// TrainOptions: the options of a training step as plain data, and their text forms
// (docs/interface.md).
#pragma once

#include "passes/precision/Policy.h"
#include "runtime/base/Status.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cleave::train {

// One loss on an output of the model.
struct LossOption {
  enum class Kind {
    SoftmaxCrossEntropy, // integer labels, the classes are the output's last dim, mean over labels
                         // that are not -100
    Mse,                 // mean of the squared differences
    Output,              // the output is the loss
  };
  Kind kind = Kind::SoftmaxCrossEntropy;
  std::string output; // name of the model's output
  std::string label;  // name of the new input; empty for Kind::Output
};

// Hyperparameters with PyTorch's names and meaning.
struct OptimizerOption {
  enum class Kind { Sgd, Adam, AdamW };
  Kind kind = Kind::AdamW;
  double lr = 1e-3;
  double weightDecay = 0;
  double momentum = 0, dampening = 0;            // Sgd
  bool nesterov = false;                         // Sgd
  double beta1 = 0.9, beta2 = 0.999, eps = 1e-8; // Adam, AdamW
};

// The whole training step.
struct TrainOptions {
  std::vector<LossOption> losses; // summed; at least one
  OptimizerOption optimizer;
  // Parameters by name: those that match one of `trainable` (all if empty) and none of `freeze`.
  std::vector<std::string> trainable, freeze;
  std::optional<double> clipNorm; // gradients are scaled down to this norm
  int64_t accumulate = 1;         // micro-batches per step; losses and gradients are their means
  precision::Policy precision;    // the types in which ops compute
  bool freezeBatchNorm = false;   // normalise by the running statistics and leave them as they are
};

// Parses `KIND:OUTPUT[,LABEL]`; kinds are softmax-cross-entropy, mse and output. The default label
// is `OUTPUT.label`.
Result<LossOption> parseLoss(const std::string &text);

// Parses `NAME[:KEY=VALUE,…]`; names are sgd, momentum (sgd with momentum 0.9), adam and adamw. A
// flag needs no value (`nesterov`).
Result<OptimizerOption> parseOptimizer(const std::string &text);

// The optimizer in this form with all its options, also those that have their defaults:
// `sgd:lr=0.1,momentum=0,dampening=0,nesterov=false,weight-decay=0`.
std::string optimizerText(const OptimizerOption &optimizer);

} // namespace cleave::train
