// Packing: the copies around a collective that transfers the blocks of a dim one behind the other.
//
// Collectives transfer whole buffers of `ranks` blocks. The blocks along a dim of a dense tensor
// lie in one buffer like that only if the dims before have one element and the blocks fill the dim
// exactly; otherwise they are copied to or from staging memory of that form: all full blocks by one
// kernel, the rest in the last block by another. A sender fills blocks that the tensor does not
// fill. The program (passes/bufferize) is built by these rules, and layout changes are priced by
// them (Reshard.h).
#pragma once

#include "compiler/cluster/Cluster.h"

#include <span>

namespace cleave::cost {

// The blocks of `block` elements along dim `dim` of a dense tensor of this shape, one per rank.
struct Blocks {
  std::span<const int64_t> shape; // of the tensor
  int64_t dim = 0;
  int64_t ranks = 1;
  int64_t block = 1;

  // Whether the tensor has to be copied to or from staging memory.
  bool arePacked() const;
  // The blocks that the tensor fills, and the elements along the dim behind them; none where blocks
  // are empty.
  int64_t full() const { return block == 0 ? 0 : shape[dim] / block; }
  int64_t rest() const { return block == 0 ? 0 : shape[dim] % block; }
  bool arePadded() const { return shape[dim] < ranks * block; }
  // Elements of all blocks together, padding included.
  double elements() const;
};

// Bytes of the staging memory; 0 if the blocks are not packed. `elementBytes` may be a fraction.
double stagingBytes(const Blocks &blocks, double elementBytes);

// Seconds of the copies from the tensor to the blocks, and back; 0 if they are not packed.
double packSeconds(const cluster::Cluster &cluster, const Blocks &blocks, double elementBytes);
double unpackSeconds(const cluster::Cluster &cluster, const Blocks &blocks, double elementBytes);

} // namespace cleave::cost
