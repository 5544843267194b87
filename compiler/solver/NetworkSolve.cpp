// The steps, in order.
#include "compiler/solver/NetworkSolve.h"

#include "compiler/solver/Branch.h"
#include "compiler/solver/Fixing.h"
#include "compiler/solver/LeastPeak.h"
#include "compiler/solver/Presolve.h"

#include <algorithm>
#include <cmath>

namespace cleave::solver {

// Passes of messages for a first bound, and the least rise of the bound for another one, as a share
// of it, where elimination may follow.
static constexpr int kFirstSteps = 30;
static constexpr double kWorthwhileRise = 1e-4;
// How many choices of the bounding loop are kept for the best solution to take over from.
static constexpr size_t kMostSeen = 40;

NetworkSolve::NetworkSolve(const Network &network, const std::vector<MemorySpace> &spaces,
                           const SolveOptions &options, int round)
    : network_(network), spaces_(spaces), options_(options), round_(round),
      search_(network, options.seed), prices_(network.rows.size(), 0.0) {}

void NetworkSolve::startFrom(Prices prices, const std::optional<std::vector<int>> &choices) {
  prices_ = std::move(prices);
  if (choices)
    search_.offer(*choices);
}

double NetworkSolve::elapsed() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

bool NetworkSolve::isClosed(double bound) const {
  return isEnough(bound, search_.bestCost(), options_.cutoff, options_.acceptedGap,
                  options_.goodGap);
}

bool NetworkSolve::isProven(double bound) const {
  return isEnough(bound, search_.bestCost(), options_.cutoff, options_.acceptedGap, /*goodGap=*/0);
}

void NetworkSolve::setCosts(const Network &network) {
  costs_.clear();
  for (const NetworkNode &node : network.nodes)
    costs_.push_back(node.cost);
}

// The number of iterations that maxWork affords. Additions are counted instead of seconds, so that
// the limit is the same on every machine.
int NetworkSolve::affordable(int wanted, int least) const {
  const double work = static_cast<double>(elimination_->work() + 1);
  double many = static_cast<double>(options_.maxWork) / work;
  return std::min(wanted, std::max(least, static_cast<int>(std::min(many, 1e9))));
}

// Exact elimination if that is cheap, else messages.
void NetworkSolve::begin() {
  if (elimination_ || messages_)
    return;
  elimination_ = makeExact(network_);
  if (elimination_)
    setCosts(network_);
  else
    messages_ = std::make_unique<Messages>(network_);
}

double NetworkSolve::raiseFirstBound() {
  begin();
  if (isFirstBoundFinal_)
    return bound_;
  if (elimination_) {
    bound_ = elimination_->minimize(costs_) + network_.constant;
    isFirstBoundFinal_ = true;
    return bound_;
  }
  AscentOptions options = ascentOptions(1);
  options.keepsPrices = true;
  const double before = bound_;
  bound_ = std::max(before, messages_->tighten(prices_, options, {}).bound);
  isFirstBoundFinal_ = ++firstSteps_ == kFirstSteps ||
                       (firstSteps_ > 1 && bound_ <= before + kWorthwhileRise * std::abs(before));
  return bound_;
}

double NetworkSolve::run() {
  begin_ = std::chrono::steady_clock::now();
  if (!root_)
    if (const double closed = bound(); !root_)
      return closed;
  if (root_->bound == kForbidden || isClosed(root_->bound) || !options_.closesGap ||
      options_.maxSearchRounds == 0)
    return root_->bound;
  raisePrices(root_->prices);
  adoptSeen(root_->prices);
  return isClosed(root_->bound) ? root_->bound : closeGap(*root_);
}

// The bounding loop: sets the root, unless its bound is closed before.
double NetworkSolve::bound() {
  begin();
  double bound = bound_;
  if (!elimination_ && round_ == 0 && !network_.rows.empty())
    setTightNetwork(network_);
  if (elimination_) { // sufficient if memory does not bind
    bound = std::max(bound, ascendFrom(prices_, 1).bound);
    iterations_ = 1;
    if (bound == kForbidden || isClosed(bound))
      return bound;
  }
  // A few iterations with small tables often suffice to prove that nothing fits.
  if (round_ == 0 && search_.bestCost() == kForbidden && provenInfeasible(20, int64_t(1) << 12))
    return kForbidden;
  prepare(bound);
  if (isClosed(bound))
    return bound;
  root_ = ascendFully();
  root_->bound = std::max(root_->bound, bound);
  prices_ = root_->prices;
  return root_->bound;
}

// If elimination is inexact or slow, messages first tighten the network and find prices: one pass
// to find a solution, a second one with steps that fit the distance between it and the bound.
void NetworkSolve::prepare(double &bound) {
  AscentOptions options = ascentOptions(options_.maxIterations);
  if (isExact() && affordable(options.iterations, 0) == options.iterations)
    return;
  if (network_.rows.empty())
    options.leastRise = kWorthwhileRise;
  if (!messages_)
    messages_ = std::make_unique<Messages>(network_);
  const int passes = isExact() || round_ > 0 ? 1 : 2;
  for (int pass = 0; pass < passes && !isClosed(bound); ++pass) {
    const double before = elapsed();
    Tightened tightened = messages_->tighten(prices_, options, candidate(prices_));
    secondsPerSweep_ = (elapsed() - before) / std::max(1, tightened.iterations);
    prices_ = std::move(tightened.prices);
    bound = std::max(bound, tightened.bound);
    iterations_ += tightened.iterations;
    if (isClosed(bound))
      return;
    const bool isFound = search_.bestCost() < kForbidden;
    if (!isExact() && (!isFound || pass + 1 == passes))
      setTightNetwork(messages_->rewritten());
    if (!isFound)
      raisePrices(prices_);
    if (pass + 1 < passes)
      searchParts(prices_, bound, options_.maxSearchRounds / 4, 0.2);
  }
}

// Goes on with split tables of an equivalent network.
void NetworkSolve::setTightNetwork(Network network) {
  tightNetwork_ = std::move(network);
  elimination_ = std::make_unique<Elimination>(tightNetwork_, options_.maxTableEntries);
  setCosts(tightNetwork_);
}

// A short ascent first: if it finds no solution, infeasibility is tested next.
Ascent NetworkSolve::ascendFully() {
  constexpr int kShortAscent = 25;
  const int iterations = affordable(options_.maxIterations, 10);
  Ascent root = ascendFrom(prices_, std::min(iterations, kShortAscent));
  iterations_ += root.iterations;
  if (round_ == 0 && root.bound < kForbidden && search_.bestCost() == kForbidden &&
      !isClosed(root.bound)) {
    raisePrices(root.prices);
    if (search_.bestCost() == kForbidden && provenInfeasible(60, options_.maxTableEntries))
      root.bound = kForbidden;
  }
  if (root.bound < kForbidden && !isClosed(root.bound) && iterations > kShortAscent) {
    root = ascendFrom(root.prices, iterations - kShortAscent);
    iterations_ += root.iterations;
  }
  return root;
}

AscentOptions NetworkSolve::ascentOptions(int iterations) const {
  AscentOptions options;
  options.iterations = iterations;
  options.acceptedGap = options_.acceptedGap;
  options.goodGap = options_.goodGap;
  options.cutoff = options_.cutoff;
  options.isLate = [this] { return isLate(0.5); };
  return options;
}

Candidate NetworkSolve::candidate(const Prices &prices) {
  return [this, &prices, calls = 0](const std::vector<int> &choices) mutable {
    if (!search_.offer(choices) && calls++ % 10 == 0)
      search_.repair(choices, prices);
    seen_.push_back(choices);
    if (seen_.size() > kMostSeen)
      seen_.pop_front();
    return search_.bestCost();
  };
}

Ascent NetworkSolve::ascendFrom(const Prices &start, int iterations) {
  const double before = elapsed();
  Ascent ascent =
      ascend(tight(), *elimination_, costs_, start, ascentOptions(iterations), candidate(start));
  secondsPerStep_ = (elapsed() - before) / std::max(1, ascent.iterations);
  return ascent;
}

// Tries rising multiples of the best prices until their choices fit.
void NetworkSolve::raisePrices(const Prices &prices) {
  double factor = 1;
  for (int k = 0; k < 24 && !isLate(1); ++k) {
    Prices raised = prices;
    for (double &price : raised)
      price *= factor;
    elimination_->minimize(pricedCosts(tight(), costs_, raised));
    std::vector<int> choices = elimination_->decode();
    if (search_.offer(choices))
      break;
    search_.repair(choices, raised);
    factor *= k < 8 ? 1.02 : 1.4;
  }
}

// Lets the best solution take over what improves it from choices that other prices led to, those of
// the last prices first.
void NetworkSolve::adoptSeen(const Prices &prices) {
  for (auto choices = seen_.rbegin(); choices != seen_.rend() && !isLate(0.5); ++choices)
    search_.adopt(*choices, prices);
  seen_.clear();
}

// Computes the least peak of every space; returns whether one of them exceeds its budget.
bool NetworkSolve::provenInfeasible(int iterations, int64_t maxTableEntries) {
  provenBudget_.assign(spaces_.size(), 0);
  bool proven = false;
  for (size_t s = 0; s < spaces_.size() && !isLate(1); ++s) {
    provenBudget_[s] =
        leastPeak(network_, static_cast<int>(s), iterations, maxTableEntries, search_);
    proven |= provenBudget_[s] > spaces_[s].budget;
  }
  return proven;
}

// Re-solves parts until the bound is met, nothing has improved for long (in a search without limit
// on its rounds: for half of it, if branches may follow), or a share of maxSeconds has passed.
void NetworkSolve::searchParts(const Prices &prices, double bound, int rounds, double timeShare) {
  constexpr int kLong = 200; // rounds
  // Several for each thread, since some take much longer than others.
  const int parts = options_.threads > 1 ? 4 * options_.threads : 1;
  for (int k = 0, idle = 0; k < rounds && !isClosed(bound); k += parts) {
    const int most = 40 + rounds / 4;
    if (idle >= most || (idle >= std::max(kLong, k / 2) && affordsBranches()))
      break;
    idle = search_.improve(prices, parts, options_.threads) ? 0 : idle + parts;
    if (isLate(timeShare))
      break;
  }
}

// Searches parts; drops choices and solves the rest once enough of them can be dropped; branches if
// that does not happen before the search ends; until the bound or a limit is reached.
double NetworkSolve::closeGap(const Ascent &root) {
  const Marginals least = lowerBounds(root);
  search_.guide(least.choices);
  constexpr int kSteps = 4;
  const double passed = elapsed() / std::max(options_.maxSeconds, 1e-3);
  for (int step = 1; step <= kSteps; ++step) {
    const double share = passed + (1 - passed) * step / kSteps;
    searchParts(root.prices, root.bound, options_.maxSearchRounds / kSteps, share);
    if (isClosed(root.bound))
      return root.bound;
    if (std::optional<double> bound = solveRest(root, least))
      return *bound;
  }
  return branchFrom(root);
}

// Lower bounds on all solutions that take a choice or a pair; empty if that would take long.
Marginals NetworkSolve::lowerBounds(const Ascent &root) {
  if (elimination_->marginalsWork() > options_.maxWork / 4)
    return {};
  return solver::lowerBounds(tight(), *elimination_, costs_, root.prices, /*withPairs=*/true);
}

// Drops choices that no better solution takes and solves what is left. Nothing if too few could be
// dropped.
std::optional<double> NetworkSolve::solveRest(const Ascent &root, const Marginals &least) {
  constexpr int kMaxRounds = 12;
  constexpr double kWorthwhile = 0.05; // of the choices, or of the pairs
  const double upper = std::min(search_.bestCost(), options_.cutoff);
  if (upper == kForbidden || least.choices.empty() || round_ >= kMaxRounds || isLate(1))
    return std::nullopt;
  const Drops drops = dropsAbove(tight(), least, upper);
  if (std::max(drops.choiceShare, drops.pairShare) < kWorthwhile)
    return std::nullopt;
  const Presolve presolve(without(drops, tight()));
  if (presolve.contradiction() >= 0)
    return upper;
  SolveOptions options = options_;
  options.cutoff = upper;
  options.maxSeconds = std::max(0.0, options_.maxSeconds - elapsed());
  NetworkSolve rest(presolve.result(), spaces_, options, round_ + 1);
  rest.startFrom(matchPrices(network_.rows, root.prices, presolve.result().rows),
                 search_.best().empty() ? std::nullopt : presolve.project(search_.best()));
  const double bound = rest.run();
  iterations_ += rest.iterations();
  if (rest.search().bestCost() < search_.bestCost())
    search_.offer(presolve.expand(rest.search().best()));
  return std::max(root.bound, std::min(bound, upper));
}

// Whether the limits afford as many branches as can close a gap, if each takes as long as the steps
// before did on the whole network. Where additions have no limit, seconds are counted.
bool NetworkSolve::affordsBranches() const {
  constexpr int kWorthwhile = 50; // fewer branches rarely close a gap
  const int wanted = std::min(kWorthwhile, options_.maxBranches);
  const BranchOptions branch;
  if (options_.maxWork < INT64_MAX)
    return affordable(INT32_MAX, 0) / branch.iterations >= wanted;
  const double perVisit =
      (isExact() ? 0 : branch.sweeps * secondsPerSweep_) + branch.iterations * secondsPerStep_;
  return wanted * perVisit <= options_.threads * (options_.maxSeconds - elapsed());
}

double NetworkSolve::branchFrom(const Ascent &root) {
  BranchOptions branchOptions;
  if (!affordsBranches()) // they work on less and less of the network
    return root.bound;
  branchOptions.maxBranches = options_.maxBranches;
  branchOptions.maxWork = options_.maxWork;
  if (isExact())
    branchOptions.maxExactWork = std::max(branchOptions.maxExactWork, elimination_->work());
  branchOptions.acceptedGap = options_.acceptedGap;
  branchOptions.cutoff = options_.cutoff;
  branchOptions.isLate = [this] { return isLate(1); };
  branchOptions.threads = options_.threads;
  BranchResult result = branch(tight(), root, search_, branchOptions);
  return std::max(root.bound, result.bound);
}

} // namespace cleave::solver
