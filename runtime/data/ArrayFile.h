// Reading of named arrays in .npz, .npy and .safetensors files, writing of .npz and .safetensors.
#pragma once

#include "runtime/base/DType.h"
#include "runtime/base/Status.h"

#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace cleave::data {

// A dense row-major little-endian array in memory owned by others.
struct ArrayView {
  std::string name;
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  const void *data = nullptr; // in a mapped file, at any address

  // The element at a row-major position; T is the type in C++ of `dtype`.
  template <typename T> T at(int64_t position) const {
    T value;
    std::memcpy(&value, static_cast<const char *>(data) + position * int64_t(sizeof(T)), sizeof(T));
    return value;
  }

  // Number of elements, and their size in bytes.
  int64_t elements() const;
  int64_t bytes() const;
};

// What ArrayFile::open() takes from a file.
struct ReadOptions {
  // Whether a compressed array is inflated; empty: all are.
  std::function<bool(const std::string &name)> isWanted;
  // The most memory that the compressed arrays of a file may take together, in bytes; default: the
  // memory of this machine.
  uint64_t mostInflated = machineMemory();

  static uint64_t machineMemory();
};

// The arrays of one file. Uncompressed arrays are mapped (only accessed pages are read); compressed
// arrays are inflated into memory.
class ArrayFile {
public:
  // Opens a regular file by its ending: .npz, .npy (one array, with the name of the file without
  // ending), .safetensors. A user error names the file and what is wrong with it.
  static Result<std::shared_ptr<const ArrayFile>> open(const std::string &path,
                                                       const ReadOptions &options = {});

  const std::string &path() const { return path_; }
  // Their elements are in memory or mapped.
  const std::vector<ArrayView> &arrays() const { return arrays_; }
  // Names of compressed arrays that are not wanted.
  const std::vector<std::string> &skipped() const { return skipped_; }
  // The names of all arrays, skipped ones last.
  std::vector<std::string> names() const;
  // The array of this name; null if there is none.
  const ArrayView *find(const std::string &name) const;
  // Names of arrays that cannot be used, each with the reason (strings, objects, complex numbers,
  // …).
  const std::vector<std::pair<std::string, std::string>> &unreadable() const { return unreadable_; }
  // The `__metadata__` of a safetensors file, as pairs of key and value.
  const std::vector<std::pair<std::string, std::string>> &metadata() const { return metadata_; }

  // The memory of arrays that were inflated.
  uint64_t inflatedBytes() const { return inflatedBytes_; }

private:
  friend class ArrayFileBuilder;
  std::string path_;
  std::vector<ArrayView> arrays_;
  std::vector<std::string> skipped_;
  std::vector<std::pair<std::string, std::string>> unreadable_;
  std::vector<std::pair<std::string, std::string>> metadata_;
  std::vector<std::shared_ptr<const void>> storage_; // mappings and inflated arrays
  uint64_t inflatedBytes_ = 0;
};

// Each writes a temporary file and renames it, so that a file at `path` is always complete. .npz is
// written without compression. NumPy has no bf16, so .npz files hold bf16 as f32.
Status writeNpz(const std::string &path, const std::vector<ArrayView> &arrays);
Status writeSafetensors(const std::string &path, const std::vector<ArrayView> &arrays,
                        const std::vector<std::pair<std::string, std::string>> &metadata = {});

// An array whose elements are written by `read` to memory of its size when they are needed.
struct ArrayOnDemand {
  std::string name;
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  std::function<Status(void *to)> read;
};
// Writes the arrays one after the other, with memory for one of them.
Status writeSafetensors(const std::string &path, const std::vector<ArrayOnDemand> &arrays,
                        const std::vector<std::pair<std::string, std::string>> &metadata);

// Copies and converts `count` elements. A user error if an integer does not fit the target (`i32
// cannot hold 5000000000`) or floats are to become integers.
Status convert(const void *from, DType fromType, void *to, DType toType, int64_t count);

} // namespace cleave::data
