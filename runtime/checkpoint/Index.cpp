// See Index.h.
#include "runtime/checkpoint/Index.h"

#include "runtime/base/Json.h"

#include <algorithm>
#include <zlib.h>

namespace cleave::checkpoint {

namespace fs = std::filesystem;

std::string toJson(const CheckpointIndex &index) {
  Json json;
  json["format_version"] = kFormatVersion;
  json["step"] = index.progress.step;
  json["extra"] = index.progress.extra;
  for (const auto &[name, bytes] : index.files)
    json["files"][name] = bytes;
  json["tensors"] = Json::object();
  for (const auto &[name, tensor] : index.tensors) {
    Json &entry = json["tensors"][name];
    entry["dtype"] = cleave::name(tensor.dtype);
    entry["shape"] = tensor.shape;
    for (const SavedSlice &slice : tensor.slices)
      entry["slices"].push_back({{"file", slice.file},
                                 {"offset", slice.block.offset},
                                 {"shape", slice.block.shape},
                                 {"crc32", slice.crc}});
  }
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

static DType dtypeNamed(const std::string &text) {
  for (int number = 1; std::optional<DType> dtype = dtypeFromNumber(number); ++number)
    if (name(*dtype) == text)
      return *dtype;
  throw std::invalid_argument("unknown type " + text); // caught in fromJson
}

static SavedTensor tensorOf(const Json &entry) {
  SavedTensor tensor{dtypeNamed(entry.at("dtype")), entry.at("shape"), {}};
  for (const Json &slice : entry.at("slices")) {
    tensor.slices.push_back(
        {slice.at("file"), {slice.at("offset"), slice.at("shape")}, slice.at("crc32")});
    if (tensor.slices.back().block.offset.size() != tensor.shape.size() ||
        tensor.slices.back().block.shape.size() != tensor.shape.size())
      throw std::invalid_argument("a slice of another rank than its tensor");
  }
  return tensor;
}

Result<CheckpointIndex> fromJson(const std::string &text) {
  try { // the JSON library reports by exceptions
    Json json = Json::parse(text);
    int version = json.at("format_version");
    if (version != kFormatVersion)
      return Status::userError("found checkpoint format ", version, ", expected ", kFormatVersion);
    CheckpointIndex index;
    index.progress.step = json.at("step");
    index.progress.extra = json.at("extra").get<std::map<std::string, std::string>>();
    index.files = json.at("files").get<std::map<std::string, int64_t>>();
    for (const auto &[name, entry] : json.at("tensors").items())
      index.tensors[name] = tensorOf(entry);
    return index;
  } catch (const Json::parse_error &error) {
    return Status::userError("index.json is damaged: invalid JSON at byte ", error.byte,
                             "; copy it again or use an earlier checkpoint");
  } catch (const std::exception &error) {
    return Status::userError("index.json is damaged (", jsonReason(error),
                             "); copy it again or use an earlier checkpoint");
  }
}

Status checkCoverage(const CheckpointIndex &index) {
  for (const auto &[name, tensor] : index.tensors) {
    int64_t covered = 0;
    data::Block whole{std::vector<int64_t>(tensor.shape.size(), 0), tensor.shape};
    for (size_t i = 0; i < tensor.slices.size(); ++i) {
      const data::Block &block = tensor.slices[i].block;
      data::Block inside = data::intersection(block, whole);
      bool overlaps = inside.shape != block.shape;
      for (size_t j = 0; j < i && !overlaps; ++j)
        overlaps = data::elements(data::intersection(block, tensor.slices[j].block).shape) > 0;
      if (overlaps)
        return Status::userError("slice ", data::toString(block.shape), " at ",
                                 data::toString(block.offset), " of tensor `", name, "` ",
                                 data::toString(tensor.shape),
                                 " overlaps another one or exceeds the tensor");
      covered += data::elements(block.shape);
    }
    if (covered != data::elements(tensor.shape))
      return Status::userError("the slices of tensor `", name, "` hold ", covered, " of its ",
                               data::elements(tensor.shape), " elements");
  }
  return Status::ok();
}

std::string fileOfRank(int rank) {
  char text[64];
  snprintf(text, sizeof text, "rank-%05d.safetensors", rank);
  return text;
}

std::string folderOfStep(int64_t step) {
  char text[64];
  snprintf(text, sizeof text, "step-%08lld", static_cast<long long>(step));
  return text;
}

std::vector<fs::path> completeSteps(const fs::path &directory) {
  std::vector<std::pair<int64_t, fs::path>> found;
  std::error_code ignored;
  for (const fs::directory_entry &entry : fs::directory_iterator(directory, ignored)) {
    std::string name = entry.path().filename();
    if (name.rfind("step-", 0) != 0)
      continue;
    int64_t step = std::strtoll(name.c_str() + 5, nullptr, 10);
    if (name == folderOfStep(step) && fs::exists(entry.path() / kIndexName, ignored))
      found.push_back({step, entry.path()}); // other names are copies by the user
  }
  std::sort(found.begin(), found.end());
  std::vector<fs::path> steps;
  for (auto &[step, path] : found)
    steps.push_back(path);
  return steps;
}

uint32_t checksum(const void *data, size_t bytes, uint32_t before) {
  return static_cast<uint32_t>(crc32_z(before, static_cast<const Bytef *>(data), bytes));
}

} // namespace cleave::checkpoint
