#include "tools/cleave-dump/Runs.h"

#include "runtime/base/Concat.h"
#include "runtime/base/RegularFile.h"
#include "runtime/base/Table.h"
#include "runtime/base/Units.h"
#include "tools/cleave-dump/PlanText.h"
#include "tools/page/Page.h"

#include <algorithm>
#include <cstdio>
#include <set>

namespace cleave::dump {

bool isPage(const std::string &path) {
  constexpr std::string_view kBegin = "<!doctype html>";
  Result<RegularFile> file = RegularFile::open(path);
  std::string begin(kBegin.size(), '\0');
  return file && file->read(begin.data(), begin.size()) && begin == kBegin;
}

static bool isStep(const Json &line) { return line.contains("step") && !line.contains("event"); }

// Whether the run has all that is shown of it. Throws the library's exception if a field is missing
// or has another type.
static bool isComplete(const Json &run) {
  const Json &lines = run.at("lines"), &predicted = run.at("predicted");
  for (const char *text : {"name", "error"})
    static_cast<void>(run.at(text).get<std::string>());
  for (const char *number : {"ranks", "samples_per_step"})
    static_cast<void>(run.at(number).get<double>());
  for (const char *number : {"step_seconds", "peak_bytes", "flops", "peak_seconds"})
    static_cast<void>(predicted.at(number).get<double>());
  for (const Json &value : run.at("settings"))
    static_cast<void>(value.get<std::string>());
  return std::ranges::all_of(lines, [](const Json &line) { return line.is_object(); }) &&
         std::ranges::any_of(lines, isStep);
}

static bool isReport(const Json &page) {
  try {
    return !page.at("runs").empty() && std::ranges::all_of(page.at("runs"), isComplete);
  } catch (const Json::exception &) {
    return false;
  }
}

Result<Json> readRuns(const std::vector<std::string> &paths) {
  Json runs = Json::array();
  for (const std::string &path : paths) {
    CLEAVE_TRY_ASSIGN(const std::string text, readRegularFile(path));
    const std::optional<std::string> data = page::dataOf(text);
    const Json page = Json::parse(data.value_or(""), nullptr, /*allow_exceptions=*/false);
    if (!isReport(page))
      return Status::userError("'", path, "' is ",
                               !page.is_object()       ? "not a page"
                               : page.contains("runs") ? "a damaged report"
                                                       : "the page of a plan",
                               ", expected reports of cleave-run --report; --diff compares plans");
    for (const Json &run : page["runs"])
      runs.push_back(run);
  }
  return Json{{"runs", runs}};
}

// The numbers of this name in the lines of steps.
static std::vector<double> valuesOf(const Json &run, const char *name) {
  std::vector<double> values;
  for (const Json &line : run["lines"])
    if (isStep(line) && line.contains(name) && line[name].is_number())
      values.push_back(line[name]);
  return values;
}

static std::string numberText(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

static std::vector<std::string> rowOf(const Json &run) {
  std::vector<double> seconds = valuesOf(run, "seconds");
  const std::vector<double> losses = valuesOf(run, "loss");
  const size_t steps = seconds.size(), middle = steps / 2;
  if (steps)
    std::ranges::nth_element(seconds, seconds.begin() + long(middle));
  const double usual = steps ? seconds[middle] : 0, samples = run["samples_per_step"];
  return {run["name"],
          run["ranks"].dump(),
          std::to_string(steps),
          losses.empty() ? "" : numberText(losses.back()),
          losses.empty() ? "" : numberText(*std::ranges::min_element(losses)),
          secondsText(usual),
          secondsText(run["predicted"]["step_seconds"]),
          samples > 0 && usual > 0 ? countText(samples / usual, "samples/s") : "",
          bytesText(run["predicted"]["peak_bytes"].get<uint64_t>())};
}

// The settings that not all runs have with one value, a column per run.
static Table differences(const Json &runs) {
  std::vector<std::string> headings = {"what"}, names;
  std::set<std::string> known;
  for (const Json &run : runs) {
    headings.push_back(run["name"]);
    for (const auto &[name, _] : run["settings"].items())
      if (known.insert(name).second)
        names.push_back(name);
  }
  Table table(headings);
  for (const std::string &name : names) {
    std::vector<std::string> cells = {name};
    for (const Json &run : runs)
      cells.push_back(run["settings"].value(name, ""));
    if (std::set<std::string>(cells.begin() + 1, cells.end()).size() > 1)
      table.add(cells);
  }
  return table;
}

std::string runsText(const Json &data) {
  const Json &runs = data["runs"];
  Table table({"run", ">ranks", ">steps", ">loss at the end", ">least", ">step (median)",
               ">predicted", ">rate", ">planned memory"});
  for (const Json &run : runs)
    table.add(rowOf(run));
  const Table different = differences(runs);
  return titled(runs.size() == 1 ? "Run" : concat(runs.size(), " runs")) + "\n" + tableText(table) +
         (different.isEmpty() ? "" : "\n" + titled("Differences") + "\n" + tableText(different));
}

std::string runsPage(const Json &data) {
  const size_t count = data["runs"].size();
  return page::page(page::Kind::Run,
                    count == 1 ? data["runs"][0]["name"].get<std::string>()
                               : concat(count, " runs"),
                    data.dump(-1, ' ', false, Json::error_handler_t::replace));
}

} // namespace cleave::dump
