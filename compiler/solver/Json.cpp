// Reading and writing, by nlohmann::json; its exceptions end here.
#include "compiler/solver/Json.h"

#include <nlohmann/json.hpp>

namespace cleave::solver {

using nlohmann::json;

static json costToJson(double cost) { return cost == forbidden ? json(nullptr) : json(cost); }
static double costFromJson(const json &value) {
  return value.is_null() ? forbidden : value.get<double>();
}

static json costsToJson(const std::vector<double> &costs) {
  json list = json::array();
  for (double cost : costs)
    list.push_back(costToJson(cost));
  return list;
}

static json nodeToJson(const Node &node) {
  json usages = json::array(), choices = json::array();
  for (const Usage &usage : node.usages)
    usages.push_back({usage.begin, usage.end, usage.space});
  for (const Choice &choice : node.choices)
    choices.push_back(
        {{"label", choice.label}, {"cost", costToJson(choice.cost)}, {"bytes", choice.bytes}});
  return {{"name", node.name}, {"usages", usages}, {"choices", choices}};
}

std::string toJson(const Problem &problem) {
  json spaces = json::array(), nodes = json::array(), edges = json::array();
  for (const MemorySpace &space : problem.spaces)
    spaces.push_back({{"name", space.name}, {"budget", space.budget}});
  for (const Node &node : problem.nodes)
    nodes.push_back(nodeToJson(node));
  for (const Edge &edge : problem.edges)
    edges.push_back({{"from", edge.from}, {"to", edge.to}, {"cost", costsToJson(edge.cost)}});
  json root = {{"name", problem.name}, {"spaces", spaces}, {"nodes", nodes}, {"edges", edges}};
  return root.dump(1);
}

static Node nodeFromJson(const json &value) {
  Node node;
  node.name = value.value("name", "");
  for (const json &usage : value.value("usages", json::array()))
    node.usages.push_back(
        {usage.at(0), usage.at(1), usage.size() > 2 ? usage.at(2).get<int>() : 0});
  for (const json &choice : value.at("choices"))
    node.choices.push_back({choice.value("label", ""), costFromJson(choice.at("cost")),
                            choice.value("bytes", std::vector<int64_t>())});
  return node;
}

static Problem readProblem(const json &root, std::string &where) {
  Problem problem;
  problem.name = root.value("name", "");
  for (size_t k = 0; const json &space : root.at("spaces")) {
    where = "/spaces/" + std::to_string(k++);
    problem.spaces.push_back({space.value("name", ""), space.at("budget")});
  }
  where = "";
  for (size_t k = 0; const json &node : root.at("nodes")) {
    where = "/nodes/" + std::to_string(k++);
    problem.nodes.push_back(nodeFromJson(node));
  }
  where = "";
  for (size_t k = 0; const json &value : root.at("edges")) {
    where = "/edges/" + std::to_string(k++);
    Edge edge{value.at("from"), value.at("to"), {}};
    for (const json &cost : value.at("cost"))
      edge.cost.push_back(costFromJson(cost));
    problem.edges.push_back(std::move(edge));
  }
  return problem;
}

Result<Problem> problemFromJson(const std::string &text) {
  std::string where;
  try {
    Problem problem = readProblem(json::parse(text), where);
    CLEAVE_TRY(validate(problem));
    return problem;
  } catch (const json::exception &error) {
    return Status::userError("not a problem in JSON, at '" + where + "': " + error.what());
  }
}

static const char *const statusNames[] = {"optimal", "feasible", "infeasible", "not found"};

std::string toJson(const Solution &solution) {
  json peaks = json::array();
  for (const MemoryPeak &peak : solution.peaks)
    peaks.push_back({{"bytes", peak.bytes}, {"time", peak.time}, {"live_nodes", peak.liveNodes}});
  json root = {{"status", statusNames[static_cast<int>(solution.status)]},
               {"choices", solution.choices},
               {"cost", costToJson(solution.cost)},
               {"lower_bound", costToJson(solution.lowerBound)},
               {"gap", costToJson(solution.gap)},
               {"peaks", peaks},
               {"shadow_price", solution.shadowPrice},
               {"iterations", solution.iterations},
               {"seconds", solution.seconds}};
  const Infeasibility &why = solution.infeasibility;
  if (!why.message.empty())
    root["infeasibility"] = {{"smallest_budget", why.smallestBudget},
                             {"proven_budget", why.provenBudget},
                             {"space", why.space},
                             {"time", why.time},
                             {"binding_nodes", why.bindingNodes},
                             {"message", why.message}};
  return root.dump(1);
}

static Solution readSolution(const json &root) {
  Solution solution;
  std::string status = root.at("status");
  for (int k = 0; k < 4; ++k)
    if (status == statusNames[k])
      solution.status = static_cast<SolveStatus>(k);
  root.at("choices").get_to(solution.choices);
  solution.cost = costFromJson(root.at("cost"));
  solution.lowerBound = costFromJson(root.at("lower_bound"));
  solution.gap = costFromJson(root.at("gap"));
  for (const json &peak : root.at("peaks"))
    solution.peaks.push_back({peak.at("bytes"), peak.at("time"), peak.at("live_nodes")});
  root.at("shadow_price").get_to(solution.shadowPrice);
  solution.iterations = root.value("iterations", 0);
  solution.seconds = root.value("seconds", 0.0);
  if (auto why = root.find("infeasibility"); why != root.end()) {
    Infeasibility &to = solution.infeasibility;
    why->at("smallest_budget").get_to(to.smallestBudget);
    why->at("proven_budget").get_to(to.provenBudget);
    to.space = why->at("space");
    to.time = why->at("time");
    why->at("binding_nodes").get_to(to.bindingNodes);
    to.message = why->at("message");
  }
  return solution;
}

Result<Solution> solutionFromJson(const std::string &text) {
  try {
    return readSolution(json::parse(text));
  } catch (const json::exception &error) {
    return Status::userError(std::string("not a solution in JSON: ") + error.what());
  }
}

} // namespace cleave::solver
