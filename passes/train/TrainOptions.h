// What a training step is made of besides the model: plain data, and the text forms in which users
// write it (docs/interface.md).
#pragma once

#include "runtime/base/Status.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cleave {

struct LossOption {
  enum class Kind {
    SoftmaxCrossEntropy, // integer labels, the classes are the output's last dim, mean over labels
                         // that are not -100
    Mse,                 // mean of the squared differences
    Output,              // the output is the loss
  };
  Kind kind = Kind::SoftmaxCrossEntropy;
  std::string output; // of the model
  std::string label;  // the new input; empty for Kind::Output
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

struct TrainOptions {
  std::vector<LossOption> losses; // summed; at least one
  OptimizerOption optimizer;
  // Parameters by name: those that match one of `trainable` (all if empty) and none of `freeze`.
  std::vector<std::string> trainable, freeze;
  std::optional<double> clipNorm; // gradients are scaled down to this norm
  int64_t accumulate = 1;         // micro-batches per step; losses and gradients are their means
  bool freezeBatchNorm = false;   // normalise by the running statistics and leave them as they are
};

// `KIND:OUTPUT[,LABEL]`: softmax-cross-entropy, mse, output. The label is `OUTPUT.label` if not
// given.
Result<LossOption> parseLoss(const std::string &text);

// `NAME[:KEY=VALUE,…]`: sgd, momentum (sgd with momentum 0.9), adam, adamw. Flags may stand alone
// (`nesterov`).
Result<OptimizerOption> parseOptimizer(const std::string &text);

} // namespace cleave
