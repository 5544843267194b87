// Torchtitan: a plan in the terms of torchtitan 0.2. Its ranks are ordered by stage, replicas,
// shards of parameters, context and tensor parallelism; functions of the model decide which
// parameters tensor parallelism splits.
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

// The degrees of the axes of the mesh. Adds to `missing` a sentence per decision that they do not
// express: the order of the axes, axes of other kinds, layouts that torchtitan does not have.
TorchtitanDegrees torchtitanDegrees(const plan::Plan &plan, std::vector<std::string> &missing);

} // namespace cleave::dump
