// Reference evaluation of the collectives, element by element.
#include "dialects/mesh/Evaluate.h"

#include "dialects/mesh/MeshDialect.h"

#include "llvm/ADT/TypeSwitch.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace cleave::mesh {

using Index = std::vector<int64_t>;

bool isCollective(mlir::Operation *op) {
  return llvm::isa_and_nonnull<MeshDialect>(op->getDialect());
}

double poison(ElementType type) {
  return isFloat(type) ? std::numeric_limits<double>::quiet_NaN() : 77;
}

static double combine(ReduceKind kind, double a, double b) {
  if (kind == ReduceKind::Sum)
    return a + b;
  if (std::isnan(a) || std::isnan(b))
    return std::numeric_limits<double>::quiet_NaN();
  return kind == ReduceKind::Max ? std::max(a, b) : std::min(a, b);
}

// The tensors of the group, combined element by element.
static Tensor combineAll(ReduceKind kind, const std::vector<const Tensor *> &group) {
  Tensor sum(group[0]->type, group[0]->shape);
  for (int64_t i = 0; i < sum.size(); ++i) {
    double value = group[0]->values[i];
    for (size_t member = 1; member < group.size(); ++member)
      value = combine(kind, value, group[member]->values[i]);
    sum.set(i, value);
  }
  return sum;
}

// The block of member `at` of the group of a tensor along `dim`.
static Tensor sliceBlock(const Tensor &whole, int64_t dim, int64_t ranks, int64_t at) {
  Index shape = whole.shape;
  shape[dim] = llvm::divideCeilSigned(shape[dim], ranks);
  Tensor block(whole.type, shape, poison(whole.type));
  Index strides = whole.strides();
  int64_t position = 0;
  forEachIndex(shape, [&](const Index &index) {
    Index source = index;
    source[dim] += at * shape[dim];
    if (source[dim] < whole.shape[dim])
      block.values[position] = whole.values[linearIndex(source, strides)];
    ++position;
  });
  return block;
}

// The concatenation of the group's blocks along `dim`, truncated to `size`.
static Tensor gatherBlocks(const std::vector<const Tensor *> &blocks, int64_t dim, int64_t size) {
  Index shape = blocks[0]->shape;
  int64_t block = shape[dim];
  shape[dim] = size;
  Tensor whole(blocks[0]->type, shape);
  Index strides = blocks[0]->strides();
  int64_t position = 0;
  forEachIndex(shape, [&](const Index &index) {
    Index source = index;
    source[dim] %= block;
    whole.values[position++] = blocks[index[dim] / block]->values[linearIndex(source, strides)];
  });
  return whole;
}

static mlir::ArrayAttr axesOf(mlir::Operation *op) {
  return op->getAttrOfType<mlir::ArrayAttr>("axes");
}

// The results on the rank at position `at` of its group; `operand(i)` are the group's i-th
// operands. `from`: of a permute, the position of the rank whose block arrives.
template <typename Operands>
static std::vector<Tensor> evaluateOnRank(mlir::Operation *op, int64_t ranks, int64_t at,
                                          int64_t from, Operands operand) {
  auto sizeOf = [](mlir::Value value, int64_t dim) {
    return llvm::cast<mlir::RankedTensorType>(value.getType()).getDimSize(dim);
  };
  return llvm::TypeSwitch<mlir::Operation *, std::vector<Tensor>>(op)
      .Case([&](AllReduceOp reduce) {
        std::vector<Tensor> results;
        for (size_t i = 0; i < reduce.getOperands().size(); ++i)
          results.push_back(combineAll(static_cast<ReduceKind>(reduce.getKind()), operand(i)));
        return results;
      })
      .Case([&](AllGatherOp gather) {
        int64_t dim = gather.getDim();
        return std::vector{gatherBlocks(operand(0), dim, sizeOf(gather.getResult(), dim))};
      })
      .Case([&](ReduceScatterOp scatter) {
        Tensor sum = combineAll(static_cast<ReduceKind>(scatter.getKind()), operand(0));
        return std::vector{sliceBlock(sum, scatter.getDim(), ranks, at)};
      })
      .Case([&](SliceOp slice) {
        return std::vector{sliceBlock(*operand(0)[at], slice.getDim(), ranks, at)};
      })
      .Case([&](AllToAllOp exchange) {
        int64_t from = exchange.getFrom();
        Tensor whole = gatherBlocks(operand(0), from, sizeOf(exchange.getResult(), from));
        return std::vector{sliceBlock(whole, exchange.getTo(), ranks, at)};
      })
      .Case([&](PermuteOp) { return std::vector{*operand(0)[from]}; })
      .Case([&](BlockOffsetOp offset) {
        return std::vector{Tensor(ElementType::I64, {}, at * double(offset.getBlock()))};
      });
}

RankTensors evaluateCollective(mlir::Operation *op, const Mesh &mesh, const RankTensors &operands) {
  std::vector<int> axes = *toAxes(axesOf(op), mesh), sources = axes;
  bool isReversed = false;
  if (auto permute = llvm::dyn_cast<PermuteOp>(op)) {
    sources = *toAxes(permute.getToAxes(), mesh);
    isReversed = permute.getReversed();
  }
  RankTensors results(mesh.ranks());
  for (int64_t rank = 0; rank < mesh.ranks(); ++rank) {
    std::vector<int64_t> group = mesh.group(rank, axes);
    auto operand = [&](size_t i) {
      std::vector<const Tensor *> tensors;
      for (int64_t member : group)
        tensors.push_back(&operands[member][i]);
      return tensors;
    };
    const int64_t ranks = mesh.ranksAlong(axes), source = mesh.indexAlong(rank, sources);
    results[rank] = evaluateOnRank(op, ranks, mesh.indexAlong(rank, axes),
                                   isReversed ? ranks - 1 - source : source, operand);
  }
  return results;
}

Tensor splitTensor(const Tensor &whole, const Sharding &sharding, const Mesh &mesh, int64_t rank) {
  Index shape = localShape(whole.shape, sharding, mesh);
  Index offset = localOffset(whole.shape, sharding, mesh, rank);
  Tensor block(whole.type, shape, poison(whole.type));
  Index strides = whole.strides();
  int64_t position = 0;
  forEachIndex(shape, [&](const Index &index) {
    Index source = index;
    bool isInside = true;
    for (size_t d = 0; d < index.size(); ++d)
      isInside &= (source[d] += offset[d]) < whole.shape[d];
    if (isInside)
      block.values[position] = whole.values[linearIndex(source, strides)];
    ++position;
  });
  return block;
}

// Whether two ranks hold equal values of one element, up to the tolerance.
static bool isClose(double a, double b, double tolerance) {
  if (a == b || (std::isnan(a) && std::isnan(b)))
    return true;
  return std::fabs(a - b) <= tolerance;
}

Tensor joinTensor(const std::vector<Tensor> &blocks, const std::vector<int64_t> &shape,
                  const Sharding &sharding, const Mesh &mesh, bool *agree, double tolerance) {
  Tensor whole(blocks[0].type, shape, poison(blocks[0].type));
  std::vector<bool> known(whole.size(), false);
  Index strides = whole.strides();
  double largest = 0;
  for (const Tensor &block : blocks)
    for (double value : block.values)
      largest = std::isfinite(value) ? std::max(largest, std::fabs(value)) : largest;
  bool allAgree = true;
  for (int64_t rank = 0; rank < mesh.ranks(); ++rank) {
    if (mesh.indexAlong(rank, sharding.partial) != 0)
      continue; // only the first rank of a group of replicas counts
    std::vector<const Tensor *> group;
    for (int64_t member : mesh.group(rank, sharding.partial))
      group.push_back(&blocks[member]);
    Tensor block = combineAll(sharding.reduce, group);
    Index offset = localOffset(shape, sharding, mesh, rank);
    int64_t position = 0;
    forEachIndex(block.shape, [&](const Index &index) {
      double value = block.values[position++];
      Index target = index;
      for (size_t d = 0; d < index.size(); ++d)
        if ((target[d] += offset[d]) >= shape[d])
          return; // padding
      int64_t at = linearIndex(target, strides);
      if (known[at])
        allAgree &= isClose(whole.values[at], value, tolerance * largest);
      else
        whole.values[at] = value;
      known[at] = true;
    });
  }
  if (agree)
    *agree = allAgree;
  return whole;
}

} // namespace cleave::mesh
