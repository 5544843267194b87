// Tensors in safetensors files: one file, or several with an index, as Hugging Face's libraries
// write them.
#pragma once

#include "runtime/base/Status.h"
#include "runtime/checkpoint/Checkpoint.h"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace cleave::checkpoint {

// The file with the tensors in a folder that Hugging Face's save_pretrained() wrote:
// model.safetensors.index.json or model.safetensors; empty if it has neither.
std::string tensorFileIn(const std::string &folder);

// Whether a path names a file that openTensorFiles() reads, by its ending: .safetensors, or
// .safetensors.index.json for the index of files beside it.
bool isTensorFile(const std::string &path);

// Opens such a file. `metadata` gets the `__metadata__` of all files. A user error if one is
// damaged or missing, or lacks a tensor that the index has there.
Result<std::unique_ptr<TensorStore>>
openTensorFiles(const std::string &path,
                std::vector<std::pair<std::string, std::string>> &metadata);

// The tensors of `store` under other names: those that `renamed` has, by new name the old one; all
// others keep theirs.
std::unique_ptr<TensorStore> withNames(std::unique_ptr<TensorStore> store,
                                       std::map<std::string, std::string> renamed);

} // namespace cleave::checkpoint
