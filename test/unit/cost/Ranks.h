// Ranks: one value laid out over all ranks of a mesh in one process, and what each reshard step
// does to it, by plain loops. Shows that the steps move the right elements, padding or not.
#pragma once

#include "compiler/cost/Reshard.h"

#include <random>

namespace cleave::cost {

// One rank's block.
struct Block {
  std::vector<int64_t> shape;
  std::vector<double> values; // row-major
  double &at(const std::vector<int64_t> &index);
};

struct Ranks {
  Mesh mesh;
  std::vector<int64_t> shape; // of the whole value
  Sharding sharding;
  std::vector<Block> blocks; // per rank; padding is NaN where it arises

  // Cuts `whole` into blocks; partial ones become random summands (or candidates for max and min).
  static Ranks lay(const Mesh &mesh, const Block &whole, const Sharding &sharding,
                   std::mt19937 &random);
  // Carries out a step; the blocks then have the sizes of localShape().
  void apply(const ReshardStep &step);
  // The largest difference to `whole` of any element that is not padding, after resolving partial
  // sums.
  double difference(const Block &whole) const;
};

Block randomBlock(const std::vector<int64_t> &shape, std::mt19937 &random);

} // namespace cleave::cost
