// OpKinds: how ops can be split and what that takes, worked out once for all ops that are alike: a model of a hundred
// equal layers has as many kinds as one of three.
#pragma once

#include "compiler/planner/Costs.h"
#include "compiler/planner/Pins.h"
#include "compiler/solver/Problem.h"

#include <memory>

namespace cleave::planner {

// The layouts of one value among a node's choices, by number (Costs::number), each once.
struct LayoutSet {
  std::vector<int> layouts;
  std::vector<int> ofChoice; // per choice an index of `layouts`

  void add(int layout);
};

// The choices of an op, priced.
struct OpKind {
  std::vector<OpChoice> choices;
  std::vector<solver::Choice>
      priced; // bytes: per result; while results change their layouts; of followers
  std::vector<LayoutSet> operands, results; // of the choices
};

// What decides about an op besides itself.
struct OpContext {
  // Per op the arguments that live as it wants them: their layouts are part of its choice.
  std::vector<std::vector<int>> followers;
  // Per value, whether it leaves the step without replacing an argument.
  std::vector<bool> leaves;
};

// Where an argument lives that follows its only reader, which takes the given choice.
Sharding followedLayout(const StepModel &model, int argument, const OpChoice &readerChoice);

class OpKinds {
public:
  // Keeps references to all.
  OpKinds(Costs &costs, const Pins &pins, const OpContext &context)
      : costs_(costs), model_(costs.model()), pins_(pins), context_(context) {}

  std::shared_ptr<const OpKind> of(int op);
  // How many different ones there were so far.
  size_t count() const { return count_; }

private:
  std::vector<int64_t> keyOf(int op) const;
  OpKind build(int op);
  bool keepsFollowers(int op, const OpChoice &choice) const;
  double secondsOf(const Op &op, const OpChoice &choice);
  std::vector<int64_t> bytesOf(int op, const OpChoice &choice) const;

  Costs &costs_;
  const StepModel &model_;
  const Pins &pins_;
  const OpContext &context_;
  const ChoiceLimits limits_;
  std::map<std::vector<int64_t>, std::shared_ptr<const OpKind>> kinds_;
  size_t count_ = 0;
};

} // namespace cleave::planner
