// See Failure.h.
#include "tools/cleave-run/Failure.h"

#include "runtime/base/FileWriter.h"

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace cleave::run {

// Empty: no file.
static std::string fileOf(const Options &options, int rank) {
  std::string file = options.flightRecord;
  if (file.empty() && !options.save.empty()) {
    std::filesystem::path folder = options.save;
    if (!folder.has_filename()) // `runs/gpt/`
      folder = folder.parent_path();
    file = folder.string() + ".flight-record.json";
  }
  if (!file.empty() && rank >= 0) {
    if (file.ends_with(".json"))
      file.resize(file.size() - 5);
    file += concat(".rank", rank, ".json");
  }
  return file;
}

void recordFailure(const plan::Plan &plan, const Options &options, const FlightRecord &record,
                   int rank) {
  bool isWorthIt =
      record.exitCode == int(StatusKind::Lost) || record.exitCode == int(StatusKind::Defect);
  if (!isWorthIt || record.ranks.empty())
    return;
  std::string file = fileOf(options, rank);
  if (file.empty()) {
    for (const std::string &line : flightLines(plan, record))
      std::fprintf(stderr, "cleave-run: note: %s\n", line.c_str());
    return;
  }
  Status status = writeFlightRecord(file, plan, record);
  std::fprintf(stderr, "cleave-run: %s\n",
               status ? concat("note: the flight record is in '", file, "'").c_str()
                      : concat("warning: no flight record: ", status.message()).c_str());
}

void writeElasticError(const Status &status) {
  const char *path = std::getenv("TORCHELASTIC_ERROR_FILE");
  if (!path || !*path)
    return;
  // torchrun calls the earliest failure the root cause, in whole seconds. A rank that has lost
  // another one did not fail first, although torchrun may notice the other one later.
  constexpr int64_t kNoticedWithin = 10;
  const int64_t failed =
      std::time(nullptr) + (status.kind() == StatusKind::Lost ? kNoticedWithin : 0);
  const nlohmann::json error = {
      {"message",
       {{"message", status.message()},
        {"extraInfo", {{"py_callstack", ""}, {"timestamp", std::to_string(failed)}}}}}};
  (void)writeFile(path, error.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

} // namespace cleave::run
