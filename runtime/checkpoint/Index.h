// index.json of a checkpoint as plain data: the tensors and the files of their slices. Private to
// this folder.
#pragma once

#include "runtime/checkpoint/Checkpoint.h"
#include "runtime/data/Block.h"

#include <filesystem>

namespace cleave::checkpoint {

// A slice of a tensor in a file.
struct SavedSlice {
  std::string file; // within the checkpoint's folder
  data::Block block;
  uint32_t crc = 0; // CRC-32 of its bytes
};

// A tensor and its slices.
struct SavedTensor {
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  std::vector<SavedSlice> slices;
};

// The content of index.json.
struct CheckpointIndex {
  Progress progress;
  std::map<std::string, int64_t> files; // name → bytes
  std::map<std::string, SavedTensor> tensors;
};

// Incremented by every change that readers of the previous version would misread.
constexpr int kFormatVersion = 1;
constexpr const char *kIndexName = "index.json";

// Conversion to and from index.json. A user error if the text is damaged or has another version.
std::string toJson(const CheckpointIndex &index);
Result<CheckpointIndex> fromJson(const std::string &text);

// A user error unless the slices of every tensor cover each of its elements once.
Status checkCoverage(const CheckpointIndex &index);

// `rank-00003.safetensors`
std::string fileOfRank(int rank);
// `step-00000200`
std::string folderOfStep(int64_t step);
// The folders of the complete checkpoints in a folder, in increasing order of steps.
std::vector<std::filesystem::path> completeSteps(const std::filesystem::path &directory);

// CRC-32. For data in several pieces, `before` is the checksum of the previous pieces.
uint32_t checksum(const void *data, size_t bytes, uint32_t before = 0);

} // namespace cleave::checkpoint
