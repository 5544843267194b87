// Reads blocks of tensors from the slices that overlap them. See Checkpoint.h.
#include "runtime/checkpoint/Checkpoint.h"

#include "runtime/base/MappedFile.h"
#include "runtime/checkpoint/Index.h"
#include "runtime/data/ArrayFile.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <optional>
#include <set>

namespace cleave::checkpoint {
namespace {

namespace fs = std::filesystem;

// Bytes of a file that are read before their pages are released.
constexpr int64_t kPiece = 1 << 20;

// Divides the block along its first dim into pieces of about kPiece bytes.
std::vector<data::Block> pieces(const data::Block &block, int64_t elementBytes) {
  if (block.shape.empty() || block.shape[0] == 0)
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

class SavedCheckpoint final : public Checkpoint {
public:
  SavedCheckpoint(fs::path folder, CheckpointIndex index)
      : folder_(folder.string()), index_(std::move(index)) {
    for (const auto &[name, tensor] : index_.tensors)
      infos_[name] = {tensor.dtype, tensor.shape};
  }

  Status openFiles();

  const std::string &path() const override { return folder_; }
  const Progress &progress() const override { return index_.progress; }
  const std::map<std::string, TensorInfo> &tensors() const override { return infos_; }

  Status read(const std::string &name, DType dtype, const std::vector<int64_t> &globalShape,
              const std::vector<int64_t> &offset, const std::vector<int64_t> &blockShape,
              void *destination) const override;

private:
  using SliceKey = std::pair<std::string, std::string>; // file, tensor
  Result<const data::ArrayView *> verified(const std::string &name, const SavedSlice &slice) const;

  std::string folder_;
  CheckpointIndex index_;
  std::map<std::string, TensorInfo> infos_;
  std::map<std::string, std::shared_ptr<const data::ArrayFile>> files_;
  std::map<SliceKey, const data::ArrayView *> views_;
  mutable std::mutex mutex_;
  mutable std::set<SliceKey> intact_; // slices with a correct checksum
};

Status SavedCheckpoint::openFiles() {
  for (const auto &[name, bytes] : index_.files) {
    fs::path path = fs::path(folder_) / name;
    std::error_code error;
    int64_t found = static_cast<int64_t>(fs::file_size(path, error));
    if (error)
      return Status::userError("checkpoint ", folder_, " lacks ", name, ": ", error.message());
    if (found != bytes)
      return Status::userError("checkpoint ", folder_, " is damaged: ", name, " has ", found,
                               " bytes, expected ", bytes);
    CLEAVE_TRY_ASSIGN(auto file, data::ArrayFile::open(path).withContext("checkpoint " + folder_ +
                                                                         " is damaged"));
    files_[name] = file;
    for (const data::ArrayView &array : file->arrays())
      views_[{name, array.name}] = &array;
  }
  for (const auto &[name, tensor] : index_.tensors)
    for (const SavedSlice &slice : tensor.slices) {
      auto view = views_.find({slice.file, name});
      if (view == views_.end() || view->second->shape != slice.block.shape ||
          view->second->dtype != tensor.dtype)
        return Status::userError("checkpoint ", folder_, " is damaged: ", slice.file,
                                 " has no slice ", data::toString(slice.block.shape), " of `", name,
                                 "`");
    }
  return checkCoverage(index_).withContext("checkpoint " + folder_ + " is damaged");
}

// The slice's data. Compares its checksum at the first call.
Result<const data::ArrayView *> SavedCheckpoint::verified(const std::string &name,
                                                          const SavedSlice &slice) const {
  SliceKey key{slice.file, name};
  const data::ArrayView *view = views_.at(key);
  {
    std::lock_guard lock(mutex_);
    if (intact_.count(key))
      return view;
  }
  uint32_t crc = 0;
  const char *data = static_cast<const char *>(view->data);
  for (int64_t at = 0; at < view->bytes(); at += kPiece) {
    size_t piece = static_cast<size_t>(std::min(kPiece, view->bytes() - at));
    crc = checksum(data + at, piece, crc);
    releasePages(data + at, piece);
  }
  if (crc != slice.crc)
    return Status::userError("checkpoint ", folder_, " is damaged: the data of `", name, "` in ",
                             slice.file, " have changed since they were written");
  std::lock_guard lock(mutex_);
  intact_.insert(key);
  return view;
}

Status SavedCheckpoint::read(const std::string &name, DType dtype,
                             const std::vector<int64_t> &globalShape,
                             const std::vector<int64_t> &offset,
                             const std::vector<int64_t> &blockShape, void *destination) const {
  auto found = index_.tensors.find(name);
  if (found == index_.tensors.end())
    return Status::userError("checkpoint ", folder_, " has no tensor `", name, "`");
  const SavedTensor &tensor = found->second;
  if (tensor.shape != globalShape)
    return Status::userError("found tensor `", name, "` of shape ", data::toString(tensor.shape),
                             " in checkpoint ", folder_, ", expected ",
                             data::toString(globalShape));
  data::Block block{offset, blockShape};
  std::memset(destination, 0, data::elements(blockShape) * byteSize(dtype));
  for (const SavedSlice &slice : tensor.slices) {
    data::Block part = data::intersection(block, slice.block);
    if (data::elements(part.shape) == 0)
      continue;
    CLEAVE_TRY_ASSIGN(auto view, verified(name, slice));
    for (const data::Block &rows : pieces(part, byteSize(tensor.dtype))) {
      CLEAVE_TRY(
          data::copyPart(rows, slice.block, tensor.dtype, view->data, block, dtype, destination)
              .withContext("checkpoint " + folder_ + ", tensor `" + name + "`"));
      releasePages(view->data, view->bytes());
    }
  }
  return Status::ok();
}

// A folder that has the name of a step holds the checkpoint of that step.
Status checkName(const fs::path &folder, int64_t step) {
  std::string name = folder.filename().string();
  std::optional<int64_t> named = stepOfFolder(name);
  if (!named || *named == step)
    return Status::ok();
  return Status::userError("checkpoint ", folder.string(), " is damaged: ", kIndexName,
                           " is that of step ", step, ", expected ", *named);
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
    folder = *newestUsable(steps);
  }
  CLEAVE_TRY_ASSIGN(auto index,
                    fromJson(indexText(folder)).withContext("checkpoint " + folder.string()));
  CLEAVE_TRY(checkName(folder, index.progress.step));
  auto checkpoint = std::make_unique<SavedCheckpoint>(folder, std::move(index));
  CLEAVE_TRY(checkpoint->openFiles());
  return std::unique_ptr<Checkpoint>(std::move(checkpoint));
}

} // namespace cleave::checkpoint
