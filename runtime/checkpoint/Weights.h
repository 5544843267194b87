// Weights: the values of a model's parameters and running statistics, from a checkpoint of any
// training of the model or from a safetensors file, for a run that did not train them.
#pragma once

#include "runtime/base/Status.h"
#include "runtime/checkpoint/Checkpoint.h"

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace cleave::checkpoint {

// The key, in Progress.extra and in the metadata of a safetensors file, of the names of the
// parameters that the training left as the model file has them, one per line.
constexpr const char *kUntrainedKey = "untrained";

// Tensors, and the names of parameters that are not among them because they were not trained.
struct Weights {
  std::unique_ptr<TensorStore> tensors;
  std::set<std::string> untrained;
};

// `path` is a folder as of Checkpoint::open; a safetensors file, or the index of several; or a
// folder with one of them (TensorFiles.h). A user error if it is none of this, or damaged.
Result<Weights> openWeights(const std::string &path);

// The tensors of a plan that weights may give.
struct ModelTensors {
  std::map<std::string, std::vector<int64_t>> needed; // parameters, running statistics: the shape
  std::set<std::string> known;                        // constants, and counters of batches
};

// If no needed tensor is found under its name, but all are without, or with, one prefix that ends
// with a point (`model.`, as a wrapper adds), gives them the names of the model and returns a note
// for the user; else returns nothing.
std::string fitPrefix(Weights &weights, const ModelTensors &model);

// A user error unless the weights are those of the model: one message names the needed tensors that
// are missing, with names like theirs in the weights, or have another shape. Float tensors that the
// model does not have are a warning, which is returned, or part of that error; without any needed
// tensor they are an error, too. Empty: no warning. Counters (tensors without dims), tensors of
// integers and the optimizer's states are never surplus.
Result<std::string> checkWeights(const Weights &weights, const ModelTensors &model);

// Gives moving averages, the states PARAMETER/ema, the names of their parameters. A user error if
// there are none.
Status takeAverages(Weights &weights);

} // namespace cleave::checkpoint
