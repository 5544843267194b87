// The two kinds of data source, and what they share. Only for this folder.
#pragma once

#include "runtime/data/ArrayFile.h"
#include "runtime/data/DataSource.h"
#include "runtime/data/MappedFile.h"

#include <map>

namespace cleave::data {

// Where an array of an input comes from.
struct FoundArray {
  std::shared_ptr<const ArrayFile> file;
  const ArrayView *array;
};

// One array per input.
Result<std::unique_ptr<DataSource>> openArrays(const DataOptions &options,
                                               const std::vector<InputDescription> &inputs,
                                               const std::vector<FoundArray> &arrays);

// A row of tokens: whole numbers one after the other.
struct TokenFile {
  std::string path;
  std::shared_ptr<const void> storage;
  const unsigned char *tokens = nullptr;
  int64_t count = 0;
  int64_t bytesPerToken = 1; // 1: unsigned; 4 and 8: signed
};
Result<TokenFile> openTokens(const std::string &path);

// Windows of one row of tokens.
Result<std::unique_ptr<DataSource>> openWindows(const DataOptions &options,
                                                const std::vector<InputDescription> &inputs,
                                                TokenFile file);

bool isLabel(const InputDescription &input);

// Fails if an integer that was written lies outside the input's vocabulary (labels: and is not
// -100). `where` is the file, for the message.
Status checkVocabulary(const InputDescription &input, const void *values, int64_t count,
                       const std::string &where);

// `a`, `b`, `c`
template <typename Items, typename NameOf>
std::string listNames(const Items &items, NameOf nameOf) {
  std::string text;
  size_t shown = 0;
  for (const auto &item : items) {
    if (++shown > 20)
      return text + ", …";
    text += (text.empty() ? "`" : ", `") + std::string(nameOf(item)) + "`";
  }
  return text.empty() ? "none" : text;
}

} // namespace cleave::data
