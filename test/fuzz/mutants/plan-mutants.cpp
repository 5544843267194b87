// plan-mutants PLAN: changes single fields of a plan and runs the result. Every mutant must be
// refused, end with a message, or run to its end; the exit code is 1 if one did not.
#include "runtime/artifact/Artifact.h"
#include "test/fuzz/mutants/Mutate.h"
#include "test/fuzz/mutants/Trial.h"
#include "tools/commandline/CommandLine.h"

#include <algorithm>
#include <cstdio>
#include <map>

using namespace cleave;

namespace {

struct Options {
  std::string plan, keep;
  int64_t count = 300, first = 0;
  bool listsAll = false;
  fuzz::TrialOptions trial;
};

bool isHarmless(fuzz::Outcome outcome) { return outcome <= fuzz::Outcome::Ran; }

std::optional<int> parse(int argc, char **argv, Options &options) {
  CLI::App app{"Runs mutants of a plan: each has one changed field.", "plan-mutants"};
  app.add_option("plan", options.plan, "plan file")->required();
  app.add_option("--data", options.trial.data, "data for the plan");
  app.add_option("--count", options.count, "number of mutants")->capture_default_str();
  app.add_option("--first", options.first, "number of the first mutant, which determines it")
      ->capture_default_str();
  app.add_option("--steps", options.trial.steps, "steps that each mutant runs")
      ->capture_default_str();
  app.add_option("--limit", options.trial.secondsLimit, "seconds that a mutant may take")
      ->capture_default_str();
  app.add_option("--keep", options.keep, "folder for harmful mutants, as plan files");
  app.add_flag("--list", options.listsAll, "print every mutant");
  return readCommandLine(app, argc, argv);
}

// Runs mutant `number`; returns its outcome.
fuzz::Outcome runOne(const plan::Plan &original, int64_t number, const Options &options) {
  std::mt19937 draw{static_cast<uint32_t>(number)};
  plan::Plan plan = original;
  std::string change = fuzz::mutate(plan, draw);
  fuzz::Trial trial = fuzz::tryPlan(plan, options.trial);
  bool isHarmful = !isHarmless(trial.outcome);
  if (isHarmful || options.listsAll)
    std::printf("%lld: %s: %s: %s", static_cast<long long>(number), nameOf(trial.outcome),
                change.c_str(), trial.text.c_str());
  if (isHarmful && !options.keep.empty())
    if (Status status = artifact::writePlan(plan, concat(options.keep, "/", number, ".plan"));
        !status)
      std::printf("%s\n", status.message().c_str());
  std::fflush(stdout);
  return trial.outcome;
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  if (std::optional<int> code = parse(argc, argv, options))
    return *code;
  Result<plan::Plan> plan = artifact::readPlan(options.plan);
  if (!plan)
    return fail("plan-mutants", plan.status());
  if (fuzz::Trial trial = fuzz::tryPlan(*plan, options.trial); trial.outcome != fuzz::Outcome::Ran)
    return fail("plan-mutants", Status::userError("the plan itself does not run: ", trial.text));
  std::map<fuzz::Outcome, int64_t> counts;
  for (int64_t i = options.first; i < options.first + options.count; ++i)
    ++counts[runOne(*plan, i, options)];
  for (auto [outcome, count] : counts)
    std::printf("%s %lld  ", nameOf(outcome), static_cast<long long>(count));
  std::printf("of %lld mutants\n", static_cast<long long>(options.count));
  bool allHarmless = std::all_of(counts.begin(), counts.end(),
                                 [](const auto &entry) { return isHarmless(entry.first); });
  return allHarmless && counts[fuzz::Outcome::Ran] > 0 && counts[fuzz::Outcome::Refused] > 0 ? 0
                                                                                             : 1;
}
