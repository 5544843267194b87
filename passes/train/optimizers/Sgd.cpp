// Stochastic gradient descent with momentum. Without momentum it has no state.
#include "passes/train/optimizers/Update.h"

using namespace cleave::graph;

namespace cleave::train {

void buildSgd(Update &u) {
  Term g = u.decayedGradient(), direction = g;
  if (double momentum = u["momentum"]; momentum != 0) {
    Term v = u.state("sgd.velocity");
    Term later = v * momentum + g * (1 - u["dampening"]);
    Term velocity = select(everywhere(u.step <= 1, v), g, later); // the first one is g
    u.setState(v, velocity);
    direction = u["nesterov"] != 0 ? g + velocity * momentum : velocity;
  }
  u.setParameter(u.parameter - direction * u.everywhere(u.rate));
}

} // namespace cleave::train
