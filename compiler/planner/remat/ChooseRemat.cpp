#include "compiler/planner/remat/ChooseRemat.h"

#include "compiler/cost/Roofline.h"
#include "compiler/planner/choices/LayoutChanges.h"
#include "compiler/planner/remat/ArgumentSpaces.h"
#include "compiler/planner/remat/RematChoices.h"
#include "runtime/base/Parallel.h"
#include "runtime/base/Units.h"

#include <cmath>
#include <limits>
#include <map>

namespace cleave::planner {

double recomputeSeconds(Costs &costs, const Decisions &decisions, int index) {
  const StepModel &model = costs.model();
  Op op = model.ops[index];
  // A group that a product computes (passes/bufferize/ProductBias.h) has a kernel of its own where
  // it is recomputed without the product, which has two readers then.
  op.hasKernel |= op.group != nullptr;
  const OpChoice choice = choiceOf(op, decisions.ops[index]);
  double seconds = costs.kernels(op, choice);
  double changes = costs.resolve(op, choice);
  for (size_t i = 0; i < op.operands.size(); ++i)
    changes +=
        costs.reshard(op.operands[i], homeOf(model, decisions, op.operands[i]), choice.operands[i]);
  return seconds + static_cast<double>(op.repeats) * changes;
}

// Seconds of one copy to or from another space.
static double awaySeconds(const Costs &costs, Space space, int64_t bytes) {
  return cost::awaySeconds(costs.cluster(), space, static_cast<double>(bytes));
}

namespace {

class RematNetwork {
public:
  // `prices`: empty, or of all other spaces.
  RematNetwork(Costs &costs, const PricedDecisions &whole, const RematChoices &choices,
               const PinnedRemat &pinned, const RematBudget &budget, int maxRecomputations,
               const SpacePrices &prices)
      : costs_(costs), model_(costs.model()), whole_(whole), maxRecomputations_(maxRecomputations),
        choices_(choices), arguments_(costs, whole, pinned, choices, budget.others, prices) {
    problem_.name = "recomputation";
    problem_.spaces = {{"device", budget.device.ofSpace()}};
    if (budget.others.any())
      for (Space space : {Space::Host, Space::File}) {
        const Budget limit = prices.empty() ? budget.others.bytesIn(space) : Budget::unlimited();
        problem_.spaces.push_back({std::string(name(space)), limit.ofSpace()});
      }
  }

  solver::Problem build() {
    for (const OpenOp &open : choices_.ops())
      addNode(open);
    arguments_.addTo(problem_);
    addOthers();
    for (const OpenOp &reader : choices_.ops())
      for (int input : choices_.inputs(reader))
        addEdge(reader, *choices_.find(input));
    return std::move(problem_);
  }

  RematPolicy policyOf(const std::vector<int> &choices) const {
    RematPolicy policy = keepAll(model_);
    for (size_t i = 0; i < choices_.ops().size(); ++i) {
      const OpenOp &open = choices_.ops()[i];
      const RematChoice &choice = open.choices[choices[i]];
      const std::vector<int64_t> recomputations = choices_.recomputationsOf(open, choice);
      policy.recomputed[open.op] = !recomputations.empty();
      if (choice.isPartial)
        policy.kept[open.op] = *open.partial;
      if (choice.away != Space::Device)
        policy.away[open.op] = choice.away;
      if (maxRecomputations_ > 1)
        for (int64_t tick : recomputations)
          policy.places[open.op].push_back(choices_.readerAt(tick));
    }
    policy.arguments = arguments_.chosen(choices);
    normalise(model_, policy);
    return policy;
  }

private:
  // -- nodes --------------------------------------------------------------------------------------

  int64_t storedBytes(const OpenOp &open, int result) const {
    return planner::storedBytes(model_.values[model_.ops[open.op].results[result]],
                                whole_.ops[open.op].results[result], whole_.mesh);
  }
  // The bytes of all results of the op.
  int64_t bytesOf(const OpenOp &open) const {
    int64_t bytes = 0;
    for (size_t i = 0; i < model_.ops[open.op].results.size(); ++i)
      bytes += storedBytes(open, static_cast<int>(i));
    return bytes;
  }
  // Those that a choice holds. For longer than the decisions keep any, it holds all.
  int64_t bytesOf(const OpenOp &open, const RematChoice &choice) const {
    const bool isAsPlanned = open.keptBytes > 0 && choice.until() <= choices_.tickOf(open.lastRead);
    return isAsPlanned ? open.keptBytes : bytesOf(open);
  }

  // The bytes of the results that are in memory from an instant on during a life: those that other
  // recomputed ops may read, and others until they are read for the last time.
  int64_t bytesDuring(const OpenOp &open, const Span &life, int64_t tick) const {
    int64_t bytes = 0;
    for (size_t i = 0; i < open.reads.size(); ++i) {
      auto isToCome = [&](const Span &read) {
        return choices_.instantOf(life.begin) <= read.begin &&
               choices_.tickOf(read.end) <= life.end && tick < choices_.tickOf(read.end);
      };
      if (choices_.isReadForward(open, static_cast<int>(i)) ||
          std::any_of(open.reads[i].begin(), open.reads[i].end(), isToCome))
        bytes += storedBytes(open, static_cast<int>(i));
    }
    return bytes;
  }

  // Those that wait for the slot, from which the others are computed.
  int64_t keptBytes(const OpenOp &open, const RematChoice &choice) const {
    int64_t bytes = 0;
    if (choice.isPartial)
      for (int result : *open.partial)
        bytes += storedBytes(open, result);
    return std::min(bytes, bytesOf(open, choice));
  }

  // Those of them that no op of the forward part reads, while others of the op are read there: when
  // the op has run they are there only if they are kept.
  int64_t bytesBefore(const OpenOp &open, const RematChoice &choice) const {
    if (!choice.lives.empty() && choice.lives[0].begin == choices_.tickOf(open.forwardEnd))
      return open.outsideBytes;
    int64_t bytes = 0;
    if (choice.isPartial)
      for (int result : *open.partial)
        bytes += choices_.isReadForward(open, result) ? 0 : storedBytes(open, result);
    return bytes;
  }

  // The bytes that wait for the backward part of their micro-batch. Where other micro-batches are
  // in flight, their forward and backward parts run meanwhile.
  int64_t waitingBytes(const OpenOp &open, const RematChoice &choice) const {
    return choice.holds(choices_.tickOf(open.forwardEnd)) ? bytesOf(open, choice)
                                                          : keptBytes(open, choice);
  }
  int64_t backwardEnd() const {
    int64_t end = 0;
    for (const Op &op : model_.ops)
      end = std::max(end, op.part == Part::Update ? 0 : op.runs.end);
    return end;
  }

  // The usages of a node: its intervals, cut at all instants at which a choice begins or ends.
  void addNode(const OpenOp &open) {
    const Span before = {choices_.tickOf(model_.ops[open.op].runs.end),
                         choices_.tickOf(open.forwardEnd)};
    std::vector<int64_t> cuts = {before.end};
    if (open.outsideBytes > 0)
      cuts.push_back(before.begin);
    for (const RematChoice &choice : open.choices)
      for (const Span &life : choice.lives)
        cuts.insert(cuts.end(), {life.begin, life.end});
    if (maxRecomputations_ > 1)
      for (const std::vector<Span> &reads : open.reads)
        for (const Span &read : reads)
          cuts.push_back(choices_.tickOf(read.end));
    const int64_t inFlight = inFlightOf(model_, model_.ops[open.op]);
    const Span inParts = {0, choices_.tickOf(backwardEnd())};
    if (inFlight > 1)
      cuts.insert(cuts.end(), {inParts.begin, inParts.end});
    std::sort(cuts.begin(), cuts.end());
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
    solver::Node node{model_.ops[open.op].name, {}, {}};
    for (size_t i = 0; i + 1 < cuts.size(); ++i)
      node.usages.push_back({cuts[i], cuts[i + 1], 0});
    const size_t inDevice = node.usages.size();
    const std::vector<Space> spaces = spacesOf(open);
    for (Space space : spaces)
      node.usages.push_back(arguments_.throughout(space));
    const double once = recomputeSeconds(costs_, whole_, open.op);
    for (const RematChoice &choice : open.choices) {
      const int64_t bytes = bytesOf(open, choice), kept = keptBytes(open, choice);
      std::vector<int64_t> held;
      for (size_t u = 0; u < inDevice; ++u) {
        const solver::Usage &usage = node.usages[u];
        held.push_back(usage.end <= before.end       ? bytesBefore(open, choice)
                       : usage.end <= choice.until() ? kept
                                                     : 0);
        for (const Span &life : choice.lives)
          if (life.begin <= usage.begin && usage.end <= life.end)
            held.back() = maxRecomputations_ > 1 ? bytesDuring(open, life, usage.begin) : bytes;
        if (inFlight > 1 && usage.end <= inParts.end)
          held.back() = std::max(held.back(), inFlight * waitingBytes(open, choice));
      }
      for (Space space : spaces)
        held.push_back(choice.away == space ? inFlight * bytes : 0);
      const size_t recomputations = choices_.recomputationsOf(open, choice).size();
      double seconds = once * static_cast<double>(recomputations);
      if (choice.away != Space::Device)
        seconds += 2 * static_cast<double>(model_.ops[open.op].repeats) *
                       awaySeconds(costs_, choice.away, bytes) +
                   arguments_.priceOf(choice.away, bytes);
      node.choices.push_back({"", seconds, std::move(held)});
    }
    problem_.nodes.push_back(std::move(node));
  }

  // The spaces in which the results of an op may be.
  static std::vector<Space> spacesOf(const OpenOp &open) {
    std::vector<Space> spaces;
    for (Space space : {Space::Host, Space::File})
      if (std::any_of(open.choices.begin(), open.choices.end(),
                      [&](const RematChoice &choice) { return choice.away == space; }))
        spaces.push_back(space);
    return spaces;
  }

  // What the decisions hold apart from the results of open ops behind their readers in the forward
  // part.
  void addOthers() {
    for (const Holding &holding : whole_.holdings) {
      if (arguments_.isOpen(holding.argument))
        continue;
      int64_t end = holding.span.end;
      if (const OpenOp *open = holding.result < 0 ? nullptr : choices_.find(holding.op))
        end = std::min(end, choices_.isReadForward(*open, holding.result)
                                ? open->forwardEnd
                                : model_.ops[open->op].runs.end);
      if (holding.span.begin < end)
        problem_.nodes.push_back({holding.name,
                                  {{choices_.tickOf(holding.span.begin), choices_.tickOf(end), 0}},
                                  {{"", 0, {holding.bytes}}}});
    }
  }

  // -- edges --------------------------------------------------------------------------------------

  // Whether the reader reads no results of the source but those that may be kept alone.
  bool readsPartial(const OpenOp &reader, const OpenOp &source) const {
    if (!source.partial)
      return false;
    for (int operand : model_.ops[reader.op].operands) {
      const Value &value = model_.values[sourceOf(model_, operand)];
      if (value.producer == source.op && !source.isPartial(value.result))
        return false;
    }
    return true;
  }

  // A recomputed op must find its operand in memory, unless it computes without it.
  void addEdge(const OpenOp &reader, const OpenOp &source) {
    std::vector<double> cost;
    const bool isPartial = readsPartial(reader, source);
    bool isAlwaysFree = true;
    for (const RematChoice &a : reader.choices) {
      const std::vector<int64_t> runs = choices_.recomputationsOf(reader, a);
      const bool isFree = runs.empty() || (a.isPartial && !reader.needsOperands);
      for (const RematChoice &b : source.choices) {
        auto isThere = [&](int64_t tick) {
          return tick < choices_.tickOf(source.forwardEnd) || b.holds(tick) ||
                 (b.isPartial && isPartial && tick < b.until());
        };
        const bool isAllowed = isFree || std::all_of(runs.begin(), runs.end(), isThere);
        cost.push_back(isAllowed ? 0 : solver::kForbidden);
        isAlwaysFree &= isAllowed;
      }
    }
    if (!isAlwaysFree)
      problem_.edges.push_back(
          {choices_.numberOf(reader), choices_.numberOf(source), std::move(cost)});
  }

  Costs &costs_;
  const StepModel &model_;
  const PricedDecisions &whole_;
  const int maxRecomputations_; // of one op
  const RematChoices &choices_; // the nodes have the numbers of its ops
  ArgumentSpaces arguments_;
  solver::Problem problem_;
};

// How many slots ops share, where all slots are too many: several numbers are tried, since the
// solver finds solutions in tight memory only in small networks, and not in all of them.
constexpr size_t kShared[] = {2, 4, 6, 8};

} // namespace

// Whether another policy is better: it fits and is faster, or comes closer to fitting.
static bool isBetter(const ChosenRemat &other, const ChosenRemat &than) {
  if (other.isFitting != than.isFitting)
    return other.isFitting;
  return other.isFitting ? other.seconds < than.seconds : other.peakBytes < than.peakBytes;
}

namespace {

// Searches a policy among these choices.
class RematSearch {
public:
  RematSearch(Costs &costs, const PricedDecisions &whole, const PinnedRemat &pinned,
              const RematChoices &choices, const RematBudget &budget,
              const solver::SolveOptions &limits, int maxRecomputations)
      : costs_(costs), whole_(whole), pinned_(pinned), choices_(choices), budget_(budget),
        limits_(limits), maxRecomputations_(maxRecomputations) {}

  // The solver rarely finds a solution where several budgets bind. The budgets of other spaces are
  // then replaced by prices, which rise while too many bytes are in a space and fall otherwise.
  Result<ChosenRemat> run() {
    Result<ChosenRemat> direct = solve();
    if (!budget_.others.any() || (direct && direct->isFitting) ||
        (!direct && direct.status().kind() != StatusKind::Infeasible))
      return direct;
    struct Bracket {
      double low = 0, high = std::numeric_limits<double>::infinity();
    };
    std::map<Space, Bracket> brackets = {{Space::Host, {}}, {Space::File, {}}};
    SpacePrices prices = {{Space::Host, 0}, {Space::File, 0}};
    Result<ChosenRemat> best = std::move(direct);
    for (int round = 0; round < kPriceRounds; ++round) {
      CLEAVE_TRY_ASSIGN(std::optional<Priced> priced, solveAt(prices));
      if (!priced)
        break; // too large for device memory at any price
      const bool fits = budget_.others.hold(priced->bytes[Space::Host], priced->bytes[Space::File]);
      if (fits && (!best || !best->isFitting || priced->chosen.seconds < best->seconds))
        best = std::move(priced->chosen);
      for (auto &[space, price] : prices) {
        auto &[low, high] = brackets[space];
        const bool exceeds = priced->bytes[space] > budget_.others.bytesIn(space);
        (exceeds ? low : high) = price;
        price = std::isinf(high) ? std::max(kRise * price, firstPrice(space))
                : low > 0        ? std::sqrt(low * high)
                                 : high / kRise;
      }
    }
    return best;
  }

private:
  static constexpr int kPriceRounds = 16;
  static constexpr double kRise = 32; // of a price without a bound

  // The policy for some prices, and its bytes in other spaces.
  struct Priced {
    ChosenRemat chosen;
    std::map<Space, int64_t> bytes;
  };

  double firstPrice(Space space) const {
    constexpr int64_t kSome = 1 << 20;
    return awaySeconds(costs_, space, kSome) / kSome;
  }

  // Nothing if nothing fits.
  Result<std::optional<Priced>> solveAt(const SpacePrices &prices) {
    RematNetwork network(costs_, whole_, choices_, pinned_, budget_, maxRecomputations_, prices);
    const solver::Problem problem = network.build();
    CLEAVE_TRY_ASSIGN(const solver::Solution solution, solver::solve(problem, limits_));
    if (!solution.isFound())
      return std::optional<Priced>();
    Priced found{chosenBy(network, solution), {}};
    for (const auto &[space, price] : prices) {
      found.bytes[space] = solution.peaks[static_cast<size_t>(space)].bytes;
      found.chosen.seconds -= price * static_cast<double>(found.bytes[space]);
    }
    return std::optional(std::move(found));
  }

  // Within the budgets of all spaces; else with the least device memory that was found.
  Result<ChosenRemat> solve() {
    RematNetwork network(costs_, whole_, choices_, pinned_, budget_, maxRecomputations_, {});
    solver::Problem problem = network.build();
    CLEAVE_TRY_ASSIGN(solver::Solution solution, solver::solve(problem, limits_));
    bool isFitting = solution.isFound();
    if (!isFitting && !solution.infeasibility.smallestBudget.empty()) {
      problem.spaces[0].budget = solution.infeasibility.smallestBudget[0];
      CLEAVE_TRY_ASSIGN(solution, solver::solve(problem, limits_));
    }
    if (!solution.isFound())
      return Status::infeasible("no recomputation was found that fits into ",
                                bytesText(budget_.device.bytes()));
    ChosenRemat chosen = chosenBy(network, solution);
    chosen.isFitting = isFitting;
    return chosen;
  }

  static ChosenRemat chosenBy(const RematNetwork &network, const solver::Solution &solution) {
    ChosenRemat chosen;
    chosen.policy = network.policyOf(solution.choices);
    chosen.seconds = solution.cost;
    chosen.peakBytes = solution.peaks.empty() ? 0 : solution.peaks[0].bytes;
    return chosen;
  }

  Costs &costs_;
  const PricedDecisions &whole_;
  const PinnedRemat &pinned_;
  const RematChoices &choices_;
  const RematBudget &budget_;
  const solver::SolveOptions &limits_;
  const int maxRecomputations_;
};

} // namespace

Result<ChosenRemat> chooseRemat(Costs &costs, const PricedDecisions &whole,
                                const PinnedRemat &pinned, const RematBudget &budget,
                                const solver::SolveOptions &limits, int maxRecomputations) {
  const RematChoices all(costs.model(), whole, pinned, budget.others, maxRecomputations, 0);
  if (all.isSmall())
    return RematSearch(costs, whole, pinned, all, budget, limits, maxRecomputations).run();
  std::vector<Result<ChosenRemat>> found(std::size(kShared), Status::infeasible(""));
  inParallel(found.size(), [&](size_t i) {
    Costs own(costs.model(), costs.cluster(), costs.mesh());
    const RematChoices choices(costs.model(), whole, pinned, budget.others, maxRecomputations,
                               kShared[i]);
    found[i] = RematSearch(own, whole, pinned, choices, budget, limits, maxRecomputations).run();
  });
  Result<ChosenRemat> best = Status::infeasible("");
  for (Result<ChosenRemat> &chosen : found) {
    if (!chosen && chosen.status().kind() != StatusKind::Infeasible)
      return std::move(chosen);
    if (!best || (chosen && isBetter(*chosen, *best)))
      best = std::move(chosen);
  }
  return best;
}

} // namespace cleave::planner
