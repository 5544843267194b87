// WeightDims: the dim along which tensor parallelism splits each weight: one that only products sum
// over. Norms sum over the features of a block's input and output, so weights that read the input
// are split by columns, and weights that give the output by rows. If neither dim or both dims of a
// product's weight are left, the larger one is taken; of equal ones, the contracted one. A lookup
// table is split by rows, unless another dim is left, such as the heads of a bias of attention.
#pragma once

#include "compiler/planner/model/StepModel.h"

namespace cleave::planner {

// Per value that dim, if it is a weight or made of one weight alone, such as its copy in a low
// type; else -1.
std::vector<int> weightDims(const StepModel &model);

} // namespace cleave::planner
