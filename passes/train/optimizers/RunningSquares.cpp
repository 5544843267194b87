// Optimizers that divide the gradient by the root of a mean, or the sum, of its squares: RMSprop
// and Adagrad.
#include "passes/train/optimizers/Update.h"

using namespace cleave::graph;

namespace cleave::train {

void buildRmsprop(Update &u) {
  double alpha = u["alpha"], momentum = u["momentum"];
  Term g = u.decayedGradient(), v = u.state("rmsprop.v");
  Term square = v * alpha + g * g * (1 - alpha);
  u.setState(v, square);
  if (u["centered"] != 0) {
    Term m = u.state("rmsprop.m");
    Term mean = m * alpha + g * (1 - alpha);
    u.setState(m, mean);
    square = square - mean * mean;
  }
  Term direction = g / (sqrt(square) + u["eps"]);
  if (momentum != 0) {
    Term velocity = u.state("rmsprop.velocity");
    direction = velocity * momentum + direction;
    u.setState(velocity, direction);
  }
  u.setParameter(u.parameter - direction * u.everywhere(u.rate));
}

void buildAdagrad(Update &u) {
  Term g = u.decayedGradient(), sum = u.state("adagrad.sum", u["initial-accumulator-value"]);
  Term squares = sum + g * g;
  u.setState(sum, squares);
  Term rate = u.rate;
  if (double decay = u["lr-decay"]; decay != 0)
    rate = rate / (1 + (u.step - 1) * decay);
  u.setParameter(u.parameter - g / (sqrt(squares) + u["eps"]) * u.everywhere(rate));
}

} // namespace cleave::train
