// See RandomValues.h. Positions are hashed with the finalizer of SplitMix64; normal values are
// computed from two uniform ones by the Box-Muller formula.
#include "runtime/executor/RandomValues.h"

#include "runtime/base/DType.h"
#include "runtime/base/Parallel.h"
#include "runtime/data/ArrayFile.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
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

// One rank's block of a tensor, row by row along the last dim; a scalar is one row of one element.
struct Block {
  const plan::Tensor &tensor;
  const artifact::RankBlock &block;
  uint64_t key;
  char *destination;

  size_t outer() const { return block.shape.empty() ? 0 : block.shape.size() - 1; }
  int64_t length() const { return block.shape.empty() ? 1 : block.extent[outer()]; }
  int64_t rows() const {
    int64_t rows = length() > 0 ? 1 : 0;
    for (size_t d = 0; d < outer(); ++d)
      rows *= block.extent[d];
    return rows;
  }

  // Draws the rows [first, last).
  Status draw(int64_t first, int64_t last) const {
    const plan::RandomValues &values = tensor.source().random();
    const auto dtype = static_cast<DType>(tensor.dtype());
    std::vector<double> row(static_cast<size_t>(length()));
    for (int64_t n = first; n < last; ++n) {
      const auto [position, place] = startOf(n);
      for (int64_t i = 0; i < length(); ++i)
        row[size_t(i)] = executor::draw(values, key, position + i);
      CLEAVE_TRY(data::convert(row.data(), DType::F64, destination + place * byteSize(dtype), dtype,
                               length()));
    }
    return Status::ok();
  }

private:
  // Linear indices of a row's first element, in the tensor and in the block.
  std::pair<int64_t, int64_t> startOf(int64_t row) const {
    int64_t position = 0, place = 0, ofTensor = 1, ofBlock = 1;
    for (size_t d = block.shape.size(); d-- > 0;) {
      int64_t index = 0;
      if (d < outer()) {
        index = row % block.extent[d];
        row /= block.extent[d];
      }
      position += (block.begin[d] + index) * ofTensor;
      place += index * ofBlock;
      ofTensor *= tensor.shape(int(d));
      ofBlock *= block.shape[d];
    }
    return {position, place};
  }
};

// A thread draws about this many elements at a time.
constexpr int64_t kPiece = 1 << 16;

} // namespace

Status drawBlock(const plan::Tensor &tensor, uint64_t seed, const artifact::RankBlock &block,
                 void *destination) {
  const Block drawn{tensor, block, keyOf(tensor.name(), seed), static_cast<char *>(destination)};
  const int64_t rows = drawn.rows(), length = std::max<int64_t>(drawn.length(), 1);
  const int64_t together = std::max<int64_t>(kPiece / length, 1);
  std::vector<Status> results(static_cast<size_t>((rows + together - 1) / together), Status::ok());
  inParallel(results.size(), [&](size_t i) {
    const int64_t first = static_cast<int64_t>(i) * together;
    results[i] = drawn.draw(first, std::min(first + together, rows));
  });
  for (Status &result : results)
    CLEAVE_TRY(result);
  return Status::ok();
}

} // namespace cleave::executor
