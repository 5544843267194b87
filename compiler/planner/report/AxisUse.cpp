#include "compiler/planner/report/AxisUse.h"

#include "compiler/planner/model/DimClasses.h"
#include "compiler/planner/model/Products.h"
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

bool isProductLike(const Op &op) { return op.isProduct || op.isAttention; }

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

  // The argument from which a value follows without a choice: by casts, views and the like.
  const Argument *argumentOf(int value) const {
    while (model_.values[value].producer >= 0) {
      const Op &op = model_.ops[model_.values[value].producer];
      if (op.operands.size() != 1)
        return nullptr;
      value = op.operands[0];
    }
    const int argument = model_.values[value].argument;
    return argument < 0 ? nullptr : &model_.arguments[argument];
  }

  bool isParameter(int value) const {
    const Argument *argument = argumentOf(value);
    return argument && argument->role == Role::Parameter;
  }

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
    if (!op.isProduct)
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

// Bytes of all tensors of a role, and of those that an axis splits in store only.
struct Stored {
  double all = 0, split = 0;
  double share() const { return all > 0 ? split / all : 0; }
};

bool splits(const Sharding &layout, int axis) {
  return std::any_of(layout.dims.begin(), layout.dims.end(),
                     [&](const std::vector<int> &axes) { return contains(axes, axis); });
}

// Of a state, `compute` is the layout in which its parameter is read.
void readStored(const StepModel &model, const Decisions &decisions, int axis, AxisUse &use) {
  Stored parameters, states;
  for (size_t i = 0; i < model.arguments.size(); ++i) {
    const Argument &argument = model.arguments[i];
    const double bytes = static_cast<double>(model.values[argument.value].bytes());
    const bool isStored = splits(decisions.arguments[i].storage, axis);
    if (argument.role == Role::Parameter) {
      parameters.all += bytes;
      parameters.split += isStored && !splits(decisions.arguments[i].compute, axis) ? bytes : 0;
    } else if (argument.role == Role::State && !argument.parameter.empty()) {
      states.all += bytes;
      const auto owner =
          std::find_if(model.arguments.begin(), model.arguments.end(),
                       [&](const Argument &other) { return other.name == argument.parameter; });
      const bool isSplit =
          owner != model.arguments.end() &&
          splits(decisions.arguments[owner - model.arguments.begin()].compute, axis);
      states.split += isStored && !isSplit ? bytes : 0;
    }
  }
  use.parameters = parameters.share();
  use.states = states.share();
}

} // namespace

std::vector<AxisUse> axisUses(const StepModel &model, const Decisions &decisions,
                              const std::set<int64_t> &vocabularies) {
  const UseReader reader(model, vocabularies);
  std::vector<AxisUse> uses(decisions.mesh.axes.size());
  double total = 0;
  for (size_t i = 0; i < model.ops.size(); ++i) {
    const Op &op = model.ops[i];
    if (!isProductLike(op))
      continue;
    const double flops = op.flops * static_cast<double>(op.repeats);
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
  for (size_t axis = 0; axis < uses.size(); ++axis) {
    for (double &flops : uses[axis].flops)
      flops = total > 0 ? flops / total : 0;
    readStored(model, decisions, static_cast<int>(axis), uses[axis]);
  }
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

std::string text(const AxisUse &use) {
  const std::string split = splitText(use);
  std::string text =
      split.empty() ? "splits no product" : "splits " + split + " of the FLOPs of products";
  std::string stored;
  if (use.parameters > 0)
    stored = percentText(use.parameters) + " of the parameters";
  if (use.states > 0)
    stored += (stored.empty() ? "" : " and ") + percentText(use.states) + " of the states";
  return stored.empty() ? text : text + "; a rank stores only its part of " + stored + " (ZeRO)";
}

} // namespace cleave::planner
