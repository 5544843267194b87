// index.json of a checkpoint as plain data: the tensors and the files of their slices. Private to
// this folder.
#pragma once

#include "runtime/checkpoint/Checkpoint.h"
#include "runtime/data/Block.h"

#include <filesystem>
#include <optional>

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

// Incremented by every change that readers of the previous version would misread. Version 1 had no
// checksum of the index; it can still be read.
constexpr int kFormatVersion = 2;
constexpr int kFormatWithoutChecksum = 1;
constexpr const char *kIndexName = "index.json";
// Greatest step of a checkpoint: far beyond any training, and adding steps to it never overflows.
constexpr int64_t kLastStep = 1'000'000'000'000;

// Conversion to and from index.json. The text has the SHA-256 of its other values. A user error if
// the text is damaged or has another version, or names a file outside of the checkpoint's folder.
std::string toJson(const CheckpointIndex &index);
Result<CheckpointIndex> fromJson(const std::string &text);

// A user error unless the slices of every tensor cover each of its elements once.
Status checkCoverage(const CheckpointIndex &index);

// `rank-00003.safetensors`
std::string fileOfRank(int rank);
// `step-00000200`
std::string folderOfStep(int64_t step);
// The step of such a name; nothing if the name has another form.
std::optional<int64_t> stepOfFolder(const std::string &name);
// The folders of the complete checkpoints in a folder, in increasing order of steps.
std::vector<std::filesystem::path> completeSteps(const std::filesystem::path &directory);
// Of complete checkpoints, in increasing order of steps, the one to resume from: the newest whose
// values are finite, as far as its index tells; without one, the newest. Null if there is none.
const std::filesystem::path *newestUsable(const std::vector<std::filesystem::path> &steps);
// The text of the checkpoint's index.json; empty if it cannot be read.
std::string indexText(const std::filesystem::path &step);

// CRC-32. For data in several pieces, `before` is the checksum of the previous pieces.
uint32_t checksum(const void *data, size_t bytes, uint32_t before = 0);

} // namespace cleave::checkpoint
