// Expectations: the tests that are not passed, with their reasons, read from not-passed.txt:
//
//   [what Cleave does not do, and why]
//   1.22/node/test_one_thing
//   1.22/node/test_another_thing compile
//
// The second test passes in the interpreter, but not with compiler and runtime.
#pragma once

#include "test/conformance/Paths.h"

#include <optional>

namespace cleave::conformance {

class Expectations {
public:
  // Reads the file. A user error for a line in another form, and for a test that is listed twice.
  static Result<Expectations> read(const std::string &file);

  // The reason why the test does not pass on this path; nothing if it passes.
  std::optional<std::string> reason(const std::string &test, Path path) const;
  // All tests in the file.
  std::vector<std::string> tests() const;

private:
  struct Entry {
    std::string reason;
    std::string path; // empty: both
  };
  std::map<std::string, Entry> entries_;
};

} // namespace cleave::conformance
