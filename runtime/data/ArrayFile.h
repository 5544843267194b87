// Named arrays in files: .npz, .npy and .safetensors, read by mapping them and written.
#pragma once

#include "runtime/base/DType.h"
#include "runtime/base/Status.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace cleave::data {

// A dense row-major little-endian array in memory that someone else owns.
struct ArrayView {
  std::string name;
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  const void *data = nullptr;

  int64_t elements() const;
  int64_t bytes() const;
};

// The arrays of one file. Stored ones are mapped (only touched pages are read), compressed ones
// held in memory.
class ArrayFile {
public:
  // By the ending: .npz, .npy (one array, named by the file's stem), .safetensors.
  static Result<std::shared_ptr<const ArrayFile>> open(const std::string &path);

  const std::string &path() const { return path_; }
  const std::vector<ArrayView> &arrays() const { return arrays_; }
  // Null if there is none of that name.
  const ArrayView *find(const std::string &name) const;
  // Arrays that are there but cannot be used, and why (text, objects, complex numbers, …).
  const std::vector<std::pair<std::string, std::string>> &unreadable() const { return unreadable_; }
  // Pairs of the `__metadata__` of a safetensors file.
  const std::vector<std::pair<std::string, std::string>> &metadata() const { return metadata_; }

private:
  friend class ArrayFileBuilder;
  std::string path_;
  std::vector<ArrayView> arrays_;
  std::vector<std::pair<std::string, std::string>> unreadable_;
  std::vector<std::pair<std::string, std::string>> metadata_;
  std::vector<std::shared_ptr<const void>> storage; // mappings and inflated arrays
};

// Each writes to PATH.tmp and renames, so that a file of that name is always complete.
// .npz is written without compression; .npy holds one array. NumPy has no bf16: it is written as
// f32 there.
Status writeNpz(const std::string &path, const std::vector<ArrayView> &arrays);
Status writeNpy(const std::string &path, const ArrayView &array);
Status writeSafetensors(const std::string &path, const std::vector<ArrayView> &arrays,
                        const std::vector<std::pair<std::string, std::string>> &metadata = {});

// Copies `count` elements, converting. Fails where an integer does not fit the target (`i32 cannot
// hold 5000000000`) or a conversion makes no sense (float to integer).
Status convert(const void *from, DType fromType, void *to, DType toType, int64_t count);

} // namespace cleave::data
