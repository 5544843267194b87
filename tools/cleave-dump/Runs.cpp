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

Result<Json> readRuns(const std::vector<std::string> &paths) {
  Json runs = Json::array();
  for (const std::string &path : paths) {
    CLEAVE_TRY_ASSIGN(const std::string text, readRegularFile(path));
    const std::optional<std::string> data = page::dataOf(text);
    const Json page = Json::parse(data.value_or(""), nullptr, /*allow_exceptions=*/false);
    if (!page.is_object() || !page.contains("runs"))
      return Status::userError("'", path, "' is ",
                               page.is_object() ? "the page of a plan" : "not a page",
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
    if (line.contains("step") && !line.contains("event") && line.contains(name) &&
        line[name].is_number())
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
