// Optimizers that divide the mean of the gradients by the root of the mean of their squares: Adam,
// AdamW and LAMB.
#include "passes/train/optimizers/Update.h"

using namespace cleave::graph;

namespace cleave::train {

// 1 / (1 - beta^step), in double precision: 1 - 0.999 in single precision loses five digits.
static Term correction(const Update &u, double beta) {
  return 1 / (1 - pow(u.step.splat(beta), u.step));
}

// mean / (root + eps), where mean and root are those of the moments, corrected for their begin at
// zero. Updates the moments with the gradient g.
static Term adamDirection(Update &u, Term g, bool amsgrad = false) {
  double beta1 = u["beta1"], beta2 = u["beta2"];
  Term m = u.state("adam.m"), v = u.state("adam.v");
  Term mean = m * beta1 + g * (1 - beta1);
  Term square = v * beta2 + g * g * (1 - beta2);
  u.setState(m, mean);
  u.setState(v, square);
  if (amsgrad) {
    Term largest = u.state("adam.v_max");
    square = max(largest, square);
    u.setState(largest, square);
  }
  Term root = sqrt(square * u.everywhere(correction(u, beta2)));
  return mean * u.everywhere(correction(u, beta1)) / (root + u["eps"]);
}

void buildAdam(Update &u) {
  Term direction = adamDirection(u, u.decayedGradient(), u["amsgrad"] != 0);
  u.setParameter(u.parameter - direction * u.everywhere(u.rate));
}

void buildAdamW(Update &u) {
  Term direction = adamDirection(u, u.gradient, u["amsgrad"] != 0);
  u.setParameter(u.decayedParameter() - direction * u.everywhere(u.rate));
}

// The square root of the sum of the squares, a scalar.
static Term norm(Term x) {
  return sqrt(sum(x * x, llvm::to_vector(llvm::seq<int64_t>(0, rankOf(x)))));
}

// Algorithm 2 of Y. You et al., Large Batch Optimization for Deep Learning: Training BERT in 76
// Minutes, 2020: the length of the update is that of the parameter, times the learning rate.
void buildLamb(Update &u) {
  Term direction = adamDirection(u, u.gradient);
  if (double decay = u["weight-decay"]; decay != 0)
    direction = direction + u.parameter * decay;
  Term size = norm(u.parameter), length = norm(direction);
  Term ratio = select(size > 0, select(length > 0, size / length, 1), 1);
  u.setParameter(u.parameter - direction * u.everywhere(u.rate) * u.everywhere(ratio));
}

} // namespace cleave::train
