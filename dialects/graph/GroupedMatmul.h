// GroupedMatmul: the sizes of grouped products, grouped_matmul and grouped_weight_grad.
#pragma once

#include "runtime/base/GroupedSizes.h"

#include "mlir/IR/Operation.h"

#include <optional>

namespace cleave::graph {

// The sizes of a grouped product whose shapes are static; nothing for other ops. The first factors
// of its rule are the rows, inputs, outputs and groups, in this order.
std::optional<GroupedSizes> groupedSizes(mlir::Operation *op);

} // namespace cleave::graph
