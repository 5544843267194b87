// Data source of windows of one sequence of tokens: window w is the tokens [w * length, (w + 1) *
// length); its label is the same range, shifted by one token. See DataSource.h.
#include "runtime/base/MappedFile.h"
#include "runtime/data/Block.h"
#include "runtime/data/SampleOrder.h"
#include "runtime/data/Sources.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

namespace cleave::data {
namespace {

DType typeOf(const TokenFile &file) {
  switch (file.bytesPerToken) {
  case 1:
    return DType::U8;
  case 4:
    return DType::I32;
  default:
    return DType::I64;
  }
}

class TokenSource final : public DataSource {
public:
  TokenSource(std::vector<InputDescription> inputs, TokenFile file, int64_t length, int64_t windows,
              const DataOptions &options)
      : inputs_(std::move(inputs)), file_(std::move(file)), length_(length), windows_(windows),
        slots_(options.slots), order_(windows, options.shuffleSeed) {}

  int64_t samples() const override { return windows_; }
  int64_t samplesPerMicroBatch() const override { return elements(inputs_[0].shape) / length_; }

  Status fill(size_t index, int64_t step, int64_t slot, const std::vector<int64_t> &offset,
              const std::vector<int64_t> &shape, void *destination) const override {
    const InputDescription &input = inputs_[index];
    Block block{offset, shape}, whole{std::vector<int64_t>(input.shape.size(), 0), input.shape};
    std::memset(destination, 0, elements(shape) * byteSize(input.dtype));
    // Fills the micro-batch, a sequence of windows, in runs along its last dim.
    Block part = intersection(block, whole);
    if (elements(part.shape) == 0)
      return Status::ok();
    int64_t first = (step * slots_ + slot) * (elements(input.shape) / length_);
    std::vector<int64_t> element = part.offset;
    do {
      int64_t at = position(element, whole), target = position(element, block);
      for (int64_t done = 0; done < part.shape.back();) {
        int64_t window = (at + done) / length_, within = (at + done) % length_;
        int64_t run = std::min(length_ - within, part.shape.back() - done);
        int64_t token = order_.at(first + window) * length_ + within + (isLabel(input) ? 1 : 0);
        CLEAVE_TRY(
            copy(input, token, run,
                 static_cast<char *>(destination) + (target + done) * byteSize(input.dtype)));
        done += run;
      }
    } while (next(element, part));
    return Status::ok();
  }

private:
  static int64_t position(const std::vector<int64_t> &element, const Block &block) {
    int64_t result = 0;
    for (size_t dim = 0; dim < element.size(); ++dim)
      result = result * block.shape[dim] + element[dim] - block.offset[dim];
    return result;
  }

  // Moves to the next run; false at the end.
  static bool next(std::vector<int64_t> &element, const Block &part) {
    for (size_t dim = element.size() - 1; dim-- > 0;) {
      if (++element[dim] < part.offset[dim] + part.shape[dim])
        return true;
      element[dim] = part.offset[dim];
    }
    return false;
  }

  Status copy(const InputDescription &input, int64_t token, int64_t count, char *to) const {
    CLEAVE_TRY(
        convert(file_.tokens + token * file_.bytesPerToken, typeOf(file_), to, input.dtype, count)
            .withContext(file_.path));
    return checkVocabulary(input, to, count, file_.path);
  }

  std::vector<InputDescription> inputs_;
  TokenFile file_;
  int64_t length_, windows_, slots_;
  SampleOrder order_;
};

// Finds the token input and the label input; the label is the last one (a loss adds it). Sets
// `length`, the tokens of one sample.
Status chooseInputs(std::vector<InputDescription> &inputs, const std::string &path,
                    bool mayHaveLabels, int64_t &length) {
  auto fail = [&](const auto &...what) {
    return Status::userError("found the token file ", path, ", but ", concat(what...),
                             "; give FILE.npz, FILE.safetensors or NAME=FILE.npy");
  };
  size_t tokens = 0;
  for (const InputDescription &input : inputs)
    if (!isInteger(input.dtype) || input.shape.empty())
      return fail("input `", input.name, "` is ", name(input.dtype), toString(input.shape),
                  ", not tokens");
  if (inputs.empty() || inputs.size() > 2)
    return fail("the model has ", inputs.size(), " inputs, not one");
  bool hasNone = inputs.size() == 2 && !isLabel(inputs[0]) && !isLabel(inputs[1]);
  if (hasNone && !mayHaveLabels)
    return fail("it is unknown which of `", inputs[0].name, "` and `", inputs[1].name,
                "` takes the tokens");
  if (hasNone)
    inputs[1].label = true;
  if (inputs.size() == 2 && isLabel(inputs[0]))
    tokens = 1;
  if (isLabel(inputs[tokens]))
    return fail("the model reads no tokens");
  if (inputs.size() == 2 && elements(inputs[0].shape) != elements(inputs[1].shape))
    return fail("`", inputs[0].name, "` ", toString(inputs[0].shape), " and `", inputs[1].name,
                "` ", toString(inputs[1].shape), " differ in size");
  const std::vector<int64_t> &shape = inputs[tokens].shape;
  length = shape.size() == 1 ? shape[0] : elements(shape) / shape[0];
  return Status::ok();
}

} // namespace

Result<TokenFile> openTokens(const std::string &path) {
  std::string ending = std::filesystem::path(path).extension();
  TokenFile tokens;
  tokens.path = path;
  if (ending == ".npy") {
    CLEAVE_TRY_ASSIGN(auto file, ArrayFile::open(path));
    const ArrayView *array = file->arrays().empty() ? nullptr : &file->arrays()[0];
    if (!array || !isInteger(array->dtype) || array->shape.size() != 1)
      return Status::userError(
          "found ", path,
          (array ? " with " + std::string(name(array->dtype)) + toString(array->shape) : ""),
          ", expected a one-dimensional integer array of tokens, or NAME=", path);
    if (array->dtype != DType::U8 && array->dtype != DType::I32 && array->dtype != DType::I64) {
      auto wide = std::make_shared<std::vector<int64_t>>(array->elements());
      CLEAVE_TRY(convert(array->data, array->dtype, wide->data(), DType::I64, array->elements()));
      tokens.storage = wide;
      tokens.tokens = reinterpret_cast<const unsigned char *>(wide->data());
      tokens.bytesPerToken = 8;
    } else {
      tokens.storage = file;
      tokens.tokens = static_cast<const unsigned char *>(array->data);
      tokens.bytesPerToken = byteSize(array->dtype);
    }
    tokens.count = array->elements();
    return tokens;
  }
  CLEAVE_TRY_ASSIGN(auto file, MappedFile::open(path));
  tokens.storage = file;
  tokens.tokens = file->data();
  tokens.count = file->size();
  if (ending == ".u16" || ending == ".u32") { // converted to i32 once
    int64_t bytes = ending == ".u16" ? 2 : 4;
    auto wide = std::make_shared<std::vector<int32_t>>(file->size() / bytes);
    for (size_t i = 0; i < wide->size(); ++i)
      std::memcpy(&(*wide)[i], file->data() + i * bytes, bytes);
    tokens.storage = wide;
    tokens.tokens = reinterpret_cast<const unsigned char *>(wide->data());
    tokens.count = wide->size();
    tokens.bytesPerToken = 4;
  }
  return tokens;
}

Result<std::unique_ptr<DataSource>> openWindows(const DataOptions &options,
                                                const std::vector<InputDescription> &inputs,
                                                TokenFile file) {
  std::vector<InputDescription> chosen = inputs;
  int64_t length = 0;
  CLEAVE_TRY(chooseInputs(chosen, file.path, options.mayHaveLabels, length));
  int64_t label = chosen.size() == 2 ? 1 : 0; // the last window's label needs one token more
  int64_t windows = length > 0 ? (file.count - label) / length : 0;
  if (windows < 1)
    return Status::userError("found ", file.count, " tokens in ", file.path, ", expected at least ",
                             length + label, " for one window of ", length, " tokens");
  return std::unique_ptr<DataSource>(
      std::make_unique<TokenSource>(std::move(chosen), std::move(file), length, windows, options));
}

} // namespace cleave::data
