// What tiles have in common, however their products are computed.
#include "passes/codegen/gpu/GpuTiles.h"

#include "passes/codegen/gpu/FmaTiles.h"
#include "passes/codegen/gpu/MmaTiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace cleave::codegen {

std::unique_ptr<GpuTiles> GpuTiles::create(GpuKernel &kernel, int64_t blocks, Type element,
                                           int64_t columns, int side) {
  if (element.getIntOrFloatBitWidth() == 16)
    return std::make_unique<MmaTiles>(kernel, blocks, element, columns, side);
  return std::make_unique<FmaTiles>(kernel, blocks, columns);
}

GpuTiles::GpuTiles(GpuKernel &kernel, int64_t blocks, int threads, int lanesPerRow, int side)
    : k_(kernel), threads_(threads), lanesPerRow_(lanesPerRow), side_(side) {
  k_.setLaunch({blocks, threads, 0});
  thread_ = k_.thread();
  SmallVector<Value> at = k_.delinearize(thread_, {threads / lanesPerRow, lanesPerRow});
  down_ = at[0], lane_ = at[1];
}

GpuTiles::Numbers GpuTiles::zeros(int64_t columns) {
  return Numbers(rowCount() * columnCount(columns), k_.scalar(k_.builder().getF32Type(), 0));
}

Value GpuTiles::exists(Value index, int64_t size) {
  return size % kTileRows == 0 ? Value() : k_.isBelow(index, size);
}

Value GpuTiles::indexOf(const Matrix &matrix, Value row, Value column) {
  Value place = k_.add(k_.mul(row, matrix.rowStride), k_.mul(column, matrix.columnStride));
  return k_.add(matrix.origin, place);
}

void GpuTiles::store(ValueRange tile, const Matrix &to, Value firstRow, double factor) {
  OpBuilder &b = k_.builder();
  const int columns = columnCount(to.columns);
  const bool checksColumns = lanesPerRow_ * columns != to.columns;
  for (int i = 0; i < rowCount(); ++i)
    for (int j = 0; j < columns; ++j) {
      Value r = k_.add(firstRow, row(i)), c = column(j), number = tile[i * columns + j];
      if (factor != 1)
        number = arith::MulFOp::create(b, k_.loc(), number, k_.scalar(b.getF32Type(), factor));
      Value isInside =
          k_.both(exists(r, to.rows), checksColumns ? k_.isBelow(c, to.columns) : Value());
      auto write = [&] { k_.store(k_.narrow(number, to.element), to.argument, indexOf(to, r, c)); };
      isInside ? k_.when(isInside, write) : write();
    }
}

// -- rows -----------------------------------------------------------------------------------------

Value GpuTiles::acrossRow(Value value, Combine combine) {
  for (int mask = 1; mask < lanesPerRow_; mask *= 2)
    value = combine(value, k_.shuffle(value, mask));
  return value;
}

Value GpuTiles::anyOf(Value line, llvm::function_ref<Value(Value)> isSet) {
  OpBuilder &b = k_.builder();
  return k_.fold(k_.constant(0), k_.constant(kTileRows), 1, k_.scalar(b.getI1Type(), 0),
                 [&](Value i, ValueRange before) -> SmallVector<Value> {
                   Value number = k_.loadFrom(line, i, b.getF32Type());
                   return {arith::OrIOp::create(b, k_.loc(), before[0], isSet(number))};
                 })[0];
}

} // namespace cleave::codegen
