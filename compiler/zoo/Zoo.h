// The zoo: known architectures at any size, as ONNX models without elements. Their parameters say
// how they are initialised, so they can be profiled, planned for any number of devices, and trained
// from the start.
#pragma once

#include "compiler/frontend/onnx/file/Model.h"
#include "runtime/base/Status.h"

#include <map>
#include <string>
#include <vector>

namespace cleave::zoo {

// A size that some architectures have.
struct SizeName {
  const char *name;
  const char *meaning;
};
const std::vector<SizeName> &sizeNames();

// An entry of the zoo.
struct Entry {
  std::string name;
  std::map<std::string, int64_t> sizes; // its own values of all sizes that it has
};
const std::vector<Entry> &entries();

// The entry with these sizes in place of its own, as a model; `symbols` fixes sizes of symbolic
// dims (`batch`, `seq`). User errors: an unknown name (all are listed), a size that the
// architecture does not have, sizes that do not fit each other.
Result<onnx::Model> build(const std::string &name, const std::map<std::string, int64_t> &sizes,
                          const std::map<std::string, int64_t> &symbols = {});

} // namespace cleave::zoo
