// Tiles of rows begin where groups do. Blocks are numbered such that the tiles of group g are the
// numbers from begin(g) / kSide + g on: numbers of different groups differ, whatever the ends, and
// grow with g.
#include "passes/codegen/gpu/GpuGroupedMatmul.h"

#include "passes/codegen/gpu/GpuProduct.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <limits>
#include <numeric>

using namespace mlir;

namespace cleave::codegen {

namespace {

constexpr int64_t kSide = GpuProduct::kSide;
// Blocks that follow each other have as many tiles of rows, then of columns, so that those that run
// at the same time share tiles of both factors in the cache.
constexpr int64_t kBand = 16;

// The view of an operand of the kernel's op.
program::ViewAttr viewOf(program::KernelOp kernel, Value operand) {
  return kernel.getOperandView(cast<BlockArgument>(operand).getArgNumber());
}

// The rows of a kernel in its groups.
class GroupRows {
public:
  // Checks all ends. The launch of the kernel is set before. `groups`: how many the kernel has.
  template <typename Op>
  GroupRows(GpuKernel &k, program::KernelOp kernel, Op op, int64_t groups)
      : k_(k), b_(k.builder()), ends_(viewOf(kernel, op.getEnds())),
        endType_(graph::elementTypeOf(op.getEnds())), rows_(graph::staticShapeOf(op.getX())[0]),
        groups_(groups), wholeGroups_(graph::staticShapeOf(op.getEnds())[0]),
        firstRow_(loadScalar(kernel, op.getFirstRow())),
        firstGroup_(loadScalar(kernel, op.getFirstGroup())),
        isWrong_(checkEnds(static_cast<int64_t>(op.getWholeRows().value_or(rows_)))) {}

  int64_t rows() const { return rows_; }
  // The initial value of sums: 0, or NaN if the ends are wrong.
  Value start() {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    Type f32 = b_.getF32Type();
    return k_.choose(isWrong_, k_.scalar(f32, nan), k_.scalar(f32, 0));
  }

  // The first row that is in this one of the kernel's groups or in a later one. No row is in a
  // group if the ends are wrong.
  Value boundOf(Value group) {
    Value bound = difference(endBefore(k_.add(firstGroup_, group)), firstRow_);
    return k_.choose(isWrong_, k_.constant(0), clamped(bound, rows_));
  }

  // The rows in parts: those before the groups, each group, those after the groups. Returns where a
  // part begins; after the last one, the number of rows.
  Value beginOf(Value part) {
    Value bound = boundOf(difference(part, k_.constant(1)));
    bound = k_.choose(compare(Predicate::sgt, part, k_.constant(0)), bound, k_.constant(0));
    return k_.choose(k_.isBelow(part, groups_ + 2), bound, k_.constant(rows_));
  }
  // The number of a part's first tile.
  Value firstTileOf(Value part) {
    Value tile = arith::DivUIOp::create(b_, k_.loc(), beginOf(part), k_.constant(kSide));
    return k_.add(tile, part);
  }
  // The last part whose tiles begin at this number or before it.
  Value partOf(Value tile) {
    Value part = k_.constant(0);
    for (int64_t step = llvm::bit_floor(static_cast<uint64_t>(groups_ + 1)); step > 0; step /= 2) {
      Value next = k_.add(part, k_.constant(step));
      Value begins = compare(Predicate::sle, firstTileOf(next), tile);
      part = k_.choose(k_.both(k_.isBelow(next, groups_ + 2), begins), next, part);
    }
    return part;
  }

  Value clamped(Value index, int64_t most) {
    return k_.smaller(arith::MaxSIOp::create(b_, k_.loc(), index, k_.constant(0)), most);
  }
  Value difference(Value a, Value b) { return arith::SubIOp::create(b_, k_.loc(), a, b); }

private:
  using Predicate = arith::CmpIPredicate;

  Value compare(Predicate predicate, Value a, Value b) {
    return arith::CmpIOp::create(b_, k_.loc(), predicate, a, b);
  }
  Value loadScalar(program::KernelOp kernel, Value scalar) {
    if (!scalar)
      return k_.constant(0);
    program::ViewAttr view = viewOf(kernel, scalar);
    return k_.load(view.getBuffer(), k_.constant(view.getOffset()), b_.getI64Type());
  }
  // The end of the groups before this one of all, among the rows of all ranks.
  Value endBefore(Value group) {
    Value before = clamped(difference(group, k_.constant(1)), wholeGroups_ - 1);
    Value at = k_.add(k_.constant(ends_.getOffset()), k_.mul(before, ends_.getStrides()[0]));
    Value end = k_.load(ends_.getBuffer(), at, endType_);
    if (end.getType() != b_.getI64Type())
      end = arith::ExtSIOp::create(b_, k_.loc(), b_.getI64Type(), end);
    return k_.choose(compare(Predicate::sle, group, k_.constant(0)), k_.constant(0), end);
  }
  // Whether any end is wrong.
  Value checkEnds(int64_t wholeRows) {
    Value found = k_.fold(k_.thread(), k_.constant(wholeGroups_), GpuProduct::kThreadsOfTile,
                          k_.scalar(b_.getI1Type(), 0),
                          [&](Value group, ValueRange before) -> SmallVector<Value> {
                            Value end = endBefore(k_.add(group, k_.constant(1)));
                            Value descends = compare(Predicate::slt, end, endBefore(group)),
                                  isBehind = compare(Predicate::sgt, end, k_.constant(wholeRows));
                            Value isWrong = arith::OrIOp::create(b_, k_.loc(), descends, isBehind);
                            return {arith::OrIOp::create(b_, k_.loc(), before[0], isWrong)};
                          })[0];
    return k_.holdsForAny(found);
  }

  GpuKernel &k_;
  OpBuilder &b_;
  program::ViewAttr ends_;
  Type endType_;
  int64_t rows_, groups_, wholeGroups_;
  Value firstRow_, firstGroup_, isWrong_;
};

int64_t bandsOf(int64_t tiles) { return llvm::divideCeil(tiles, kBand); }
// The blocks of these tiles of a result.
int64_t blocksOf(int64_t rowTiles, int64_t columnTiles) {
  return bandsOf(rowTiles) * kBand * columnTiles;
}

// Calls body(row tile, column tile) for the tile with this number, if there is one.
void forTile(GpuKernel &k, Value number, int64_t rowTiles, int64_t columnTiles,
             llvm::function_ref<void(Value, Value)> body) {
  SmallVector<Value> at = k.delinearize(number, {bandsOf(rowTiles), columnTiles, kBand});
  Value row = k.add(k.mul(at[0], kBand), at[2]);
  k.when(k.isBelow(row, rowTiles), [&] { body(row, at[1]); });
}

// A tensor [rows, columns] of the kernel, one of which are the lines of the factor.
GpuProduct::Factor rowsOf(GpuKernel &k, program::ViewAttr view, int64_t rows, int64_t columns,
                          bool hasRowLines) {
  const GpuProduct::Dim down{rows, view.getStrides()[0], /*isAligned=*/false},
      right{columns, view.getStrides()[1]};
  return {static_cast<int64_t>(view.getBuffer()), k.constant(view.getOffset()),
          hasRowLines ? down : right, hasRowLines ? right : down,
          static_cast<int64_t>(view.getOffset())};
}

// Where the matrix of a group begins.
Value originOf(GpuKernel &k, program::ViewAttr view, Value group) {
  return k.add(k.constant(view.getOffset()), k.mul(group, view.getStrides()[0]));
}

void emitProduct(GpuKernel &k, program::KernelOp kernel, graph::GroupedMatmulOp op) {
  const std::vector<int64_t> sizes = graph::staticShapeOf(op.getWeights());
  const int64_t groups = sizes[0], inputs = sizes[1], outputs = sizes[2],
                tiles = graph::staticShapeOf(op.getX())[0] / kSide + groups + 2,
                columnTiles = GpuProduct::tilesOf(outputs);
  std::unique_ptr<GpuProduct> product =
      GpuProduct::create(k, blocksOf(tiles, columnTiles), graph::elementTypeOf(op.getX()));
  GroupRows rows(k, kernel, op, groups);
  const program::ViewAttr x = viewOf(kernel, op.getX()), weights = viewOf(kernel, op.getWeights()),
                          result = kernel.getResultView(0);
  forTile(k, k.block(), tiles, columnTiles, [&](Value tile, Value columnTile) {
    Value part = rows.partOf(tile), group = rows.difference(part, k.constant(1));
    Value first = k.add(rows.beginOf(part),
                        k.mul(rows.difference(tile, rows.firstTileOf(part)), kSide)),
          end = rows.beginOf(k.add(part, k.constant(1))), column = k.mul(columnTile, kSide);
    Value terms = k.choose(k.isBelow(group, groups), k.constant(inputs), k.constant(0));
    const GpuProduct::Factor ofGroup{static_cast<int64_t>(weights.getBuffer()),
                                     originOf(k, weights, rows.clamped(group, groups - 1)),
                                     {outputs, weights.getStrides()[2]},
                                     {inputs, weights.getStrides()[1]},
                                     std::gcd(weights.getOffset(), weights.getStrides()[0])};
    const GpuProduct::Result to{static_cast<int64_t>(result.getBuffer()),
                                k.constant(result.getOffset()),
                                result.getStrides()[0],
                                result.getStrides()[1],
                                outputs,
                                graph::elementTypeOf(op.getResult())};
    Value exists =
        arith::CmpIOp::create(k.builder(), k.loc(), arith::CmpIPredicate::slt, first, end);
    k.when(exists, [&] {
      GpuProduct::Numbers sums =
          product->multiply({rowsOf(k, x, rows.rows(), inputs, /*hasRowLines=*/true), first},
                            {ofGroup, column}, k.constant(0), terms, rows.start());
      product->store(sums, to, first, end, column);
    });
  });
}

void emitWeightGrad(GpuKernel &k, program::KernelOp kernel, graph::GroupedWeightGradOp op) {
  const std::vector<int64_t> sizes = graph::staticShapeOf(op.getResult());
  const int64_t groups = sizes[0], inputs = sizes[1], outputs = sizes[2],
                rowTiles = GpuProduct::tilesOf(inputs), columnTiles = GpuProduct::tilesOf(outputs),
                perGroup = blocksOf(rowTiles, columnTiles);
  std::unique_ptr<GpuProduct> product =
      GpuProduct::create(k, groups * perGroup, graph::elementTypeOf(op.getX()));
  GroupRows rows(k, kernel, op, groups);
  const program::ViewAttr x = viewOf(kernel, op.getX()), grad = viewOf(kernel, op.getGrad()),
                          result = kernel.getResultView(0);
  SmallVector<Value> at = k.delinearize(k.block(), {groups, perGroup});
  forTile(k, at[1], rowTiles, columnTiles, [&](Value rowTile, Value columnTile) {
    Value begin = rows.boundOf(at[0]), end = rows.boundOf(k.add(at[0], k.constant(1)));
    Value row = k.mul(rowTile, kSide), column = k.mul(columnTile, kSide);
    GpuProduct::Numbers sums =
        product->multiply({rowsOf(k, x, rows.rows(), inputs, /*hasRowLines=*/false), row},
                          {rowsOf(k, grad, rows.rows(), outputs, /*hasRowLines=*/false), column},
                          begin, end, rows.start());
    const GpuProduct::Result to{static_cast<int64_t>(result.getBuffer()),
                                originOf(k, result, at[0]),
                                result.getStrides()[1],
                                result.getStrides()[2],
                                outputs,
                                graph::elementTypeOf(op.getResult())};
    product->store(sums, to, row, k.constant(inputs), column);
  });
}

} // namespace

void emitGroupedMatmul(GpuKernel &k, program::KernelOp kernel) {
  if (auto product = dyn_cast<graph::GroupedMatmulOp>(kernel.getComputation()))
    return emitProduct(k, kernel, product);
  emitWeightGrad(k, kernel, cast<graph::GroupedWeightGradOp>(kernel.getComputation()));
}

} // namespace cleave::codegen
