// See Index.h.
#include "runtime/checkpoint/Index.h"

#include "runtime/base/Json.h"
#include "runtime/base/RegularFile.h"
#include "runtime/base/Sha256.h"

#include <algorithm>
#include <zlib.h>

namespace cleave::checkpoint {

namespace fs = std::filesystem;

constexpr const char *kChecksum = "sha256"; // the field with the checksum of the other fields

static std::string textOf(const Json &json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

// The checksum does not depend on spaces, so that the file may be printed in another form.
static std::string checksumOf(Json json) {
  json.erase(kChecksum);
  return sha256(textOf(json, -1));
}

std::string toJson(const CheckpointIndex &index) {
  Json json;
  json["format_version"] = kFormatVersion;
  json["step"] = index.progress.step;
  json["finite"] = index.progress.isFinite;
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
  json[kChecksum] = checksumOf(json);
  return textOf(json, 1) + "\n";
}

static DType dtypeNamed(const std::string &text) {
  for (int number = 1; std::optional<DType> dtype = dtypeFromNumber(number); ++number)
    if (name(*dtype) == text)
      return *dtype;
  throw std::invalid_argument("unknown type " + text); // caught in fromJson
}

// Dims must not be negative, and the number of elements must fit.
static void checkShape(const std::vector<int64_t> &shape) {
  int64_t elements = 1;
  for (int64_t dim : shape)
    if (dim < 0 || __builtin_mul_overflow(elements, std::max<int64_t>(1, dim), &elements) ||
        elements > INT64_MAX / 8)
      throw std::invalid_argument(concat("the shape ", data::toString(shape)));
}

static SavedTensor tensorOf(const Json &entry) {
  SavedTensor tensor{dtypeNamed(entry.at("dtype")), entry.at("shape"), {}};
  checkShape(tensor.shape);
  if (!entry.contains("slices")) // has no elements
    return tensor;
  for (const Json &slice : entry.at("slices")) {
    tensor.slices.push_back(
        {slice.at("file"), {slice.at("offset"), slice.at("shape")}, slice.at("crc32")});
    checkShape(tensor.slices.back().block.shape);
    checkShape(tensor.slices.back().block.offset);
    if (tensor.slices.back().block.offset.size() != tensor.shape.size() ||
        tensor.slices.back().block.shape.size() != tensor.shape.size())
      throw std::invalid_argument("a slice of another rank than its tensor");
  }
  return tensor;
}

// The names of files stay within the checkpoint's folder.
static void checkFileName(const std::string &name) {
  bool isPlain = !name.empty() && name != "." && name != ".." &&
                 name.find_first_of(std::string("/\\\0", 3)) == std::string::npos;
  if (!isPlain)
    throw std::invalid_argument("found the file name '" + name + "', expected a plain name");
}

static CheckpointIndex indexOf(const Json &json) {
  CheckpointIndex index;
  index.progress.step = json.at("step");
  if (index.progress.step < 0 || index.progress.step > kLastStep)
    throw std::invalid_argument(
        concat("found step ", index.progress.step, ", expected 0 to ", kLastStep));
  index.progress.isFinite = !json.contains("finite") || json.at("finite").get<bool>();
  index.progress.extra = json.at("extra").get<std::map<std::string, std::string>>();
  index.files = json.at("files").get<std::map<std::string, int64_t>>();
  for (const auto &[name, bytes] : index.files)
    checkFileName(name);
  for (const auto &[name, entry] : json.at("tensors").items())
    index.tensors[name] = tensorOf(entry);
  return index;
}

// The library's recursive functions need a limit of the depth.
static Json parsed(const std::string &text) {
  return Json::parse(text, [](int depth, Json::parse_event_t, Json &) {
    if (depth > 16)
      throw std::invalid_argument("lists within lists, 16 deep");
    return true;
  });
}

Result<CheckpointIndex> fromJson(const std::string &text) {
  try { // the JSON library reports by exceptions
    Json json = parsed(text);
    int version = json.at("format_version");
    if (version != kFormatVersion && version != kFormatWithoutChecksum)
      return Status::userError("found checkpoint format ", version, ", expected ",
                               kFormatWithoutChecksum, " or ", kFormatVersion);
    if (version != kFormatWithoutChecksum && json.at(kChecksum) != checksumOf(json))
      return Status::userError("index.json is damaged: its values have changed since they were "
                               "written; copy it again or use an earlier checkpoint");
    return indexOf(json);
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

std::optional<int64_t> stepOfFolder(const std::string &name) {
  if (!name.starts_with("step-"))
    return std::nullopt;
  int64_t step = std::strtoll(name.c_str() + 5, nullptr, 10);
  return name == folderOfStep(step) ? std::optional(step) : std::nullopt;
}

std::vector<fs::path> completeSteps(const fs::path &directory) {
  std::vector<std::pair<int64_t, fs::path>> found;
  std::error_code ignored;
  for (const fs::directory_entry &entry : fs::directory_iterator(directory, ignored)) {
    std::optional<int64_t> step = stepOfFolder(entry.path().filename());
    if (step && fs::exists(entry.path() / kIndexName, ignored))
      found.push_back({*step, entry.path()}); // other names are copies by the user
  }
  std::sort(found.begin(), found.end());
  std::vector<fs::path> steps;
  for (auto &[step, path] : found)
    steps.push_back(path);
  return steps;
}

std::string indexText(const fs::path &step) {
  Result<std::string> text = readRegularFile(step / kIndexName);
  return text ? *text : "";
}

const fs::path *newestUsable(const std::vector<fs::path> &steps) {
  for (size_t i = steps.size(); i-- > 0;) {
    // A damaged index counts as finite: to open it says what is wrong with it.
    Json json = Json::parse(indexText(steps[i]), nullptr, /*allow_exceptions=*/false);
    auto finite = json.is_object() ? json.find("finite") : json.end();
    if (!json.is_object() || finite == json.end() || *finite != false)
      return &steps[i];
  }
  return steps.empty() ? nullptr : &steps.back();
}

uint32_t checksum(const void *data, size_t bytes, uint32_t before) {
  return static_cast<uint32_t>(crc32_z(before, static_cast<const Bytef *>(data), bytes));
}

} // namespace cleave::checkpoint
