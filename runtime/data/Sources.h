// The two kinds of data source, and their common parts. Private to this folder.
#pragma once

#include "runtime/data/ArrayFile.h"
#include "runtime/data/DataSource.h"

#include <map>

namespace cleave::data {

// The array of an input and its file.
struct FoundArray {
  std::shared_ptr<const ArrayFile> file;
  const ArrayView *array;
};

// A source with one array per input. A user error if shapes, types or numbers of samples do not
// fit.
Result<std::unique_ptr<DataSource>> openArrays(const DataOptions &options,
                                               const std::vector<InputDescription> &inputs,
                                               const std::vector<FoundArray> &arrays);

// A sequence of tokens in memory.
struct TokenFile {
  std::string path;
  std::shared_ptr<const void> storage; // owns the tokens
  const unsigned char *tokens = nullptr;
  int64_t count = 0;
  int64_t bytesPerToken = 1; // 1: unsigned; 4 and 8: signed
};
// Opens a token file (DataOptions::specs).
Result<TokenFile> openTokens(const std::string &path);

// A source of windows of one sequence of tokens.
Result<std::unique_ptr<DataSource>> openWindows(const DataOptions &options,
                                                const std::vector<InputDescription> &inputs,
                                                TokenFile file);

// Whether the input is a label, by its mark or its name.
bool isLabel(const InputDescription &input);

// A user error if one of `count` values of the input's dtype lies outside its vocabulary; labels
// may be -100. `where` is the file, for the message.
Status checkVocabulary(const InputDescription &input, const void *values, int64_t count,
                       const std::string &where);

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
