// Writing of a checkpoint's tensors for other tools: one safetensors file, or several with an
// index, as Hugging Face's libraries write and read them.
#pragma once

#include "runtime/base/Status.h"
#include "runtime/checkpoint/Checkpoint.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace cleave::checkpoint {

struct ExportOptions {
  // NAME.safetensors.
  std::string path;
  // The tensors that are written, and the name that each gets; two may not get the same one.
  std::map<std::string, std::string> names;
  // If the tensors are larger together, files of at most this size each, but for single tensors
  // that are larger: NAME-00001-of-00003.safetensors, …, and NAME.safetensors.index.json with the
  // file of every tensor. 0: one file.
  uint64_t mostBytes = 0;
};

// Writes the tensors, one at a time in memory. Each file appears when it is complete, the index
// last. Returns the paths of the files. User errors: a file cannot be written, or the checkpoint is
// damaged.
Result<std::vector<std::string>> exportSafetensors(const Checkpoint &checkpoint,
                                                   const ExportOptions &options);

} // namespace cleave::checkpoint
