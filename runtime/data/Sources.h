// The kinds of data source, and their common parts. Private to this folder.
#pragma once

#include "runtime/data/ArrayFile.h"
#include "runtime/data/DataSource.h"

#include <optional>

namespace cleave::data {

// One array of an input and its file.
struct FoundArray {
  std::shared_ptr<const ArrayFile> file;
  const ArrayView *array;
};

// A source with one array per input, or several whose samples follow each other. A user error if
// shapes, types or numbers of samples do not fit.
Result<std::unique_ptr<DataSource>> openArrays(const DataOptions &options,
                                               const std::vector<InputDescription> &inputs,
                                               const std::vector<std::vector<FoundArray>> &arrays);

// A sequence of tokens in memory or mapped.
struct TokenFile {
  std::string path;
  std::shared_ptr<const void> storage; // owns the tokens
  const unsigned char *tokens = nullptr;
  int64_t count = 0;
  DType dtype = DType::U8; // of a token, an integer
};
// Opens a token file (DataOptions::specs).
Result<TokenFile> openTokens(const std::string &path);

// A source of windows of sequences of tokens; no window has tokens of two files.
Result<std::unique_ptr<DataSource>> openWindows(const DataOptions &options,
                                                const std::vector<InputDescription> &inputs,
                                                std::vector<TokenFile> files);

// A source of images: of one folder (with one path), or of archives. A user error if the model
// reads something else, also.
Result<std::unique_ptr<DataSource>> openImages(const DataOptions &options,
                                               const std::vector<InputDescription> &inputs,
                                               const std::vector<std::string> &folders,
                                               const std::vector<std::string> &archives);

// Whether the input is a label, by its mark or its name.
bool isLabel(const InputDescription &input);

// Whether values of a type are taken for an input of another.
bool canConvert(DType from, DType to);

// The integer label of samples that complete the last batch of an evaluation, which does not count
// it.
constexpr int64_t kFiller = -100;

// The integer that fills the label of a sample which only completes a batch.
int64_t paddingOf(bool isEvaluation, const InputDescription &label);

// Whether an integer may be a value of the input.
bool isAllowed(const InputDescription &input, int64_t value);

// The first of `count` values of the input's dtype that it may not hold (InputDescription).
struct BadValue {
  int64_t index, value;
};
std::optional<BadValue> findBadValue(const InputDescription &input, const void *values,
                                     int64_t count);
// The user error for such a value; `place` says where it is: `sample 7 of a.npz`.
Status refuse(const InputDescription &input, int64_t value, const std::string &place);

// A user error if the last batch cannot be treated as the options say; `perStep` of the `samples`
// are taken in one step.
Status checkLastBatch(const DataOptions &options, const std::vector<InputDescription> &inputs,
                      int64_t samples, int64_t perStep);

// The items' names for messages, at most 20: `a`, `b`, `c`.
template <typename Items, typename NameOf>
std::string listNames(const Items &items, NameOf nameOf) {
  std::string text;
  size_t shown = 0;
  for (const auto &item : items) {
    if (++shown > 20)
      return text + ", …";
    text += concat(text.empty() ? "`" : ", `", nameOf(item), "`");
  }
  return text.empty() ? "none" : text;
}

} // namespace cleave::data
