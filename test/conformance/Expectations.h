// Expectations: the tests that are not passed, each with its reason, as not-passed.txt has them:
//
//   [what Cleave does not do, and why]
//   1.22/node/test_one_thing
//   1.22/node/test_another_thing compile
//
// The second test is passed by the interpreter, not by compiler and runtime.
#pragma once

#include "test/conformance/Paths.h"

#include <optional>

namespace cleave::conformance {

class Expectations {
public:
  // A user error for a line that is none of the above, and for a test that is named twice.
  static Result<Expectations> read(const std::string &file);

  // Why the test is not passed on this path, if so.
  std::optional<std::string> reason(const std::string &test, Path path) const;
  // All tests that the file names.
  std::vector<std::string> tests() const;

private:
  struct Entry {
    std::string reason;
    std::string path; // empty: both
  };
  std::map<std::string, Entry> entries_;
};

} // namespace cleave::conformance
