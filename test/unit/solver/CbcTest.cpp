// The solver against CBC, a general solver of integer programs, on a problem too large to
// enumerate.
#include "compiler/solver/Check.h"
#include "compiler/solver/Solver.h"
#include "test/unit/solver/RandomProblem.h"
#include "test/unit/solver/TrainingStepProblem.h"

#include <catch2/catch.hpp>
#include <coin/Cbc_C_Interface.h>

#include <set>

using namespace cleave;
using namespace cleave::solver;

namespace {

// A sparse integer program, column by column.
struct Program {
  std::vector<double> objective, upper;
  std::vector<std::vector<std::pair<int, double>>> columns; // (row, coefficient)
  std::vector<double> rowLower, rowUpper;

  int addRow(double lower, double most) {
    rowLower.push_back(lower);
    rowUpper.push_back(most);
    return static_cast<int>(rowLower.size()) - 1;
  }
  int addColumn(double cost) {
    columns.push_back({});
    objective.push_back(cost == kForbidden ? 0 : cost);
    upper.push_back(cost == kForbidden ? 0 : 1);
    return static_cast<int>(columns.size()) - 1;
  }
};

// One column per choice and per pair of choices on an edge; marginals of the pairs equal the
// choices.
Program linearise(const Problem &problem) {
  Program program;
  std::vector<std::vector<int>> column(problem.nodes.size());
  std::set<std::pair<int, int64_t>> times;
  for (size_t v = 0; v < problem.nodes.size(); ++v) {
    int one = program.addRow(1, 1);
    for (const Choice &choice : problem.nodes[v].choices) {
      column[v].push_back(program.addColumn(choice.cost));
      program.columns.back().push_back({one, 1});
    }
    for (const Usage &usage : problem.nodes[v].usages)
      times.insert({usage.space, usage.begin});
  }
  for (const Edge &edge : problem.edges) {
    const size_t rows = column[edge.from].size(), width = column[edge.to].size();
    int firstRow = static_cast<int>(program.rowLower.size());
    for (size_t k = 0; k < rows + width; ++k) {
      int row = program.addRow(0, 0);
      int owner = k < rows ? column[edge.from][k] : column[edge.to][k - rows];
      program.columns[owner].push_back({row, -1});
    }
    for (size_t i = 0; i < rows; ++i)
      for (size_t j = 0; j < width; ++j) {
        int pair = program.addColumn(edge.cost[i * width + j]);
        program.columns[pair].push_back({firstRow + static_cast<int>(i), 1});
        program.columns[pair].push_back({firstRow + static_cast<int>(rows + j), 1});
      }
  }
  for (auto [space, time] : times) {
    int row = program.addRow(-1e30, static_cast<double>(problem.spaces[space].budget));
    for (size_t v = 0; v < problem.nodes.size(); ++v)
      for (size_t i = 0; i < column[v].size(); ++i) {
        double bytes = 0;
        for (size_t u = 0; u < problem.nodes[v].usages.size(); ++u) {
          const Usage &usage = problem.nodes[v].usages[u];
          if (usage.space == space && usage.begin <= time && time < usage.end)
            bytes += static_cast<double>(problem.nodes[v].choices[i].bytes[u]);
        }
        if (bytes > 0)
          program.columns[column[v][i]].push_back({row, bytes});
      }
  }
  return program;
}

// kForbidden if nothing is permitted.
double solveByCbc(const Program &program) {
  std::vector<CoinBigIndex> starts{0};
  std::vector<int> index;
  std::vector<double> value;
  for (const auto &entries : program.columns) {
    for (auto [row, coefficient] : entries) {
      index.push_back(row);
      value.push_back(coefficient);
    }
    starts.push_back(static_cast<CoinBigIndex>(index.size()));
  }
  const int columns = static_cast<int>(program.columns.size());
  std::vector<double> lower(columns, 0.0);
  Cbc_Model *model = Cbc_newModel();
  Cbc_loadProblem(model, columns, static_cast<int>(program.rowLower.size()), starts.data(),
                  index.data(), value.data(), lower.data(), program.upper.data(),
                  program.objective.data(), program.rowLower.data(), program.rowUpper.data());
  for (int c = 0; c < columns; ++c)
    Cbc_setInteger(model, c);
  Cbc_setParameter(model, "log", "0");
  Cbc_setParameter(model, "ratioGap", "1e-9");
  Cbc_setParameter(model, "sec", "60");
  Cbc_solve(model);
  const bool isInfeasible = Cbc_isProvenInfeasible(model);
  REQUIRE((isInfeasible || Cbc_isProvenOptimal(model)));
  double best = isInfeasible ? kForbidden : Cbc_getObjValue(model);
  Cbc_deleteModel(model);
  return best;
}

} // namespace

TEST_CASE("the solver agrees with an integer programming solver on middle-sized problems") {
  for (double budget : {1.0, 0.6, 0.3}) {
    Problem problem = trainingStepProblem(4, 5, budget, 4);
    Result<Solution> solution = solve(problem);
    REQUIRE(solution);
    REQUIRE(checkSolution(problem, *solution));
    double best = solveByCbc(linearise(problem));
    INFO("budget " << budget << ", ours " << solution->cost << ", CBC " << best);
    CHECK(solution->lowerBound <= best * (1 + 1e-7));
    CHECK(solution->cost >= best * (1 - 1e-7));
    CHECK(solution->cost == Approx(best).epsilon(5e-3));
    if (solution->status == SolveStatus::Optimal)
      CHECK(solution->cost == Approx(best).epsilon(1e-7));
  }
}

TEST_CASE("the solver agrees with an integer programming solver on 50 networks of 14 nodes") {
  std::mt19937 random(50);
  int found = 0;
  for (int k = 0; k < 50; ++k) {
    RandomShape shape;
    shape.nodes = 14;
    shape.maxChoices = 5;
    shape.spaces = 1 + k % 3;
    shape.maxUsages = 3;
    shape.budgetShare = 0.3;
    Problem problem = randomProblem(shape, random);
    const double best = solveByCbc(linearise(problem));
    found += best < kForbidden;
    SolveOptions hasty; // leaves most to branch and bound
    hasty.maxIterations = hasty.maxSearchRounds = 2;
    hasty.maxTableEntries = 25;
    for (const SolveOptions &options : {SolveOptions(), hasty}) {
      Result<Solution> solution = solve(problem, options);
      REQUIRE(solution);
      INFO("problem " << k << ", " << options.maxIterations << " iterations");
      if (best == kForbidden) {
        CHECK(solution->status == SolveStatus::Infeasible);
        continue;
      }
      CHECK(checkSolution(problem, *solution));
      CHECK(solution->status == SolveStatus::Optimal);
      CHECK(solution->cost == Approx(best).epsilon(1e-7));
    }
  }
  CHECK(found > 25);
}
