#include "compiler/solver/Contest.h"

#include "runtime/base/Json.h"

#include <zlib.h>

namespace cleave::solver {

static constexpr double kForbiddenFrom = 1e18;

static Problem readContest(const Json &root) {
  const Json &from = root.at("problem");
  const Json &nodes = from.at("nodes");
  Problem problem;
  problem.name = from.value("name", "");
  problem.spaces.push_back({"device", from.at("usage_limit")});
  const Json &intervals = nodes.at("intervals");
  for (size_t v = 0; v < intervals.size(); ++v) {
    Node node;
    node.name = concat(v);
    const Json &costs = nodes.at("costs").at(v);
    const Json &usages = nodes.at("usages").at(v);
    node.usages.push_back({intervals[v].at(0), intervals[v].at(1), 0});
    for (size_t i = 0; i < costs.size(); ++i) {
      double cost = costs[i];
      node.choices.push_back({"", cost >= kForbiddenFrom ? kForbidden : cost, {usages.at(i)}});
    }
    problem.nodes.push_back(std::move(node));
  }
  const Json &edges = from.at("edges");
  for (size_t e = 0; e < edges.at("nodes").size(); ++e) {
    const Json &ends = edges.at("nodes")[e];
    std::vector<double> costs = edges.at("costs").at(e);
    for (double &cost : costs)
      if (cost >= kForbiddenFrom)
        cost = kForbidden;
    problem.edges.push_back({ends.at(0), ends.at(1), std::move(costs)});
  }
  return problem;
}

Result<Problem> contestFromJson(const std::string &text) {
  try {
    Problem problem = readContest(Json::parse(text));
    CLEAVE_TRY(validate(problem));
    return problem;
  } catch (const Json::exception &error) {
    return Status::userError("not an instance of the contest: ", jsonReason(error));
  }
}

Result<Problem> readContestFile(const std::string &path) {
  gzFile file = gzopen(path.c_str(), "rb");
  if (!file)
    return Status::userError("cannot open '", path, "'");
  std::string text;
  std::vector<char> buffer(1 << 20);
  int read = 0;
  while ((read = gzread(file, buffer.data(), static_cast<unsigned>(buffer.size()))) > 0)
    text.append(buffer.data(), read);
  gzclose(file);
  if (read < 0)
    return Status::userError("'", path, "' is damaged: it cannot be decompressed");
  return contestFromJson(text).withContext(path);
}

} // namespace cleave::solver
