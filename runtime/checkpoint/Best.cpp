// See Best.h.
#include "runtime/checkpoint/Best.h"

#include "runtime/base/FileWriter.h"
#include "runtime/checkpoint/Checkpoint.h"
#include "runtime/checkpoint/Index.h"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace cleave::checkpoint {

namespace fs = std::filesystem;

static fs::path fileOf(const std::string &directory) { return fs::path(directory) / "best.json"; }

std::optional<Best> bestIn(const std::string &directory) {
  std::ifstream in(fileOf(directory));
  nlohmann::json json = nlohmann::json::parse(in, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("step") || !json["step"].is_number_integer() ||
      !json.contains("metric") || !json["metric"].is_string() || !json.contains("value") ||
      !json["value"].is_number())
    return std::nullopt;
  Best best{json["step"], json["metric"], json["value"]};
  std::error_code ignored;
  return fs::exists(fs::path(pathOf(directory, best.step)) / kIndexName, ignored)
             ? std::optional(best)
             : std::nullopt;
}

Status writeBest(const std::string &directory, const Best &best) {
  nlohmann::ordered_json json{{"step", best.step}, {"metric", best.metric}, {"value", best.value}};
  return writeFile(fileOf(directory), json.dump() + "\n");
}

Result<std::string> bestCheckpoint(const std::string &directory) {
  std::optional<Best> best = bestIn(directory);
  if (!best)
    return Status::userError("found no best checkpoint in '", directory,
                             "', expected the folder of a run with --keep-best");
  return pathOf(directory, best->step);
}

} // namespace cleave::checkpoint
