// See Update.h.
#include "passes/train/optimizers/Update.h"

using cleave::graph::Term;

namespace cleave::train {

Term Update::decayedGradient() const {
  double decay = (*this)["weight-decay"];
  return decay == 0 ? gradient : gradient + parameter * decay;
}

Term Update::decayedParameter() const {
  double decay = (*this)["weight-decay"];
  return decay == 0 ? parameter : parameter * everywhere(1 - rate * decay);
}

Term Update::state(const std::string &name, double fill, mlir::Type type) {
  return {parameter.b, states_.add(name, type ? type : parameter.value.getType(), fill)};
}

} // namespace cleave::train
