// Data source whose samples lie along the first dim of one array per input. See DataSource.h.
#include "runtime/data/Block.h"
#include "runtime/data/SampleOrder.h"
#include "runtime/data/Sources.h"

#include <cstring>

namespace cleave::data {
namespace {

// One input and its array. Scalar inputs and scalar arrays are treated as shape [1].
struct Column {
  InputDescription input;
  std::shared_ptr<const ArrayFile> file;
  DType dtype;
  std::vector<int64_t> shape; // of the array
  const unsigned char *data;
  SampleOrder order;
  bool isConstant; // the same values for every micro-batch (a mask, a table)

  int64_t batch() const { return input.shape[0]; }
  int64_t samples() const { return shape[0]; }
};

class ArraySource final : public DataSource {
public:
  ArraySource(std::vector<Column> columns, int64_t slots)
      : columns_(std::move(columns)), slots_(slots) {}

  int64_t samples() const override { return counted() ? counted()->samples() : 0; }
  int64_t samplesPerMicroBatch() const override { return counted() ? counted()->batch() : 0; }

  Status fill(size_t input, int64_t step, int64_t slot, const std::vector<int64_t> &offset,
              const std::vector<int64_t> &shape, void *destination) const override {
    const Column &column = columns_[input];
    Block block{offset, shape};
    if (shape.empty())
      block = {{0}, {1}};
    DType dtype = column.input.dtype;
    std::memset(destination, 0, elements(block.shape) * byteSize(dtype));
    Block whole{std::vector<int64_t>(column.input.shape.size(), 0), column.input.shape};
    Block part = intersection(block, whole);
    if (elements(part.shape) == 0)
      return Status::ok();
    int64_t first = (step * slots_ + slot) * column.batch();
    int64_t rowBytes = elements(column.shape) / column.samples() * byteSize(column.dtype);
    for (int64_t row = part.offset[0]; row < part.offset[0] + part.shape[0]; ++row) {
      Block one = part, stored = whole;
      one.offset[0] = stored.offset[0] = row; // position of the sample in the micro-batch
      one.shape[0] = stored.shape[0] = 1;
      const unsigned char *sample = column.data + column.order.at(first + row) * rowBytes;
      CLEAVE_TRY(copyPart(one, stored, column.dtype, sample, block, dtype, destination)
                     .withContext(column.file->path() + ", input `" + column.input.name + "`"));
    }
    return checkVocabulary(column.input, destination, elements(block.shape), column.file->path());
  }

private:
  // The column that determines the number of samples: the first that varies, otherwise the first.
  const Column *counted() const {
    for (const Column &column : columns_)
      if (!column.isConstant)
        return &column;
    return columns_.empty() ? nullptr : &columns_[0];
  }

  std::vector<Column> columns_;
  int64_t slots_;
};

bool canConvert(DType from, DType to) {
  auto whole = [](DType type) { return isInteger(type) || type == DType::Bool; };
  return whole(from) || !whole(to);
}

Status checkColumn(const Column &column) {
  const std::vector<int64_t> &wanted = column.input.shape;
  bool fits = column.shape.size() == wanted.size() && column.samples() > 0;
  for (size_t dim = 1; fits && dim < wanted.size(); ++dim)
    fits = column.shape[dim] == wanted[dim];
  std::vector<int64_t> sample(wanted.begin() + 1, wanted.end());
  std::string where = "array `" + column.input.name + "` in " + column.file->path();
  if (!fits)
    return Status::userError("found ", where, " of shape ", toString(column.shape),
                             ", expected samples of shape ", toString(sample),
                             " along its first dim");
  if (!canConvert(column.dtype, column.input.dtype))
    return Status::userError("found ", where, " of type ", name(column.dtype), ", expected ",
                             name(column.input.dtype));
  return Status::ok();
}

// Checks that all inputs end after the same number of micro-batches: otherwise later passes would
// combine samples that do not belong together.
Status checkAgreement(const std::vector<Column> &columns) {
  for (const Column &column : columns) {
    const Column &first = columns[0];
    if (column.samples() * first.batch() != first.samples() * column.batch())
      return Status::userError("found ", first.samples(), " samples of `", first.input.name,
                               "` but ", column.samples(), " of `", column.input.name,
                               "`, expected equal numbers");
  }
  return Status::ok();
}

} // namespace

Result<std::unique_ptr<DataSource>> openArrays(const DataOptions &options,
                                               const std::vector<InputDescription> &inputs,
                                               const std::vector<FoundArray> &arrays) {
  std::vector<Column> columns, varying;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ArrayView &array = *arrays[i].array;
    std::vector<int64_t> shape = array.shape;
    InputDescription input = inputs[i];
    if (input.shape.empty())
      input.shape = {1};
    if (shape.empty())
      shape = {1};
    std::optional<uint64_t> seed = options.shuffleSeed;
    bool constant = shape == input.shape;
    if (constant)
      seed.reset();
    columns.push_back({.input = input,
                       .file = arrays[i].file,
                       .dtype = array.dtype,
                       .shape = shape,
                       .data = static_cast<const unsigned char *>(array.data),
                       .order = SampleOrder(std::max<int64_t>(1, shape[0]), seed),
                       .isConstant = constant});
    CLEAVE_TRY(checkColumn(columns.back()));
    if (!constant)
      varying.push_back(columns.back());
  }
  CLEAVE_TRY(checkAgreement(varying));
  return std::unique_ptr<DataSource>(
      std::make_unique<ArraySource>(std::move(columns), options.slots));
}

} // namespace cleave::data
