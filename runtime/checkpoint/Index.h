// index.json of a checkpoint as plain data: which tensors there are and where their slices lie.
// Only for this folder.
#pragma once

#include "runtime/checkpoint/Checkpoint.h"
#include "runtime/data/Block.h"

#include <filesystem>

namespace cleave::checkpoint {

struct StoredSlice {
  std::string file; // within the checkpoint's folder
  data::Block block;
  uint32_t crc = 0; // CRC-32 of its bytes
};

struct StoredTensor {
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  std::vector<StoredSlice> slices;
};

struct Index {
  Progress progress;
  std::map<std::string, int64_t> files; // name → bytes
  std::map<std::string, StoredTensor> tensors;
};

constexpr int kFormatVersion = 1;
constexpr const char *kIndexName = "index.json";

std::string toJson(const Index &index);
Result<Index> fromJson(const std::string &text);

// Fails unless the slices of every tensor cover it, each element once.
Status checkCoverage(const Index &index);

// `rank-00003.safetensors`
std::string fileOfRank(int rank);
// `step-00000200`
std::string folderOfStep(int64_t step);
// Complete checkpoints in a folder, oldest step first.
std::vector<std::filesystem::path> completeSteps(const std::filesystem::path &directory);

// CRC-32; of data in several pieces, `before` is that of the pieces before.
uint32_t checksum(const void *data, size_t bytes, uint32_t before = 0);

} // namespace cleave::checkpoint
