// Products: the matrices that an op multiplies, and what a split of its factors does to them.
#pragma once

#include "compiler/cost/Roofline.h"
#include "compiler/planner/model/StepModel.h"

#include <optional>

namespace cleave::planner {

// What a factor counts in a product of two operands: products, rows of the result (in the result
// and the first operand), columns (in the result and the second one), or the terms of its sums.
enum class FactorUse { Batch, Rows, Columns, Terms };
const char *name(FactorUse use); // `batch`, `rows`, …

// Per factor of the op its use; nothing if the op is no product of two matrices. Convolutions are
// none: their factors overlap.
std::optional<std::vector<FactorUse>> factorUses(const Op &op);

// The sizes of the product on one rank, for the largest block; unknown if it is none.
MatrixSizes matrixSizes(const Op &op, const FactorAxes &axes, const Mesh &mesh);

// The sizes of a grouped product on one rank. The first factors of its rule are its rows, inputs,
// outputs and groups.
GroupedSizes groupedSizes(const Op &op, const FactorAxes &axes, const Mesh &mesh);

} // namespace cleave::planner
