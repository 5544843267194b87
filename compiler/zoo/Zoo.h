// The zoo: known architectures at any size, as ONNX models whose parameters have an initialisation
// instead of elements. They can be profiled, planned for any number of devices, and trained from
// scratch.
#pragma once

#include "compiler/frontend/onnx/file/Model.h"
#include "runtime/base/Status.h"

#include <map>
#include <string>
#include <vector>

namespace cleave::zoo {

// A size that architectures can have, an option of cleave-zoo.
struct SizeName {
  const char *name;    // `hidden`
  const char *meaning; // for help
};
// All sizes.
const std::vector<SizeName> &sizeNames();

// An entry of the zoo.
struct Entry {
  std::string name;                     // `llama3-8b`
  std::map<std::string, int64_t> sizes; // default values of all its sizes
};
// All entries.
const std::vector<Entry> &entries();

// The model of an entry with these sizes instead of its defaults; `symbols` fixes sizes of symbolic
// dims (`batch`, `seq`). User errors: an unknown name (all names are listed), a size that the
// architecture does not have, inconsistent sizes.
Result<onnx::Model> build(const std::string &name, const std::map<std::string, int64_t> &sizes,
                          const std::map<std::string, int64_t> &symbols = {});

} // namespace cleave::zoo
