#include "compiler/planner/report/AxisUse.h"

#include "compiler/planner/model/DimClasses.h"
#include "compiler/planner/model/Products.h"
#include "compiler/planner/report/Places.h"
#include "runtime/base/Units.h"

#include <algorithm>
#include <map>
#include <optional>

namespace cleave::planner {

const char *name(DimUse use) {
  static const char *const names[] = {"batch",      "sequence", "positions",
                                      "vocabulary", "experts",  "features"};
  return names[static_cast<size_t>(use)];
}

namespace {

bool contains(const std::vector<int> &list, int entry) {
  return std::find(list.begin(), list.end(), entry) != list.end();
}

class UseReader {
public:
  UseReader(const StepModel &model, const std::set<int64_t> &vocabularies)
      : model_(model), classes_(model), vocabularies_(vocabularies) {
    useOf_.resize(classes_.limit());
    for (const Argument &argument : model.arguments)
      readInput(argument);
    for (const Argument &argument : model.arguments)
      readParameter(argument);
    for (size_t i = 0; i < model.ops.size(); ++i)
      findExperts(static_cast<int>(i));
  }

  DimUse useOf(int op, size_t factor) const {
    if (const std::optional<DimUse> use = useOf_[classes_.ofFactor(op, factor)])
      return *use;
    return isPosition(model_.ops[op], static_cast<int>(factor)) ? DimUse::Positions
                                                                : DimUse::Features;
  }

private:
  // The use of a class is the first one in the order of DimUse that any member shows.
  void mark(int number, DimUse use) {
    useOf_[number] = std::min(use, useOf_[number].value_or(use));
  }

  void readInput(const Argument &argument) {
    if (argument.role != Role::Input && argument.role != Role::Label)
      return;
    const Value &value = model_.values[argument.value];
    for (size_t d = 0; d < value.shape.size(); ++d)
      if (d == 0)
        mark(classes_.ofDim(argument.value, d), DimUse::Batch);
      else if (!isFloat(value.element))
        mark(classes_.ofDim(argument.value, d), DimUse::Sequence);
  }

  // Dims of parameters that are as long as a vocabulary run over it.
  void readParameter(const Argument &argument) {
    const Value &value = model_.values[argument.value];
    for (size_t d = 0; argument.role == Role::Parameter && d < value.shape.size(); ++d)
      if (vocabularies_.contains(value.shape[d]))
        mark(classes_.ofDim(argument.value, d), DimUse::Vocabulary);
  }

  bool isParameter(int value) const { return parameterBehind(model_, value) != nullptr; }

  // Products of several matrices one of which is a parameter: a matrix per expert.
  void findExperts(int op) {
    const Op &product = model_.ops[op];
    const std::optional<std::vector<FactorUse>> uses = factorUses(product);
    if (!uses || !(isParameter(product.operands[0]) || isParameter(product.operands[1])))
      return;
    for (size_t f = 0; f < uses->size(); ++f)
      if ((*uses)[f] == FactorUse::Batch)
        mark(classes_.ofFactor(op, f), DimUse::Experts);
  }

  // Whether the op repeats the same product with a parameter at every place of the factor.
  bool isPosition(const Op &op, int factor) const {
    if (!op.work.isProduct)
      return false;
    bool reads = false;
    for (size_t v = 0; v < op.operands.size(); ++v) {
      const FactorRule::Dims &dims = op.rule.operands[v];
      const bool has = std::any_of(dims.begin(), dims.end(), [&](const std::vector<int> &dim) {
        return contains(dim, factor);
      });
      if (isParameter(op.operands[v]) && has)
        return false;
      reads |= isParameter(op.operands[v]);
    }
    return reads;
  }

  const StepModel &model_;
  DimClasses classes_;
  std::vector<std::optional<DimUse>> useOf_; // by class
  const std::set<int64_t> &vocabularies_;
};

// The axes that split a parameter wherever the forward and backward pass compute with it.
std::set<int> axesInUse(const StepModel &model, const Decisions &decisions,
                        const Argument &parameter) {
  std::optional<std::set<int>> common;
  std::vector<int> values = {parameter.value};
  while (!values.empty()) {
    const int value = values.back();
    values.pop_back();
    for (const Use &use : model.values[value].uses) {
      const Op &op = model.ops[use.op];
      if (op.part == Part::Update)
        continue;
      if (op.operands.size() == 1) { // a cast or the like
        values.insert(values.end(), op.results.begin(), op.results.end());
        continue;
      }
      const Sharding layout = choiceOf(op, decisions.ops[use.op]).operands[use.operand];
      std::set<int> axes;
      for (const std::vector<int> &dim : layout.dims)
        axes.insert(dim.begin(), dim.end());
      if (common)
        std::erase_if(*common, [&](int axis) { return !axes.contains(axis); });
      else
        common = axes;
    }
  }
  return common.value_or(std::set<int>());
}

// Bytes of all tensors of a role, and per axis of those that are sharded along it.
struct Stored {
  double all = 0;
  std::vector<double> sharded;

  double share(size_t axis) const { return all > 0 ? sharded[axis] / all : 0; }
  void add(double bytes, const Sharding &storage, const std::set<int> &inUse) {
    all += bytes;
    for (const std::vector<int> &axes : storage.dims)
      for (int axis : axes)
        sharded[axis] += inUse.contains(axis) ? 0 : bytes;
  }
};

void readStored(const StepModel &model, const Decisions &decisions, std::vector<AxisUse> &uses) {
  Stored parameters{.sharded = std::vector<double>(uses.size())}, states = parameters;
  std::map<std::string, std::set<int>> inUse; // by parameter
  for (const Argument &argument : model.arguments)
    if (argument.role == Role::Parameter)
      inUse[argument.name] = axesInUse(model, decisions, argument);
  for (size_t i = 0; i < model.arguments.size(); ++i) {
    const Argument &argument = model.arguments[i];
    const auto bytes = static_cast<double>(model.values[argument.value].bytes());
    const Sharding &storage = decisions.arguments[i].storage;
    if (argument.role == Role::Parameter)
      parameters.add(bytes, storage, inUse[argument.name]);
    else if (argument.role == Role::State && !argument.parameter.empty())
      states.add(bytes, storage, inUse[argument.parameter]);
  }
  for (size_t axis = 0; axis < uses.size(); ++axis) {
    uses[axis].parameters = parameters.share(axis);
    uses[axis].states = states.share(axis);
    uses[axis].hasStates = states.all > 0;
  }
}

} // namespace

std::vector<AxisUse> axisUses(const StepModel &model, const Decisions &decisions,
                              const std::set<int64_t> &vocabularies) {
  const UseReader reader(model, vocabularies);
  std::vector<AxisUse> uses(decisions.mesh.axes.size());
  double total = 0;
  for (size_t i = 0; i < model.ops.size(); ++i) {
    const Op &op = model.ops[i];
    if (!op.work.isProduct)
      continue;
    const double flops = op.work.flops * static_cast<double>(op.repeats);
    total += flops;
    for (size_t axis = 0; axis < uses.size(); ++axis) {
      std::array<bool, kDimUses> isSplit{};
      for (size_t f = 0; f < op.rule.factors.size(); ++f)
        if (contains(decisions.ops[i].factors[f], static_cast<int>(axis)))
          isSplit[static_cast<size_t>(reader.useOf(static_cast<int>(i), f))] = true;
      for (size_t use = 0; use < kDimUses; ++use)
        uses[axis].flops[use] += isSplit[use] ? flops : 0;
    }
  }
  for (AxisUse &use : uses)
    for (double &flops : use.flops)
      flops = total > 0 ? flops / total : 0;
  readStored(model, decisions, uses);
  return uses;
}

// The name of an axis, without a number.
static std::string nameFor(const AxisUse &use) {
  auto share = [&](DimUse dim) { return use.flops[static_cast<size_t>(dim)]; };
  const std::pair<const char *, double> names[] = {
      {"dp", share(DimUse::Batch)},
      {"sp", share(DimUse::Sequence) + share(DimUse::Positions)},
      {"ep", share(DimUse::Experts)},
      {"tp", share(DimUse::Features) + share(DimUse::Vocabulary)}};
  return std::max_element(std::begin(names), std::end(names),
                          [](const auto &a, const auto &b) { return a.second < b.second; })
      ->first;
}

Mesh namedByUse(const Mesh &mesh, const std::vector<AxisUse> &uses) {
  std::map<std::string, int> count, number;
  for (const AxisUse &use : uses)
    ++count[nameFor(use)];
  Mesh named = mesh;
  for (size_t axis = 0; axis < uses.size(); ++axis) {
    const std::string name = nameFor(uses[axis]);
    named.axes[axis].name = count[name] == 1 ? name : concat(name, ++number[name]);
  }
  return named;
}

std::string splitText(const AxisUse &use) {
  std::vector<size_t> order;
  for (size_t i = 0; i < kDimUses; ++i)
    if (use.flops[i] >= 5e-4)
      order.push_back(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return use.flops[a] > use.flops[b]; });
  std::string text;
  for (size_t i : order)
    text += concat(text.empty() ? "" : ", ", name(static_cast<DimUse>(i)), " in ",
                   percentText(use.flops[i]));
  return text;
}

// `the batch` if the axis splits nothing else and that in all FLOPs; else empty.
static std::string onlySplit(const AxisUse &use) {
  static const char *const names[] = {"the batch",      "the sequence", "positions",
                                      "the vocabulary", "experts",      "features"};
  const auto most = std::max_element(use.flops.begin(), use.flops.end());
  const auto others = std::count_if(use.flops.begin(), use.flops.end(),
                                    [](double share) { return share >= 1 - kAll; });
  return *most >= kAll && others == 1 ? names[most - use.flops.begin()] : "";
}

// `98.1 % of the parameters`, `all parameters`; empty if there are none. Small parameters, such as
// those of norms, may remain whole.
static std::string shardText(double share, const std::string &what) {
  return share < 1 - kAll    ? ""
         : share >= 1 - 1e-9 ? "all " + what
         : share >= kAll     ? "nearly all " + what
                             : percentText(share) + " of the " + what;
}

std::string text(const AxisUse &use) {
  const std::string only = onlySplit(use), split = splitText(use);
  std::string text = !only.empty()    ? "splits " + only
                     : !split.empty() ? "splits " + split + " of the FLOPs"
                                      : "splits no computation";
  const std::string parameters = shardText(use.parameters, "parameters"),
                    states = shardText(use.states, "optimizer states");
  if (!parameters.empty() || !states.empty())
    text += concat("; shards ", parameters, parameters.empty() || states.empty() ? "" : " and ",
                   states);
  return text;
}

} // namespace cleave::planner
