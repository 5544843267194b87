// Reading: any block of any tensor, from the slices that overlap it.
#include "runtime/checkpoint/Checkpoint.h"

#include "runtime/checkpoint/Index.h"
#include "runtime/data/ArrayFile.h"
#include "runtime/data/MappedFile.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <mutex>
#include <set>
#include <sstream>

namespace cleave::checkpoint {
namespace {

namespace fs = std::filesystem;

// So much of a file is read before its pages are released again.
constexpr int64_t kPiece = 1 << 20;

// The block cut along its first dim into pieces of about kPiece bytes.
std::vector<data::Block> pieces(const data::Block &block, int64_t elementBytes) {
  if (block.shape.empty())
    return {block};
  int64_t rowBytes = data::elements(block.shape) / block.shape[0] * elementBytes;
  int64_t rows = std::max<int64_t>(1, kPiece / std::max<int64_t>(1, rowBytes));
  std::vector<data::Block> cut;
  for (int64_t at = 0; at < block.shape[0]; at += rows) {
    cut.push_back(block);
    cut.back().offset[0] += at;
    cut.back().shape[0] = std::min(rows, block.shape[0] - at);
  }
  return cut;
}

class StoredCheckpoint final : public Checkpoint {
public:
  StoredCheckpoint(fs::path folder, Index index)
      : folder(folder.string()), index(std::move(index)) {
    for (const auto &[name, tensor] : this->index.tensors)
      infos[name] = {tensor.dtype, tensor.shape};
  }

  Status openFiles();

  const std::string &path() const override { return folder; }
  const Progress &progress() const override { return index.progress; }
  const std::map<std::string, TensorInfo> &tensors() const override { return infos; }

  Status read(const std::string &name, DType dtype, const std::vector<int64_t> &globalShape,
              const std::vector<int64_t> &offset, const std::vector<int64_t> &blockShape,
              void *destination) const override;
  Status exportSafetensors(const std::string &path,
                           const std::function<bool(const std::string &)> &wanted) const override;

private:
  using SliceKey = std::pair<std::string, std::string>; // file, tensor
  Result<const data::ArrayView *> verified(const std::string &name, const StoredSlice &slice) const;

  std::string folder;
  Index index;
  std::map<std::string, TensorInfo> infos;
  std::map<std::string, std::shared_ptr<const data::ArrayFile>> files;
  std::map<SliceKey, const data::ArrayView *> views;
  mutable std::mutex mutex;
  mutable std::set<SliceKey> intact; // slices whose checksum was right
};

Status StoredCheckpoint::openFiles() {
  for (const auto &[name, bytes] : index.files) {
    fs::path path = fs::path(folder) / name;
    std::error_code error;
    int64_t found = static_cast<int64_t>(fs::file_size(path, error));
    if (error)
      return Status::userError("checkpoint " + folder + " lacks " + name + ": " + error.message());
    if (found != bytes)
      return Status::userError("checkpoint " + folder + " is damaged: " + name + " has " +
                               std::to_string(found) + " bytes, expected " + std::to_string(bytes));
    auto file = data::ArrayFile::open(path);
    CLEAVE_TRY(file.status().withContext("checkpoint " + folder + " is damaged"));
    files[name] = *file;
    for (const data::ArrayView &array : (*file)->arrays())
      views[{name, array.name}] = &array;
  }
  for (const auto &[name, tensor] : index.tensors)
    for (const StoredSlice &slice : tensor.slices) {
      auto view = views.find({slice.file, name});
      if (view == views.end() || view->second->shape != slice.block.shape ||
          view->second->dtype != tensor.dtype)
        return Status::userError("checkpoint " + folder + " is damaged: " + slice.file +
                                 " has no slice " + data::toString(slice.block.shape) + " of `" +
                                 name + "`");
    }
  return checkCoverage(index).withContext("checkpoint " + folder + " is damaged");
}

// The slice's data, with its checksum compared the first time.
Result<const data::ArrayView *> StoredCheckpoint::verified(const std::string &name,
                                                           const StoredSlice &slice) const {
  SliceKey key{slice.file, name};
  const data::ArrayView *view = views.at(key);
  {
    std::lock_guard lock(mutex);
    if (intact.count(key))
      return view;
  }
  uint32_t crc = 0;
  const char *data = static_cast<const char *>(view->data);
  for (int64_t at = 0; at < view->bytes(); at += kPiece) {
    size_t piece = static_cast<size_t>(std::min(kPiece, view->bytes() - at));
    crc = checksum(data + at, piece, crc);
    data::releasePages(data + at, piece);
  }
  if (crc != slice.crc)
    return Status::userError("checkpoint " + folder + " is damaged: the data of `" + name +
                             "` in " + slice.file + " have changed since they were written");
  std::lock_guard lock(mutex);
  intact.insert(key);
  return view;
}

Status StoredCheckpoint::read(const std::string &name, DType dtype,
                              const std::vector<int64_t> &globalShape,
                              const std::vector<int64_t> &offset,
                              const std::vector<int64_t> &blockShape, void *destination) const {
  auto found = index.tensors.find(name);
  if (found == index.tensors.end())
    return Status::userError("checkpoint " + folder + " has no tensor `" + name + "`");
  const StoredTensor &tensor = found->second;
  if (tensor.shape != globalShape)
    return Status::userError("found tensor `" + name + "` of shape " +
                             data::toString(tensor.shape) + " in checkpoint " + folder +
                             ", expected " + data::toString(globalShape));
  data::Block block{offset, blockShape};
  std::memset(destination, 0, data::elements(blockShape) * byteSize(dtype));
  for (const StoredSlice &slice : tensor.slices) {
    data::Block part = data::intersection(block, slice.block);
    if (data::elements(part.shape) == 0)
      continue;
    auto view = verified(name, slice);
    CLEAVE_TRY(view.status());
    for (const data::Block &rows : pieces(part, byteSize(tensor.dtype))) {
      CLEAVE_TRY(
          data::copyPart(rows, slice.block, tensor.dtype, (*view)->data, block, dtype, destination)
              .withContext("checkpoint " + folder + ", tensor `" + name + "`"));
      data::releasePages((*view)->data, (*view)->bytes());
    }
  }
  return Status::ok();
}

Status
StoredCheckpoint::exportSafetensors(const std::string &path,
                                    const std::function<bool(const std::string &)> &wanted) const {
  std::vector<data::ArrayView> whole;
  std::vector<std::vector<char>> assembled(index.tensors.size());
  size_t number = 0;
  for (const auto &[name, tensor] : index.tensors) {
    std::vector<char> &memory = assembled[number++];
    if (wanted && !wanted(name))
      continue;
    data::ArrayView &view = whole.emplace_back(data::ArrayView{name, tensor.dtype, tensor.shape});
    if (tensor.slices.size() == 1) { // is whole already
      auto stored = verified(name, tensor.slices[0]);
      CLEAVE_TRY(stored.status());
      view.data = (*stored)->data;
      continue;
    }
    memory.resize(view.bytes());
    view.data = memory.data();
    CLEAVE_TRY(read(name, tensor.dtype, tensor.shape, std::vector<int64_t>(tensor.shape.size(), 0),
                    tensor.shape, memory.data()));
  }
  return data::writeSafetensors(path, whole,
                                {{"format", "pt"}, {"step", std::to_string(index.progress.step)}});
}

} // namespace

Result<std::unique_ptr<Checkpoint>> Checkpoint::open(const std::string &path) {
  fs::path folder = path;
  std::error_code ignored;
  if (!fs::exists(folder / kIndexName, ignored)) {
    std::vector<fs::path> steps = completeSteps(folder);
    if (steps.empty())
      return Status::userError(fs::is_directory(folder, ignored)
                                   ? "found no complete checkpoint in " + path
                                   : "found no checkpoint " + path);
    folder = steps.back();
  }
  std::ostringstream text;
  text << std::ifstream(folder / kIndexName, std::ios::binary).rdbuf();
  auto index = fromJson(text.str());
  CLEAVE_TRY(index.status().withContext("checkpoint " + folder.string()));
  auto checkpoint = std::make_unique<StoredCheckpoint>(folder, std::move(*index));
  CLEAVE_TRY(checkpoint->openFiles());
  return std::unique_ptr<Checkpoint>(std::move(checkpoint));
}

} // namespace cleave::checkpoint
