// cleave-dump PLAN: prints the decisions of a plan, their reasons and costs; cleave-dump REPORT…:
// compares runs. Options: docs/interface.md.
#include "runtime/artifact/Artifact.h"
#include "runtime/base/FileWriter.h"
#include "tools/cleave-dump/PlanText.h"
#include "tools/cleave-dump/ReadInput.h"
#include "tools/cleave-dump/Runs.h"
#include "tools/cleave-dump/Views.h"
#include "tools/commandline/CommandLine.h"

#include <cstdio>
#include <optional>

using namespace cleave;

namespace {

struct Options {
  std::vector<std::string> paths;
  std::string path; // the first one
  bool sharding = false, memory = false, collectives = false, schedule = false, kinds = false,
       recompute = false, json = false;
  std::optional<uint32_t> program;
  std::optional<std::string> explain, diff, html, trace, torchtitan, dtensor;
};

} // namespace

// The requested views in order; the summary by default.
static Result<std::string> views(const plan::Plan &plan, const Options &options) {
  if (options.json)
    return dump::json(plan);
  std::vector<std::string> parts;
  if (options.sharding)
    parts.push_back(dump::shardingView(plan));
  if (options.memory)
    parts.push_back(dump::memoryView(plan));
  if (options.collectives)
    parts.push_back(dump::collectivesView(plan));
  if (options.schedule) {
    CLEAVE_TRY_ASSIGN(std::string view, dump::scheduleView(plan));
    parts.push_back(std::move(view));
  }
  if (options.kinds) {
    CLEAVE_TRY_ASSIGN(std::string view, dump::kindsView(plan));
    parts.push_back(std::move(view));
  }
  if (options.recompute)
    parts.push_back(dump::rematView(plan));
  if (options.program) {
    Result<std::string> view = dump::programView(plan, *options.program);
    CLEAVE_TRY(view.status());
    parts.push_back(std::move(*view));
  }
  if (options.explain) {
    Result<std::string> view = dump::explain(plan, *options.explain);
    CLEAVE_TRY(view.status());
    parts.push_back(std::move(*view));
  }
  if (options.diff) {
    CLEAVE_TRY_ASSIGN(plan::Plan before, artifact::readPlan(*options.diff).withContext("--diff"));
    parts.push_back(dump::diffView(before, *options.diff, plan, options.path));
  }
  if (parts.empty())
    parts.push_back(verbosity() == Verbosity::Quiet
                        ? dump::brief(plan, options.path)
                        : dump::summary(plan, options.path, verbosity() == Verbosity::Verbose));
  std::string text;
  for (const std::string &part : parts)
    text += (text.empty() ? "" : "\n") + part;
  return text;
}

namespace {
struct View {
  const char *option;
  bool isAsked, needsProgram;
};
} // namespace

static std::vector<View> viewsOf(const Options &options) {
  return {{"--sharding", options.sharding, false},
          {"--memory", options.memory, true},
          {"--collectives", options.collectives, true},
          {"--schedule", options.schedule, true},
          {"--kinds", options.kinds, true},
          {"--program", options.program.has_value(), true},
          {"--recompute", options.recompute, false},
          {"--explain", options.explain.has_value(), false},
          {"--diff", options.diff.has_value(), true},
          {"--json", options.json, false},
          {"--trace", options.trace.has_value(), true},
          {"--torchtitan", options.torchtitan.has_value(), true},
          {"--dtensor", options.dtensor.has_value(), false},
          {"--html", options.html.has_value(), true}};
}

// IR behind the planner has decisions and layouts, but no program yet.
static Status checkViews(const plan::Plan &plan, const Options &options) {
  if (plan.programs_size() > 0)
    return Status::ok();
  for (const View &view : viewsOf(options))
    if (view.isAsked && view.needsProgram)
      return Status::userError(view.option, ": '", options.path,
                               "' is IR, expected a plan; make one of it ", "with cleave-compile ",
                               options.path, " -o PLAN");
  return Status::ok();
}

// Writes the file, and prints the decisions that it cannot express.
static Status writeExported(const dump::Exported &exported, const std::string &path) {
  CLEAVE_TRY(writeFile(path, exported.text));
  if (exported.missing.empty() || path == "-" || verbosity() == Verbosity::Quiet)
    return Status::ok();
  std::string text = dump::titled(concat("Not expressible in ", path)) + "\n";
  for (const std::string &sentence : exported.missing)
    text += "  * " + dump::paragraph(sentence, 4).substr(4);
  return writeFile("-", text);
}

static Status writeFiles(const plan::Plan &plan, const Options &options) {
  if (options.html)
    CLEAVE_TRY(writeFile(*options.html, dump::htmlView(plan, options.path)));
  if (options.trace) {
    CLEAVE_TRY_ASSIGN(std::string trace, dump::traceView(plan).withContext("--trace"));
    CLEAVE_TRY(writeFile(*options.trace, trace));
  }
  if (options.torchtitan) {
    CLEAVE_TRY_ASSIGN(const dump::Exported exported,
                      dump::torchtitanView(plan, options.path).withContext("--torchtitan"));
    CLEAVE_TRY(writeExported(exported, *options.torchtitan));
  }
  return options.dtensor ? writeExported(dump::dtensorView(plan), *options.dtensor) : Status::ok();
}

// Reports of runs, as a table or as a page.
static Status showRuns(const Options &options) {
  for (const View &view : viewsOf(options))
    if (view.isAsked && view.option != std::string_view("--html"))
      return Status::userError(view.option, ": expected one plan, found reports of runs, of which ",
                               "there is a table or, with --html, a page");
  CLEAVE_TRY_ASSIGN(const dump::Json runs, dump::readRuns(options.paths));
  return options.html ? writeFile(*options.html, dump::runsPage(runs))
                      : writeFile("-", dump::runsText(runs));
}

// The options that write files.
static void addFiles(CLI::App &app, Options &options) {
  app.add_option("--html", options.html,
                 "write a page for browsers: mesh, model, memory, timeline, "
                 "decisions; of runs, their curves")
      ->type_name("FILE");
  app.add_option("--trace", options.trace,
                 "write the predicted step of all ranks as a trace for ui.perfetto.dev")
      ->type_name("FILE");
  app.add_option("--torchtitan", options.torchtitan,
                 "write the plan as a configuration of torchtitan 0.2")
      ->type_name("FILE.toml");
  app.add_option("--dtensor", options.dtensor,
                 "write mesh and layouts as placements of PyTorch's DTensors")
      ->type_name("FILE.json");
}

int main(int argc, char **argv) {
  Options options;
  CLI::App app("Prints the decisions of a plan, their reasons and costs; by default a summary.",
               "cleave-dump");
  describeVerbosity("print about ten lines instead of the summary",
                    "print every row of the tables of the summary");
  app.add_option("PLAN", options.paths,
                 "plan file, written by cleave-compile, or IR that --stop-after planned wrote; or "
                 "one or several pages of cleave-run --report, to compare runs")
      ->required()
      ->type_name("FILE");
  app.add_flag("--sharding", options.sharding, "layout of every parameter, state and input");
  app.add_flag("--memory", options.memory, "memory over one step, and live buffers at the peak");
  app.add_flag("--collectives", options.collectives, "every collective of one step");
  app.add_flag("--schedule", options.schedule, "the stages of a pipeline over time");
  app.add_flag("--kinds", options.kinds,
               "time, FLOPs and bytes of one step by kind of instruction");
  app.add_option("--program", options.program, "instructions of one rank")->type_name("RANK");
  app.add_option(
         "--explain", options.explain,
         "everything about one parameter, op or value; stage:N: about a stage, and why it ends "
         "where it does")
      ->type_name("NAME");
  app.add_flag("--recompute", options.recompute,
               "what is kept for the backward pass and what is recomputed");
  app.add_option("--diff", options.diff, "compare this plan, as before, with PLAN")
      ->type_name("PLAN");
  app.add_flag("--json", options.json, "everything as JSON");
  addFiles(app, options);
  if (std::optional<int> code = readCommandLine(app, argc, argv))
    return *code;

  options.path = options.paths.front();
  if (options.paths.size() > 1 || dump::isPage(options.path)) {
    const Status shown = showRuns(options);
    return shown ? 0 : fail(app.get_name(), shown);
  }
  Result<plan::Plan> plan = dump::readInput(options.path);
  if (!plan)
    return fail(app.get_name(), plan.status());
  if (Status status = checkViews(*plan, options); !status)
    return fail(app.get_name(), status);
  if (options.html || options.trace || options.torchtitan || options.dtensor) {
    Status written = writeFiles(*plan, options);
    return written ? 0 : fail(app.get_name(), written);
  }
  Result<std::string> text = views(*plan, options);
  if (!text)
    return fail(app.get_name(), text.status());
  Status status = writeFile("-", *text);
  return status ? 0 : fail(app.get_name(), status);
}
