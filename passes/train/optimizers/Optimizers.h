// Optimizers: the table of optimizers with their hyperparameters, whose names, defaults and meaning
// are PyTorch's where PyTorch has the optimizer.
#pragma once

#include <limits>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace cleave::train {

class Update;

// The learning rate, which every optimizer has as its first hyperparameter. It is an input of the
// step, which the runtime may set before each step; the others are numbers in the plan.
inline constexpr const char *kLearningRate = "lr";

// A number of an optimizer, or a flag with the values 0 and 1.
struct Hyperparameter {
  const char *name; // as on the command line
  double value;     // default
  bool isFlag = false;
  double least = 0, below = std::numeric_limits<double>::infinity(); // values are in [least, below)
};

// Values by name.
using Hyperparameters = std::map<std::string, double>;

// One optimizer.
struct Optimizer {
  const char *name;
  std::vector<Hyperparameter> hyperparameters;
  // Builds the update of one parameter.
  void (*build)(Update &update);
};

// All of them. `momentum` is no optimizer, but sgd with another default (TrainOptions.h).
std::span<const Optimizer> optimizers();
// The optimizer of this name; null if there is none.
const Optimizer *findOptimizer(const std::string &name);

// The formulas.
void buildSgd(Update &u);
void buildAdam(Update &u);
void buildAdamW(Update &u);
void buildLamb(Update &u);
void buildLion(Update &u);
void buildRmsprop(Update &u);
void buildAdagrad(Update &u);
void buildAdafactor(Update &u);

} // namespace cleave::train
