// Nodes, edges and memory of the cost network.
#include "compiler/planner/network/PlanProblem.h"

#include "compiler/planner/choices/Meshes.h"
#include "compiler/planner/network/EdgeCosts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

namespace cleave::planner {

// Copies of values that are smaller than the budget by this factor are not counted.
static constexpr int64_t kBudgetPerCopy = 256;

// Builds one network after the other; what does not depend on the lists is computed once.
class NetworkBuilder {
public:
  NetworkBuilder(Costs &costs, const Pins &pins, const Budget &budget)
      : costs_(costs), model_(costs.model()), mesh_(costs.mesh()), pins_(pins), budget_(budget),
        priced_(costs, pins, context_), edgeCosts_(costs) {
    context_.leaves.resize(model_.values.size());
    for (const Output &output : model_.outputs) {
      auto &leaves = context_.leaves[output.value];
      if (output.argument < 0 &&
          std::find(leaves.begin(), leaves.end(), output.layout) == leaves.end())
        leaves.push_back(output.layout);
    }
    findStores();
    findFollowers();
  }

  PlanProblem build(const Listing &listing) {
    clear();
    for (size_t i = 0; i < model_.ops.size(); ++i)
      result_.priced.push_back(priced_.of(static_cast<int>(i), listing));
    keepHomes();
    for (size_t i = 0; i < model_.ops.size(); ++i)
      addOpNode(static_cast<int>(i));
    for (size_t i = 0; i < model_.arguments.size(); ++i)
      addArgumentNode(static_cast<int>(i), listing);
    addCoordinates();
    for (size_t v = 0; v < model_.values.size(); ++v)
      addEdges(static_cast<int>(v));
    for (const Op &op : model_.ops)
      if (op.dependsOnProducer())
        addProducerEdge(op);
    for (const Output &output : model_.outputs)
      addReturnEdge(output);
    result_.pricedCount = priced_.count();
    return std::move(result_);
  }

private:
  // Forgets the network before.
  void clear() {
    const size_t arguments = model_.arguments.size();
    result_ = {};
    result_.network.name = "step";
    result_.network.spaces = {{"device", budget_.ofSpace()}};
    result_.argumentNode.assign(arguments, -1);
    result_.argumentChoices.resize(arguments);
    result_.argumentNeeds.resize(arguments);
    result_.argumentPinEffects.resize(arguments);
    stored_.assign(arguments, {});
    used_.assign(arguments, {});
    producerTables_.clear();
    if (budget_.isLimited())
      context_.copies.emplace(model_, budget_.bytes() / kBudgetPerCopy);
  }

  // -- followers: arguments that live in the layout that their only reader wants -----------------

  void findFollowers() {
    context_.followers.resize(model_.ops.size());
    for (size_t i = 0; i < model_.arguments.size(); ++i) {
      const Argument &argument = model_.arguments[i];
      const std::vector<Use> &uses = model_.values[argument.value].uses;
      const bool isPinned =
          argument.layout || pins_.ruleFor(model_, static_cast<int>(i)) != nullptr;
      if (argument.role == Role::Parameter || uses.size() != 1 || isPinned)
        continue;
      const Op &reader = model_.ops[uses[0].op];
      bool returnsIt = argument.output >= 0 &&
                       model_.values[model_.outputs[argument.output].value].producer == uses[0].op;
      if (reader.operands.size() && (argument.output < 0 || returnsIt))
        context_.followers[uses[0].op].push_back(static_cast<int>(i));
    }
  }
  bool isFollower(int argument) const {
    const std::vector<Use> &uses = model_.values[model_.arguments[argument].value].uses;
    if (uses.size() != 1)
      return false;
    const std::vector<int> &list = context_.followers[uses[0].op];
    return std::find(list.begin(), list.end(), argument) != list.end();
  }

  // -- stores -------------------------------------------------------------------------------------

  void findStores() {
    context_.storesOfOp.resize(model_.ops.size());
    context_.storesOfArgument.resize(model_.arguments.size());
    for (size_t i = 0; i < model_.stores.size(); ++i) {
      const Store &store = model_.stores[i];
      int op = store.op >= 0 ? store.op : model_.values[store.value].producer;
      std::vector<int> &stores =
          op >= 0 ? context_.storesOfOp[op]
                  : context_.storesOfArgument[model_.values[store.value].argument];
      stores.push_back(static_cast<int>(i));
    }
  }

  // The rank's coordinates, one i64 per axis. A program of several ranks holds them at all times.
  void addCoordinates() {
    if (mesh_.ranks() == 1)
      return;
    Value numbers{.shape = {static_cast<int64_t>(mesh_.axes.size())}, .element = ElementType::I64};
    int64_t bytes = storedBytes(numbers, Sharding::replicated(1), mesh_);
    result_.network.nodes.push_back({"coordinates", {{0, model_.instants, 0}}, {{"", 0, {bytes}}}});
  }

  // Copies take the place of a value only if some reader may want one.
  void keepHomes() {
    for (size_t v = 0; context_.copies && v < model_.values.size(); ++v) {
      const Value &value = model_.values[v];
      const int index = static_cast<int>(v);
      if (value.producer >= 0 && value.uses.size() > 0 &&
          copiedLayouts(index, result_.priced[value.producer]->results[value.result].all(),
                        value.uses, 1)
              .empty())
        context_.copies->keepHome(index);
    }
  }

  // -- ops ----------------------------------------------------------------------------------------

  void addOpNode(int index) {
    const PricedOp &kind = *result_.priced[index];
    const std::vector<Need> &needs = result_.needs.emplace_back(needsOf(model_, context_, index));
    result_.network.nodes.push_back({model_.ops[index].name, opUsages(needs, kind), kind.priced});
    if (kind.rest.choice >= 0)
      result_.rests[index] = kind.rest;
  }

  // When the op's choice takes memory: never where no choice takes any, which saves memory rows.
  static std::vector<solver::Usage> opUsages(const std::vector<Need> &needs, const PricedOp &kind) {
    std::vector<solver::Usage> usages;
    for (size_t i = 0; i < needs.size(); ++i) {
      const Span &span = needs[i].span;
      const bool isTaken = !kind.isTaken.empty() && kind.isTaken[i];
      usages.push_back({span.begin, isTaken ? span.end : span.begin, 0});
    }
    return usages;
  }

  // -- arguments ----------------------------------------------------------------------------------

  // Leaves the choices with this layout between steps.
  static void keepStored(const Sharding &layout, std::vector<ArgumentChoice> &choices) {
    std::erase_if(choices, [&](const ArgumentChoice &choice) { return choice.storage != layout; });
    if (choices.empty())
      choices = {{layout, layout}};
  }

  void addArgumentNode(int index, const Listing &listing) {
    const Argument &argument = model_.arguments[index];
    if (isFollower(index))
      return;
    const Value &value = model_.values[argument.value];
    bool isParameter = argument.role == Role::Parameter;
    std::vector<Sharding> wanted;
    for (const Use &use : value.uses)
      if (!isParameter || model_.ops[use.op].part != Part::Update)
        for (int layout : operandLayouts(use).all())
          wanted.push_back(costs_.layout(layout));
    std::array<solver::Usage, 2> gathered = {partInterval(value, Part::Forward),
                                             partInterval(value, Part::Backward)};
    const solver::Usage between{gathered[0].end, gathered[1].begin, 0};
    std::vector<ArgumentChoice> choices =
        enumerateArgument(value.shape, mesh_, wanted, isParameter);
    if (!isEmpty(gathered[0]) && !isEmpty(gathered[1]))
      addKept(choices);
    PinEffect &effect = result_.argumentPinEffects[index];
    effect.before = choices.size();
    if (argument.layout)
      keepStored(*argument.layout, choices);
    else
      pins_.restrictArgument(model_, index, mesh_, choices);
    effect.after = choices.size();
    solver::Node node;
    node.name = argument.name;
    node.usages = {gathered[0], gathered[1], beginOf(gathered[0]), beginOf(gathered[1]), between};
    for (int store : context_.storesOfArgument[index])
      node.usages.push_back({model_.stores[store].span.begin, model_.stores[store].span.end, 0});
    using enum ArgumentNeed;
    std::vector<ArgumentNeed> &needs = result_.argumentNeeds[index];
    needs = {Copy, Copy, Change, Change, KeptCopy};
    needs.resize(node.usages.size(), Store);
    listArgument(index, gathered, std::move(choices), listing, node);
    result_.argumentNode[index] = static_cast<int>(result_.network.nodes.size());
    result_.network.nodes.push_back(std::move(node));
  }

  // Every gathered copy may be kept from the forward to the backward part.
  static void addKept(std::vector<ArgumentChoice> &choices) {
    const size_t count = choices.size();
    for (size_t i = 0; i < count; ++i)
      if (choices[i].isGathered()) {
        choices.push_back(choices[i]);
        choices.back().staysGathered = true;
      }
  }
  static bool isEmpty(const solver::Usage &usage) { return usage.begin >= usage.end; }

  // Prices the choices of an argument and lists them in its node. Arguments of one shape list
  // equally many.
  void listArgument(int index, const std::array<solver::Usage, 2> &gathered,
                    std::vector<ArgumentChoice> all, const Listing &listing, solver::Node &node) {
    const std::vector<int64_t> &shape = model_.values[model_.arguments[index].value].shape;
    std::vector<solver::Choice> priced;
    LayoutNumbers layouts;
    for (const ArgumentChoice &choice : all) {
      priced.push_back(argumentChoice(index, choice, gathered));
      layouts.push_back({costs_.number(choice.storage), costs_.number(choice.compute)});
    }
    ListKey key = {-1};
    key.insert(key.end(), shape.begin(), shape.end());
    Listed list =
        listChoices(priced, layouts, key, listing.sizeOf(key, listing.limits.perArgument));
    if (list.rest.choice >= 0)
      result_.rests[static_cast<int>(result_.network.nodes.size())] = list.rest;
    node.choices = std::move(list.priced);
    stored_[index] = layoutsOf(list, layouts, 0);
    used_[index] = layoutsOf(list, layouts, 1);
    for (size_t i : list.listed)
      result_.argumentChoices[index].push_back(std::move(all[i]));
  }

  // From the first to the last reader of that part; empty if there is none.
  solver::Usage partInterval(const Value &value, Part part) const {
    solver::Usage usage{model_.instants, 0, 0};
    for (const Use &use : value.uses)
      if (model_.ops[use.op].part == part) {
        usage.begin = std::min<int64_t>(usage.begin, model_.ops[use.op].runs.begin - 1);
        usage.end = std::max<int64_t>(usage.end, model_.ops[use.op].runs.end);
      }
    return usage.end == 0 ? solver::Usage{0, 0, 0} : usage;
  }

  // The first instant of a usage: when the copy that it stands for is made.
  static solver::Usage beginOf(const solver::Usage &usage) {
    return {usage.begin, std::min(usage.begin + 1, usage.end), usage.space};
  }

  // The choice of an argument's node; its bytes are the argument's needs.
  solver::Choice argumentChoice(int index, const ArgumentChoice &choice,
                                const std::array<solver::Usage, 2> &gathered) {
    int v = model_.arguments[index].value;
    const Value &value = model_.values[v];
    int64_t copy = choice.isGathered() ? storedBytes(value, choice.compute, mesh_) : 0;
    double seconds = costs_.replacement(model_.arguments[index], choice.storage) +
                     costs_.away(v, choice.storage);
    int64_t repeats = 1; // of its readers but the updates
    for (const Use &use : value.uses)
      repeats = std::max(repeats, model_.ops[use.op].repeats);
    for (const solver::Usage &usage : gathered)
      if (choice.isGathered() && !isEmpty(usage) &&
          !(choice.staysGathered && &usage == &gathered[1]))
        seconds += static_cast<double>(repeats) * costs_.reshard(v, choice.storage, choice.compute);
    int64_t change = costs_.changeBytes(v, choice.storage, choice.compute, /*isKept=*/true);
    const bool isKept = choice.staysGathered;
    std::vector<int64_t> bytes = {copy, copy, change, isKept ? 0 : change, isKept ? copy : 0};
    bytes.resize(result_.argumentNeeds[index].size(), storedBytes(value, choice.storage, mesh_));
    return {"", seconds, std::move(bytes)};
  }

  // -- edges --------------------------------------------------------------------------------------

  // An edge for a value between its producer and a reader that runs `times` per step.
  void addEdge(int value, int from, const LayoutSet &made, int to, const LayoutSet &wanted,
               double times) {
    solver::CostTable seconds = edgeCosts_.between(value, made, wanted, times);
    if (!seconds.empty())
      result_.network.edges.push_back({from, to, std::move(seconds)});
  }

  const LayoutSet &operandLayouts(const Use &use) const {
    return result_.priced[use.op]->operands[use.operand];
  }

  // The edges from the producer of a value (op or argument) to all its readers.
  void addEdges(int index) {
    const Value &value = model_.values[index];
    int node = value.producer >= 0 ? value.producer : result_.argumentNode[value.argument];
    if (node < 0)
      return;
    const LayoutSet &made = value.producer >= 0
                                ? result_.priced[value.producer]->results[value.result]
                                : used_[value.argument];
    std::map<Part, std::vector<Use>> readers;
    for (const Use &use : value.uses)
      readers[model_.ops[use.op].part].push_back(use);
    for (const auto &[part, uses] : readers)
      addReaders(index, part, node,
                 value.argument >= 0 && part == Part::Update ? stored_[value.argument] : made,
                 uses);
  }

  double repeats(const Use &use) const { return static_cast<double>(model_.ops[use.op].repeats); }

  // Readers in one part of the step share a layout change: where several may want the same layout,
  // or copies are counted, a node between them and the producer chooses the layout that they read.
  void addReaders(int value, Part part, int node, const LayoutSet &made,
                  const std::vector<Use> &uses) {
    const std::optional<CopySpan> memory =
        context_.copies ? context_.copies->of(value, part) : std::nullopt;
    const std::vector<int> asMade = made.all();
    std::set<int> layouts;
    if (memory || uses.size() > 1)
      layouts = copiedLayouts(value, asMade, uses, memory ? 1 : 2);
    const bool isCounted = memory && (!layouts.empty() || memory->replacesHome);
    LayoutSet read = made;
    if (!layouts.empty() || isCounted) {
      CopyNode &chosen = result_.copies.emplace_back(CopyNode{.value = value, .part = part});
      layouts.insert(asMade.begin(), asMade.end());
      read = addCopyNode({value, node, repeats(uses[0])}, made, layouts, memory);
      node = chosen.node = lastNode();
      for (int layout : read.ofChoice)
        chosen.layouts.push_back(costs_.layout(read.layouts[layout]));
    }
    for (const Use &use : uses)
      if (isCounted)
        addCountedReader(value, node, read, use, uses.size() > 1);
      else
        addEdge(value, node, read, use.op, operandLayouts(use), repeats(use));
  }

  int lastNode() const { return static_cast<int>(result_.network.nodes.size()) - 1; }

  // A reader takes what the node before it chooses. One of several readers may take a copy of its
  // own, which another node chooses.
  void addCountedReader(int value, int node, const LayoutSet &read, const Use &use, bool mayCopy) {
    LayoutSet found = read;
    const std::vector<int> wanted = operandLayouts(use).all();
    if (mayCopy && (wanted.size() > 1 || read.layouts.size() > 1)) {
      const CopySpan span{context_.copies->ofUse(model_, use), false};
      found = addCopyNode({value, node, repeats(use)}, read, {wanted.begin(), wanted.end()}, span);
      node = lastNode();
    }
    const std::vector<bool> asFound(found.ofChoice.size(), true);
    addHomes(use.op, operandLayouts(use), node, found, asFound);
  }

  // The way of a value from a node to a node that chooses a copy: `times` per step.
  struct Way {
    int value = 0, from = 0;
    double times = 1;
  };

  // Adds a node whose choices are the layouts, and the edge to it. Where memory is counted, a
  // choice is either to read the value as it is found, in the layout that it has, or to make a
  // copy. Returns the layouts of the choices.
  LayoutSet addCopyNode(const Way &way, const LayoutSet &made, const std::set<int> &layouts,
                        const std::optional<CopySpan> &memory) {
    LayoutSet read;
    std::vector<bool> asFound;
    solver::Node node{result_.network.nodes[way.from].name + ", as read", {}, {}};
    auto add = [&](int layout, bool isFound, int64_t bytes) {
      read.add(layout);
      asFound.push_back(isFound);
      node.choices.push_back(
          {"", 0, memory ? std::vector<int64_t>{bytes} : std::vector<int64_t>()});
    };
    const std::vector<int> asMade = made.all();
    for (int layout : layouts) {
      const int64_t bytes = storedBytes(model_.values[way.value], costs_.layout(layout), mesh_);
      const bool isMade = std::find(asMade.begin(), asMade.end(), layout) != asMade.end();
      const bool isCounted = memory && !memory->replacesHome;
      if (isCounted && isMade)
        add(layout, true, 0);
      if (!isCounted || !isMade || asMade.size() > 1)
        add(layout, false, bytes);
    }
    if (memory)
      node.usages = {{memory->span.begin, memory->span.end, 0}};
    result_.network.nodes.push_back(std::move(node));
    addEdge(way.value, way.from, made, lastNode(), read, way.times);
    addHomes(way.from, made, lastNode(), read, asFound);
    return read;
  }

  // Forbids choices that read a value as it is found in a layout that it does not have there.
  void addHomes(int from, const LayoutSet &made, int to, const LayoutSet &read,
                const std::vector<bool> &asFound) {
    if (solver::CostTable homes = edgeCosts_.homes(made, read, asFound); !homes.empty())
      result_.network.edges.push_back({from, to, std::move(homes)});
  }

  // The layouts that at least `least` readers may want and that a layout change with costs
  // produces.
  std::set<int> copiedLayouts(int value, const std::vector<int> &asMade,
                              const std::vector<Use> &uses, int least) {
    std::map<int, int> wanted; // how many readers
    for (const Use &use : uses)
      for (int layout : operandLayouts(use).all())
        ++wanted[layout];
    std::set<int> copied;
    for (auto [layout, readers] : wanted) {
      bool takesTime = std::any_of(asMade.begin(), asMade.end(), [&, to = layout](int from) {
        double seconds = costs_.reshard(value, from, to);
        return seconds > 0 && seconds < solver::kForbidden;
      });
      if (readers >= least && takesTime)
        copied.insert(layout);
    }
    return copied;
  }

  // The edge for work that depends on the layouts of an op and of its producer. The rest of a node
  // takes none of it.
  void addProducerEdge(const Op &reader) {
    const Value &operand = model_.values[reader.operands[0]];
    const int to = model_.values[reader.results[0]].producer;
    const PricedOp &made = *result_.priced[operand.producer], &read = *result_.priced[to];
    auto [entry, isNew] = producerTables_.try_emplace({&made, operand.result, &read});
    if (isNew) {
      std::vector<double> seconds(made.priced.size() * read.priced.size(), 0);
      for (size_t m = 0; m < made.choices.size(); ++m)
        for (size_t r = 0; r < read.choices.size(); ++r)
          seconds[m * read.priced.size() + r] =
              costs_.afterProducer(made.choices[m], reader, read.choices[r]);
      entry->second = std::move(seconds);
    }
    result_.network.edges.push_back({operand.producer, to, entry->second});
  }

  // The edge from the producer of an argument's new value to the argument.
  void addReturnEdge(const Output &output) {
    int producer = model_.values[output.value].producer;
    int node = output.argument < 0 ? -1 : result_.argumentNode[output.argument];
    if (producer < 0 || node < 0)
      return;
    const LayoutSet &made = result_.priced[producer]->results[model_.values[output.value].result];
    addEdge(output.value, producer, made, node, stored_[output.argument], 1);
  }

  Costs &costs_;
  const StepModel &model_;
  const Mesh &mesh_;
  const Pins &pins_;
  const Budget budget_;
  PlanProblem result_;
  std::vector<LayoutSet> stored_, used_; // per argument with a node, of its choices
  OpContext context_;
  PricedOps priced_;
  EdgeCosts edgeCosts_;
  // Tables of addProducerEdge(), by the producer, its result, and the op.
  std::map<std::tuple<const PricedOp *, int, const PricedOp *>, solver::CostTable> producerTables_;
};

ProblemBuilder::ProblemBuilder(Costs &costs, const Pins &pins, const Budget &budget)
    : costs_(costs), pins_(pins), builder_(std::make_unique<NetworkBuilder>(costs, pins, budget)) {}

ProblemBuilder::~ProblemBuilder() = default;

Result<PlanProblem> ProblemBuilder::build(const Listing &listing) {
  PlanProblem problem = builder_->build(listing);
  for (const solver::Node &node : problem.network.nodes)
    if (node.choices.empty())
      return Status::infeasible("no way is left to place ", node.name, " on the mesh ",
                                costs_.mesh().str(),
                                pins_.name().empty() ? "" : " under the pins of ", pins_.name());
  return problem;
}

Result<PlanProblem> buildProblem(Costs &costs, const Pins &pins, const Budget &budget,
                                 const Listing &listing) {
  return ProblemBuilder(costs, pins, budget).build(listing);
}

} // namespace cleave::planner
