// See RandomValues.h. Positions are hashed with the finalizer of SplitMix64; normal values are
// computed from two uniform ones by the Box-Muller formula.
#include "runtime/executor/RandomValues.h"

#include "runtime/base/DType.h"
#include "runtime/data/ArrayFile.h"

#include <cmath>
#include <numbers>
#include <vector>

namespace cleave::executor {
namespace {

uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

// The hash of the seed and the name, common to all elements of a tensor.
uint64_t keyOf(const std::string &name, uint64_t seed) {
  uint64_t key = mix(seed);
  for (char c : name)
    key = mix(key ^ static_cast<uint8_t>(c));
  return key;
}

double draw(const plan::RandomValues &values, uint64_t key, int64_t position) {
  uint64_t bits = mix(key ^ mix(static_cast<uint64_t>(position)));
  constexpr double kUnit = 0x1p-32;
  double first = (static_cast<double>(bits >> 32) + 0.5) * kUnit; // in (0, 1)
  if (values.distribution() == plan::RandomValues::UNIFORM)
    return (2 * first - 1) * values.scale();
  double second = static_cast<double>(bits & 0xffffffff) * kUnit;
  return std::sqrt(-2 * std::log(first)) * std::cos(2 * std::numbers::pi * second) * values.scale();
}

} // namespace

Status drawBlock(const plan::Tensor &tensor, uint64_t seed, const artifact::RankBlock &block,
                 void *destination) {
  const plan::RandomValues &values = tensor.source().random();
  uint64_t key = keyOf(tensor.name(), seed);
  auto dtype = static_cast<DType>(tensor.dtype());
  // Row by row along the last dim; a scalar is one row of one element.
  size_t outer = block.shape.empty() ? 0 : block.shape.size() - 1;
  int64_t length = block.shape.empty() ? 1 : block.extent[outer];
  int64_t rows = length > 0 ? 1 : 0;
  for (size_t d = 0; d < outer; ++d)
    rows *= block.extent[d];
  std::vector<double> row(static_cast<size_t>(length));
  std::vector<int64_t> index(outer);
  for (int64_t n = 0; n < rows; ++n) {
    int64_t position = 0, place = 0; // of the row's first element, in the tensor and in the block
    for (size_t d = 0; d < block.shape.size(); ++d) {
      position = position * tensor.shape(int(d)) + block.begin[d] + (d < outer ? index[d] : 0);
      place = place * block.shape[d] + (d < outer ? index[d] : 0);
    }
    for (int64_t i = 0; i < length; ++i)
      row[size_t(i)] = draw(values, key, position + i);
    CLEAVE_TRY(data::convert(row.data(), DType::F64,
                             static_cast<char *>(destination) + place * byteSize(dtype), dtype,
                             length));
    for (size_t d = outer; d-- > 0 && ++index[d] == block.extent[d];)
      index[d] = 0;
  }
  return Status::ok();
}

} // namespace cleave::executor
