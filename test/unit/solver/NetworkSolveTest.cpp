// The steps of a solve on networks that were not presolved, against enumeration.
#include "compiler/solver/NetworkSolve.h"
#include "compiler/solver/Fixing.h"
#include "compiler/solver/LeastPeak.h"
#include "test/unit/solver/SmallNetworks.h"

#include <catch2/catch.hpp>

using namespace cleave::solver;

namespace {

RandomShape stepsShape() {
  RandomShape shape;
  shape.nodes = 7;
  shape.maxChoices = 3;
  shape.edgesPerNode = 2;
  shape.budgetShare = 0.35;
  shape.isInteger = false;
  return shape;
}

// A network with all its nodes, as the steps expect it: single choices are finite.
struct Instance {
  Network network;
  std::vector<MemorySpace> spaces;
  double least = 0;
};

Instance instanceOf(std::mt19937 &random) {
  while (true) {
    const Problem problem = randomProblem(stepsShape(), random);
    Instance instance{networkOf(problem), problem.spaces};
    instance.least = leastWithin(instance.network);
    if (leastWithoutRows(instance.network) < kForbidden)
      return instance;
  }
}

// Limits that leave something to each of the steps.
std::vector<SolveOptions> allOptions() {
  SolveOptions whole, hasty, split, searching;
  hasty.maxIterations = hasty.maxSearchRounds = 2;
  split.maxTableEntries = 9;
  split.maxIterations = 10;
  split.maxWork = 100;
  searching.maxIterations = 3;
  searching.maxBranches = 0;
  return {whole, hasty, split, searching};
}

} // namespace

TEST_CASE("the steps bound the least cost from below and find solutions that fit") {
  std::mt19937 random(1);
  int optimal = 0, infeasible = 0, solved = 0;
  for (int k = 0; k < 60; ++k) {
    const Instance instance = instanceOf(random);
    for (const SolveOptions &options : allOptions()) {
      const bool isLimited = options.maxIterations < SolveOptions().maxIterations;
      NetworkSolve steps(instance.network, instance.spaces, options);
      const double bound = steps.run();
      INFO("network " << k);
      if (instance.least == kForbidden) {
        CHECK(steps.search().best().empty());
        infeasible += bound == kForbidden;
        continue;
      }
      ++solved;
      CHECK(bound <= instance.least * (1 + 1e-8));
      CHECK(steps.search().bestCost() >= instance.least * (1 - 1e-9));
      if (!steps.search().best().empty())
        CHECK(fitsRows(instance.network, steps.search().best()));
      CHECK(steps.isProven(instance.least) ==
            (steps.search().bestCost() <= instance.least * (1 + 1e-9)));
      CHECK((isLimited || steps.isProven(bound)));
      if (steps.isProven(bound)) {
        CHECK(steps.search().bestCost() == Approx(instance.least).epsilon(1e-8));
        ++optimal;
      }
      for (double price : steps.prices())
        CHECK(price >= 0);
    }
  }
  CHECK(infeasible > 10);
  CHECK(solved > 100);
  CHECK(optimal > 0.9 * solved);
}

TEST_CASE("the first bound rises step by step and ignores memory") {
  std::mt19937 random(2);
  for (int k = 0; k < 20; ++k) {
    const Instance instance = instanceOf(random);
    NetworkSolve steps(instance.network, instance.spaces, SolveOptions());
    double before = -kForbidden;
    while (!steps.isFirstBoundFinal()) {
      const double bound = steps.raiseFirstBound();
      CHECK(bound >= before);
      before = bound;
    }
    CHECK(before == Approx(leastWithoutRows(instance.network)));
    CHECK(steps.raiseFirstBound() == before);
    CHECK(steps.run() >= before * (1 - 1e-12));
  }
}

TEST_CASE("below a cutoff the bound is the cutoff, and above it the solution is found") {
  std::mt19937 random(3);
  int compared = 0;
  for (int k = 0; k < 40; ++k) {
    const Instance instance = instanceOf(random);
    if (instance.least == kForbidden || instance.least <= 0)
      continue;
    ++compared;
    SolveOptions options;
    options.cutoff = 0.9 * instance.least;
    NetworkSolve below(instance.network, instance.spaces, options);
    CHECK(below.run() >= options.cutoff * (1 - 1e-9));
    NetworkSolve steps(instance.network, instance.spaces, SolveOptions());
    steps.setLimits(1.1 * instance.least, /*closesGap=*/true);
    steps.run();
    CHECK(steps.search().bestCost() == Approx(instance.least).epsilon(1e-8));
  }
  CHECK(compared > 10);
}

TEST_CASE("a solve that starts from a solution never ends with a worse one") {
  std::mt19937 random(4);
  int compared = 0;
  for (int k = 0; k < 40; ++k) {
    const Instance instance = instanceOf(random);
    if (instance.least == kForbidden)
      continue;
    std::vector<int> known;
    forAllChoices(instance.network, [&](const std::vector<int> &choices) {
      if (instance.network.totalCost(choices) == instance.least &&
          fitsRows(instance.network, choices))
        known = choices;
    });
    ++compared;
    SolveOptions options;
    options.maxIterations = 1;
    options.maxSearchRounds = 0;
    NetworkSolve steps(instance.network, instance.spaces, options);
    steps.startFrom(Prices(instance.network.rows.size(), 0.0), known);
    steps.run();
    CHECK(steps.search().best() == known);
  }
  CHECK(compared > 10);
}

TEST_CASE("what a budget must be at least is proven if nothing fits") {
  std::mt19937 random(5);
  int proven = 0;
  for (int k = 0; k < 60; ++k) {
    const Instance instance = instanceOf(random);
    if (instance.least < kForbidden)
      continue;
    NetworkSolve steps(instance.network, instance.spaces, SolveOptions());
    CHECK(steps.run() == kForbidden);
    if (steps.provenBudget().empty())
      continue;
    proven += steps.provenBudget()[0] > instance.spaces[0].budget;
  }
  CHECK(proven > 5);
}

namespace {

// A square of nodes, each joined with its right and its lower neighbour by edges of random costs up
// to `coupling`: too wide for exact elimination.
Network squareNetwork(int side, int choices, double coupling, unsigned seed) {
  std::mt19937 random(seed);
  auto uniform = [&] { return static_cast<double>(random() % 1000) / 1000; };
  Network network;
  for (int v = 0; v < side * side; ++v) {
    network.nodes.emplace_back();
    for (int i = 0; i < choices; ++i)
      network.nodes.back().cost.push_back(1 + uniform());
    for (int w : {v % side > 0 ? v - 1 : -1, v - side}) {
      if (w < 0)
        continue;
      std::vector<double> cost;
      for (int k = 0; k < choices * choices; ++k)
        cost.push_back(coupling * uniform());
      join(network, w, v, std::move(cost));
    }
  }
  return network;
}

// Nodes that take memory at five times, whose choices differ in when they take it.
Network fiveRowNetwork(int nodes, std::mt19937 &random) {
  Network network;
  for (int r = 0; r < 5; ++r)
    network.rows.push_back({0, r, 0, 0});
  for (int v = 0; v < nodes; ++v) {
    NetworkNode node;
    node.cost = {0, 0, 0};
    for (int r = 0; r < 5; ++r)
      node.loads.push_back({r, r + 1, {}});
    for (Load &load : node.loads)
      for (int i = 0; i < 3; ++i)
        load.bytes.push_back(static_cast<int64_t>(random() % 1000));
    network.nodes.push_back(std::move(node));
  }
  return network;
}

// Nodes with memory at five times, of which a tenth is missing.
Network tightNetwork(int nodes, std::mt19937 &random) {
  Network network = fiveRowNetwork(nodes, random);
  for (Row &row : network.rows)
    row.budget = int64_t(450) * nodes;
  for (NetworkNode &node : network.nodes)
    for (double &cost : node.cost)
      cost = 10 + static_cast<double>(random() % 1000) / 1000;
  return network;
}

} // namespace

TEST_CASE(
    "the first bound ends after 30 passes, or one that raises it by less than a ten-thousandth") {
  int ended = 0, risen = 0;
  for (unsigned seed = 1; seed <= 10; ++seed) {
    const Network network = squareNetwork(12, 6, 30, seed);
    Messages messages(network);
    AscentOptions one;
    one.iterations = 1;
    double before = messages.tighten({}, one, {}).bound;
    int expected = 1;
    for (bool rises = true; rises && expected < 30; ++expected) {
      const double bound = messages.tighten({}, one, {}).bound;
      rises = bound > before + 1e-4 * std::abs(before);
      before = std::max(before, bound);
      ended += !rises;
      risen += rises && expected == 29;
    }
    NetworkSolve steps(network, {}, SolveOptions());
    double bound = 0;
    int count = 0;
    for (; !steps.isFirstBoundFinal(); ++count)
      bound = steps.raiseFirstBound();
    INFO("seed " << seed);
    CHECK(count == expected);
    CHECK(bound == Approx(before));
  }
  CHECK(ended > 0);
  CHECK(risen > 0);
}

TEST_CASE("that nothing fits is tested by 20 iterations at first, and by 60 after a short ascent") {
  std::mt19937 random(6);
  int first = 0, second = 0, later = 0;
  for (int k = 0; k < 40; ++k) {
    Network network = fiveRowNetwork(6, random);
    auto provenBy = [&](int iterations) {
      Search search(network, 1);
      return leastPeak(network, 0, iterations, 1 << 12, search);
    };
    // The budget is just too small, by what 100 iterations prove; how many does it need?
    const int64_t budget = provenBy(100) - 1;
    int needed = 0; // more prove no less
    for (int step = 64; step > 0; step /= 2)
      if (provenBy(needed + step) <= budget)
        needed += step;
    ++needed;
    for (Row &row : network.rows)
      row.budget = budget;
    SolveOptions options;
    options.maxIterations = 40;
    options.maxSearchRounds = 0;
    NetworkSolve steps(network, {{"device", budget}}, options);
    const double bound = steps.run();
    INFO("network " << k << " needs " << needed << " iterations");
    if (needed <= 60)
      CHECK(bound == kForbidden);
    if (needed <= 20)
      CHECK(steps.iterations() == 1);
    else if (needed <= 60)
      CHECK(steps.iterations() == 1 + 25);
    else
      CHECK(steps.iterations() > 1 + 25);
    first += needed > 10 && needed <= 20;
    second += needed > 30 && needed <= 40;
    later += needed > 60;
  }
  CHECK(first > 0);
  CHECK(second > 0);
  CHECK(later > 0);
}

TEST_CASE("a gap is closed by branches if the work affords fifty of them") {
  std::mt19937 random(7);
  const std::vector<MemorySpace> spaces = {{"device", 4500}};
  int byBranches = 0;
  for (int k = 0; k < 10; ++k) {
    const Network network = tightNetwork(10, random);
    SolveOptions options;
    options.maxSearchRounds = 1;
    options.maxWork = 50 * 12 * (Elimination(network, 1 << 20).work() + 1); // 12 iterations each
    NetworkSolve enough(network, spaces, options);
    const bool isProven = enough.isProven(enough.run());
    options.maxWork -= 1;
    NetworkSolve less(network, spaces, options);
    byBranches += isProven && !less.isProven(less.run());
  }
  CHECK(byBranches > 0);
}

TEST_CASE("the bounding loop may make ten iterations, however little work it may take") {
  std::mt19937 random(8);
  const Network network = tightNetwork(10, random);
  const std::vector<MemorySpace> spaces = {{"device", 4500}};
  auto iterationsWith = [&](int64_t maxWork) {
    SolveOptions options;
    options.maxSearchRounds = 0;
    options.maxWork = maxWork;
    NetworkSolve steps(network, spaces, options);
    steps.run();
    return steps.iterations();
  };
  const int64_t perIteration = Elimination(network, 1 << 20).work() + 1;
  CHECK(iterationsWith(10 * perIteration) == iterationsWith(1));
  CHECK(iterationsWith(11 * perIteration) == iterationsWith(1) + 1);
}

TEST_CASE("choices and pairs are bounded for a quarter of the work") {
  std::mt19937 random(9);
  const std::vector<MemorySpace> spaces = {{"device", 4500}};
  int byBounds = 0;
  for (int k = 0; k < 20; ++k) {
    const Network network = tightNetwork(10, random);
    SolveOptions options;
    options.maxIterations = 10; // which every work affords
    options.maxSearchRounds = 1;
    options.maxBranches = 0;
    options.maxWork = 4 * Elimination(network, 1 << 20).marginalsWork();
    NetworkSolve enough(network, spaces, options);
    const int iterations = (enough.run(), enough.iterations());
    options.maxWork -= 1;
    NetworkSolve less(network, spaces, options);
    less.run();
    byBounds += iterations > less.iterations(); // on what was left
  }
  CHECK(byBounds > 0);
}

TEST_CASE(
    "what is left is solved if a twentieth of the choices or pairs were dropped, up to twelve "
    "times") {
  std::mt19937 random(10);
  const std::vector<MemorySpace> spaces = {{"device", 450 * 15}};
  int few = 0, enough = 0;
  for (int k = 0; k < 100; ++k) {
    const Network network = tightNetwork(15, random);
    SolveOptions options;
    options.maxSearchRounds = 1;
    options.maxBranches = 0;
    NetworkSolve whole(network, spaces, options, /*round=*/12);
    const double bound = whole.run();
    if (whole.isClosed(bound) || whole.search().best().empty())
      continue;
    Elimination elimination(network, 1 << 20);
    const Drops drops = dropsAbove(
        network,
        lowerBounds(network, elimination, costsOf(network), whole.prices(), /*withPairs=*/true),
        whole.search().bestCost());
    const double share = std::max(drops.choiceShare, drops.pairShare);
    NetworkSolve rest(network, spaces, options, /*round=*/11);
    const bool isSolved = rest.run() > bound || rest.iterations() > whole.iterations();
    INFO("network " << k << ": " << share);
    CHECK(isSolved == (share >= 0.05));
    few += share >= 0.025 && share < 0.05;
    enough += share >= 0.05 && share < 0.1;
  }
  CHECK(few > 0);
  CHECK(enough > 0);
}

namespace {

// Adds two nodes that save seconds and take bytes each if both take choice 1; a difference between
// them costs `change`.
void addPair(Network &network, double seconds, int64_t bytes, int row, double change) {
  const int first = static_cast<int>(network.nodes.size());
  network.nodes.push_back({{seconds, 0}, {{row, row + 1, {0, bytes}}}, {}});
  network.nodes.push_back({{0, 0}, {{row, row + 1, {0, bytes}}}, {}});
  join(network, first, first + 1, agreement(2, change));
}

// Adds triples of pairs that share 10 bytes: no price, repair or region of other choices leads to
// the best two of them, only a part with one of them. Other nodes make such parts rare.
void addTriples(Network &network, int triples, int others) {
  for (int k = 0; k < triples; ++k) {
    network.rows.push_back({0, k, 10, 0});
    const int first = static_cast<int>(network.nodes.size());
    addPair(network, 6, 3, k, 100);
    addPair(network, 1, 2, k, 20);
    addPair(network, 6.6, 3, k, 100);
    join(network, first + 1, first + 2, std::vector<double>(4, 0.0));
  }
  for (int v = 0; v < others; ++v)
    network.nodes.push_back({{0, 1}, {}, {}});
}

} // namespace

TEST_CASE("parts are re-solved in four steps, until enough rounds have improved nothing") {
  // 40 and a quarter of the step's; where branches may follow, 200 and half of those before.
  Network network;
  addTriples(network, 24, 200);
  const std::vector<MemorySpace> spaces = {{"device", 10}};
  for (bool branchesMayFollow : {false, true})
    for (uint64_t seed = 1; seed <= 10; ++seed) {
      SolveOptions options;
      options.seed = seed;
      options.maxIterations = 1;
      options.maxWork = 1; // for no bounds that guide the search
      options.maxBranches = branchesMayFollow ? 0 : 2000;
      options.maxSearchRounds = 0;
      NetworkSolve begun(network, spaces, options);
      begun.run();
      const int rounds = branchesMayFollow ? 1000 : 80; // of a step
      Search expected(network, seed);
      expected.offer(begun.search().best());
      for (int step = 0; step < 4; ++step)
        for (int k = 0, idle = 0; k < rounds; ++k) {
          if (idle >= 40 + rounds / 4 || (branchesMayFollow && idle >= std::max(200, k / 2)))
            break;
          idle = expected.improve(begun.prices()) ? 0 : idle + 1;
        }
      options.maxSearchRounds = 4 * rounds;
      NetworkSolve steps(network, spaces, options);
      steps.run();
      INFO("seed " << seed << (branchesMayFollow ? ", branches may follow" : ""));
      CHECK(steps.search().best() == expected.best());
    }
}

TEST_CASE("between passes of messages parts are re-solved in a quarter of the rounds") {
  // Beside a square of nodes without costs, which is too wide for exact elimination.
  Network network = squareNetwork(12, 6, 0, 1);
  for (NetworkNode &node : network.nodes)
    node.cost.assign(6, 0.0);
  addTriples(network, 24, 100);
  const std::vector<MemorySpace> spaces = {{"device", 10}};
  int improved = 0;
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    SolveOptions options;
    options.seed = seed;
    options.maxIterations = 1;
    options.maxWork = 1;
    options.closesGap = false;
    options.maxSearchRounds = 0;
    NetworkSolve begun(network, spaces, options);
    begun.run();
    Search expected(network, seed);
    expected.offer(begun.search().best());
    for (int k = 0; k < 50; ++k)
      improved += expected.improve(begun.prices());
    options.maxSearchRounds = 4 * 50;
    NetworkSolve steps(network, spaces, options);
    steps.run();
    INFO("seed " << seed);
    CHECK(steps.search().best() == expected.best());
  }
  CHECK(improved > 0);
}
