// Assignment of ops to the parts of the step.
#include "compiler/planner/model/StepModel.h"

#include <algorithm>

namespace cleave::planner {

int64_t Value::bytes() const {
  int64_t count = byteSize(element);
  for (int64_t size : shape)
    count *= size;
  return count;
}

const char *name(Part part) {
  static const char *const names[] = {"forward", "backward", "update"};
  return names[static_cast<int>(part)];
}

const std::string &nameOf(const StepModel &model, int value) {
  const Value &plain = model.values[value];
  return plain.producer >= 0 ? model.ops[plain.producer].name
                             : model.arguments[plain.argument].name;
}

int64_t inFlightOf(const StepModel &model, const Op &op) {
  const auto chunk = static_cast<size_t>(op.chunk);
  return chunk < model.inFlight.size() ? model.inFlight[chunk] : 1;
}

bool readsParametersOnly(const StepModel &model, const Op &op) {
  return std::all_of(op.operands.begin(), op.operands.end(), [&](int value) {
    const int argument = model.values[value].argument;
    return argument >= 0 && model.arguments[argument].role == Role::Parameter;
  });
}

namespace {

// Which arguments depend on the results of an op: none, one parameter with its state (the index of
// its argument), or several.
constexpr int kNothing = -1, kSeveral = -2;

int join(int a, int b) {
  if (a == kNothing || a == b)
    return b;
  return b == kNothing ? a : kSeveral;
}

class Classifier {
public:
  explicit Classifier(StepModel &model) : model_(model) {}

  void run() {
    isForward_.assign(model_.ops.size(), false);
    markForward();
    findOwners();
    for (size_t i = 0; i < model_.ops.size(); ++i)
      model_.ops[i].part = isForward_[i]                                ? Part::Forward
                           : !model_.ops[i].isRecomputed && isUpdate(i) ? Part::Update
                                                                        : Part::Backward;
  }

private:
  void markForward() {
    std::vector<bool> needed(model_.values.size(), false);
    for (const Output &output : model_.outputs)
      if (output.role == Role::Loss || output.role == Role::Output || output.isSentForward)
        needed[output.value] = true;
    for (size_t i = model_.ops.size(); i-- > 0;) {
      const Op &op = model_.ops[i];
      isForward_[i] =
          std::any_of(op.results.begin(), op.results.end(), [&](int v) { return needed[v]; });
      if (isForward_[i])
        for (int v : op.operands)
          needed[v] = true;
    }
  }

  // The parameter that an argument is or belongs to, as the index of the parameter's argument.
  int ownerOf(int argument) const {
    const Argument &arg = model_.arguments[argument];
    if (arg.role == Role::Parameter)
      return argument;
    for (size_t i = 0; i < model_.arguments.size(); ++i)
      if (model_.arguments[i].role == Role::Parameter && model_.arguments[i].name == arg.parameter)
        return static_cast<int>(i);
    return kSeveral;
  }

  void findOwners() {
    endsIn_.assign(model_.values.size(), kNothing);
    for (const Output &output : model_.outputs) {
      int owner = output.argument < 0 ? kSeveral : ownerOf(output.argument);
      endsIn_[output.value] = join(endsIn_[output.value], owner);
    }
    for (size_t i = model_.ops.size(); i-- > 0;) {
      const Op &op = model_.ops[i];
      int owner = kNothing;
      for (int v : op.results)
        owner = join(owner, endsIn_[v]);
      for (int v : op.operands)
        endsIn_[v] = join(endsIn_[v], owner);
    }
  }

  bool isUpdate(size_t op) {
    int owner = kNothing;
    for (int v : model_.ops[op].results)
      owner = join(owner, endsIn_[v]);
    if (owner < 0)
      return false;
    for (int v : model_.ops[op].operands) {
      const Value &value = model_.values[v];
      if (value.argument >= 0 && ownerOf(value.argument) == owner)
        return true;
      if (value.producer >= 0 && model_.ops[value.producer].part == Part::Update)
        return true;
    }
    return false;
  }

  StepModel &model_;
  std::vector<bool> isForward_;
  std::vector<int> endsIn_; // per value
};

} // namespace

void classifyOps(StepModel &model) { Classifier(model).run(); }

static void setPlainMoves(StepModel &model) {
  for (Op &op : model.ops) {
    op.hasKernel = !op.isView && (!op.isAccumulate || op.repeats > 1);
    op.moves.clear();
    if (op.isAccumulate && op.hasKernel)
      op.moves.push_back({.kind = Move::Kind::Fill});
  }
  for (Output &output : model.outputs) {
    const int producer = model.values[output.value].producer;
    if (output.argument < 0 || producer < 0)
      continue;
    const Value &old = model.values[model.arguments[output.argument].value];
    output.copies = std::any_of(old.uses.begin(), old.uses.end(),
                                [&](const Use &use) { return use.op > producer; });
  }
}

void setPlainStores(StepModel &model) {
  setPlainMoves(model);
  model.stores.clear();
  model.instants = 3 * static_cast<int64_t>(model.ops.size());
  for (size_t i = 0; i < model.ops.size(); ++i)
    model.ops[i].runs = {static_cast<int64_t>(3 * i + 1), static_cast<int64_t>(3 * i + 2)};
  std::vector<bool> leaves(model.values.size(), false);
  for (const Output &output : model.outputs)
    leaves[output.value] = leaves[output.value] || output.argument < 0;
  for (size_t v = 0; v < model.values.size(); ++v) {
    const Value &value = model.values[v];
    Span span{0, model.instants};
    if (value.producer >= 0) {
      const Op &op = model.ops[value.producer];
      bool isHeld = op.isAccumulate && op.repeats > 1; // through all micro-batches
      span = {isHeld ? 0 : op.runs.begin, leaves[v] ? model.instants : op.runs.end};
      for (const Use &use : value.uses)
        span.end = std::max(span.end, model.ops[use.op].runs.end);
    }
    model.stores.push_back({.value = static_cast<int>(v), .bytes = value.bytes(), .span = span});
  }
}

} // namespace cleave::planner
