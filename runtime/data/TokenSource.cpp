// Data source of windows of token files: window w of a file is its tokens [w * length, (w + 1) *
// length); the label is the same range, shifted by one token. The windows of several files follow
// each other. See DataSource.h.
#include "runtime/base/MappedFile.h"
#include "runtime/data/Block.h"
#include "runtime/data/SampleOrder.h"
#include "runtime/data/Sources.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

namespace cleave::data {
namespace {

class TokenSource final : public DataSource {
public:
  // `firsts`: the number of the first window of each file, and then that of all windows.
  TokenSource(std::vector<InputDescription> inputs, std::vector<TokenFile> files,
              std::vector<int64_t> firsts, int64_t length, const DataOptions &options)
      : inputs_(std::move(inputs)), files_(std::move(files)), firsts_(std::move(firsts)),
        length_(length),
        epochs_(samples(), samplesPerMicroBatch() * options.slots, options.lastBatch),
        order_(samples(), options.shuffleSeed), isEvaluation_(options.isEvaluation) {}

  int64_t samples() const override { return firsts_.back(); }
  int64_t samplesPerMicroBatch() const override { return elements(inputs_[0].shape) / length_; }
  int64_t tokensPerSample() const override { return length_; }
  Epochs *epochs() override { return &epochs_; }

  std::string description() const override {
    std::string text = concat(samples(), " windows of ", length_, " tokens");
    if (files_.size() == 1)
      return text;
    int64_t empty = 0;
    for (size_t i = 0; i < files_.size(); ++i)
      empty += firsts_[i] == firsts_[i + 1];
    text += concat(" in ", files_.size(), " files");
    return empty ? concat(text, ", ", empty, " of which ", empty == 1 ? "is" : "are",
                          " too short for a window")
                 : text;
  }

  Status fill(size_t index, int64_t step, int64_t slot, const std::vector<int64_t> &offset,
              const std::vector<int64_t> &shape, void *destination) const override {
    const InputDescription &input = inputs_[index];
    Block block{offset, shape}, whole{std::vector<int64_t>(input.shape.size(), 0), input.shape};
    Block part = intersection(block, whole);
    clearUnlessAll(part, block, input.dtype, destination);
    if (elements(part.shape) == 0)
      return Status::ok();
    // Fills the micro-batch, a sequence of windows, in runs along its last dim.
    std::vector<int64_t> element = part.offset;
    do {
      int64_t at = position(element, whole), target = position(element, block);
      for (int64_t done = 0; done < part.shape.back();) {
        int64_t window = (at + done) / length_, within = (at + done) % length_;
        int64_t run = std::min(length_ - within, part.shape.back() - done);
        char *to = static_cast<char *>(destination) + (target + done) * byteSize(input.dtype);
        CLEAVE_TRY(copy(input, step, slot * samplesPerMicroBatch() + window, within, run, to));
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

  // Copies the tokens [within, within + count) of the window at place `number` of a step.
  Status copy(const InputDescription &input, int64_t step, int64_t number, int64_t within,
              int64_t count, char *to) const {
    TakenSample taken = epochs_.sampleAt(step, number);
    if (taken.isPadding && isLabel(input)) {
      std::vector<int64_t> ignored(size_t(count), paddingOf(isEvaluation_, input));
      return convert(ignored.data(), DType::I64, to, input.dtype, count);
    }
    int64_t window = order_.at(taken.epoch * samples() + taken.index);
    size_t index = size_t(std::prev(std::upper_bound(firsts_.begin(), firsts_.end(), window)) -
                          firsts_.begin());
    const TokenFile &file = files_[index];
    int64_t token = (window - firsts_[index]) * length_ + within + (isLabel(input) ? 1 : 0);
    CLEAVE_TRY(
        convert(file.tokens + token * byteSize(file.dtype), file.dtype, to, input.dtype, count)
            .withContext(file.path));
    if (auto bad = findBadValue(input, to, count))
      return refuse(input, bad->value, concat(file.path, ", token ", token + bad->index));
    return Status::ok();
  }

  std::vector<InputDescription> inputs_;
  std::vector<TokenFile> files_;
  std::vector<int64_t> firsts_;
  int64_t length_;
  Epochs epochs_;
  SampleOrder order_;
  bool isEvaluation_;
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

// The token files of llm.c begin with 256 numbers of 32 bits: one for the vocabulary, a version,
// and the number of tokens. Other files are left as they are.
void readHeader(const MappedFile &file, TokenFile &tokens) {
  constexpr size_t kHeaderBytes = 1024;
  constexpr int32_t kGpt2[] = {20240520, 1}, kLlama3[] = {20240801, 7};
  if (file.size() < kHeaderBytes)
    return;
  int32_t header[3];
  std::memcpy(header, file.data(), sizeof header);
  bool isGpt2 = header[0] == kGpt2[0] && header[1] == kGpt2[1];
  if (!isGpt2 && (header[0] != kLlama3[0] || header[1] != kLlama3[1]))
    return;
  tokens.dtype = isGpt2 ? DType::U16 : DType::U32;
  tokens.tokens = file.data() + kHeaderBytes;
  tokens.count = int64_t(file.size() - kHeaderBytes) / byteSize(tokens.dtype);
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
    tokens.storage = file;
    tokens.tokens = static_cast<const unsigned char *>(array->data);
    tokens.dtype = array->dtype;
    tokens.count = array->elements();
    return tokens;
  }
  CLEAVE_TRY_ASSIGN(auto file, MappedFile::open(path));
  tokens.storage = file;
  tokens.tokens = file->data();
  tokens.dtype = ending == ".u16" ? DType::U16 : ending == ".u32" ? DType::U32 : DType::U8;
  tokens.count = int64_t(file->size()) / byteSize(tokens.dtype);
  if (ending == ".bin")
    readHeader(*file, tokens);
  return tokens;
}

Result<std::unique_ptr<DataSource>> openWindows(const DataOptions &options,
                                                const std::vector<InputDescription> &inputs,
                                                std::vector<TokenFile> files) {
  std::vector<InputDescription> chosen = inputs;
  int64_t length = 0;
  CLEAVE_TRY(chooseInputs(chosen, files[0].path, options.mayHaveLabels, length));
  int64_t label = chosen.size() == 2 ? 1 : 0; // the last window's label needs one token more
  std::vector<int64_t> firsts{0};
  for (const TokenFile &file : files) {
    int64_t windows = length > 0 ? std::max<int64_t>(0, (file.count - label) / length) : 0;
    firsts.push_back(firsts.back() + windows);
  }
  if (firsts.back() < 1)
    return Status::userError("found ", files[0].count, " tokens in ", files[0].path,
                             files.size() > 1 ? " and too few in the other files" : "",
                             ", expected at least ", length + label, " for one window of ", length,
                             " tokens");
  CLEAVE_TRY(checkLastBatch(options, chosen, firsts.back(),
                            elements(chosen[0].shape) / length * options.slots));
  return std::unique_ptr<DataSource>(std::make_unique<TokenSource>(
      std::move(chosen), std::move(files), std::move(firsts), length, options));
}

} // namespace cleave::data
