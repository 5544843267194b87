#include "compiler/planner/remat/FatePins.h"

#include "runtime/base/Glob.h"

#include <algorithm>

namespace cleave::planner {

static ForcedFates fatesOfRecipe(const StepModel &model, Recompute recipe) {
  ForcedFates forced(model.ops.size());
  if (recipe == Recompute::Free || recipe == Recompute::ShardingFirst)
    return forced;
  const Fates fates = recipe == Recompute::Full        ? fullRecompute(model)
                      : recipe == Recompute::Selective ? selectiveRecompute(model)
                                                       : keepAll(model);
  for (size_t i = 0; i < model.ops.size(); ++i)
    forced.again[i] = fates.again[i];
  forced.kept = fates.kept;
  return forced;
}

static void makeAgainFromParameters(const StepModel &model, ForcedFates &forced) {
  for (int i = 0; i < static_cast<int>(model.ops.size()); ++i)
    if (const Op &op = model.ops[i];
        op.part == Part::Forward && readsParametersOnly(model, op) && isRecomputable(model, i)) {
      forced.again[i] = true;
      forced.kept.erase(i);
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

static Status forceSpaces(const StepModel &model, const Pins &pins, const OtherSpaces &spaces,
                          ForcedFates &forced) {
  using Of = SpacePin::Of;
  const ForwardReads reads = readsOf(model);
  for (const SpacePin &pin : pins.spaceRules()) {
    CLEAVE_TRY_ASSIGN(const Space space, spaceOf(pin, spaces));
    bool isFound = false;
    for (int i = 0; i < static_cast<int>(model.arguments.size()); ++i)
      if (matches(pin, model, model.arguments[i])) {
        forced.arguments[i] = space;
        isFound = true;
      }
    for (int i = 0; i < static_cast<int>(model.ops.size()); ++i)
      if (mayBeAway(model, reads, i) &&
          (pin.of == Of::Activations ||
           (pin.of == Of::Op && matchesGlob(pin.glob, model.ops[i].name)))) {
        forced.away[i] = space;
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

Result<ForcedFates> forcedFates(const StepModel &model, const Pins &pins,
                                const OtherSpaces &spaces) {
  ForcedFates forced = fatesOfRecipe(model, pins.recompute());
  if (pins.recipe().gathersAgain())
    makeAgainFromParameters(model, forced);
  for (const FatePin &pin : pins.fateRules()) {
    bool matches = false, isPossible = false;
    for (size_t i = 0; i < model.ops.size(); ++i) {
      if (model.ops[i].part != Part::Forward || !matchesGlob(pin.op, model.ops[i].name))
        continue;
      matches = true;
      if (pin.again && !isRecomputable(model, static_cast<int>(i)))
        continue;
      isPossible = true;
      forced.again[i] = pin.again;
      forced.kept.erase(static_cast<int>(i));
    }
    if (!isPossible)
      return Status::userError("the pin of the fate of ", pin.op,
                               matches ? " matches only views, constants and results "
                                         "of the step, which cannot be computed again"
                                       : " matches no op of the forward pass",
                               "; cleave-dump lists the names of ops");
  }
  CLEAVE_TRY(forceSpaces(model, pins, spaces, forced));
  return forced;
}

bool isDetermined(const ForcedFates &forced) {
  return std::all_of(forced.again.begin(), forced.again.end(),
                     [](const auto &fate) { return fate.has_value(); });
}

Fates fatesOf(const StepModel &model, const ForcedFates &forced) {
  Fates fates = keepAll(model);
  fates.kept = forced.kept;
  fates.away = forced.away;
  fates.arguments = forced.arguments;
  for (size_t i = 0; i < model.ops.size(); ++i)
    fates.again[i] = forced.again[i].value_or(false);
  normalise(model, fates);
  return fates;
}

Fates withForced(const StepModel &model, Fates fates, const ForcedFates &forced) {
  for (size_t i = 0; i < model.ops.size(); ++i)
    if (const std::optional<bool> &fate = forced.again[i]) {
      fates.again[i] = *fate;
      fates.kept.erase(static_cast<int>(i));
      fates.places.erase(static_cast<int>(i));
    }
  for (const auto &[op, space] : forced.away)
    fates.away[op] = space;
  for (const auto &[argument, space] : forced.arguments)
    fates.arguments[argument] = space;
  normalise(model, fates);
  return fates;
}

} // namespace cleave::planner
