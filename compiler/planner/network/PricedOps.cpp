// The key by which ops are alike, and their choices.
#include "compiler/planner/network/PricedOps.h"

#include "compiler/planner/network/Computing.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace cleave::planner {

Sharding followedLayout(const StepModel &model, int argument, const OpChoice &readerChoice) {
  return readerChoice.operands[model.values[model.arguments[argument].value].uses[0].operand];
}

// A result's first store begins as the kernel writes it; any other one holds it as it is kept.
static void addHome(const Op &op, int result, const Store &store, bool isFirst,
                    std::vector<Need> &needs) {
  using Kind = Need::Kind;
  if (!isFirst || store.span.begin >= op.runs.end)
    return needs.push_back({Kind::Home, result, 0, store.span});
  if (store.span.end <= op.runs.end)
    return needs.push_back({Kind::Natural, result, 0, store.span});
  needs.push_back({Kind::Natural, result, 0, {store.span.begin, op.runs.end}});
  needs.push_back({Kind::Resolve, result, 0, {op.runs.end, op.runs.end + 1}});
  needs.push_back({Kind::Home, result, 0, {op.runs.end, store.span.end}});
}

std::vector<Need> needsOf(const StepModel &model, const OpContext &context, int index) {
  using Kind = Need::Kind;
  const Op &op = model.ops[index];
  std::vector<Need> needs;
  std::vector<bool> isHoused(op.results.size(), false);
  for (int number : context.storesOfOp[index]) {
    Store store = model.stores[number];
    if (store.value < 0) {
      needs.push_back({Kind::Scratch, 0, store.bytes, store.span});
    } else if (store.operand >= 0) {
      needs.push_back({Kind::Operand, store.operand, 0, store.span});
    } else if (int result = model.values[store.value].result; store.op >= 0) {
      needs.push_back({Kind::Natural, result, 0, store.span}); // before it is copied to its place
    } else {
      if (context.copies)
        store.span.end = std::min(store.span.end, context.copies->homeEnd(store.value));
      addHome(op, result, store, !isHoused[result], needs);
      isHoused[result] = true;
    }
  }
  for (int argument : context.followers[index])
    for (int number : context.storesOfArgument[argument])
      needs.push_back({Kind::Follower, argument, 0, model.stores[number].span});
  return needs;
}

namespace {

// Everything that the prices of an op depend on, as numbers. Lists begin with their length, which
// makes keys unambiguous.
class AlikeKey {
public:
  std::vector<int64_t> words;

  void add(int64_t number) { words.push_back(number); }
  template <typename T> void add(const std::vector<T> &list) {
    add(static_cast<int64_t>(list.size()));
    for (const T &element : list)
      add(element);
  }
  void add(const Factor &factor) {
    add(factor.size.constant().value_or(-1));
    add(static_cast<int64_t>(factor.kind));
    add(static_cast<int64_t>(factor.reduce));
  }
  void add(const FactorRule &rule) {
    add(rule.factors);
    add(rule.operands);
    add(rule.results);
    add(rule.linear);
  }
  void add(const GroupOp &op) {
    add(op.rule);
    add(op.operands);
    add(op.results);
  }
  void add(const Group &group) {
    add(group.dims);
    add(group.ops);
    add(group.arguments);
    add(group.yielded);
  }
  void add(const KernelWork &work) { // its type and bytes follow from the op's values
    add(std::bit_cast<int64_t>(work.flops));
    add(std::bit_cast<int64_t>(work.columns));
    add(std::bit_cast<int64_t>(work.directResults));
    add(std::bit_cast<int64_t>(work.countedShare));
    add(work.isProduct + 2 * work.isAttention + 4 * work.library.has_value() +
        8 * (work.library && work.library->isGradient));
    const AttentionSizes sizes = work.library.value_or(LibraryAttention()).sizes;
    for (int64_t size : {sizes.queries, sizes.keys, sizes.width, sizes.depth, work.grouped.rows,
                         work.grouped.inputs, work.grouped.outputs, work.grouped.groups})
      add(size);
  }
  void add(const Move &move) {
    add(static_cast<int64_t>(move.kind));
    add(move.operand);
    add(move.result);
    add(std::bit_cast<int64_t>(move.share));
    add(move.times);
  }
  void add(const ProductOrders &product) { // its dims are in the rule
    add(product.lhs);
    add(product.rhs);
    add(product.out);
  }
  template <typename T> void add(const std::optional<T> &part) {
    add(part.has_value());
    if (part)
      add(*part);
  }
  void addAway(const Value &value) {
    add(static_cast<int64_t>(value.space));
    add(value.awayCopies);
  }
  void add(const Sharding &layout) { add(layout.dims); } // of what is no partial sum
  void add(const Value &value) {
    add(value.shape);
    add(static_cast<int64_t>(value.element));
  }
};

} // namespace

// Whether the work of a reader depends on how its producer writes the value.
static bool decidesOnReader(const StepModel &model, int value) {
  const std::vector<Use> &uses = model.values[value].uses;
  return std::any_of(uses.begin(), uses.end(),
                     [&](const Use &use) { return model.ops[use.op].dependsOnProducer(); });
}

std::vector<int64_t> PricedOps::keyOf(int index) const {
  const Op &op = model_.ops[index];
  AlikeKey key;
  key.add(op.rule);
  key.add(op.group != nullptr);
  if (op.group)
    key.add(*op.group);
  key.add(op.work);
  key.add(op.sparseOperands);
  key.add(op.repeats);
  key.add(op.hasKernel + 2 * op.isAccumulate + 4 * op.addsToSum + 8 * op.isAddedByProducer);
  key.add(op.triangle ? op.triangle->first : -1);
  key.add(op.triangle ? op.triangle->second : -1);
  key.add(op.moves);
  key.add(op.product);
  key.add(op.copiesBehindProducer);
  key.add(op.copyOrder);
  for (int value : op.operands)
    key.add(model_.values[value]);
  for (int value : op.results) {
    key.add(model_.values[value]);
    key.add(context_.leaves[value]);
    key.add(isReadLate(model_, model_.values[value]) + 2 * decidesOnReader(model_, value));
    key.addAway(model_.values[value]);
  }
  key.add(static_cast<int64_t>(context_.followers[index].size()));
  for (int argument : context_.followers[index]) {
    const Argument &follower = model_.arguments[argument];
    key.add(model_.values[follower.value].uses[0].operand);
    key.add(follower.output < 0 ? -1 : model_.values[model_.outputs[follower.output].value].result);
    key.addAway(model_.values[follower.value]);
  }
  for (const Need &need : needsOf(model_, context_, index)) {
    key.add(static_cast<int64_t>(need.kind));
    key.add(need.kind == Need::Kind::Follower ? 0 : need.index);
    key.add(need.bytes);
  }
  key.add(pins_.restrictionOf(model_, index));
  return std::move(key.words);
}

std::shared_ptr<const PricedOp> PricedOps::of(int op, const Listing &listing) {
  int &number = numberOf_[op];
  if (number < 0) {
    const auto [entry, isNew] = numbers_.try_emplace(keyOf(op), static_cast<int>(all_.size()));
    number = entry->second;
    if (isNew)
      all_.push_back(enumerate(op));
  }
  Enumerated &all = all_[number];
  const ListKey key = {number};
  const size_t most = listing.sizeOf(key, listing.limits.perOp);
  if (!all.last || all.listed != most) {
    all.last = std::make_shared<PricedOp>(list(model_.ops[op], all, key, most));
    all.listed = most;
  }
  return all.last;
}

// Whether the new values of the op's followers have the layouts that the followers live in.
bool PricedOps::keepsFollowers(int op, const OpChoice &choice) const {
  for (int argument : context_.followers[op]) {
    Sharding layout = followedLayout(model_, argument, choice);
    if (!layout.partial.empty())
      return false;
    int output = model_.arguments[argument].output;
    if (output < 0)
      continue;
    const Value &value = model_.values[model_.outputs[output].value];
    if (choice.results[value.result] != layout)
      return false;
  }
  return true;
}

double PricedOps::secondsOf(int index, const OpChoice &choice) {
  const Op &op = model_.ops[index];
  const double completions = static_cast<double>(op.completions());
  double seconds = costs_.kernels(op, choice) + completions * costs_.resolve(op, choice);
  for (size_t i = 0; i < op.results.size(); ++i)
    seconds += costs_.away(op.results[i], choice.results[i]);
  for (int argument : context_.followers[index])
    seconds +=
        costs_.away(model_.arguments[argument].value, followedLayout(model_, argument, choice));
  for (size_t i = 0; i < op.results.size(); ++i)
    for (const std::optional<Sharding> &layout : context_.leaves[op.results[i]]) {
      Sharding whole = choice.results[i];
      whole.partial.clear();
      seconds +=
          completions * costs_.reshard(op.results[i], choice.results[i], layout.value_or(whole));
    }
  return seconds;
}

int64_t PricedOps::bytesOf(const Op &op, const Need &need, const OpChoice &choice) const {
  const Mesh &mesh = costs_.mesh();
  auto value = [&](const std::vector<int> &list) -> const Value & {
    return model_.values[list[need.index]];
  };
  switch (need.kind) {
  case Need::Kind::Natural:
    if (op.addsToSum && choice.natural[need.index] == choice.results[need.index])
      return 0; // the product is added to the sum, which has its own need
    return storedBytes(value(op.results), choice.natural[need.index], mesh);
  case Need::Kind::Home:
    return storedBytes(value(op.results), choice.results[need.index], mesh);
  case Need::Kind::Resolve:
    return costs_.changeBytes(op.results[need.index], choice.natural[need.index],
                              choice.results[need.index], /*isKept=*/false);
  case Need::Kind::Operand:
    return storedBytes(value(op.operands), choice.operands[need.index], mesh);
  case Need::Kind::Scratch:
    return op.work.flops > 0
               ? static_cast<int64_t>(static_cast<double>(need.bytes) / op.work.flops *
                                      localFlops(op, choice.factors, mesh))
               : need.bytes;
  case Need::Kind::Follower:
    return storedBytes(model_.values[model_.arguments[need.index].value],
                       followedLayout(model_, need.index, choice), mesh);
  }
  return 0;
}

std::vector<int64_t> PricedOps::bytesOf(int index, const OpChoice &choice) const {
  std::vector<int64_t> bytes;
  for (const Need &need : needsOf(model_, context_, index))
    bytes.push_back(bytesOf(model_.ops[index], need, choice));
  return bytes;
}

// The numbers of a choice's layouts: of operands, of results, and of those results as the kernel
// writes them on which a copy depends.
static std::vector<int> numbersOf(const Op &op, const OpChoice &choice, Costs &costs) {
  std::vector<int> numbers;
  for (const Sharding &layout : choice.operands)
    numbers.push_back(costs.number(layout));
  for (const Sharding &layout : choice.results)
    numbers.push_back(costs.number(layout));
  for (size_t i = 0; i < op.results.size(); ++i)
    if (op.dependsOnProducer() || decidesOnReader(costs.model(), op.results[i]))
      numbers.push_back(costs.number(choice.natural[i]));
  return numbers;
}

PricedOps::Enumerated PricedOps::enumerate(int index) {
  const Op &op = model_.ops[index];
  Enumerated all;
  all.choices = enumerateOp(op, model_, costs_.mesh());
  std::erase_if(all.choices,
                [&](const OpChoice &choice) { return !keepsFollowers(index, choice); });
  all.pinEffect.before = all.choices.size();
  pins_.restrictOp(model_, index, costs_.mesh(), all.choices);
  all.pinEffect.after = all.choices.size();
  for (OpChoice &choice : all.choices) {
    choice.isZigzag = isFasterInZigzag(costs_, op, choice);
    all.priced.push_back({"", secondsOf(index, choice), bytesOf(index, choice)});
    all.layouts.push_back(numbersOf(op, choice, costs_));
  }
  return all;
}

PricedOp PricedOps::list(const Op &op, const Enumerated &all, const ListKey &key, size_t most) {
  PricedOp priced;
  priced.pinEffect = all.pinEffect;
  Listed list = listChoices(all.priced, all.layouts, key, most);
  for (size_t i = 0; i < op.operands.size(); ++i)
    priced.operands.push_back(layoutsOf(list, all.layouts, i));
  for (size_t i = 0; i < op.results.size(); ++i)
    priced.results.push_back(layoutsOf(list, all.layouts, op.operands.size() + i));
  for (size_t i : list.listed)
    priced.choices.push_back(all.choices[i]);
  priced.isTaken.resize(list.priced.empty() ? 0 : list.priced[0].bytes.size());
  for (const solver::Choice &choice : list.priced)
    for (size_t need = 0; need < priced.isTaken.size(); ++need)
      priced.isTaken[need] = priced.isTaken[need] || choice.bytes[need] > 0;
  priced.priced = std::move(list.priced);
  priced.rest = std::move(list.rest);
  return priced;
}

} // namespace cleave::planner
