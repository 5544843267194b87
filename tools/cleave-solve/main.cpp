// cleave-solve FILE [SECONDS]: solves an instance of the ASPLOS contest on intra-operator
// parallelism, or a problem written by cleave-compile, and prints cost, bound, gap, and the list of
// choices.
#include "compiler/solver/Check.h"
#include "compiler/solver/Contest.h"
#include "compiler/solver/Json.h"
#include "compiler/solver/Solver.h"
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
  return Status::userError(contest.status().message(), "; ", own.status().message());
}

static int fail(const Status &status) { return fail("cleave-solve", status); }

static void printSolution(const Problem &problem, const Solution &solution) {
  std::printf("cost %.9g  bound %.9g  gap %.4f %%  in %.2f s, %d iterations\n", solution.cost,
              solution.lowerBound, 100 * solution.gap, solution.seconds, solution.iterations);
  for (size_t s = 0; s < problem.spaces.size(); ++s)
    std::printf("%s: peak %lld of %lld bytes at time %lld, one more byte saves %.3g\n",
                problem.spaces[s].name.c_str(), static_cast<long long>(solution.peaks[s].bytes),
                static_cast<long long>(problem.spaces[s].budget),
                static_cast<long long>(solution.peaks[s].time), solution.shadowPrice[s]);
  std::printf("[");
  for (size_t v = 0; v < solution.choices.size(); ++v)
    std::printf("%s%d", v ? ", " : "", solution.choices[v]);
  std::printf("]\n");
}

int main(int argc, char **argv) {
  CLI::App app("Solves a cost network with memory over time.", "cleave-solve");
  std::string path;
  double seconds = 60;
  SolveOptions options;
  app.add_option("FILE", path, "instance of the contest (.json, .json.gz) or problem")->required();
  app.add_option("SECONDS", seconds, "time limit")->capture_default_str();
  app.add_option("--seed", options.seed, "of the random search")->capture_default_str();
  if (std::optional<int> code = readCommandLine(app, argc, argv))
    return *code;

  Result<Problem> problem = readProblem(path);
  if (!problem)
    return fail(problem.status());
  // The clock is the only limit.
  options.maxSeconds = seconds;
  options.maxIterations = options.maxSearchRounds = options.maxBranches = 1 << 30;
  options.maxWork = INT64_MAX;
  Result<Solution> solution = solve(*problem, options);
  if (!solution)
    return fail(solution.status());
  if (solution->choices.empty())
    return fail(Status::infeasible(solution->infeasibility.message));
  Status check = checkSolution(*problem, *solution);
  if (!check)
    return fail(check);
  printSolution(*problem, *solution);
  return 0;
}
