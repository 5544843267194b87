// Lion: the sign of a mean of the gradients. Algorithm 2 of X. Chen et al., Symbolic Discovery of
// Optimization Algorithms, 2023.
#include "passes/train/optimizers/Update.h"

using namespace cleave::graph;

namespace cleave::train {

static Term sign(Term x) { return select(x > 0, x.splat(1), select(x < 0, x.splat(-1), 0)); }

void buildLion(Update &u) {
  double beta1 = u["beta1"], beta2 = u["beta2"];
  Term m = u.state("lion.m");
  Term direction = sign(m * beta1 + u.gradient * (1 - beta1));
  u.setState(m, m * beta2 + u.gradient * (1 - beta2));
  u.setParameter(u.decayedParameter() - direction * u.everywhere(u.rate));
}

} // namespace cleave::train
