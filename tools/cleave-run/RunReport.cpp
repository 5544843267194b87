// See RunReport.h.
#include "tools/cleave-run/RunReport.h"

#include "runtime/artifact/Mesh.h"
#include "runtime/base/Concat.h"
#include "runtime/base/FileWriter.h"
#include "tools/commandline/TrainFile.h"
#include "tools/page/Page.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>

namespace cleave::run {

using Json = nlohmann::ordered_json;

// The lines of the log that are objects; empty without one of a step.
static Json linesJson(const std::vector<std::string> &lines) {
  Json entries = Json::array();
  bool hasSteps = false;
  for (const std::string &line : lines) {
    Json entry = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!entry.is_object())
      continue;
    hasSteps |= entry.contains("step") && !entry.contains("event");
    entries.push_back(std::move(entry));
  }
  return hasSteps ? entries : Json::array();
}

static bool isOutput(const std::string &option) {
  constexpr std::string_view kOutputs[] = {"output", "save",        "log",
                                           "report", "tensorboard", "profile"};
  return std::ranges::find(kOutputs, option) != std::end(kOutputs);
}

// Options of the compiler and of the run but for the names of files that they write, and what the
// planner decided, by name.
static Json settingsJson(const plan::Plan &plan, const RunRecord &run) {
  Json settings = {{"mesh", artifact::meshOf(plan).str()}};
  auto add = [&](const std::string &name, const std::string &value) {
    Json &all = settings[name];
    all = all.is_null() ? value : all.get<std::string>() + ", " + value;
  };
  for (const plan::Decision &decision : plan.decisions())
    if (decision.kind() == "strategy")
      add("strategy", decision.name());
  for (const TrainFileOption &option : readTrainFile(plan.compile_options() + run.options))
    for (const std::string &value :
         isOutput(option.name) ? std::vector<std::string>() : option.values)
      add(concat(option.section, " --", option.name), value);
  return settings;
}

Status writeReport(const std::string &path, const plan::Plan &plan, const RunRecord &run) {
  const Json lines = linesJson(run.lines);
  if (lines.empty())
    return Status::ok();
  const plan::Prediction &predicted = plan.predicted();
  const std::string name = std::filesystem::path(path).stem().string(),
                    planName = std::filesystem::path(run.planPath).filename().string();
  const uint32_t ranks = artifact::rankCount(plan);
  const Json data = {{"name", name},
                     {"lines", lines},
                     {"ranks", ranks},
                     {"samples_per_step", run.samples},
                     {"error", run.error},
                     {"settings", settingsJson(plan, run)},
                     {"predicted",
                      {{"step_seconds", predicted.step_seconds()},
                       {"peak_bytes", predicted.peak_bytes()},
                       {"flops", predicted.flops()},
                       {"peak_seconds", predicted.peak_seconds()}}}};
  const std::string title =
      concat("run of ", planName, " on ", ranks, ranks == 1 ? " rank" : " ranks");
  return writeFile(path, page::page(page::Kind::Run, title,
                                    Json{{"runs", Json::array({data})}}.dump(
                                        -1, ' ', false, Json::error_handler_t::replace)));
}

} // namespace cleave::run
