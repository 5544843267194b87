// Reading and writing by nlohmann::json, whose exceptions are caught here.
#include "compiler/solver/Json.h"

#include "runtime/base/Json.h"

#include <map>

namespace cleave::solver {

static Json costToJson(double cost) { return cost == kForbidden ? Json(nullptr) : Json(cost); }
static double costFromJson(const Json &value) {
  return value.is_null() ? kForbidden : value.get<double>();
}

static Json costsToJson(const CostTable &costs) {
  Json list = Json::array();
  for (double cost : costs)
    list.push_back(costToJson(cost));
  return list;
}

static Json nodeToJson(const Node &node) {
  Json usages = Json::array(), choices = Json::array();
  for (const Usage &usage : node.usages)
    usages.push_back({usage.begin, usage.end, usage.space});
  for (const Choice &choice : node.choices)
    choices.push_back(
        {{"label", choice.label}, {"cost", costToJson(choice.cost)}, {"bytes", choice.bytes}});
  return {{"name", node.name}, {"usages", usages}, {"choices", choices}};
}

std::string toJson(const Problem &problem) {
  Json spaces = Json::array(), nodes = Json::array(), edges = Json::array();
  for (const MemorySpace &space : problem.spaces)
    spaces.push_back({{"name", space.name}, {"budget", space.budget}});
  for (const Node &node : problem.nodes)
    nodes.push_back(nodeToJson(node));
  for (const Edge &edge : problem.edges)
    edges.push_back({{"from", edge.from}, {"to", edge.to}, {"cost", costsToJson(edge.cost)}});
  Json root = {{"name", problem.name}, {"spaces", spaces}, {"nodes", nodes}, {"edges", edges}};
  return root.dump(1);
}

static Node nodeFromJson(const Json &value) {
  Node node;
  node.name = value.value("name", "");
  for (const Json &usage : value.value("usages", Json::array()))
    node.usages.push_back(
        {usage.at(0), usage.at(1), usage.size() > 2 ? usage.at(2).get<int>() : 0});
  for (const Json &choice : value.at("choices"))
    node.choices.push_back({choice.value("label", ""), costFromJson(choice.at("cost")),
                            choice.value("bytes", std::vector<int64_t>())});
  return node;
}

static Problem readProblem(const Json &root, std::string &where) {
  Problem problem;
  std::map<std::vector<double>, CostTable> tables; // edges with equal costs share one
  problem.name = root.value("name", "");
  for (size_t k = 0; const Json &space : root.at("spaces")) {
    where = concat("/spaces/", k++);
    problem.spaces.push_back({space.value("name", ""), space.at("budget")});
  }
  where = "";
  for (size_t k = 0; const Json &node : root.at("nodes")) {
    where = concat("/nodes/", k++);
    problem.nodes.push_back(nodeFromJson(node));
  }
  where = "";
  for (size_t k = 0; const Json &value : root.at("edges")) {
    where = concat("/edges/", k++);
    std::vector<double> costs;
    for (const Json &cost : value.at("cost"))
      costs.push_back(costFromJson(cost));
    const CostTable &table = tables.try_emplace(costs, costs).first->second;
    problem.edges.push_back({value.at("from"), value.at("to"), table});
  }
  return problem;
}

Result<Problem> problemFromJson(const std::string &text) {
  std::string where;
  try {
    Problem problem = readProblem(Json::parse(text), where);
    CLEAVE_TRY(validate(problem));
    return problem;
  } catch (const Json::exception &error) {
    return Status::userError("not a problem in JSON, at '", where, "': ", jsonReason(error));
  }
}

static const char *const kStatusNames[] = {"optimal", "feasible", "infeasible", "not found"};

std::string toJson(const Solution &solution) {
  Json peaks = Json::array();
  for (const MemoryPeak &peak : solution.peaks)
    peaks.push_back({{"bytes", peak.bytes}, {"time", peak.time}, {"live_nodes", peak.liveNodes}});
  Json root = {{"status", kStatusNames[static_cast<int>(solution.status)]},
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

Result<std::vector<int>> choicesFromJson(const std::string &text) {
  try {
    const Json root = Json::parse(text);
    return (root.is_array() ? root : root.at("choices")).get<std::vector<int>>();
  } catch (const Json::exception &error) {
    return Status::userError("neither a solution in JSON nor a list of choices: ",
                             jsonReason(error));
  }
}

} // namespace cleave::solver
