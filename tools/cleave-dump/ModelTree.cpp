#include "tools/cleave-dump/ModelTree.h"

#include "runtime/artifact/Access.h"
#include "runtime/artifact/Mesh.h"
#include "runtime/base/Fold.h"
#include "tools/cleave-dump/InstructionOwners.h"
#include "tools/cleave-dump/InstructionText.h"
#include "tools/cleave-dump/ModelEdges.h"
#include "tools/cleave-dump/PlanText.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace cleave::dump {

namespace {

// The work of a step for some parameters.
struct ModuleWork {
  std::map<std::pair<std::string, int>, double> seconds; // by kind and lane
  uint64_t kept = 0, recomputed = 0;                     // bytes
  std::set<std::string> recomputedAt;                    // shapes of places
  std::set<uint32_t> stages;
  std::vector<int> decisions;

  void add(const ModuleWork &other) {
    for (const auto &[key, value] : other.seconds)
      seconds[key] += value;
    kept += other.kept;
    recomputed += other.recomputed;
    recomputedAt.insert(other.recomputedAt.begin(), other.recomputedAt.end());
    stages.insert(other.stages.begin(), other.stages.end());
    decisions.insert(decisions.end(), other.decisions.begin(), other.decisions.end());
  }
};

struct Module {
  std::string name;               // of several: folded
  size_t count = 1;               // of equal ones in this node
  std::vector<std::string> names; // of all of them
  std::vector<std::string> paths; // of those with parameters: the names from the root on
  std::vector<Module> parts;
  std::vector<int> parameters; // tensors
  ModuleWork work;             // including its parts
};

// The parameter that a place names: `input of h.0.fc.weight, gradient`.
std::string parameterOf(const std::string &place) {
  constexpr std::string_view kInput = "input of ";
  const size_t begin = place.starts_with(kInput) ? kInput.size() : 0;
  return place.substr(begin, place.find(", ", begin) - begin);
}

class TreeBuilder {
public:
  explicit TreeBuilder(const plan::Plan &plan) : plan_(plan), works_(plan.tensors_size()) {
    addInstructions();
    addDecisions();
  }

  std::vector<Module> build() {
    Module root;
    for (int t = 0; t < plan_.tensors_size(); ++t)
      if (plan_.tensors(t).role() == plan::PARAMETER)
        insert(root, t);
    finish(root);
    return std::move(root.parts);
  }

  // A text that is equal for modules that share a node.
  std::string keyOf(const Module &module) const {
    std::string key = nameShape(module.name) + concat(" x ", module.count, " (");
    for (int t : module.parameters)
      key += concat(localName(t), layoutText(plan_, plan_.tensors(t)),
                    shapeText(plan_.tensors(t).shape()), ";");
    for (const std::string &place : module.work.recomputedAt)
      key += place + ";";
    for (uint32_t stage : module.work.stages)
      key += concat(stage, ";");
    for (const Module &part : module.parts)
      key += keyOf(part);
    return key + ")";
  }

  // `copies`: of the node, by the nodes around it.
  Json jsonOf(const Module &module, size_t copies = 1) const {
    copies *= module.count;
    Json parts = Json::array(), parameters = Json::array(), seconds = Json::array();
    for (const Module &part : module.parts)
      parts.push_back(jsonOf(part, copies));
    for (int t : module.parameters)
      parameters.push_back({localName(t), layoutText(plan_, plan_.tensors(t)),
                            blockBytes(plan_, plan_.tensors(t)) * copies});
    for (const auto &[key, value] : module.work.seconds)
      seconds.push_back({key.first, key.second, value});
    return {{"name", module.name},
            {"count", module.count},
            {"parts", parts},
            {"parameters", parameters},
            {"seconds", seconds},
            {"kept", module.work.kept},
            {"recomputed", module.work.recomputed},
            {"stages", module.work.stages},
            {"decisions", module.work.decisions}};
  }

private:
  void addInstructions() {
    const uint32_t ranks = artifact::rankCount(plan_) / uint32_t(stageCount(plan_));
    for (const plan::Program &program : plan_.programs()) {
      if (isEvaluation(program) || program.ranks().empty())
        continue;
      const std::vector<std::vector<int>> owners = instructionOwners(plan_, program);
      size_t position = 0;
      for (int s = 0; s < program.segments_size(); ++s)
        for (const plan::Instruction &instruction : program.segments(s).instructions()) {
          for (int owner : owners[position]) {
            ModuleWork &work = works_[owner];
            work.seconds[{artifact::kindName(instruction), laneOf(instruction)}] +=
                instruction.seconds() * double(runsOf(program, uint32_t(s))) /
                double(owners[position].size());
            work.stages.insert(program.ranks(0) / ranks);
          }
          ++position;
        }
    }
  }

  void addDecisions() {
    std::map<std::string, int> parameters;
    for (int t = 0; t < plan_.tensors_size(); ++t)
      if (plan_.tensors(t).role() == plan::PARAMETER)
        parameters[plan_.tensors(t).name()] = t;
    for (int d = 0; d < plan_.decisions_size(); ++d) {
      const plan::Decision &decision = plan_.decisions(d);
      const auto found = parameters.find(parameterOf(rowName(decision)));
      if (found == parameters.end())
        continue;
      ModuleWork &work = works_[found->second];
      work.decisions.push_back(d);
      if (decision.kind() == "kept")
        work.kept += decision.bytes();
      if (decision.kind() == "recompute") {
        work.recomputed += decision.bytes();
        work.recomputedAt.insert(nameShape(rowName(decision)));
      }
    }
  }

  std::string localName(int tensor) const {
    const std::string &name = plan_.tensors(tensor).name();
    return name.substr(name.rfind('.') + 1);
  }

  // Into the module that the parts of its name between dots lead to.
  void insert(Module &root, int tensor) {
    const std::string &name = plan_.tensors(tensor).name();
    Module *module = &root;
    for (size_t begin = 0, end; (end = name.find('.', begin)) != std::string::npos;
         begin = end + 1) {
      const std::string part = name.substr(begin, end - begin);
      auto found = std::ranges::find(module->parts, part, &Module::name);
      if (found == module->parts.end()) {
        module->parts.push_back({.name = part, .names = {part}});
        found = std::prev(module->parts.end());
      }
      module = &*found;
    }
    if (module->parameters.empty() && !module->name.empty())
      module->paths = {name.substr(0, name.rfind('.'))};
    module->parameters.push_back(tensor);
    module->work.add(works_[tensor]);
  }

  // Sums, and equal modules in one node, if they are neighbours or have numbers for names, as the
  // layers of a list; a module with nothing but one part is one with it.
  // Names have few parts, so that the recursion is shallow.
  void finish(Module &module) {
    for (Module &part : module.parts) {
      finish(part);
      module.work.add(part.work);
    }
    std::vector<Module> folded;
    for (Module &part : module.parts) {
      const bool isIndex = part.name.find_first_not_of("0123456789") == std::string::npos;
      const std::string key = keyOf(asOne(part));
      const auto begin = isIndex || folded.empty() ? folded.begin() : std::prev(folded.end());
      const auto equal = std::find_if(
          begin, folded.end(), [&](const Module &other) { return keyOf(asOne(other)) == key; });
      if (equal != folded.end())
        merge(*equal, part);
      else
        folded.push_back(std::move(part));
    }
    module.parts = std::move(folded);
    if (module.parts.size() != 1 || !module.parameters.empty() || module.name.empty())
      return;
    Module only = std::move(module.parts.front());
    only.name = module.name + "." + only.name;
    only.names = {only.name};
    module = std::move(only);
  }

  // The module under the name and number of a single one, for the comparison.
  static Module asOne(Module module) {
    module.name = module.names.front();
    module.count = 1;
    return module;
  }

  // Makes a node of equal modules of both.
  static void merge(Module &into, const Module &from) {
    into.names.insert(into.names.end(), from.names.begin(), from.names.end());
    into.name = foldedName(into.names);
    into.count += from.count;
    addWork(into, from);
  }

  // To each part, that of the part in its place.
  static void addWork(Module &into, const Module &from) {
    into.work.add(from.work);
    into.paths.insert(into.paths.end(), from.paths.begin(), from.paths.end());
    for (size_t p = 0; p < into.parts.size(); ++p)
      addWork(into.parts[p], from.parts[p]);
  }

  const plan::Plan &plan_;
  std::vector<ModuleWork> works_; // by tensor
};

// Folds the edges between modules into edges between nodes.
class EdgeFolder {
public:
  explicit EdgeFolder(const std::vector<Module> &modules) {
    for (const Module &module : modules)
      number(module, -1, 0);
  }

  Json fold(const std::vector<ModelEdge> &edges) {
    for (const ModelEdge &edge : edges) {
      const auto from = nodeOf_.find(edge.from), to = nodeOf_.find(edge.to);
      if (from != nodeOf_.end() && to != nodeOf_.end())
        add(edge, from->second, to->second);
    }
    Json result = Json::array();
    for (const Folded &edge : folded_)
      result.push_back(jsonOf(edge));
    return result;
  }

private:
  struct Node {
    int parent;   // -1: none
    size_t parts; // of its name from the root on
  };

  struct Folded {
    int from, to;
    bool areCopies, isSkip = false;
    std::vector<std::string> froms, tos; // modules
    Json values = Json::array();
  };

  // Names have few parts, so that the recursion is shallow.
  void number(const Module &module, int parent, size_t above) {
    const int index = int(nodes_.size());
    nodes_.push_back({parent, above + partsOf(module.name)});
    for (const std::string &path : module.paths)
      nodeOf_[path] = index;
    for (const Module &part : module.parts)
      number(part, index, nodes_[size_t(index)].parts);
  }

  static size_t partsOf(const std::string &name) {
    return size_t(std::ranges::count(name, '.')) + 1;
  }

  void add(const ModelEdge &edge, int from, int to) {
    const bool areCopies = areInCopies(edge, from, to);
    const auto [found, isNew] = foldedOf_.emplace(std::tuple(from, to, areCopies), folded_.size());
    if (isNew)
      folded_.push_back({.from = from, .to = to, .areCopies = areCopies});
    Folded &folded = folded_[found->second];
    folded.isSkip |= edge.isSkip;
    folded.froms.push_back(edge.from);
    folded.tos.push_back(edge.to);
    Json value = {edge.value, edge.bytes, edge.layout, edge.passage};
    while (value.back() == "")
      value.erase(value.size() - 1);
    if (std::ranges::find(folded.values, value) == folded.values.end())
      folded.values.push_back(value);
  }

  // Whether the modules are in different ones of the equal layers of a node around both.
  bool areInCopies(const ModelEdge &edge, int from, int to) const {
    std::set<int> around;
    for (int node = from; node >= 0; node = nodes_[size_t(node)].parent)
      around.insert(node);
    while (to >= 0 && !around.contains(to))
      to = nodes_[size_t(to)].parent;
    const size_t parts = to < 0 ? 0 : nodes_[size_t(to)].parts;
    return beginOf(edge.from, parts) != beginOf(edge.to, parts);
  }

  // The first parts of a name.
  static std::string beginOf(const std::string &name, size_t parts) {
    size_t end = 0;
    for (size_t p = 0; p < parts && end != std::string::npos; ++p)
      end = name.find('.', end + (p > 0));
    return name.substr(0, parts == 0 ? 0 : end);
  }

  static Json jsonOf(const Folded &edge) {
    Json json = {{"from", edge.from},
                 {"to", edge.to},
                 {"names", {foldedName(edge.froms), foldedName(edge.tos)}}};
    if (edge.areCopies)
      json["copies"] = true;
    if (edge.isSkip)
      json["skip"] = true;
    json["values"] = edge.values;
    return json;
  }

  std::vector<Node> nodes_;
  std::map<std::string, int> nodeOf_; // by module
  std::vector<Folded> folded_;
  std::map<std::tuple<int, int, bool>, size_t> foldedOf_;
};

} // namespace

ModelJson modelTree(const plan::Plan &plan) {
  TreeBuilder builder(plan);
  const std::vector<Module> modules = builder.build();
  Json nodes = Json::array();
  for (const Module &module : modules)
    nodes.push_back(builder.jsonOf(module));
  return {.nodes = nodes, .edges = EdgeFolder(modules).fold(modelEdges(plan))};
}

} // namespace cleave::dump
