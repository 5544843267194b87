// Texts: strings, which exist while importing only. A tensor of texts is an int64 tensor of their numbers in a pool:
// what moves elements moves texts, and equal texts have equal numbers. A program never sees the pool.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace cleave::onnx {

// A tensor of texts whose elements are known, row-major.
struct Texts {
  std::vector<int64_t> shape;
  std::vector<std::string> elements;
};

class TextPool {
public:
  // The text's number, the same for equal texts. Fails where all are longer together than any model's.
  int64_t numberOf(const std::string &text);
  // Null for a number that no text has.
  const std::string *find(int64_t number) const;

private:
  std::map<std::string, int64_t> numbers_;
  std::vector<const std::string *> texts_; // keys of numbers_
  size_t characters_ = 0;
};

// What an operator does with texts: it moves them (its outputs are texts, too), only looks at them (its outputs are
// numbers), knows them itself, or takes none.
enum class TextUse { Moves, Looks, Knows, None };
TextUse textUseOf(const std::string &domain, const std::string &op);

} // namespace cleave::onnx
