// Saving: every rank writes its file; rank 0 then writes the index and renames the folder. See
// Checkpoint.h.
#include "runtime/checkpoint/Index.h"

#include "runtime/base/Json.h"
#include "runtime/base/MeshCoordinates.h"
#include "runtime/data/ArrayFile.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <unistd.h>

namespace cleave::checkpoint {

namespace fs = std::filesystem;

bool ownsSlice(const std::vector<int64_t> &meshSizes, const std::vector<int> &axes, int rank) {
  std::vector<int64_t> position = meshCoordinates(meshSizes, rank);
  for (size_t axis = 0; axis < meshSizes.size(); ++axis)
    if (position[axis] != 0 &&
        std::find(axes.begin(), axes.end(), static_cast<int>(axis)) == axes.end())
      return false;
  return true;
}

static Status system(const std::string &what) {
  return Status::userError(what, ": ", strerror(errno));
}

static Status syncFolder(const fs::path &folder) {
  int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0 || fsync(descriptor) != 0) {
    Status status = system("could not flush " + folder.string());
    if (descriptor >= 0)
      close(descriptor);
    return status;
  }
  close(descriptor);
  return Status::ok();
}

// The part of a slice inside the tensor, dense; copied into `storage` if the slice is padded.
static Result<data::ArrayView> unpadded(const Slice &slice, data::Block &block,
                                        std::vector<char> &storage) {
  data::Block whole{std::vector<int64_t>(slice.globalShape.size(), 0), slice.globalShape};
  data::Block padded{slice.offset, slice.blockShape};
  if (slice.offset.size() != slice.globalShape.size() ||
      slice.blockShape.size() != slice.globalShape.size())
    return Status::defect("a slice of `", slice.name, "` has another rank than the tensor");
  block = data::intersection(padded, whole);
  data::ArrayView view{slice.name, slice.dtype, block.shape, slice.data};
  if (block.shape == padded.shape || data::elements(block.shape) == 0)
    return view;
  storage.resize(view.bytes());
  view.data = storage.data();
  CLEAVE_TRY(
      data::copyPart(block, padded, slice.dtype, slice.data, block, slice.dtype, storage.data()));
  return view;
}

// Writes this rank's file, with the offset and checksum of each slice as metadata for rank 0.
static Status writeSlices(const fs::path &folder, int rank, const std::vector<Slice> &slices) {
  std::vector<std::vector<char>> storage(slices.size());
  std::vector<data::ArrayView> views;
  std::vector<std::pair<std::string, std::string>> metadata;
  for (size_t i = 0; i < slices.size(); ++i) {
    if (!slices[i].owned)
      continue;
    data::Block block;
    CLEAVE_TRY_ASSIGN(auto view, unpadded(slices[i], block, storage[i]));
    if (view.elements() == 0 && data::elements(slices[i].globalShape) > 0)
      continue; // all padding
    Json place = {{"tensor", slices[i].globalShape},
                  {"offset", block.offset},
                  {"crc32", checksum(view.data, view.bytes())}};
    metadata.push_back({slices[i].name, place.dump()});
    views.push_back(view);
  }
  return data::writeSafetensors(folder / fileOfRank(rank), views, metadata);
}

// Adds the file of one rank to the index.
static Status addFile(CheckpointIndex &index, const fs::path &folder, int rank) {
  std::string name = fileOfRank(rank);
  CLEAVE_TRY_ASSIGN(auto file, data::ArrayFile::open(folder / name));
  index.files[name] = static_cast<int64_t>(fs::file_size(folder / name));
  const auto &places = file->metadata();
  for (size_t i = 0; i < places.size(); ++i) {
    const data::ArrayView *array = file->find(places[i].first);
    Json place = Json::parse(places[i].second);
    if (!array)
      return Status::defect(name, " lost tensor `", places[i].first, "`");
    SavedTensor &tensor = index.tensors[array->name];
    std::vector<int64_t> shape = place["tensor"];
    if (!tensor.slices.empty() && (tensor.dtype != array->dtype || tensor.shape != shape))
      return Status::defect("ranks disagree on the type or shape of `", array->name, "`");
    tensor.dtype = array->dtype;
    tensor.shape = shape;
    tensor.slices.push_back({name, {place["offset"], array->shape}, place["crc32"]});
  }
  return Status::ok();
}

// Renames the folder to `final`; exchanges the two atomically if `final` exists.
static Status publish(const fs::path &temporary, const fs::path &final) {
  if (rename(temporary.c_str(), final.c_str()) == 0)
    return Status::ok();
  if (renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, final.c_str(), RENAME_EXCHANGE) != 0)
    return system("could not replace " + final.string());
  std::error_code ignored; // the temporary name now belongs to the old checkpoint
  fs::remove_all(temporary, ignored);
  return Status::ok();
}

static Status complete(const fs::path &temporary, const SaveOptions &options,
                       const Progress &progress) {
  CheckpointIndex index;
  index.progress = progress;
  for (int rank = 0; rank < options.size; ++rank)
    CLEAVE_TRY(addFile(index, temporary, rank));
  CLEAVE_TRY(checkCoverage(index));
  {
    std::ofstream out(temporary / kIndexName, std::ios::binary);
    out << toJson(index);
    if (!out.flush())
      return system("could not write " + (temporary / kIndexName).string());
  }
  int descriptor = open((temporary / kIndexName).c_str(), O_RDONLY | O_CLOEXEC);
  bool isFlushed = descriptor >= 0 && fsync(descriptor) == 0;
  if (!isFlushed)
    return system("could not flush " + (temporary / kIndexName).string());
  close(descriptor);
  CLEAVE_TRY(syncFolder(temporary));
  CLEAVE_TRY(publish(temporary, fs::path(options.directory) / folderOfStep(progress.step)));
  CLEAVE_TRY(syncFolder(options.directory));
  std::vector<fs::path> steps = completeSteps(options.directory);
  std::error_code ignored;
  for (size_t i = 0; i + std::max(1, options.keep) < steps.size(); ++i)
    fs::remove_all(steps[i], ignored);
  return Status::ok();
}

Status checkSaveFolder(const std::string &directory, const std::string &resumed) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error)
    return Status::userError("could not create the folder ", directory, ": ", error.message());
  if (access(directory.c_str(), W_OK | X_OK) != 0)
    return system("cannot write into the folder " + directory);
  std::vector<fs::path> steps = completeSteps(directory);
  if (steps.empty() || (!resumed.empty() && fs::equivalent(steps.back(), resumed, error)))
    return Status::ok();
  return Status::userError("'", steps.back().string(),
                           "' is the checkpoint of another run and would be lost; continue it "
                           "(--resume), save to another folder, or remove it");
}

bool isIn(const Checkpoint &checkpoint, const std::string &directory) {
  std::error_code error;
  return fs::equivalent(fs::path(checkpoint.path()).parent_path(), directory, error);
}

// Creates an empty temporary folder, and removes those of interrupted saves.
static Status prepare(const fs::path &directory, const fs::path &temporary) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error)
    return Status::userError("could not create the folder ", directory.string(), ": ",
                             error.message());
  for (const fs::directory_entry &entry : fs::directory_iterator(directory, error)) {
    std::string name = entry.path().filename();
    if (name.rfind(".step-", 0) == 0 && name.ends_with(".tmp"))
      fs::remove_all(entry.path(), error);
  }
  fs::create_directory(temporary, error);
  return error ? Status::userError("could not create the folder ", temporary.string(), ": ",
                                   error.message())
               : Status::ok();
}

Status save(const SaveOptions &options, const std::vector<Slice> &slices,
            const Progress &progress) {
  fs::path directory = options.directory, final = directory / folderOfStep(progress.step);
  fs::path temporary = directory / ("." + folderOfStep(progress.step) + ".tmp");
  auto barrier = [&] { return options.barrier ? options.barrier() : Status::ok(); };
  // A rank that fails still enters the barriers, so that no other rank waits for it.
  Status status = options.rank == 0 ? prepare(directory, temporary) : Status::ok();
  CLEAVE_TRY(barrier());
  if (status)
    status = writeSlices(temporary, options.rank, slices);
  CLEAVE_TRY(barrier());
  if (options.rank == 0 && status)
    status = complete(temporary, options, progress);
  CLEAVE_TRY(barrier());
  std::error_code ignored;
  // The next save removes the files of a failed one.
  if (status && fs::exists(temporary / fileOfRank(options.rank), ignored))
    status = Status::userError("another rank could not write its part");
  return status.withContext("checkpoint " + final.string());
}

} // namespace cleave::checkpoint
