// Data source whose samples lie along the first dim of arrays: one per input, or several (shards)
// whose samples follow each other. See DataSource.h.
#include "runtime/data/Block.h"
#include "runtime/data/ParallelRows.h"
#include "runtime/data/SampleOrder.h"
#include "runtime/data/Sources.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <set>

namespace cleave::data {
namespace {

// The rows of one array.
struct FilePart {
  std::shared_ptr<const ArrayFile> file;
  DType dtype;
  const unsigned char *data;
  int64_t first; // number of its first row among those of all shards
  int64_t rows;
};

// One input and its arrays. Scalar inputs and scalar arrays are treated as shape [1].
struct Column {
  InputDescription input;
  std::vector<FilePart> shards;
  bool isConstant = false;   // the same values for every micro-batch (a mask, a table)
  int64_t rowsOfSample = 1;  // more if another input has fewer rows per micro-batch
  std::vector<char> ignored; // of a label: a row that the loss ignores, in the input's dtype

  int64_t batch() const { return input.shape[0]; }
  int64_t rows() const { return shards.back().first + shards.back().rows; }
  int64_t rowElements() const { return elements(input.shape) / batch(); }
  const FilePart &shardOf(int64_t row) const {
    return *std::prev(std::upper_bound(
        shards.begin(), shards.end(), row,
        [](int64_t wanted, const FilePart &shard) { return wanted < shard.first; }));
  }
};

class ArraySource final : public DataSource {
public:
  // `counted`: the column whose rows are the samples for the user.
  ArraySource(std::vector<Column> columns, size_t counted, int64_t samplesPerSlot,
              const DataOptions &options)
      : columns_(std::move(columns)), counted_(counted), perSlot_(samplesPerSlot),
        epochs_(std::max<int64_t>(1, columns_[counted].rows() / columns_[counted].rowsOfSample),
                samplesPerSlot * options.slots, options.lastBatch),
        order_(epochs_.samples(), options.shuffleSeed) {}

  int64_t samples() const override { return columns_[counted_].rows(); }
  int64_t samplesPerMicroBatch() const override { return columns_[counted_].batch(); }
  Epochs *epochs() override { return &epochs_; }

  int64_t tokensPerSample() const override {
    for (const Column &column : columns_)
      if (!isLabel(column.input) && column.input.vocabulary && column.input.shape.size() > 1)
        return elements(column.input.shape) / samplesPerMicroBatch();
    return 0;
  }

  std::string description() const override {
    std::set<std::string> files;
    for (const Column &column : columns_)
      for (const FilePart &shard : column.shards)
        files.insert(shard.file->path());
    return files.size() == 1 ? concat(samples(), " samples")
                             : concat(samples(), " samples in ", files.size(), " files");
  }

  Status fill(size_t input, int64_t step, int64_t slot, const std::vector<int64_t> &offset,
              const std::vector<int64_t> &shape, void *destination) const override {
    const Column &column = columns_[input];
    Block block{offset, shape};
    if (shape.empty())
      block = {{0}, {1}};
    Block whole{std::vector<int64_t>(column.input.shape.size(), 0), column.input.shape};
    Block part = intersection(block, whole);
    clearUnlessAll(part, block, column.input.dtype, destination);
    if (elements(part.shape) == 0)
      return Status::ok();
    const int64_t rowBytes = elements(part.shape) / part.shape[0] * byteSize(column.input.dtype);
    return fillInParallel(part.shape[0], rowBytes, [&](int64_t begin, int64_t count) {
      Block rows = part;
      rows.offset[0] += begin, rows.shape[0] = count;
      return fillRows(column, step, slot, rows, block, destination);
    });
  }

private:
  // Copies `part`, rows of the micro-batch, to their places in `block`.
  Status fillRows(const Column &column, int64_t step, int64_t slot, const Block &part,
                  const Block &block, void *destination) const {
    for (int64_t row = part.offset[0]; row < part.offset[0] + part.shape[0]; ++row) {
      Block one = part;
      one.offset[0] = row; // place of the row in the micro-batch
      one.shape[0] = 1;
      CLEAVE_TRY(fillRow(column, step, slot, one, block, destination));
    }
    return Status::ok();
  }

  // Copies `part`, one row of the micro-batch, to its place in `block`.
  Status fillRow(const Column &column, int64_t step, int64_t slot, const Block &part,
                 const Block &block, void *destination) const {
    const InputDescription &input = column.input;
    int64_t row = part.offset[0];
    Block stored{std::vector<int64_t>(input.shape.size(), 0), input.shape};
    stored.offset[0] = row;
    stored.shape[0] = 1;
    if (!column.isConstant) {
      int64_t number = slot * perSlot_ + row / column.rowsOfSample;
      TakenSample taken = epochs_.sampleAt(step, number);
      if (taken.isPadding && !column.ignored.empty())
        return copyPart(part, stored, input.dtype, column.ignored.data(), block, input.dtype,
                        destination);
      int64_t sample = order_.at(taken.epoch * epochs_.samples() + taken.index);
      row = sample * column.rowsOfSample + row % column.rowsOfSample;
    }
    const FilePart &shard = column.shardOf(row);
    const unsigned char *from =
        shard.data + (row - shard.first) * column.rowElements() * byteSize(shard.dtype);
    CLEAVE_TRY(copyPart(part, stored, shard.dtype, from, block, input.dtype, destination)
                   .withContext(shard.file->path() + ", input `" + input.name + "`"));
    int64_t wide = elements(block.shape) / block.shape[0]; // elements of a row of the block
    const char *copied = static_cast<const char *>(destination) +
                         (part.offset[0] - block.offset[0]) * wide * byteSize(input.dtype);
    if (auto bad = findBadValue(input, copied, wide))
      return refuse(input, bad->value,
                    concat("sample ", row - shard.first, " of ", shard.file->path()));
    return Status::ok();
  }

  std::vector<Column> columns_;
  size_t counted_;
  int64_t perSlot_;
  Epochs epochs_;
  SampleOrder order_;
};

std::vector<int64_t> atLeastOneDim(std::vector<int64_t> shape) {
  if (shape.empty())
    shape = {1};
  return shape;
}

Status checkArray(const InputDescription &input, const FoundArray &found) {
  std::vector<int64_t> shape = atLeastOneDim(found.array->shape);
  const std::vector<int64_t> &wanted = input.shape;
  bool fits = shape.size() == wanted.size() && shape[0] > 0;
  for (size_t dim = 1; fits && dim < wanted.size(); ++dim)
    fits = shape[dim] == wanted[dim];
  std::vector<int64_t> sample(wanted.begin() + 1, wanted.end());
  std::string where = "array `" + input.name + "` in " + found.file->path();
  if (!fits)
    return Status::userError("found ", where, " of shape ", toString(shape),
                             ", expected samples of shape ", toString(sample),
                             " along its first dim");
  if (!canConvert(found.array->dtype, input.dtype))
    return Status::userError("found ", where, " of type ", name(found.array->dtype), ", expected ",
                             name(input.dtype));
  return Status::ok();
}

// A row of labels that complete a batch: integers (paddingOf()), or NaN.
Status setIgnored(Column &column, int64_t padding) {
  const DType dtype = column.input.dtype;
  const auto count = size_t(column.rowElements());
  column.ignored.resize(count * byteSize(dtype));
  if (isInteger(dtype)) {
    const std::vector<int64_t> row(count, padding);
    return convert(row.data(), DType::I64, column.ignored.data(), dtype, column.rowElements());
  }
  const std::vector<double> row(count, std::numeric_limits<double>::quiet_NaN());
  return convert(row.data(), DType::F64, column.ignored.data(), dtype, column.rowElements());
}

Result<Column> makeColumn(InputDescription input, const std::vector<FoundArray> &arrays,
                          const DataOptions &options) {
  input.shape = atLeastOneDim(input.shape);
  Column column{.input = input, .shards = {}, .ignored = {}};
  int64_t rows = 0;
  for (const FoundArray &found : arrays) {
    CLEAVE_TRY(checkArray(input, found));
    column.shards.push_back({found.file, found.array->dtype,
                             static_cast<const unsigned char *>(found.array->data), rows,
                             atLeastOneDim(found.array->shape)[0]});
    rows += column.shards.back().rows;
  }
  if (options.lastBatch == LastBatch::Pad && isLabel(input))
    CLEAVE_TRY(setIgnored(column, paddingOf(options.isEvaluation, input)));
  return column;
}

// Whether every array of the column has the input's own shape and the same values.
bool repeatsOneBatch(const Column &column) {
  const FilePart &first = column.shards[0];
  size_t bytes = size_t(elements(column.input.shape) * byteSize(first.dtype));
  return std::all_of(column.shards.begin(), column.shards.end(), [&](const FilePart &shard) {
    return shard.rows == column.batch() && shard.dtype == first.dtype &&
           (shard.data == first.data || std::memcmp(shard.data, first.data, bytes) == 0);
  });
}

// Finds the inputs that are the same in every micro-batch. One that each of several files repeats
// is constant only if it cannot be samples, since another input has another number of them.
void markConstants(std::vector<Column> &columns) {
  for (Column &column : columns) {
    if (!repeatsOneBatch(column))
      continue;
    column.isConstant = column.shards.size() == 1 ||
                        std::any_of(columns.begin(), columns.end(), [&](const Column &other) {
                          return !repeatsOneBatch(other) &&
                                 other.rows() != other.batch() * int64_t(column.shards.size());
                        });
  }
  for (Column &column : columns)
    if (column.isConstant)
      column.shards.resize(1);
}

// Of two inputs with different numbers of samples, a file in which they differ, for the message.
std::string fileOfDifference(const Column &a, const Column &b) {
  auto rowsIn = [](const Column &column, const std::string &path) {
    int64_t rows = 0;
    for (const FilePart &shard : column.shards)
      rows += shard.file->path() == path ? shard.rows : 0;
    return rows;
  };
  std::string difference;
  bool haveCommon = false; // otherwise each input has files of its own
  for (const Column *column : {&a, &b})
    for (const FilePart &shard : column->shards) {
      const std::string &path = shard.file->path();
      int64_t inA = rowsIn(a, path), inB = rowsIn(b, path);
      haveCommon |= inA > 0 && inB > 0;
      if (inA * b.batch() != inB * a.batch() && difference.empty())
        difference = concat("; ", path, " has ", inA, " and ", inB);
    }
  return haveCommon && (a.shards.size() > 1 || b.shards.size() > 1) ? difference : "";
}

// Checks that all inputs end after the same number of micro-batches: otherwise later epochs would
// combine samples that do not belong together.
Status checkAgreement(const Column &first, const Column &column) {
  if (column.rows() * first.batch() == first.rows() * column.batch())
    return Status::ok();
  return Status::userError("found ", first.rows(), " samples of `", first.input.name, "` but ",
                           column.rows(), " of `", column.input.name, "`, expected equal numbers",
                           fileOfDifference(first, column));
}

} // namespace

Result<std::unique_ptr<DataSource>> openArrays(const DataOptions &options,
                                               const std::vector<InputDescription> &inputs,
                                               const std::vector<std::vector<FoundArray>> &arrays) {
  std::vector<Column> columns;
  for (size_t i = 0; i < inputs.size(); ++i) {
    CLEAVE_TRY_ASSIGN(Column column, makeColumn(inputs[i], arrays[i], options));
    columns.push_back(std::move(column));
  }
  markConstants(columns);
  // The samples are those of the first input that varies, or of the first.
  size_t counted = 0;
  while (counted < columns.size() && columns[counted].isConstant)
    ++counted;
  counted = counted == columns.size() ? 0 : counted;
  int64_t perSlot = columns[counted].batch();
  for (const Column &column : columns)
    if (!column.isConstant) {
      CLEAVE_TRY(checkAgreement(columns[counted], column));
      perSlot = std::gcd(perSlot, column.batch());
    }
  for (Column &column : columns)
    column.rowsOfSample = column.isConstant ? 1 : column.batch() / perSlot;
  columns[counted].rowsOfSample = columns[counted].batch() / perSlot;
  CLEAVE_TRY(checkLastBatch(options, inputs, columns[counted].rows(),
                            columns[counted].batch() * options.slots));
  return std::unique_ptr<DataSource>(
      std::make_unique<ArraySource>(std::move(columns), counted, perSlot, options));
}

} // namespace cleave::data
