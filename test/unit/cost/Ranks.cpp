#include "test/unit/cost/Ranks.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace cleave::cost {

static int64_t sizeOf(const std::vector<int64_t> &shape) {
  int64_t size = 1;
  for (int64_t n : shape)
    size *= n;
  return size;
}

// The next multi-index in row-major order; false after the last.
static bool next(std::vector<int64_t> &index, const std::vector<int64_t> &shape) {
  for (size_t d = shape.size(); d-- > 0;) {
    if (++index[d] < shape[d])
      return true;
    index[d] = 0;
  }
  return false;
}

double &Block::at(const std::vector<int64_t> &index) {
  int64_t position = 0;
  for (size_t d = 0; d < shape.size(); ++d)
    position = position * shape[d] + index[d];
  return values[position];
}

static Block nanBlock(const std::vector<int64_t> &shape) {
  return {shape, std::vector<double>(sizeOf(shape), std::nan(""))};
}

Block randomBlock(const std::vector<int64_t> &shape, std::mt19937 &random) {
  Block block = nanBlock(shape);
  for (double &value : block.values)
    value = static_cast<double>(random() % 1000);
  return block;
}

// A block of `shape` with the elements of `from` from `offset` on; elements beyond `from` are
// padding.
static Block cut(Block from, const std::vector<int64_t> &offset,
                 const std::vector<int64_t> &shape) {
  Block to = nanBlock(shape);
  std::vector<int64_t> index(shape.size(), 0);
  do {
    std::vector<int64_t> source = index;
    bool inside = true;
    for (size_t d = 0; d < shape.size(); ++d) {
      source[d] += offset[d];
      inside &= source[d] < from.shape[d];
    }
    if (inside)
      to.at(index) = from.at(source);
  } while (next(index, shape));
  return to;
}

static double combine(double a, double b, ReduceKind kind) {
  return kind == ReduceKind::Sum   ? a + b
         : kind == ReduceKind::Max ? std::max(a, b)
                                   : std::min(a, b);
}

Ranks Ranks::lay(const Mesh &mesh, const Block &whole, const Sharding &sharding,
                 std::mt19937 &random) {
  Ranks ranks{mesh, whole.shape, sharding, {}};
  for (int64_t rank = 0; rank < mesh.ranks(); ++rank)
    ranks.blocks.push_back(cut(whole, localOffset(whole.shape, sharding, mesh, rank),
                               localShape(whole.shape, sharding, mesh)));
  // The first rank of a partial group completes the random values of the others.
  for (int64_t rank = 0; rank < mesh.ranks(); ++rank) {
    std::vector<int64_t> group = mesh.group(rank, sharding.partial);
    if (group[0] != rank)
      continue;
    for (size_t k = 1; k < group.size(); ++k)
      for (size_t i = 0; i < ranks.blocks[rank].values.size(); ++i) {
        double drawn = static_cast<double>(random() % 100);
        double &first = ranks.blocks[rank].values[i];
        if (sharding.reduce == ReduceKind::Sum)
          first -= ranks.blocks[group[k]].values[i] = drawn;
        else
          ranks.blocks[group[k]].values[i] =
              first + (sharding.reduce == ReduceKind::Max ? -drawn : drawn);
      }
  }
  return ranks;
}

static std::vector<int64_t> offsetAlong(size_t rank, int dim, int64_t offset) {
  std::vector<int64_t> result(rank, 0);
  result[dim] = offset;
  return result;
}

// The blocks of the group concatenated along `dim`.
static Block concatenate(const std::vector<Block> &blocks, const std::vector<int64_t> &group,
                         int dim) {
  std::vector<int64_t> shape = blocks[group[0]].shape;
  const int64_t length = shape[dim];
  shape[dim] *= static_cast<int64_t>(group.size());
  Block result = nanBlock(shape);
  std::vector<int64_t> index(shape.size(), 0);
  do {
    std::vector<int64_t> source = index;
    source[dim] = index[dim] % length;
    Block block = blocks[group[index[dim] / length]];
    result.at(index) = block.at(source);
  } while (next(index, shape));
  return result;
}

static Block reduced(const std::vector<Block> &blocks, const std::vector<int64_t> &group,
                     ReduceKind kind) {
  Block result = blocks[group[0]];
  for (size_t k = 1; k < group.size(); ++k)
    for (size_t i = 0; i < result.values.size(); ++i)
      result.values[i] = combine(result.values[i], blocks[group[k]].values[i], kind);
  return result;
}

// Share number `position` of `block` along the step's dim, padded to the block size of the result.
static Block share(const Block &block, const ReshardStep &step, int64_t position,
                   const std::vector<int64_t> &shape) {
  return cut(block, offsetAlong(shape.size(), *step.toDim, position * shape[*step.toDim]), shape);
}

void Ranks::apply(const ReshardStep &step) {
  std::vector<Block> after;
  const std::vector<int64_t> local = localShape(shape, step.result, mesh);
  const std::vector<int64_t> none(shape.size(), 0);
  for (int64_t rank = 0; rank < mesh.ranks(); ++rank) {
    const std::vector<int64_t> group = mesh.group(rank, step.axes);
    const int64_t position = mesh.indexAlong(rank, step.axes);
    if (!step.collective) {
      after.push_back(share(blocks[rank], step, position, local));
      continue;
    }
    switch (*step.collective) {
    case CollectiveKind::AllGather:
      after.push_back(cut(concatenate(blocks, group, *step.fromDim), none, local));
      break;
    case CollectiveKind::AllToAll: {
      std::vector<Block> shares;
      std::vector<int64_t> order, partShape = blocks[rank].shape;
      partShape[*step.toDim] = local[*step.toDim];
      for (size_t k = 0; k < group.size(); ++k) {
        shares.push_back(share(blocks[group[k]], step, position, partShape));
        order.push_back(static_cast<int64_t>(k));
      }
      after.push_back(cut(concatenate(shares, order, *step.fromDim), none, local));
      break;
    }
    case CollectiveKind::AllReduce:
      after.push_back(reduced(blocks, group, step.reduce));
      break;
    case CollectiveKind::ReduceScatter:
      after.push_back(share(reduced(blocks, group, step.reduce), step, position, local));
      break;
    case CollectiveKind::Permute:
      after.push_back(blocks[mesh.group(rank, step.axes)[mesh.indexAlong(rank, step.toAxes)]]);
      break;
    case CollectiveKind::Send:
    case CollectiveKind::Recv:
      break; // no step of a layout change
    }
  }
  blocks = std::move(after);
  sharding = step.result;
}

double Ranks::difference(const Block &whole) const {
  double most = 0;
  for (int64_t rank = 0; rank < mesh.ranks(); ++rank) {
    Block sum = reduced(blocks, mesh.group(rank, sharding.partial), sharding.reduce);
    std::vector<int64_t> offset = localOffset(shape, sharding, mesh, rank);
    Block expected = cut(whole, offset, localShape(shape, sharding, mesh));
    if (sum.shape != expected.shape)
      return std::numeric_limits<double>::infinity();
    for (size_t i = 0; i < sum.values.size(); ++i)
      if (!std::isnan(expected.values[i])) {
        double error = std::abs(sum.values[i] - expected.values[i]);
        most = std::isnan(error) ? std::numeric_limits<double>::infinity() : std::max(most, error);
      }
  }
  return most;
}

} // namespace cleave::cost
