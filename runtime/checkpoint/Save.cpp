// Saving: every rank writes its file; rank 0 then writes the index and renames the folder. See
// Checkpoint.h.
#include "runtime/base/FileWriter.h"
#include "runtime/base/Json.h"
#include "runtime/base/MeshCoordinates.h"
#include "runtime/checkpoint/Finite.h"
#include "runtime/checkpoint/Index.h"
#include "runtime/checkpoint/SaveFolder.h"
#include "runtime/data/ArrayFile.h"

#include <algorithm>
#include <sys/stat.h>

namespace cleave::checkpoint {

namespace fs = std::filesystem;

// The part of a slice inside the tensor, dense; in `storage` if the slice is padded or lies outside
// this process's memory.
static Result<data::ArrayView> unpadded(const Slice &slice, data::Block &block,
                                        std::vector<char> &storage) {
  data::Block whole{std::vector<int64_t>(slice.globalShape.size(), 0), slice.globalShape};
  data::Block padded{slice.offset, slice.blockShape};
  if (slice.offset.size() != slice.globalShape.size() ||
      slice.blockShape.size() != slice.globalShape.size())
    return Status::defect("a slice of `", slice.name, "` has another rank than the tensor");
  block = data::intersection(padded, whole);
  data::ArrayView view{slice.name, slice.dtype, block.shape, slice.data};
  if (data::elements(block.shape) == 0)
    return view;
  std::vector<char> copy;
  if (slice.read) {
    copy.resize(size_t(data::elements(padded.shape) * byteSize(slice.dtype)));
    CLEAVE_TRY(slice.read(copy.data()));
    view.data = copy.data();
  }
  if (block.shape == padded.shape) {
    storage = std::move(copy);
    return view;
  }
  storage.resize(view.bytes());
  CLEAVE_TRY(
      data::copyPart(block, padded, slice.dtype, view.data, block, slice.dtype, storage.data()));
  view.data = storage.data();
  return view;
}

// Writes this rank's file, with the offset and checksum of each slice as metadata for rank 0.
static Status writeSlices(const fs::path &folder, const SaveOptions &options,
                          const std::vector<Slice> &slices) {
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
    if (!areFinite(view)) {
      if (options.refusesNotFinite)
        return Status::userError("'", view.name, "' has values that are infinite or not numbers");
      place["finite"] = false;
    }
    metadata.push_back({slices[i].name, place.dump()});
    views.push_back(view);
  }
  return data::writeSafetensors(folder / fileOfRank(options.rank), views, metadata);
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
    if (place.contains("finite"))
      index.progress.isFinite = false;
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

// Writes the index of all ranks' files and publishes the checkpoint.
static Status complete(const fs::path &temporary, const SaveOptions &options,
                       const Progress &progress) {
  CheckpointIndex index;
  index.progress = progress;
  for (int rank = 0; rank < options.size; ++rank)
    CLEAVE_TRY(addFile(index, temporary, rank));
  CLEAVE_TRY(checkCoverage(index));
  FileWriter out(temporary / kIndexName);
  CLEAVE_TRY(out.write(toJson(index)));
  CLEAVE_TRY(out.publish()); // flushes the folder, too
  fs::path final = fs::path(options.directory) / folderOfStep(progress.step);
  CLEAVE_TRY(publish(temporary, final));
  removeOld(options.directory, final, options.keep);
  return Status::ok();
}

// Creates an empty temporary folder, and removes those of interrupted saves.
static Status prepare(const fs::path &directory, const fs::path &temporary) {
  CLEAVE_TRY(createFolder(directory));
  sweepTemporaries(directory);
  return mkdir(temporary.c_str(), 0777) == 0
             ? Status::ok()
             : systemError("create the folder " + temporary.string());
}

Status save(const SaveOptions &options, const std::vector<Slice> &slices,
            const Progress &progress) {
  fs::path directory = options.directory, final = directory / folderOfStep(progress.step);
  fs::path temporary = directory / ("." + folderOfStep(progress.step) + ".tmp");
  bool isFirst = options.rank == 0;
  auto agree = [&](const Status &own) { return options.agree ? options.agree(own) : own; };
  Status status = agree(isFirst ? prepare(directory, temporary) : Status::ok());
  if (status)
    status = agree(writeSlices(temporary, options, slices));
  if (status)
    status = agree(isFirst ? complete(temporary, options, progress) : Status::ok());
  // A failure on which all ranks agree leaves no writer; the files would only fill the disk.
  if (isFirst && status.kind() == StatusKind::UserError) {
    std::error_code ignored;
    fs::remove_all(temporary, ignored);
  }
  return status.withContext("checkpoint " + final.string());
}

} // namespace cleave::checkpoint
