// See RunReport.h.
#include "tools/cleave-run/RunReport.h"

#include "runtime/artifact/Mesh.h"
#include "runtime/base/Concat.h"
#include "runtime/base/FileWriter.h"
#include "tools/page/Page.h"

#include <filesystem>
#include <nlohmann/json.hpp>

namespace cleave::run {

using Json = nlohmann::ordered_json;

Status writeReport(const std::string &path, const plan::Plan &plan, const std::string &planPath,
                   const std::vector<std::string> &lines, int64_t samples,
                   const std::string &error) {
  Json entries = Json::array();
  bool hasSteps = false;
  for (const std::string &line : lines) {
    Json entry = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!entry.is_object())
      continue;
    hasSteps |= entry.contains("step") && !entry.contains("event");
    entries.push_back(std::move(entry));
  }
  if (!hasSteps)
    return Status::ok();
  const plan::Prediction &predicted = plan.predicted();
  const Json data = {{"lines", entries},
                     {"ranks", artifact::rankCount(plan)},
                     {"samples_per_step", samples},
                     {"error", error},
                     {"predicted",
                      {{"step_seconds", predicted.step_seconds()},
                       {"peak_bytes", predicted.peak_bytes()},
                       {"flops", predicted.flops()},
                       {"peak_seconds", predicted.peak_seconds()}}}};
  const std::string title =
      concat("run of ", std::filesystem::path(planPath).filename().string(), " on ",
             artifact::rankCount(plan), artifact::rankCount(plan) == 1 ? " rank" : " ranks");
  return writeFile(path, page::page(page::Kind::Run, title,
                                    data.dump(-1, ' ', false, Json::error_handler_t::replace)));
}

} // namespace cleave::run
