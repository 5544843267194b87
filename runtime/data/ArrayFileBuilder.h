// The readers of each format, and what they fill in. Only for this folder.
#pragma once

#include "runtime/data/ArrayFile.h"
#include "runtime/data/MappedFile.h"

namespace cleave::data {

class ArrayFileBuilder {
public:
  explicit ArrayFileBuilder(const std::string &path) : file(std::make_shared<ArrayFile>()) {
    file->path_ = path;
  }

  const std::string &path() const { return file->path(); }
  void add(ArrayView array) { file->arrays_.push_back(std::move(array)); }
  void addUnreadable(std::string name, std::string reason) {
    file->unreadable_.emplace_back(std::move(name), std::move(reason));
  }
  void addMetadata(std::string key, std::string value) {
    file->metadata_.emplace_back(std::move(key), std::move(value));
  }
  // Keeps memory alive as long as the file.
  void keep(std::shared_ptr<const void> memory) { file->storage.push_back(std::move(memory)); }
  std::shared_ptr<const ArrayFile> finish() { return file; }

private:
  std::shared_ptr<ArrayFile> file;
};

Status readNpy(ArrayFileBuilder &builder, const MappedFile &file, const std::string &name);
Status readNpz(ArrayFileBuilder &builder, const MappedFile &file);
Status readSafetensors(ArrayFileBuilder &builder, const MappedFile &file);

// Adds the array that the bytes of an .npy file hold. Arrays of types that Cleave lacks become
// unreadable. Fails if the bytes are damaged.
Status addNpy(ArrayFileBuilder &builder, const std::string &name, const unsigned char *bytes,
              size_t size);

// The beginning of an .npy file for an array of this type and shape (BF16: as f32).
std::string npyHeader(DType dtype, const std::vector<int64_t> &shape);
// The array as .npy stores it: BF16 widened into `widened`, others as they are.
ArrayView asNpy(const ArrayView &array, std::vector<float> &widened);

// Writes the parts one after the other to PATH.tmp, flushes to disk and renames.
Status writeParts(const std::string &path,
                  const std::vector<std::pair<const void *, size_t>> &parts);

} // namespace cleave::data
