// cleave-profile: parameters, arithmetic, activations and memory of a model, per operator and in
// total, as expressions of its symbols or as numbers. Executes nothing and reads no weights.
#include "compiler/profile/Tables.h"
#include "dialects/graph/Step.h"
#include "dialects/graph/Symbols.h"
#include "passes/driver/Compile.h"
#include "runtime/base/FileWriter.h"
#include "runtime/base/Terminal.h"
#include "tools/commandline/CommandLine.h"
#include "tools/model-options/ModelOptions.h"

#include <filesystem>

using namespace cleave;
using driver::CompileOptions;

namespace {
// Rows, columns and format of the output.
struct ViewOptions {
  std::string by = "module", sort, format = "text", output;
  int depth = 0;
  size_t top = 0;
};
} // namespace

static void addViewOptions(CLI::App &app, ViewOptions &view) {
  app.add_option("--by", view.by, "one line per operator, module or kind")
      ->check(isOneOf({"operator", "module", "kind"}))
      ->capture_default_str();
  app.add_option("--depth", view.depth, "levels of module names to keep; 0: all")
      ->check(nonNegative());
  app.add_option("--sort", view.sort, "sort by this column of the JSON form, largest first");
  app.add_option("--top", view.top, "number of lines to print; 0: all");
  app.add_option("--format", view.format, "text, json or csv")
      ->check(isOneOf({"text", "json", "csv"}))
      ->capture_default_str();
  app.add_option("-o,--output", view.output, "output file; default: standard output")
      ->type_name("FILE");
}

// `gpt2.onnx: training step, …`
static std::string titleOf(const CompileOptions &options, const profile::Profile &found) {
  std::string text = std::filesystem::path(options.model).filename().string() + ": ";
  std::string losses;
  for (const std::string &loss : options.losses)
    losses += (losses.empty() ? "" : " + ") + loss;
  text += options.train ? "training step, " + losses + ", " + options.optimizer : "inference";
  for (const auto &[symbol, size] : options.symbols)
    text += concat(", ", symbol, '=', size);
  std::string open;
  for (const std::string &symbol : profile::symbolsOf(found))
    open += (open.empty() ? "" : ", ") + symbol;
  text += open.empty() ? "" : "; without numbers (--set): " + open;
  for (size_t i = 0; i < found.assumptions.size(); ++i)
    text += (i ? ", " : "; holds for ") + graph::asInequality(found.assumptions[i]);
  return text;
}

// The step of the model, with at least two micro-batches if it trains: see profileStep.
static Result<profile::Profile> profileModel(CompileOptions options) {
  options.keepSymbols = true;
  options.accumulate = std::max<int64_t>(options.accumulate, 2);
  driver::Compilation compilation(options);
  CLEAVE_TRY(driver::compileTo(compilation, options.train ? "train" : "forward"));
  for (const driver::Remark &remark : compilation.remarks)
    if (remark.kind == "warning")
      std::cerr << remark.kind << ": " << remark.text << "\n";
  return profile::profileStep(graph::stepOf(compilation.module()));
}

static Status print(profile::Profile found, const ViewOptions &view, const std::string &title) {
  using profile::Grouping;
  Grouping by = view.by == "module" ? Grouping::Module
                : view.by == "kind" ? Grouping::Kind
                                    : Grouping::Operator;
  found = profile::grouped(found, by, view.depth);
  if (!view.sort.empty()) {
    CLEAVE_TRY_ASSIGN(found, profile::sorted(found, view.sort).withContext("--sort"));
  }
  if (view.top)
    found = profile::firstRows(found, view.top);
  std::string text =
      view.format == "json" ? profile::asJson(found)
      : view.format == "csv"
          ? profile::asCsv(found)
          : profile::asText(found, title,
                            view.output.empty() ? terminalWidth() : profile::kUnlimited);
  return writeFile(view.output.empty() ? "-" : view.output, text);
}

static Status run(const tools::TypedModelOptions &typed, CompileOptions &options,
                  const ViewOptions &view) {
  CLEAVE_TRY(tools::checkModelOptions(typed, options));
  CLEAVE_TRY_ASSIGN(profile::Profile found, profileModel(options));
  std::string title = titleOf(options, found);
  return print(std::move(found), view, title);
}

int main(int argc, char **argv) {
  CLI::App app{
      "Computes the cost of a model: parameters, multiply-accumulates and FLOPs of the forward and "
      "backward pass, activations kept between them, and peak memory. Executes nothing.",
      "cleave-profile"};
  CompileOptions options;
  tools::TypedModelOptions typed;
  ViewOptions view;
  tools::addModelOptions(app, options, typed);
  tools::addStepOptions(app, options);
  addViewOptions(app, view);
  if (std::optional<int> code = readCommandLine(app, argc, argv))
    return *code;
  Status status = run(typed, options, view);
  if (!status)
    return fail("cleave-profile", status);
  return status.exitCode();
}
