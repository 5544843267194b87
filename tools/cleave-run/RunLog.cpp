// See RunLog.h.
#include "tools/cleave-run/RunLog.h"

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

namespace cleave::run {

using Json = nlohmann::ordered_json;

RunLog::~RunLog() {
  if (file_)
    std::fclose(file_);
}

Status RunLog::open(const std::string &path) {
  path_ = path;
  file_ = std::fopen(path.c_str(), "w");
  return file_ ? Status::ok()
               : Status::userError("cannot write log '", path, "': ", std::strerror(errno));
}

Status RunLog::line(const std::string &text) {
  if (!file_)
    return Status::ok();
  bool written = std::fputs((text + "\n").c_str(), file_) >= 0 && std::fflush(file_) == 0;
  return written ? Status::ok()
                 : Status::userError("cannot write log '", path_, "': ", std::strerror(errno));
}

Status RunLog::step(int64_t step, const std::vector<executor::MetricValue> &metrics,
                    double seconds) {
  Json entry{{"step", step}};
  for (const executor::MetricValue &metric : metrics)
    entry[metric.name] = metric.value; // non-finite numbers are dumped as null
  entry["seconds"] = seconds;
  return line(entry.dump());
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
