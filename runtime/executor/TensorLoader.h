// Loads the first values of parameters, states and constants: fills one rank's block of a tensor
// from its TensorSource. Of files, only the pages of the block are read.
#pragma once

#include "runtime/artifact/Mesh.h"
#include "runtime/artifact/program.pb.h"
#include "runtime/base/MappedFile.h"
#include "runtime/base/Status.h"

#include <map>
#include <memory>
#include <string>

namespace cleave::executor {

class TensorLoader {
public:
  // `modelPath`: the model file, instead of SourceModel.path unless empty. External data are in the
  // same folder. `seed` is that of random values. The plan outlives the loader.
  TensorLoader(const plan::Plan &plan, std::string modelPath, uint64_t seed = 0);

  // Checks that the model file is the one from which the plan was compiled: a user error if it is
  // missing, or has another size or (with `compareHash`) another content. Ok if no tensor is read
  // from a file.
  Status checkModel(bool compareHash) const;

  // Writes the rank's block of `tensor`, dense and row-major, with zeros as padding. A user error
  // names the tensor and the file that is missing or too short, or the value that does not fit the
  // dtype.
  Status load(const plan::Tensor &tensor, uint32_t rank, void *destination);

private:
  Status loadFile(const plan::Tensor &tensor, const artifact::RankBlock &block, void *destination);
  Result<const MappedFile *> open(const std::string &relativePath);

  const plan::Plan &plan_;
  std::string modelPath_;
  uint64_t seed_;
  std::map<std::string, std::shared_ptr<const MappedFile>> files_; // by path
};

} // namespace cleave::executor
