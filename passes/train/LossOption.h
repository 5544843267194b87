// LossOption: one loss of a training step as plain data, and its text form (docs/interface.md).
#pragma once

#include "runtime/base/Status.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cleave::train {

// One loss on an output of the model. Meaning and defaults are PyTorch's, except where noted.
struct LossOption {
  enum class Kind {
    SoftmaxCrossEntropy, // logits of classes, integer labels
    Nll,                 // logarithms of the probabilities of classes, integer labels
    Bce,                 // logits of independent yes-or-no answers, labels are probabilities
    Mse,                 // squared differences
    L1,                  // absolute differences
    SmoothL1,            // squared differences below `bound`, absolute ones above, over `bound`
    Huber,               // the same times `bound`
    Output,              // the output is the loss
  };
  Kind kind = Kind::SoftmaxCrossEntropy;
  std::string output;   // name or number of the model's output; empty: the only one
  std::string label;    // name of the new input; empty for Kind::Output
  double factor = 1;    // of the loss in the sum of all losses
  bool isSum = false;   // the sum over all elements or labels; otherwise their mean
  double smoothing = 0; // SoftmaxCrossEntropy: part of each label that is spread over all classes
  // SoftmaxCrossEntropy, Nll: the weight of each class; empty: all 1.
  std::vector<double> classWeights;
  std::optional<int64_t> classDim; // SoftmaxCrossEntropy, Nll: the dim of the classes; none: last
  int64_t ignored = -100;          // SoftmaxCrossEntropy, Nll: this label does not count
  // Bce: the weight of the answer yes: none (1), one number, or one for each element of the last
  // dim.
  std::vector<double> posWeights;
  double bound = 1; // SmoothL1 (beta), Huber (delta)
};

// The name of a kind on the command line: `softmax-cross-entropy`.
std::string nameOf(LossOption::Kind kind);

// Parses `KIND[:OUTPUT[,LABEL]]` with options `,OPTION=VALUE` behind it. The default label is
// `OUTPUT.label`, or `label` without OUTPUT. Lists of numbers are `1:2:0.5` or the path of a text
// file.
Result<LossOption> parseLoss(const std::string &text);

} // namespace cleave::train
