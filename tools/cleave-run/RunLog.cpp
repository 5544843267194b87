// See RunLog.h.
#include "tools/cleave-run/RunLog.h"

#include "runtime/base/FileWriter.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace cleave::run {

using Json = nlohmann::ordered_json;

RunLog::~RunLog() {
  if (file_)
    std::fclose(file_);
}

// Whether a line of an earlier log stays when a run goes on at step `first`: not that of a step
// which the run repeats, and not those at its end.
static bool stays(const std::string &line, int64_t first) {
  Json entry = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!entry.is_object())
    return true;
  auto step = entry.find("step");
  bool isRepeated =
      step != entry.end() && step->is_number_integer() && step->get<int64_t>() >= first;
  return !isRepeated && !entry.contains("planned_bytes") && !entry.contains("summary");
}

// Cuts the lines of an earlier log that do not stay, and an incomplete last line.
static Status cut(const std::string &path, int64_t first) {
  std::ifstream in(path, std::ios::binary);
  FileWriter out(path);
  bool isCut = false;
  for (std::string line; std::getline(in, line);) {
    bool isKept = !in.eof() && stays(line, first);
    isCut = isCut || !isKept;
    if (isKept)
      CLEAVE_TRY(out.write(line + "\n"));
  }
  return isCut ? out.publish() : Status::ok();
}

Status RunLog::open(const std::string &path, std::optional<int64_t> resumed) {
  path_ = path;
  std::error_code ignored;
  if (resumed && std::filesystem::is_regular_file(path, ignored)) {
    CLEAVE_TRY(cut(path, *resumed));
    std::ifstream before(path);
    for (std::string line; keepsLines_ && std::getline(before, line);)
      lines_.push_back(line);
  }
  file_ = std::fopen(path.c_str(), resumed ? "a" : "w");
  return file_ ? Status::ok()
               : Status::userError("cannot write log '", path, "': ", std::strerror(errno));
}

Status RunLog::line(const std::string &text) {
  if (keepsLines_)
    lines_.push_back(text);
  if (!file_)
    return Status::ok();
  bool written = std::fputs((text + "\n").c_str(), file_) >= 0 && std::fflush(file_) == 0;
  return written ? Status::ok()
                 : Status::userError("cannot write log '", path_, "': ", std::strerror(errno));
}

Status RunLog::step(int64_t step, const std::vector<executor::MetricValue> &metrics, double seconds,
                    std::optional<double> hostSeconds,
                    const std::vector<std::pair<std::string, double>> &more, bool isSkipped) {
  Json entry{{"step", step}};
  for (const executor::MetricValue &metric : metrics)
    entry[metric.name] = metric.value; // non-finite numbers are dumped as null
  entry["seconds"] = seconds;
  if (hostSeconds)
    entry["host_seconds"] = *hostSeconds;
  for (const auto &[name, value] : more)
    entry[name] = value;
  if (isSkipped)
    entry["skipped"] = true;
  return line(entry.dump());
}

Status RunLog::evaluation(int64_t step, const std::vector<std::pair<std::string, double>> &numbers,
                          double seconds) {
  Json entry{{"event", "eval"}, {"step", step}};
  for (const auto &[name, number] : numbers)
    entry[name] = number;
  entry["seconds"] = seconds;
  return line(entry.dump());
}

Status RunLog::restart(int number, int ranks, int64_t step, const std::string &reason) {
  return line(Json{
      {"event", "restart"},
      {"restart", number},
      {"ranks", ranks},
      {"from_step", step},
      {"reason",
       reason}}.dump());
}

std::string rankLine(int rank, const executor::MemoryNumbers &numbers,
                     const memory::MemoryReport &report) {
  Json parts = Json::object();
  for (const auto *list : {&report.known, &report.libraries, &report.other})
    for (const memory::MemoryPart &part : *list)
      parts[part.name] = parts.value(part.name, uint64_t(0)) + part.residentBytes;
  return Json{{"rank", rank},
              {"planned_bytes", numbers.planned},
              {"allocated_bytes", numbers.allocated},
              {"peak_rss_bytes", report.peakBytes},
              {"library_scratch_bytes", numbers.library},
              {"resident_bytes", report.residentBytes},
              {"explained", report.explained()},
              {"resident_parts", parts}}
      .dump();
}

} // namespace cleave::run
