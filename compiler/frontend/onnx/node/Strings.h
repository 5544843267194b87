// Strings exist only while importing. A tensor of strings is an int64 tensor of their numbers in a
// pool: operators that move elements move strings, and equal strings have equal numbers. The step
// does not refer to the pool.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace cleave::onnx {

// A tensor of known strings.
struct StringTensor {
  std::vector<int64_t> shape;
  std::vector<std::string> elements; // row-major
};

// The strings of one import and their numbers.
class StringPool {
public:
  // The string's number, the same for equal strings. Fails where the pool grows beyond 2^28
  // characters.
  int64_t numberOf(const std::string &string);
  // The string of a number; null if there is none.
  const std::string *find(int64_t number) const;

private:
  std::map<std::string, int64_t> numbers_;
  std::vector<const std::string *> strings_; // keys of numbers_, by number
  size_t characters_ = 0;
};

// How an operator treats string operands. Moves: its outputs are strings, too. Inspects: its
// outputs are numbers. Handles: its handler evaluates the strings. None: it takes no strings.
enum class StringSupport { Moves, Inspects, Handles, None };
StringSupport stringSupportOf(const std::string &domain, const std::string &op);

} // namespace cleave::onnx
