// The files that the --data options name. Private to this folder and to the comparison of the
// ranks' data.
#pragma once

#include "runtime/base/Status.h"
#include "runtime/data/DataSource.h"

#include <string>
#include <vector>

namespace cleave::data {

// One --data option.
struct DataSpec {
  const InputDescription *input = nullptr; // of NAME=FILE; null: the files have arrays by name
  std::vector<std::string> files;          // at least one; those of a pattern sorted by name
};

// Reads FILE, NAME=FILE, PATTERN or NAME=PATTERN; in a pattern, `*`, `?` and `[…]` are as in a
// shell, and `{007..123}` stands for every number of this range, with the digits of the first. A
// folder is one file here. User errors: no file matches, or there is no such input.
Result<DataSpec> readSpec(const std::string &text, const std::vector<InputDescription> &inputs);

} // namespace cleave::data
