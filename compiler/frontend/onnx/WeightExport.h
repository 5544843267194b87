// Writes trained weights into a copy of the model's ONNX file: every initializer gets the new value
// of the parameter that reads it. The repairs of the import (Parameters.h) are undone: a transposed
// copy gets the transpose, and where one initializer stands for several parameters, each gets an
// initializer of its own. Everything else of the file stays as it is.
#pragma once

#include "compiler/frontend/step/Import.h"
#include "dialects/interfaces/Tensor.h"
#include "runtime/base/Status.h"

#include <functional>
#include <set>

namespace cleave::onnx {

// The source of the new values.
struct NewValues {
  // The parameters that have a new value; others keep the file's.
  std::set<std::string> names;
  // Writes the whole tensor to `destination`, dense and row-major, as elements of type `element`.
  std::function<Status(const std::string &name, ElementType element,
                       const std::vector<int64_t> &shape, void *destination)>
      read;
};

// A file above this size (bytes) gets its weights in a second file, OUTPUT.data; the format's own
// limit is 2 GiB.
inline constexpr uint64_t kMaxFileBytes = uint64_t(1) << 30;

// Reads the model at `path` and writes the copy to `output`, another file. `options` holds the
// --tie and --untie with which the model was imported. User errors: those of importOnnx, a new
// value for which the file has no place, and files that cannot be written; `output` is then
// unchanged.
Status exportWeights(const std::string &path, const frontend::ImportOptions &options,
                     const NewValues &values, const std::string &output,
                     uint64_t maxFileBytes = kMaxFileBytes);

} // namespace cleave::onnx
