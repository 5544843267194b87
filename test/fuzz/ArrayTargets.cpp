// Targets: array files, and the index of a checkpoint.
#include "runtime/checkpoint/Checkpoint.h"
#include "runtime/data/ArrayFile.h"
#include "test/fuzz/Targets.h"

#include <filesystem>

namespace cleave::fuzz {

// Reads the file and every byte of its arrays.
static void readArrays(const std::string &path) {
  auto file = data::ArrayFile::open(path);
  mustBeTheirs(file.status());
  if (!file.isOk())
    return;
  volatile unsigned sum = 0;
  for (const data::ArrayView &array : (*file)->arrays())
    for (int64_t i = 0; i < array.bytes(); ++i)
      sum = sum + static_cast<const unsigned char *>(array.data)[i];
}

void npz(std::string_view bytes) { readArrays(asFile("x.npz", bytes)); }
void npy(std::string_view bytes) { readArrays(asFile("x.npy", bytes)); }
void safetensors(std::string_view bytes) { readArrays(asFile("x.safetensors", bytes)); }

// A rank's checkpoint file with a tensor of two floats.
static std::string oneRank() {
  const float values[] = {1, 2};
  std::string path = asFile("two.safetensors", "");
  Status status = data::writeSafetensors(path, {{"w", DType::F32, {2}, values}});
  mustBeTheirs(status);
  return path;
}

void checkpoint(std::string_view bytes) {
  static const std::string rank = oneRank();
  std::string index = asFile("step-00000001/index.json", bytes);
  std::filesystem::path folder = std::filesystem::path(index).parent_path();
  std::filesystem::copy_file(rank, folder / "rank-00000.safetensors",
                             std::filesystem::copy_options::overwrite_existing);
  auto opened = checkpoint::Checkpoint::open(folder.string());
  mustBeTheirs(opened.status());
  if (!opened.isOk())
    return;
  for (const auto &[name, info] : (*opened)->tensors()) {
    std::vector<int64_t> none(info.shape.size(), 0), one(info.shape.size(), 1);
    double value = 0;
    mustBeTheirs((*opened)->read(name, info.dtype, info.shape, none, one, &value));
  }
}

} // namespace cleave::fuzz
