// Copies between tensors and blocks.
#include "compiler/cost/Packing.h"

#include "compiler/cost/Roofline.h"

#include <algorithm>

namespace cleave::cost {

bool Blocks::arePacked() const {
  auto before = shape.first(static_cast<size_t>(dim));
  bool isLeading =
      std::all_of(before.begin(), before.end(), [](int64_t size) { return size == 1; });
  return !isLeading || shape[dim] != ranks * block;
}

// Elements of the part of the tensor that is `along` elements long in the dim.
static double elementsOf(const Blocks &blocks, int64_t along) {
  double elements = static_cast<double>(along);
  for (size_t d = 0; d < blocks.shape.size(); ++d)
    if (static_cast<int64_t>(d) != blocks.dim)
      elements *= static_cast<double>(blocks.shape[d]);
  return elements;
}

double Blocks::elements() const { return elementsOf(*this, ranks * block); }

double stagingBytes(const Blocks &blocks, double elementBytes) {
  return blocks.arePacked() ? blocks.elements() * elementBytes : 0;
}

double unpackSeconds(const cluster::Cluster &cluster, const Blocks &blocks, double elementBytes) {
  if (!blocks.arePacked())
    return 0;
  double seconds = 0;
  for (int64_t along : {blocks.full() * blocks.block, blocks.rest()})
    if (along > 0)
      seconds += copySeconds(cluster, elementsOf(blocks, along) * elementBytes);
  return seconds;
}

double packSeconds(const cluster::Cluster &cluster, const Blocks &blocks, double elementBytes) {
  double seconds = unpackSeconds(cluster, blocks, elementBytes);
  if (blocks.arePacked() && blocks.arePadded())
    seconds += fillSeconds(cluster, blocks.elements() * elementBytes);
  return seconds;
}

} // namespace cleave::cost
