// Building the network: rows from intervals, one edge per pair of nodes.
#include "compiler/solver/Network.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace cleave::solver {

double Network::totalCost(const std::vector<int> &choices) const {
  double sum = constant;
  for (size_t v = 0; v < nodes.size(); ++v)
    sum += nodes[v].cost[choices[v]];
  for (const NetworkEdge &edge : edges)
    sum += edge.cost[choices[edge.from] * nodes[edge.to].size() + choices[edge.to]];
  return sum;
}

std::vector<int64_t> Network::usage(const std::vector<int> &choices) const {
  std::vector<int64_t> bytes(rows.size() + 1, 0);
  for (size_t v = 0; v < nodes.size(); ++v)
    for (const Load &load : nodes[v].loads) {
      bytes[load.begin] += load.bytes[choices[v]];
      bytes[load.end] -= load.bytes[choices[v]];
    }
  for (size_t r = 1; r < bytes.size(); ++r)
    bytes[r] += bytes[r - 1];
  bytes.pop_back();
  return bytes;
}

namespace {

// The time points of one space at which the live set is maximal: the last begin before an end.
std::vector<int64_t> maximalTimes(const Problem &problem, int space) {
  std::vector<std::pair<int64_t, bool>> events; // (time, begins); ends come before begins
  for (const Node &node : problem.nodes)
    for (const Usage &usage : node.usages)
      if (usage.space == space && usage.begin < usage.end) {
        events.push_back({usage.begin, true});
        events.push_back({usage.end, false});
      }
  std::sort(events.begin(), events.end());
  std::vector<int64_t> times;
  int64_t begun = 0;
  bool pending = false;
  for (auto &[time, begins] : events) {
    if (begins) {
      begun = time;
      pending = true;
    } else if (pending) {
      times.push_back(begun);
      pending = false;
    }
  }
  return times;
}

// The bytes of a choice in one space, as if all its usages were at one time.
int64_t allBytes(const Node &node, const Choice &choice, int space) {
  int64_t sum = 0;
  for (size_t u = 0; u < node.usages.size(); ++u)
    sum += node.usages[u].space == space ? choice.bytes[u] : 0;
  return sum;
}

// Whether the largest choices of all nodes, all at one time, fit into a space.
bool alwaysFits(const Problem &problem, int space) {
  int64_t left = problem.spaces[space].budget;
  for (const Node &node : problem.nodes) {
    int64_t most = 0;
    for (const Choice &choice : node.choices)
      most = std::max(most, allBytes(node, choice, space));
    if (most > left)
      return false;
    left -= most;
  }
  return true;
}

void addRows(const Problem &problem, Network &network) {
  for (size_t s = 0; s < problem.spaces.size(); ++s) {
    if (alwaysFits(problem, static_cast<int>(s)))
      continue; // reduceRows would drop all of its rows
    int first = static_cast<int>(network.rows.size());
    std::vector<int64_t> times = maximalTimes(problem, static_cast<int>(s));
    for (int64_t time : times)
      network.rows.push_back({static_cast<int>(s), time, problem.spaces[s].budget, 0});
    for (size_t v = 0; v < problem.nodes.size(); ++v) {
      const Node &node = problem.nodes[v];
      for (size_t u = 0; u < node.usages.size(); ++u) {
        const Usage &usage = node.usages[u];
        if (usage.space != static_cast<int>(s) || usage.begin >= usage.end)
          continue;
        auto at = [&](int64_t time) {
          return first + static_cast<int>(std::lower_bound(times.begin(), times.end(), time) -
                                          times.begin());
        };
        Load load{at(usage.begin), at(usage.end), {}};
        for (const Choice &choice : node.choices)
          load.bytes.push_back(choice.bytes[u]);
        if (load.begin < load.end)
          network.nodes[v].loads.push_back(std::move(load));
      }
    }
  }
}

} // namespace

// Adds the costs of `edge`, oriented from the smaller to the larger node, to the network.
static void addEdge(const Problem &problem, const Edge &edge, Network &network, Tables &tables) {
  const int from = std::min(edge.from, edge.to), to = std::max(edge.from, edge.to);
  const size_t rows = problem.nodes[edge.from].choices.size();
  const size_t columns = problem.nodes[edge.to].choices.size();
  const CostTable cost =
      edge.from == from ? edge.cost : tables.transposed(edge.cost, rows, columns);
  const auto [e, isNew] =
      network.nodes[from].edgeTo.insert({to, static_cast<int>(network.edges.size())});
  if (isNew) {
    network.nodes[to].edgeTo.insert({from, e});
    network.edges.push_back({from, to, cost});
  } else {
    CostTable &sum = network.edges[e].cost;
    sum = tables.sum(sum, cost);
  }
}

Network buildNetwork(const Problem &problem, Tables &tables) {
  Network network;
  network.nodes.resize(problem.nodes.size());
  std::unordered_map<const void *, size_t> known; // a node with these choices
  for (size_t v = 0; v < problem.nodes.size(); ++v) {
    const ChoiceList &choices = problem.nodes[v].choices;
    std::vector<double> &cost = network.nodes[v].cost;
    const auto [same, isNew] = known.try_emplace(choices.identity(), v);
    if (!isNew) {
      cost = network.nodes[same->second].cost;
      continue;
    }
    for (const Choice &choice : choices)
      cost.push_back(choice.cost);
  }
  addRows(problem, network);
  for (const Edge &edge : problem.edges)
    addEdge(problem, edge, network, tables);
  return network;
}

// Cuts the loads of a node where one begins or ends, so that no two overlap; moves the least bytes
// of every piece to `shared` (differences per row).
static void separateLoads(NetworkNode &node, std::vector<int64_t> &shared) {
  std::map<int, std::vector<int64_t>> change; // row -> per choice the bytes added or removed
  for (const Load &load : node.loads)
    for (bool isEnd : {false, true}) {
      std::vector<int64_t> &bytes = change[isEnd ? load.end : load.begin];
      bytes.resize(node.size(), 0);
      for (size_t i = 0; i < node.size(); ++i)
        bytes[i] += isEnd ? -load.bytes[i] : load.bytes[i];
    }
  node.loads.clear();
  std::vector<int64_t> now(node.size(), 0);
  for (auto at = change.begin(); at != change.end(); ++at) {
    for (size_t i = 0; i < now.size(); ++i)
      now[i] += at->second[i];
    auto next = std::next(at);
    if (next == change.end())
      break;
    int64_t least = *std::min_element(now.begin(), now.end());
    shared[at->first] += least;
    shared[next->first] -= least;
    Load piece{at->first, next->first, now};
    for (int64_t &bytes : piece.bytes)
      bytes -= least;
    if (std::all_of(piece.bytes.begin(), piece.bytes.end(), [](int64_t b) { return b == 0; }))
      continue;
    if (!node.loads.empty() && node.loads.back().end == piece.begin &&
        node.loads.back().bytes == piece.bytes)
      node.loads.back().end = piece.end;
    else
      node.loads.push_back(std::move(piece));
  }
}

// Moves the bytes that all choices of a load share to the rows.
static void takeShared(Network &network) {
  std::vector<int64_t> shared(network.rows.size() + 1, 0);
  for (NetworkNode &node : network.nodes)
    separateLoads(node, shared);
  int64_t sum = 0;
  for (size_t r = 0; r < network.rows.size(); ++r) {
    sum += shared[r];
    network.rows[r].budget -= sum;
    network.rows[r].taken += sum;
  }
}

void reduceRows(Network &network) {
  takeShared(network);
  const size_t count = network.rows.size();
  std::vector<int64_t> most(count + 1, 0);
  for (const NetworkNode &node : network.nodes)
    for (const Load &load : node.loads) {
      int64_t largest = *std::max_element(load.bytes.begin(), load.bytes.end());
      most[load.begin] += largest;
      most[load.end] -= largest;
    }
  std::vector<int> newIndex(count + 1, 0);
  std::vector<Row> kept;
  int64_t sum = 0;
  for (size_t r = 0; r < count; ++r) {
    sum += most[r];
    newIndex[r] = static_cast<int>(kept.size());
    if (sum > network.rows[r].budget)
      kept.push_back(network.rows[r]);
  }
  newIndex[count] = static_cast<int>(kept.size());
  network.rows = std::move(kept);
  for (NetworkNode &node : network.nodes) {
    std::vector<Load> loads;
    for (Load &load : node.loads) {
      load.begin = newIndex[load.begin];
      load.end = newIndex[load.end];
      if (load.begin < load.end)
        loads.push_back(std::move(load));
    }
    node.loads = std::move(loads);
  }
}

} // namespace cleave::solver
