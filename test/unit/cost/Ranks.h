// Ranks: one value laid out over all ranks of a mesh in one process, and the effect of reshard
// steps on it, by plain loops: the oracle for the elements that steps move, with and without
// padding.
#pragma once

#include "compiler/cost/Reshard.h"

#include <random>

namespace cleave::cost {

// One rank's block.
struct Block {
  std::vector<int64_t> shape;
  std::vector<double> values; // row-major
  // The element at a multi-index.
  double &at(const std::vector<int64_t> &index);
};

// The value on all ranks.
struct Ranks {
  Mesh mesh;
  std::vector<int64_t> shape; // of the whole value
  Sharding sharding;
  std::vector<Block> blocks; // per rank; padding is NaN

  // Cuts `whole` into blocks; partial ones become random summands (or candidates for max and min).
  static Ranks lay(const Mesh &mesh, const Block &whole, const Sharding &sharding,
                   std::mt19937 &random);
  // Carries out a step; the blocks then have the sizes of localShape().
  void apply(const ReshardStep &step);
  // The largest difference to `whole` of any element that is not padding, after resolving partial
  // sums.
  double difference(const Block &whole) const;
};

// A block with random elements.
Block randomBlock(const std::vector<int64_t> &shape, std::mt19937 &random);

} // namespace cleave::cost
