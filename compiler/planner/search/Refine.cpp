// The loop of solving and listing more choices.
#include "compiler/planner/search/Refine.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace cleave::planner {

namespace {

class Refinement {
public:
  Refinement(Costs &costs, const Pins &pins, const Budget &budget, const ChoiceLimits &limits,
             const solver::SolveOptions &options,
             const std::function<Status(const solver::Problem &)> &onNetwork)
      : builder_(costs, pins, budget), listing_{limits}, options_(options), onNetwork_(onNetwork) {}

  Result<Refined> run(std::optional<BegunNetwork> first) {
    for (bool listsMore = true; listsMore;) {
      if (first) {
        result_.problem = std::move(first->problem);
        begun_ = std::move(first->solve);
        first.reset();
      } else {
        CLEAVE_TRY_ASSIGN(result_.problem, builder_.build(listing_));
      }
      CLEAVE_TRY_ASSIGN(listsMore, solveAndListMore());
    }
    for (const auto &[node, rest] : result_.problem.rests)
      result_.others += rest.others;
    if (bound_ >= options_.cutoff)
      dropWithRests();
    else if (result_.others > 0)
      CLEAVE_TRY(decideWithoutRests());
    result_.solution.seconds = seconds_;
    return std::move(result_);
  }

private:
  const std::map<int, Rest> &rests() const { return result_.problem.rests; }

  // Solves the network and lists more if its solution takes rests. The gap of a network that
  // another one replaces need not be closed.
  Result<bool> solveAndListMore() {
    constexpr double kCloseEnough = 1e-2; // of the solution
    const solver::Solution &solution = result_.solution;
    if (onNetwork_)
      CLEAVE_TRY(onNetwork_(result_.problem.network));
    CLEAVE_TRY(solve(/*closesGap=*/rests().empty()));
    bound_ = std::max(bound_, solution.lowerBound);
    if (bound_ >= options_.cutoff)
      return false;
    if (solution.isFound() && solution.gap <= kCloseEnough && listMore())
      return true;
    if (!rests().empty() && !(solution.isFound() && solution.gap <= options_.goodGap)) {
      const double before = solution.seconds;
      CLEAVE_TRY(solve(/*closesGap=*/true));
      seconds_ -= before; // it is part of what the solve took
      bound_ = std::max(bound_, solution.lowerBound);
    }
    return bound_ < options_.cutoff && listMore();
  }

  // Goes on with the solve that has begun, if any; ends it if it `closesGap`.
  Status solve(bool closesGap) {
    if (!begun_) {
      CLEAVE_TRY_ASSIGN(
          solver::Bounded bounded,
          solver::beginBound(result_.problem.network, options_).withContext("planner"));
      begun_ = std::move(bounded.begun);
    }
    solver::SolveOptions options = options_;
    options.closesGap = closesGap;
    CLEAVE_TRY_ASSIGN(
        result_.solution,
        solver::solve(result_.problem.network, options, begun_).withContext("planner"));
    seconds_ += result_.solution.seconds;
    return Status::ok();
  }

  // The lists of the nodes whose rest the solution takes.
  std::vector<ListKey> listsTaken() const {
    std::vector<ListKey> lists;
    if (result_.solution.isFound())
      for (const auto &[node, rest] : rests())
        if (result_.solution.choices[node] == rest.choice)
          lists.push_back(rest.list);
    return lists;
  }

  // Doubles the lists of the nodes whose rest the solution takes. False if there are none, or the
  // limits end the listing.
  bool listMore() {
    const std::vector<ListKey> lists = listsTaken();
    if (lists.empty() || result_.rounds == listing_.limits.rounds || seconds_ > options_.maxSeconds)
      return false;
    Listing grown = listing_;
    std::vector<size_t> counts; // per node its choices once its list has grown
    for (const solver::Node &node : result_.problem.network.nodes)
      counts.push_back(node.choices.size());
    for (const auto &[node, rest] : rests())
      if (std::find(lists.begin(), lists.end(), rest.list) != lists.end()) {
        grown.sizes[rest.list] = 2 * rest.listed;
        counts[node] += std::min(rest.listed, rest.others);
      }
    size_t entries = 0, grownEntries = 0;
    for (const solver::Edge &edge : result_.problem.network.edges) {
      entries += edge.cost.size();
      grownEntries += counts[edge.from] * counts[edge.to];
    }
    if (result_.rounds == 0)
      mostEntries_ = std::max(listing_.limits.maxEntries, entries + entries / 4);
    if (grownEntries > mostEntries_)
      return false;
    listing_ = std::move(grown);
    begun_.reset();
    ++result_.rounds;
    return true;
  }

  // All plans reach the cutoff: a solution that takes a rest, and so is none, is not replaced.
  void dropWithRests() {
    if (listsTaken().empty())
      return;
    result_.solution.choices.clear();
    result_.solution.status = solver::SolveStatus::NotFound;
    result_.solution.lowerBound = bound_;
    result_.isBeaten = true;
  }

  // Forbids all rests, and solves again if the solution takes one or is missing. The bound, and the
  // proof that nothing fits, remain those with rests.
  Status decideWithoutRests() {
    for (const auto &[node, rest] : rests())
      result_.problem.network.nodes[node].choices.forbid(rest.choice);
    const solver::Solution relaxed = result_.solution;
    if (!relaxed.isFound() || !listsTaken().empty()) {
      begun_.reset();
      if (onNetwork_)
        CLEAVE_TRY(onNetwork_(result_.problem.network));
      CLEAVE_TRY(solve(/*closesGap=*/true));
    }
    solver::Solution &solution = result_.solution;
    if (!solution.isFound()) {
      const bool isProven = relaxed.status == solver::SolveStatus::Infeasible;
      result_.isBeaten = solution.status == solver::SolveStatus::NotFound &&
                         solution.lowerBound >= options_.cutoff;
      solution.status = isProven ? solver::SolveStatus::Infeasible : solver::SolveStatus::NotFound;
      solution.infeasibility.provenBudget = relaxed.infeasibility.provenBudget;
    } else if (solution.cost - bound_ <= options_.acceptedGap * std::abs(solution.cost)) {
      bound_ = solution.cost;
      solution.gap = 0;
      solution.status = solver::SolveStatus::Optimal;
    } else {
      solution.gap = (solution.cost - bound_) / std::abs(solution.cost);
      solution.status = solver::SolveStatus::Feasible;
    }
    solution.lowerBound = bound_;
    return Status::ok();
  }

  ProblemBuilder builder_;
  Listing listing_;
  const solver::SolveOptions &options_;
  const std::function<Status(const solver::Problem &)> &onNetwork_;
  Refined result_;
  std::shared_ptr<solver::Solve> begun_; // of the network; null: not yet
  double bound_ = -solver::kForbidden, seconds_ = 0;
  size_t mostEntries_ = 0; // of a network
};

} // namespace

Result<Refined> solveRefining(Costs &costs, const Pins &pins, const Budget &budget,
                              const ChoiceLimits &limits, const solver::SolveOptions &options,
                              const std::function<Status(const solver::Problem &)> &onNetwork,
                              std::optional<BegunNetwork> first) {
  return Refinement(costs, pins, budget, limits, options, onNetwork).run(std::move(first));
}

} // namespace cleave::planner
