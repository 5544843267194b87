// Update: the update of one parameter in one step, as an optimizer's formula sees it. A formula
// reads the parameter, its gradient, hyperparameters and states, and sets the new values.
#pragma once

#include "dialects/graph/Formula.h"
#include "passes/train/optimizers/Optimizers.h"

namespace cleave::train {

// Adds states to the step.
class StateStore {
public:
  virtual ~StateStore() = default;
  // The value before the step of a new state whose elements are first `fill`.
  virtual mlir::Value add(const std::string &name, mlir::Type type, double fill) = 0;
  // The value after the step of a state that add() returned.
  virtual void set(mlir::Value state, mlir::Value value) = 0;
};

class Update {
public:
  // `parameter` and `gradient` are of one type. `step` is the number of this step, from 1, and
  // `rate` the learning rate, both scalars in double precision. `states` adds states of this
  // parameter. All outlive the update.
  Update(graph::Term parameter, graph::Term gradient, graph::Term step, graph::Term rate,
         const Hyperparameters &hyperparameters, StateStore &states)
      : parameter(parameter), gradient(gradient), step(step), rate(rate),
        hyperparameters_(hyperparameters), states_(states), updated_(parameter) {}

  graph::Term parameter, gradient;
  graph::Term step, rate;

  // A hyperparameter of the optimizer, but not the learning rate.
  double operator[](const char *name) const { return hyperparameters_.at(name); }

  // A scalar, in the type of the parameter and repeated to its shape.
  graph::Term everywhere(graph::Term scalar) const { return everywhere(scalar, parameter); }
  // The same for a state or another tensor.
  static graph::Term everywhere(graph::Term scalar, graph::Term like) {
    return graph::everywhere(cast(scalar, graph::elementTypeOf(like)), like);
  }
  // The gradient and `weight-decay` times the parameter.
  graph::Term decayedGradient() const;
  // The parameter, decayed apart from its gradient: times 1 - rate * `weight-decay`.
  graph::Term decayedParameter() const;

  // A state of the parameter, and its new value. `name` is OPTIMIZER.NAME; the state is of the type
  // of the parameter, or of the one given.
  graph::Term state(const std::string &name, double fill = 0, mlir::Type type = {});
  void setState(graph::Term state, graph::Term value) { states_.set(state, value); }

  // The new value of the parameter.
  void setParameter(graph::Term value) { updated_ = value; }
  graph::Term updated() const { return updated_; }

private:
  const Hyperparameters &hyperparameters_;
  StateStore &states_;
  graph::Term updated_;
};

} // namespace cleave::train
