// See FirstStage.h.
#include "compiler/planner/search/FirstStage.h"

#include "compiler/planner/remat/RematPins.h"

#include <algorithm>

namespace cleave::planner {

// Where memory binds, further meshes are searched for plans that take at most this share of the
// seconds of the best one.
static constexpr double kEnoughFaster = 0.99;

FirstStage::FirstStage(StepModel model, const cluster::Cluster &shared, PlannerOptions options)
    : model_(std::move(model)), shared_(shared), options_(std::move(options)),
      budget_(options_.budget) {
  options_.budget = Budget::unlimited();
  options_.maxReasons = 0;
}

Result<std::vector<Mesh>> FirstStage::meshes() {
  std::vector<Mesh> meshes = meshesToTry(options_);
  if (meshes.size() == 1)
    return meshes;
  CLEAVE_TRY_ASSIGN(const PlanReport plan, planStep(model_, shared_, options_));
  bound_ = plan.boundSeconds;
  auto seconds = [&](const Mesh &mesh) {
    auto tried = std::ranges::find_if(
        plan.meshesTried, [&](const TriedMesh &tried) { return haveEqualSizes(tried.mesh, mesh); });
    return tried == plan.meshesTried.end() ? 0 : tried->seconds;
  };
  std::ranges::stable_sort(meshes,
                           [&](const Mesh &a, const Mesh &b) { return seconds(a) < seconds(b); });
  return meshes;
}

double FirstStage::boundWithin() {
  const auto pinned = pinnedRemat(model_, options_.pins, options_.spaces);
  if (!asksForMemory() || !pinned)
    return bound_;
  const auto meshes = jointMeshes(model_, shared_, withinBudget(), *pinned, Bounding::Quick);
  return meshes && !meshes->empty() ? std::max(bound_, meshes->front().boundSeconds) : bound_;
}

bool FirstStage::mayBeFasterOn(const Mesh &mesh, double seconds) {
  PlannerOptions options = options_;
  options.mesh = mesh;
  Result<PlanReport> plan = planStep(model_, shared_, options);
  if (plan && plan->boundSeconds >= seconds)
    return false;
  const auto pinned = pinnedRemat(model_, options.pins, options.spaces);
  if (!asksForMemory() || !plan || !pinned)
    return true;
  options = withinBudget();
  options.mesh = mesh;
  const auto meshes = jointMeshes(model_, shared_, options, *pinned, Bounding::Quick);
  return !meshes || meshes->empty() ||
         std::max(meshes->front().boundSeconds, secondsWithin(meshes->front(), *pinned)) <
             kEnoughFaster * seconds;
}

PlannerOptions FirstStage::withinBudget() const {
  PlannerOptions options = options_;
  options.budget = budget_;
  return options;
}

double FirstStage::secondsWithin(const JointMesh &mesh, const PinnedRemat &pinned) {
  if (!mesh.base)
    return 0;
  Costs costs(model_, shared_, mesh.mesh);
  const auto chosen = chooseRemat(costs, *mesh.base, pinned, {budget_.bytes(), {}}, options_.solve);
  return chosen && chosen->isFitting ? mesh.base->seconds + chosen->seconds : 0;
}

} // namespace cleave::planner
