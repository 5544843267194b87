// Partition: a chain of layers cut into stages of nearly equal seconds.
#pragma once

#include "runtime/base/Status.h"

#include <cstdint>
#include <vector>

namespace cleave::pipelines {

// The number of layers of each stage, at least one: the slowest stage is as fast as possible, and
// of such partitions the one with the least sum of squares of the stages' seconds. `seconds` has
// one entry per layer in the order of the model, embedding and head included: forward and backward
// of one micro-batch together. `borders` is empty, or has one entry more: entry i is the
// seconds that both stages at a border before layer i take to pass values, and the first and the
// last entry are 0. Takes stages · layers² steps. A user error without stages, with fewer layers
// than stages, or with seconds that are not finite numbers of at least 0.
Result<std::vector<uint32_t>> balancedPartition(const std::vector<double> &seconds, uint32_t stages,
                                                std::vector<double> borders = {});

} // namespace cleave::pipelines
