#include "compiler/planner/remat/FatePins.h"

#include "runtime/base/Glob.h"

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

Result<ForcedFates> forcedFates(const StepModel &model, const Pins &pins) {
  ForcedFates forced = fatesOfRecipe(model, pins.recompute());
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
  return forced;
}

bool isDetermined(const ForcedFates &forced) {
  return std::all_of(forced.again.begin(), forced.again.end(),
                     [](const auto &fate) { return fate.has_value(); });
}

Fates fatesOf(const StepModel &model, const ForcedFates &forced) {
  Fates fates = keepAll(model);
  fates.kept = forced.kept;
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
  normalise(model, fates);
  return fates;
}

} // namespace cleave::planner
