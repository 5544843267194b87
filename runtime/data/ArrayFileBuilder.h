// The readers of the formats, and the builder that they fill. Private to this folder.
#pragma once

#include "runtime/base/MappedFile.h"
#include "runtime/data/ArrayFile.h"

#include <string_view>

namespace cleave::data {

// Builds an ArrayFile array by array.
class ArrayFileBuilder {
public:
  explicit ArrayFileBuilder(const std::string &path) : file_(std::make_shared<ArrayFile>()) {
    file_->path_ = path;
  }

  const std::string &path() const { return file_->path(); }
  // Each adds an entry of the file; see the accessors of ArrayFile.
  void add(ArrayView array) { file_->arrays_.push_back(std::move(array)); }
  void addSkipped(std::string name) { file_->skipped_.push_back(std::move(name)); }
  void addUnreadable(std::string name, std::string reason) {
    file_->unreadable_.emplace_back(std::move(name), std::move(reason));
  }
  void addMetadata(std::string key, std::string value) {
    file_->metadata_.emplace_back(std::move(key), std::move(value));
  }
  // Keeps memory alive as long as the file that is built.
  void keep(std::shared_ptr<const void> memory) { file_->storage_.push_back(std::move(memory)); }
  // Counts memory of inflated arrays.
  void addInflated(uint64_t bytes) { file_->inflatedBytes_ += bytes; }
  std::shared_ptr<const ArrayFile> finish() { return file_; }

private:
  std::shared_ptr<ArrayFile> file_;
};

// Each reads a whole file of one format; a user error, without the path, if it is damaged. An .npy
// file has one array, which gets the name `name`.
Status readNpy(ArrayFileBuilder &builder, const MappedFile &file, const std::string &name);
Status readNpz(ArrayFileBuilder &builder, const MappedFile &file, const ReadOptions &options);
Status readSafetensors(ArrayFileBuilder &builder, const unsigned char *data, size_t bytes);

// The most bytes of a safetensors header, as in the reference implementation.
constexpr uint64_t kMostSafetensorsHeader = 100'000'000;
// The bytes of a whole safetensors file, from its beginning with the header. A user error if the
// header is damaged.
Result<uint64_t> safetensorsBytes(std::string_view begin);

// Adds the array in the bytes of an .npy file. Arrays of unsupported types become unreadable. A
// user error if the bytes are damaged.
Status addNpy(ArrayFileBuilder &builder, const std::string &name, const unsigned char *bytes,
              size_t size);

// Of an .npy file of which the first `size` bytes are there, at least 12: its bytes in total, or
// those up to the end of its header if that is not there yet. A user error if they are no .npy
// file.
Result<uint64_t> npyBytes(const unsigned char *bytes, size_t size);

// The header of an .npy file for an array of this type and shape (BF16: as f32).
std::string npyHeader(DType dtype, const std::vector<int64_t> &shape);
// The array as stored in .npy: BF16 is converted to f32 into `widened`, other types are unchanged.
ArrayView asNpy(const ArrayView &array, std::vector<float> &widened);

// Writes the concatenated parts to a temporary file, flushes it to disk and renames it to `path`.
Status writeParts(const std::string &path,
                  const std::vector<std::pair<const void *, size_t>> &parts);

} // namespace cleave::data
