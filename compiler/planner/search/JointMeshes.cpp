// The price of a byte on the first mesh is a good first one on the others.
#include "compiler/planner/search/JointMeshes.h"

#include "compiler/planner/network/ReadSolution.h"
#include "runtime/base/Parallel.h"

#include <algorithm>

namespace cleave::planner {

// The number of meshes, those with the lowest bounds, on which a policy is chosen to compare
// layouts.
static constexpr int64_t kBases = 3;

static PricedDecisions baseOf(const StepModel &model, const cluster::Cluster &shared,
                              const Joint &joint, const Mesh &mesh) {
  Costs costs(model, shared, mesh);
  PricedDecisions base{readSolution(costs, joint.kept, joint.choices)};
  base.seconds = secondsOf(costs, base);
  base.holdings = holdingsOf(joint.kept, joint.choices);
  return base;
}

// What is the same for all meshes.
struct Question {
  const StepModel &model, &roomy;
  const cluster::Cluster &shared;
  const PlannerOptions &options;
  const Pins &pins; // of `roomy`
  const PinnedRemat &pinned;
};

// The answer for one mesh; infeasible: pins leave an op without choices. `hint`: what is known, to
// which the mesh adds.
static Result<JointMesh> jointMesh(const Question &question, const Mesh &mesh, JointHint &hint) {
  Costs costs(question.roomy, question.shared, mesh);
  CLEAVE_TRY_ASSIGN(Joint joint,
                    boundJointly(costs, question.pins, question.pinned, question.options.budget,
                                 hint, question.options.choices, question.options.solve));
  if (joint.secondsPerByte > 0)
    hint = {joint.secondsPerByte, joint.instant, hint.enough};
  hint.isDoubtful = joint.lowerBound == solver::kForbidden;
  hint.enough = std::min(hint.enough, joint.lowerBound);
  JointMesh found{.mesh = mesh,
                  .boundSeconds = joint.lowerBound,
                  .secondsPerByte = joint.secondsPerByte,
                  .instant = joint.instant};
  if (!joint.choices.empty())
    found.base = baseOf(question.model, question.shared, joint, mesh);
  return found;
}

static void sortByBound(std::vector<JointMesh> &meshes) {
  std::stable_sort(meshes.begin(), meshes.end(), [](const JointMesh &a, const JointMesh &b) {
    return a.boundSeconds < b.boundSeconds;
  });
}

// The mesh with the lowest bound decides on the bound of all plans: it is bounded again with more
// effort, and so is the one that is the lowest then, until one is the lowest again.
static Status tighten(const Question &question, std::vector<JointMesh> &meshes) {
  std::vector<Mesh> tightened;
  while (!meshes.empty() && meshes[0].secondsPerByte > 0 &&
         meshes[0].boundSeconds < solver::kForbidden &&
         std::find(tightened.begin(), tightened.end(), meshes[0].mesh) == tightened.end()) {
    tightened.push_back(meshes[0].mesh);
    JointHint hint{meshes[0].secondsPerByte, meshes[0].instant};
    hint.isThorough = true;
    if (meshes.size() > 1)
      hint.enough = meshes[1].boundSeconds;
    CLEAVE_TRY_ASSIGN(JointMesh again, jointMesh(question, meshes[0].mesh, hint));
    meshes[0].boundSeconds = std::max(meshes[0].boundSeconds, again.boundSeconds);
    if (again.base)
      meshes[0].base = std::move(again.base);
    sortByBound(meshes);
  }
  return Status::ok();
}

Result<std::vector<JointMesh>> jointMeshes(const StepModel &model, const cluster::Cluster &cluster,
                                           const PlannerOptions &options, const PinnedRemat &pinned,
                                           Bounding bounding) {
  CLEAVE_TRY_ASSIGN(cluster::Cluster shared, cluster::forRanks(cluster, options.ranks));
  const StepModel roomy = withRoomForRecomputation(model);
  Pins pins = options.pins;
  pins.prepare(roomy);
  const Question question{model, roomy, shared, options, pins, pinned};
  const std::vector<Mesh> all = meshesToTry(options);
  JointHint hint;
  std::vector<std::optional<Result<JointMesh>>> answers(all.size());
  answers[0] = jointMesh(question, all[0], hint);
  inParallel(all.size() - 1, [&](size_t i) {
    JointHint known = hint;
    answers[i + 1] = jointMesh(question, all[i + 1], known);
  });
  std::vector<JointMesh> meshes;
  for (std::optional<Result<JointMesh>> &answer : answers) {
    if (answer->status().kind() == StatusKind::Infeasible)
      continue; // another mesh may do
    CLEAVE_TRY(answer->status());
    meshes.push_back(std::move(**answer));
  }
  sortByBound(meshes);
  if (bounding == Bounding::Tight)
    CLEAVE_TRY(tighten(question, meshes));
  return meshes;
}

Result<std::optional<Base>> chooseBase(const std::vector<JointMesh> &meshes, const StepModel &model,
                                       const cluster::Cluster &shared,
                                       const PlannerOptions &options, const PinnedRemat &pinned) {
  const int64_t budget = options.budget.bytes();
  auto missing = [&](const Base &base) {
    return base.chosen.isFitting ? 0 : base.chosen.peakBytes - budget;
  };
  auto needs = [&](const Base &base) { return std::pair(missing(base), base.seconds()); };
  std::optional<Base> best;
  for (const JointMesh &mesh : meshes) {
    if (&mesh - meshes.data() >= kBases && best)
      break;
    if (!mesh.base || (best && missing(*best) == 0 && mesh.boundSeconds >= best->seconds()))
      continue;
    Costs costs(model, shared, mesh.mesh);
    Result<ChosenRemat> chosen = chooseRemat(costs, *mesh.base, pinned, budget, options.solve);
    if (chosen.status().kind() == StatusKind::Infeasible)
      continue;
    CLEAVE_TRY(chosen.status());
    Base base{&*mesh.base, std::move(*chosen)};
    if (!best || needs(base) < needs(*best))
      best = std::move(base);
  }
  return best;
}

} // namespace cleave::planner
