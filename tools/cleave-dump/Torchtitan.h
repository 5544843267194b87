// Torchtitan: what a plan is in the terms of torchtitan 0.2, whose ranks are ordered by stage,
// replicas, shards of parameters, context and tensor parallelism, and which splits all parameters
// in the way of the model's own functions.
#pragma once

#include "runtime/artifact/program.pb.h"

#include <cstdint>
#include <string>
#include <vector>

namespace cleave::dump {

// The degrees of parallelism of the section [parallelism]. Their product, without `expert`, is the
// number of ranks.
struct TorchtitanDegrees {
  int64_t replicate = 1, shard = 1, context = 1, tensor = 1, stage = 1;
  int64_t expert = 1; // of the ranks of `shard`
  // The ranks among which samples are divided.
  int64_t data() const { return replicate * shard; }
};

// The degrees of the axes of the mesh. What they do not say is added to `missing`: the order of the
// axes, axes of other kinds, and layouts that differ from those of torchtitan.
TorchtitanDegrees torchtitanDegrees(const plan::Plan &plan, std::vector<std::string> &missing);

} // namespace cleave::dump
