// The table.
#include "passes/train/optimizers/Optimizers.h"

namespace cleave::train {

// A share of the past: in [0, 1).
static Hyperparameter share(const char *name, double value) {
  return {.name = name, .value = value, .below = 1};
}
static Hyperparameter flag(const char *name) { return {.name = name, .value = 0, .isFlag = true}; }

static const std::vector<Optimizer> kTable = {
    {"sgd",
     {{kLearningRate, 1e-3},
      {"momentum", 0},
      {"dampening", 0},
      flag("nesterov"),
      {"weight-decay", 0}},
     buildSgd},
    {"adam",
     {{kLearningRate, 1e-3},
      share("beta1", 0.9),
      share("beta2", 0.999),
      {"eps", 1e-8},
      {"weight-decay", 0},
      flag("amsgrad")},
     buildAdam},
    {"adamw",
     {{kLearningRate, 1e-3},
      share("beta1", 0.9),
      share("beta2", 0.999),
      {"eps", 1e-8},
      {"weight-decay", 0.01},
      flag("amsgrad")},
     buildAdamW},
    {"lamb",
     {{kLearningRate, 1e-3},
      share("beta1", 0.9),
      share("beta2", 0.999),
      {"eps", 1e-6},
      {"weight-decay", 0.01}},
     buildLamb},
    {"lion",
     {{kLearningRate, 1e-4}, share("beta1", 0.9), share("beta2", 0.99), {"weight-decay", 0}},
     buildLion},
    {"rmsprop",
     {{kLearningRate, 1e-2},
      share("alpha", 0.99),
      {"eps", 1e-8},
      {"weight-decay", 0},
      {"momentum", 0},
      flag("centered")},
     buildRmsprop},
    {"adagrad",
     {{kLearningRate, 1e-2},
      {"lr-decay", 0},
      {"weight-decay", 0},
      {"initial-accumulator-value", 0},
      {"eps", 1e-10}},
     buildAdagrad},
    {"adafactor",
     {{kLearningRate, 1e-2},
      {.name = "beta2-decay", .value = -0.8, .least = -1e3, .below = 0},
      {"eps1", 0},
      {"eps2", 1e-3},
      {"d", 1},
      {"weight-decay", 0}},
     buildAdafactor},
};

std::span<const Optimizer> optimizers() { return kTable; }

const Optimizer *findOptimizer(const std::string &name) {
  for (const Optimizer &optimizer : optimizers())
    if (optimizer.name == name)
      return &optimizer;
  return nullptr;
}

} // namespace cleave::train
