// WeightFiles: the model file and the files of external weights, mapped into memory, never copied.
#pragma once

#include "compiler/frontend/onnx/file/Model.h"
#include "compiler/frontend/step/FileBytes.h"
#include "dialects/graph/Step.h"

namespace cleave::onnx {

using frontend::elementAt;
using frontend::mapFile;

// The model file and the external files that it names.
class WeightFiles {
public:
  // Maps the model file; fails if it does not exist or is not a regular file.
  explicit WeightFiles(const std::string &modelPath);

  // The whole model file.
  std::string_view modelBytes() const;

  // The tensor's elements as mapped bytes (row-major, little-endian). Fails where an external file
  // is missing, too short or outside the model's folder.
  std::string_view bytesOf(const StoredTensor &tensor);
  // The tensor's elements as plain data.
  Tensor read(const StoredTensor &tensor);
  // Whether both tensors have the same elements in the same order; with `transposed`, whether b is
  // the transpose of a (2 dims).
  bool areEqual(const StoredTensor &a, const StoredTensor &b, bool transposed);
  // The origin from which the runtime reads the elements; with `transposed`, those of the transpose
  // of a tensor with 2 dims.
  graph::TensorOrigin originOf(const StoredTensor &tensor, bool transposed);
  // Fails unless the elements are there.
  void check(const StoredTensor &tensor) { bytesOf(tensor); }

private:
  std::string_view externalBytes(const StoredTensor &tensor);

  std::string modelPath_;
  std::shared_ptr<const MappedFile> model_;
  std::map<std::string, std::shared_ptr<const MappedFile>> external_; // by location
};

} // namespace cleave::onnx
