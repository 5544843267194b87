// WeightFiles: the model file and the files of external weights, mapped into memory, never copied.
// Answers where a tensor's elements are, and reads the few that are needed while importing.
#pragma once

#include "compiler/frontend/step/FileBytes.h"
#include "compiler/frontend/onnx/file/Model.h"
#include "dialects/graph/Step.h"

namespace cleave::onnx {

using frontend::elementAt;
using frontend::mapFile;

class WeightFiles {
public:
  // Maps the model file; fails if there is none or it is no regular file.
  explicit WeightFiles(const std::string &modelPath);

  std::string_view modelBytes() const;

  // The tensor's elements, mapped (row-major, little-endian). Fails where an external file is
  // missing, too short or outside the model's folder.
  std::string_view bytesOf(const StoredTensor &tensor);
  // The same elements as plain data.
  Tensor read(const StoredTensor &tensor);
  // Whether both have the same elements in the same order; with `transposed`, b holds by columns what a (of two dims)
  // holds by rows.
  bool areEqual(const StoredTensor &a, const StoredTensor &b, bool transposed);
  // Where the runtime finds them; with `transposed`, those of the transpose of a tensor of two dims.
  graph::TensorOrigin originOf(const StoredTensor &tensor, bool transposed);
  // Checks that the elements are there.
  void check(const StoredTensor &tensor) { bytesOf(tensor); }

private:
  std::string_view externalBytes(const StoredTensor &tensor);

  std::string modelPath_;
  std::unique_ptr<llvm::MemoryBuffer> model_;
  std::map<std::string, std::unique_ptr<llvm::MemoryBuffer>> external_; // by location
};

} // namespace cleave::onnx
