#include "compiler/planner/remat/RematPins.h"

#include "runtime/base/Glob.h"

#include <algorithm>

namespace cleave::planner {

static PinnedRemat policyOfRecipe(const StepModel &model, Recompute recipe) {
  PinnedRemat pinned(model.ops.size());
  if (recipe == Recompute::Free || recipe == Recompute::ShardingFirst)
    return pinned;
  const RematPolicy policy = recipe == Recompute::Full        ? fullRecompute(model)
                             : recipe == Recompute::Selective ? selectiveRecompute(model)
                                                              : keepAll(model);
  for (size_t i = 0; i < model.ops.size(); ++i)
    pinned.recomputed[i] = policy.recomputed[i];
  pinned.kept = policy.kept;
  return pinned;
}

static void recomputeFromParameters(const StepModel &model, PinnedRemat &pinned) {
  for (int i = 0; i < static_cast<int>(model.ops.size()); ++i)
    if (const Op &op = model.ops[i];
        op.part == Part::Forward && readsParametersOnly(model, op) && isRecomputable(model, i)) {
      pinned.recomputed[i] = true;
      pinned.kept.erase(i);
    }
}

// `the pin offload:states`, `the pin on the space of blocks.*`
static std::string textOf(const SpacePin &pin) {
  switch (pin.of) {
  case SpacePin::Of::States:
    return "the pin offload:states";
  case SpacePin::Of::Parameters:
    return "the pin offload:parameters";
  case SpacePin::Of::Activations:
    return "the pin offload:activations";
  case SpacePin::Of::Name:
  case SpacePin::Of::Op:
    break;
  }
  return "the pin on the space of " + pin.glob;
}

static Result<Space> spaceOf(const SpacePin &pin, const OtherSpaces &spaces) {
  const Space space = pin.space ? *pin.space : spaces.host > 0 ? Space::Host : Space::File;
  if (space != Space::Device && spaces.bytesIn(space) == 0)
    return Status::userError(textOf(pin), " needs memory: give --",
                             pin.space == Space::File ? "file" : "host", "-memory",
                             pin.space ? "" : " or --file-memory");
  return space;
}

static bool matches(const SpacePin &pin, const StepModel &model, const Argument &argument) {
  using Of = SpacePin::Of;
  const bool isMeant = pin.of == Of::States ? argument.role == Role::State
                       : pin.of == Of::Parameters
                           ? argument.role == Role::Parameter
                           : pin.of == Of::Name && matchesName(pin.glob, argument);
  return isMeant && mayBeAway(model, argument);
}

static Status pinSpaces(const StepModel &model, const Pins &pins, const OtherSpaces &spaces,
                        PinnedRemat &pinned) {
  using Of = SpacePin::Of;
  const ForwardReads reads = readsOf(model);
  for (const SpacePin &pin : pins.spaceRules()) {
    CLEAVE_TRY_ASSIGN(const Space space, spaceOf(pin, spaces));
    bool isFound = false;
    for (int i = 0; i < static_cast<int>(model.arguments.size()); ++i)
      if (matches(pin, model, model.arguments[i])) {
        pinned.arguments[i] = space;
        isFound = true;
      }
    for (int i = 0; i < static_cast<int>(model.ops.size()); ++i)
      if (mayBeAway(model, reads, i) &&
          (pin.of == Of::Activations ||
           (pin.of == Of::Op && matchesGlob(pin.glob, model.ops[i].name)))) {
        pinned.away[i] = space;
        isFound = true;
      }
    if (!isFound && (pin.of == Of::Name || pin.of == Of::Op))
      return Status::userError(textOf(pin), " matches ",
                               pin.of == Of::Op ? "no op whose results the backward pass reads"
                                                : "no parameter or state",
                               "; cleave-dump lists the names");
  }
  return Status::ok();
}

Result<PinnedRemat> pinnedRemat(const StepModel &model, const Pins &pins,
                                const OtherSpaces &spaces) {
  PinnedRemat pinned = policyOfRecipe(model, pins.recompute());
  if (pins.recipe().gathersAgain())
    recomputeFromParameters(model, pinned);
  for (const RematPin &pin : pins.rematRules()) {
    bool matches = false, isPossible = false;
    for (size_t i = 0; i < model.ops.size(); ++i) {
      if (model.ops[i].part != Part::Forward || !matchesGlob(pin.op, model.ops[i].name))
        continue;
      matches = true;
      if (pin.recompute && !isRecomputable(model, static_cast<int>(i)))
        continue;
      isPossible = true;
      pinned.recomputed[i] = pin.recompute;
      pinned.kept.erase(static_cast<int>(i));
    }
    if (!isPossible)
      return Status::userError("the pin on the recomputation of ", pin.op,
                               matches ? " matches only views, constants and results "
                                         "of the step, which cannot be recomputed"
                                       : " matches no op of the forward pass",
                               "; cleave-dump lists the names of ops");
  }
  CLEAVE_TRY(pinSpaces(model, pins, spaces, pinned));
  return pinned;
}

bool isDetermined(const PinnedRemat &pinned) {
  return std::all_of(pinned.recomputed.begin(), pinned.recomputed.end(),
                     [](const auto &decision) { return decision.has_value(); });
}

RematPolicy policyOf(const StepModel &model, const PinnedRemat &pinned) {
  RematPolicy policy = keepAll(model);
  policy.kept = pinned.kept;
  policy.away = pinned.away;
  policy.arguments = pinned.arguments;
  for (size_t i = 0; i < model.ops.size(); ++i)
    policy.recomputed[i] = pinned.recomputed[i].value_or(false);
  normalise(model, policy);
  return policy;
}

RematPolicy withPinned(const StepModel &model, RematPolicy policy, const PinnedRemat &pinned) {
  for (size_t i = 0; i < model.ops.size(); ++i)
    if (const std::optional<bool> &decision = pinned.recomputed[i]) {
      policy.recomputed[i] = *decision;
      policy.kept.erase(static_cast<int>(i));
      policy.places.erase(static_cast<int>(i));
    }
  for (const auto &[op, space] : pinned.away)
    policy.away[op] = space;
  for (const auto &[argument, space] : pinned.arguments)
    policy.arguments[argument] = space;
  normalise(model, policy);
  return policy;
}

} // namespace cleave::planner
