// Trained weights back into an ONNX file: a copy of the model's file in which every initializer has
// the new value of the parameter that is read there. What the import repaired (Parameters.h) is
// undone: transposed copies get the transpose, and where one initializer stood for several
// parameters each gets one of its own. Everything else of the file stays as it is.
#pragma once

#include "compiler/frontend/step/Import.h"
#include "dialects/interfaces/Tensor.h"
#include "runtime/base/Status.h"

#include <functional>
#include <set>

namespace cleave::onnx {

// Where new values come from, by the parameter's name.
struct NewValues {
  // The parameters that have one; others keep what the file has.
  std::set<std::string> names;
  // Writes the whole tensor, dense and row-major, as elements of this type.
  std::function<Status(const std::string &name, ElementType element,
                       const std::vector<int64_t> &shape, void *destination)>
      read;
};

// Files above this size get their weights beside them, as OUTPUT.data: the format's own limit is
// 2 GiB.
inline constexpr uint64_t kMaxFileBytes = uint64_t(1) << 30;

// Reads the model at `path` and writes `output` (another file). Ties and unties as the model was
// imported with. User errors: those of importOnnx, a new value of what the file has no place for, and
// files that cannot be written; then `output` is as it was.
Status exportWeights(const std::string &path, const frontend::ImportOptions &options,
                     const NewValues &values, const std::string &output,
                     uint64_t maxFileBytes = kMaxFileBytes);

} // namespace cleave::onnx
