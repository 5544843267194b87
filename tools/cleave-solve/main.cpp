// cleave-solve FILE [SECONDS]: solves an instance of the ASPLOS contest on intra-operator
// parallelism, or a problem written by cleave-compile, and prints cost, bound, gap and the peak of
// every memory space. With --solution it checks and prices given choices instead.
#include "compiler/solver/Check.h"
#include "compiler/solver/Contest.h"
#include "compiler/solver/Json.h"
#include "compiler/solver/Solver.h"
#include "runtime/base/FileWriter.h"
#include "runtime/base/Json.h"
#include "runtime/base/RegularFile.h"
#include "tools/commandline/CommandLine.h"

#include <cstdio>

using namespace cleave;
using namespace cleave::solver;

static Result<Problem> readProblem(const std::string &path) {
  CLEAVE_TRY_ASSIGN(std::string text, readRegularFile(path));
  Result<Problem> contest = readContestFile(path);
  if (contest)
    return contest;
  Result<Problem> own = problemFromJson(text);
  if (own)
    return own;
  // Of a file that is compressed or no JSON, the reader of the contest has said all.
  const std::string second = Json::accept(text) ? "; " + own.status().message() : "";
  return Status::userError(contest.status().message(), second,
                           "; expected an instance of the contest (.json, .json.gz) or a problem "
                           "that `cleave-compile --problem FILE` wrote");
}

static int fail(const Status &status) { return fail("cleave-solve", status); }

static void printPeak(const MemorySpace &space, const MemoryPeak &peak) {
  std::printf("%s: peak %lld of %lld bytes at time %lld", space.name.c_str(),
              static_cast<long long>(peak.bytes), static_cast<long long>(space.budget),
              static_cast<long long>(peak.time));
}

static void printSolution(const Problem &problem, const Solution &solution) {
  std::printf("cost %.12g  bound %.12g  gap %.4f %%  in %.2f s, %d iterations\n", solution.cost,
              solution.lowerBound, 100 * solution.gap, solution.seconds, solution.iterations);
  for (size_t s = 0; s < problem.spaces.size(); ++s) {
    printPeak(problem.spaces[s], solution.peaks[s]);
    std::printf(", one more byte saves %.3g\n", solution.shadowPrice[s]);
  }
}

static void printChoices(const std::vector<int> &choices) {
  std::printf("[");
  for (size_t v = 0; v < choices.size(); ++v)
    std::printf("%s%d", v ? ", " : "", choices[v]);
  std::printf("]\n");
}

// Prices the choices of a file and names what they violate.
static Status reportGiven(const Problem &problem, const std::string &path) {
  CLEAVE_TRY_ASSIGN(std::string text, readRegularFile(path));
  Result<std::vector<int>> choices = choicesFromJson(text).withContext(path);
  if (!choices)
    return choices.status();
  const std::vector<std::string> found = violations(problem, *choices);
  if (!found.empty()) {
    constexpr size_t kShown = 10;
    std::string list = found[0];
    for (size_t k = 1; k < std::min(found.size(), kShown); ++k)
      list += concat("; ", found[k]);
    return Status::infeasible("the choices in '", path, "' are no solution, ", found.size(),
                              found.size() == 1 ? " violation: " : " violations: ", list,
                              found.size() > kShown ? "; …" : "");
  }
  std::printf("cost %.12g  feasible\n", totalCost(problem, *choices));
  const std::vector<MemoryPeak> peaks = memoryPeaks(problem, *choices);
  for (size_t s = 0; s < peaks.size(); ++s) {
    printPeak(problem.spaces[s], peaks[s]);
    std::printf("\n");
  }
  return Status::ok();
}

// `effort` > 0: limits in iterations, those of SolveOptions times `effort`. Else the clock is the
// only limit.
static void setLimits(SolveOptions &options, double seconds, int effort) {
  options.maxSeconds = seconds;
  if (effort > 0) {
    options.maxIterations *= effort;
    options.maxSearchRounds *= effort;
    options.maxBranches *= effort;
    options.maxWork *= effort;
  } else {
    options.maxIterations = options.maxSearchRounds = options.maxBranches = 1 << 30;
    options.maxWork = INT64_MAX;
  }
}

static Status solveAndReport(const Problem &problem, const SolveOptions &options,
                             const std::string &output, bool listsChoices) {
  CLEAVE_TRY_ASSIGN(Solution solution, solve(problem, options));
  if (!output.empty())
    CLEAVE_TRY(writeFile(output, toJson(solution) + "\n"));
  if (!solution.isFound())
    return Status::infeasible(solution.infeasibility.message);
  CLEAVE_TRY(checkSolution(problem, solution));
  if (output != "-")
    printSolution(problem, solution);
  if (listsChoices)
    printChoices(solution.choices);
  return Status::ok();
}

int main(int argc, char **argv) {
  CLI::App app("Solves a cost network with memory over time.", "cleave-solve");
  std::string path, given, output;
  double seconds = 60;
  int effort = 0;
  bool listsChoices = false;
  SolveOptions options;
  app.add_option("FILE", path, "instance of the contest (.json, .json.gz) or problem")
      ->required()
      ->type_name("FILE");
  app.add_option("SECONDS", seconds, "time limit")->capture_default_str();
  app.add_option("--seed", options.seed, "of the random search")->capture_default_str();
  app.add_option("--threads", options.threads, "of the search")
      ->capture_default_str()
      ->check(CLI::Range(1, 64));
  app.add_option(
         "--effort", effort,
         "limits in iterations, N times the defaults of the solver: the result is the same on "
         "every machine that needs less than SECONDS")
      ->check(CLI::Range(1, 1000));
  app.add_option("--solution", given,
                 "checks and prices the choices in this file (written by -o, or a list of numbers) "
                 "instead of solving")
      ->type_name("FILE");
  app.add_option("-o", output, "writes the solution as JSON; - is standard output")
      ->type_name("FILE");
  app.add_flag("--choices", listsChoices,
               "prints the list of choices last, as the contest asked for it");
  if (std::optional<int> code = readCommandLine(app, argc, argv))
    return *code;

  Result<Problem> problem = readProblem(path);
  if (!problem)
    return fail(problem.status());
  setLimits(options, seconds, effort);
  const Status status = given.empty() ? solveAndReport(*problem, options, output, listsChoices)
                                      : reportGiven(*problem, given);
  return status ? 0 : fail(status);
}
