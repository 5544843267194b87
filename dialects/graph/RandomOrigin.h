// Random initial values of a parameter: the form {random = "normal" | "uniform", scale = 0.02} of
// `graph.source` (Step.h). The runtime generates the values from the tensor's name and the seed of
// the run; their mean is 0.
#pragma once

#include "mlir/IR/Attributes.h"

#include <optional>

namespace cleave::graph {

// The distribution of the initial values.
struct RandomOrigin {
  bool isNormal = true; // otherwise uniform
  double scale = 0;     // the standard deviation, or the largest absolute value
};

// Conversion to and from graph.source; none if the attribute has another form.
mlir::Attribute toAttribute(const RandomOrigin &origin, mlir::MLIRContext *context);
std::optional<RandomOrigin> toRandomOrigin(mlir::Attribute attribute);

} // namespace cleave::graph
