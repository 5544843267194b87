// See Export.h.
#include "runtime/checkpoint/Export.h"

#include "runtime/base/FileWriter.h"
#include "runtime/checkpoint/Weights.h"
#include "runtime/data/ArrayFile.h"
#include "runtime/data/Block.h"

#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace cleave::checkpoint {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using Names = std::map<std::string, std::string>;

// The tensors of each file: in order, as many as fit.
std::vector<Names> divide(const Checkpoint &checkpoint, const ExportOptions &options) {
  std::vector<Names> files(1);
  uint64_t bytes = 0;
  for (const auto &[from, to] : options.names) {
    const auto &info = checkpoint.tensors().at(from);
    uint64_t size = uint64_t(data::elements(info.shape) * byteSize(info.dtype));
    if (options.mostBytes > 0 && !files.back().empty() && bytes + size > options.mostBytes) {
      files.emplace_back();
      bytes = 0;
    }
    files.back().emplace(from, to);
    bytes += size;
  }
  return files;
}

Status writeOne(const std::string &path, const Checkpoint &checkpoint, const Names &names) {
  std::vector<data::ArrayOnDemand> arrays;
  for (const auto &[from, to] : names) {
    const auto &info = checkpoint.tensors().at(from);
    auto read = [&checkpoint, &info, name = from](void *destination) {
      return checkpoint.read(name, info.dtype, info.shape,
                             std::vector<int64_t>(info.shape.size(), 0), info.shape, destination);
    };
    arrays.push_back({to, info.dtype, info.shape, read});
  }
  std::vector<std::pair<std::string, std::string>> metadata{
      {"format", "pt"}, {"step", std::to_string(checkpoint.progress().step)}};
  const auto &extra = checkpoint.progress().extra;
  if (auto untrained = extra.find(kUntrainedKey); untrained != extra.end())
    metadata.push_back(*untrained);
  return data::writeSafetensors(path, arrays, metadata);
}

} // namespace

Result<std::vector<std::string>> exportSafetensors(const Checkpoint &checkpoint,
                                                   const ExportOptions &options) {
  std::vector<Names> files = divide(checkpoint, options);
  if (files.size() == 1) {
    CLEAVE_TRY(writeOne(options.path, checkpoint, files[0]));
    return std::vector<std::string>{options.path};
  }
  fs::path path = options.path;
  std::string stem = path.stem();
  Json map = Json::object();
  uint64_t total = 0;
  std::vector<std::string> written;
  for (size_t i = 0; i < files.size(); ++i) {
    char number[64];
    std::snprintf(number, sizeof number, "-%05zu-of-%05zu.safetensors", i + 1, files.size());
    written.push_back((path.parent_path() / (stem + number)).string());
    CLEAVE_TRY(writeOne(written.back(), checkpoint, files[i]));
    for (const auto &[from, to] : files[i]) {
      const auto &info = checkpoint.tensors().at(from);
      total += uint64_t(data::elements(info.shape) * byteSize(info.dtype));
      map[to] = stem + number;
    }
  }
  Json index{{"metadata", {{"total_size", total}}}, {"weight_map", map}};
  written.push_back(options.path + ".index.json");
  CLEAVE_TRY(
      writeFile(written.back(), index.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"));
  return written;
}

} // namespace cleave::checkpoint
