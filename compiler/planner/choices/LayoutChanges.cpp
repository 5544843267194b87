#include "compiler/planner/choices/LayoutChanges.h"

#include <algorithm>
#include <array>

namespace cleave::planner {

OpChoice choiceOf(const Op &op, const OpDecision &decision) {
  OpChoice choice{.factors = decision.factors, .partial = decision.partial};
  setLayouts(op, choice);
  choice.results = decision.results;
  return choice;
}

const Sharding &homeOf(const StepModel &model, const Decisions &decisions, int value) {
  const Value &plain = model.values[value];
  return plain.producer >= 0 ? decisions.ops[plain.producer].results[plain.result]
                             : decisions.arguments[plain.argument].storage;
}

std::vector<Sharding> stopsOf(const StepModel &model, const Decisions &decisions, int value,
                              Part part) {
  std::vector<Sharding> stops;
  const int argument = model.values[value].argument;
  if (argument >= 0 && part != Part::Update)
    stops.push_back(decisions.arguments[argument].compute);
  auto isBefore = [](const CopyDecision &copy, int number) { return copy.value < number; };
  auto copy = std::lower_bound(decisions.copies.begin(), decisions.copies.end(), value, isBefore);
  for (; copy != decisions.copies.end() && copy->value == value; ++copy)
    if (copy->part == part)
      stops.push_back(copy->layout);
  return stops;
}

Part partOfStop(const StepModel &model, const Decisions &decisions, int value, Part part,
                const Sharding &stop) {
  const int argument = model.values[value].argument;
  const bool isKept = argument >= 0 && part == Part::Backward &&
                      decisions.arguments[argument].staysGathered &&
                      decisions.arguments[argument].compute == stop;
  return isKept ? Part::Forward : part;
}

Sharding outputLayout(const StepModel &model, const Decisions &decisions, const Output &output) {
  if (output.argument >= 0)
    return decisions.arguments[output.argument].storage;
  if (output.layout)
    return *output.layout;
  Sharding layout = homeOf(model, decisions, output.value);
  layout.partial.clear();
  layout.reduce = ReduceKind::Sum;
  return layout;
}

namespace {

class ChangeList {
public:
  ChangeList(const StepModel &model, const Decisions &decisions)
      : model_(model), decisions_(decisions), made_(model.values.size()) {}

  std::vector<LayoutChange> build() {
    for (size_t i = 0; i < model_.ops.size(); ++i)
      addReductions(model_.ops[i], choiceOf(model_.ops[i], decisions_.ops[i]));
    for (size_t i = 0; i < model_.ops.size(); ++i)
      addForReader(static_cast<int>(i));
    for (size_t i = 0; i < model_.outputs.size(); ++i)
      addForOutput(static_cast<int>(i));
    std::stable_sort(changes_.begin(), changes_.end(), [](const auto &a, const auto &b) {
      return static_cast<int>(a.purpose) < static_cast<int>(b.purpose);
    });
    return std::move(changes_);
  }

private:
  std::vector<size_t> &madeFor(int value, Part part) {
    return made_[value][static_cast<size_t>(part)];
  }

  // Adds a change unless it was made before for this part of the step.
  void add(LayoutChange change) {
    if (change.from == change.to)
      return;
    std::vector<size_t> &made = madeFor(change.value, change.part);
    for (size_t i : made)
      if (changes_[i].to == change.to) {
        changes_[i].times = std::max(changes_[i].times, change.times);
        return;
      }
    made.push_back(changes_.size());
    changes_.push_back(std::move(change));
  }

  bool isMade(int value, Part part, const Sharding &layout) {
    const std::vector<size_t> &made = madeFor(value, part);
    return std::any_of(made.begin(), made.end(),
                       [&](size_t i) { return changes_[i].to == layout; });
  }

  void addReductions(const Op &op, const OpChoice &choice) {
    for (size_t i = 0; i < op.results.size(); ++i)
      if (choice.natural[i] != choice.results[i])
        changes_.push_back({ChangePurpose::Reduction, op.results[i], choice.natural[i],
                            choice.results[i], op.part, -1, op.completions()});
  }

  void addForReader(int index) {
    const Op &reader = model_.ops[index];
    const OpChoice choice = choiceOf(reader, decisions_.ops[index]);
    for (size_t i = 0; i < reader.operands.size(); ++i) {
      const int value = reader.operands[i];
      const Sharding &wanted = choice.operands[i];
      Sharding from = homeOf(model_, decisions_, value);
      if (wanted == from)
        continue;
      if (!isMade(value, reader.part, wanted))
        for (const Sharding &stop : stopsOf(model_, decisions_, value, reader.part)) {
          const Part part = partOfStop(model_, decisions_, value, reader.part, stop);
          add({ChangePurpose::Copy, value, from, stop, part, -1, reader.repeats});
          from = stop;
        }
      add({ChangePurpose::Reader, value, from, wanted, reader.part, index, reader.repeats});
    }
  }

  void addForOutput(int index) {
    const Output &output = model_.outputs[index];
    const int producer = model_.values[output.value].producer;
    add({ChangePurpose::Output, output.value, homeOf(model_, decisions_, output.value),
         outputLayout(model_, decisions_, output), Part::Update, index,
         producer >= 0 ? model_.ops[producer].completions() : 1});
  }

  const StepModel &model_;
  const Decisions &decisions_;
  std::vector<LayoutChange> changes_;
  std::vector<std::array<std::vector<size_t>, 3>> made_; // per value and part
};

} // namespace

std::vector<LayoutChange> layoutChanges(const StepModel &model, const Decisions &decisions) {
  return ChangeList(model, decisions).build();
}

} // namespace cleave::planner
