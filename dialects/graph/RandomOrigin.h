// First values that are drawn: the form of `graph.source` (Step.h) of a parameter that no file has,
// {random = "normal" | "uniform", scale = 0.02}. The values follow from the tensor's name and the
// seed of the run; their mean is 0.
#pragma once

#include "mlir/IR/Attributes.h"

#include <optional>

namespace cleave::graph {

struct RandomOrigin {
  bool isNormal = true; // otherwise uniform
  double scale = 0;     // the standard deviation, or the largest absolute value
};
mlir::Attribute toAttribute(const RandomOrigin &origin, mlir::MLIRContext *context);
// None where the attribute says something else.
std::optional<RandomOrigin> toRandomOrigin(mlir::Attribute attribute);

} // namespace cleave::graph
