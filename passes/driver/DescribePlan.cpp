#include "passes/driver/DescribePlan.h"

#include "compiler/analysis/Vocabulary.h"
#include "compiler/planner/model/ModelWork.h"
#include "compiler/planner/report/AxisUse.h"
#include "compiler/planner/report/Places.h"
#include "compiler/planner/report/RematRemarks.h"
#include "compiler/planner/report/Strategy.h"
#include "dialects/graph/Step.h"
#include "runtime/base/Concat.h"
#include "runtime/base/Units.h"

namespace cleave::driver {

plan::Decision &addDecision(plan::Plan &plan, const std::string &name, const std::string &kind,
                            const std::string &choice, const std::string &reason) {
  plan::Decision &decision = *plan.add_decisions();
  decision.set_name(name);
  decision.set_kind(kind);
  decision.set_choice(choice);
  decision.set_reason(reason);
  return decision;
}

static void addAlternative(plan::Decision &decision, const std::string &choice, double seconds) {
  plan::Alternative &alternative = *decision.add_alternatives();
  alternative.set_choice(choice);
  alternative.set_seconds(seconds);
}

static void setPlace(plan::Decision &decision, const planner::Places &places, int op) {
  if (op >= 0)
    decision.set_place(places.of(op));
}

static plan::Gathering gatheringOf(const planner::ArgumentDecision &argument) {
  if (argument.compute == argument.storage)
    return plan::NOT_GATHERED;
  return argument.staysGathered ? plan::GATHERED_ONCE : plan::GATHERED_AGAIN;
}

static void addLayouts(const planner::PlanReport &report, const planner::StepModel &model,
                       const planner::Places &places, plan::Plan &out) {
  llvm::StringMap<plan::Gathering> gathering;
  for (auto [argument, layout] : llvm::zip(model.arguments, report.arguments))
    gathering[argument.name] = gatheringOf(layout);
  for (const planner::Reason &reason : report.reasons) {
    plan::Decision &decision =
        addDecision(out, reason.name, reason.kind, reason.choice, planner::comparisonText(reason));
    decision.set_seconds(reason.seconds);
    setPlace(decision, places, reason.op);
    if (reason.kind == "parameter")
      decision.set_gathering(gathering.lookup(reason.name));
    if (!reason.alternative.empty())
      addAlternative(decision, reason.alternative, reason.alternativeSeconds);
  }
}

static void addRemat(const planner::PlanReport &report, const planner::StepModel &model,
                     const planner::Places &places, plan::Plan &out) {
  auto isOfParameters = [&](int op) {
    return op >= 0 && readsParametersOnly(model, model.ops[op]);
  };
  for (const planner::RecomputedOp &op : report.recomputed) {
    plan::Decision &decision = addDecision(out, op.name, "recompute", planner::choiceText(op),
                                           planner::reasonText(op, report));
    decision.set_seconds(op.seconds);
    decision.set_bytes(static_cast<uint64_t>(op.bytes));
    decision.set_is_of_parameters(isOfParameters(op.op));
    setPlace(decision, places, op.op);
    addAlternative(decision, "kept", -op.seconds);
  }
  for (const planner::KeptValue &value : report.kept) {
    plan::Decision &decision = addDecision(out, value.name, "kept", planner::choiceText(value),
                                           planner::reasonText(value, report));
    decision.set_bytes(static_cast<uint64_t>(value.bytes));
    decision.set_is_of_parameters(isOfParameters(value.op));
    setPlace(decision, places, value.op);
    if (value.mayRecompute)
      addAlternative(decision, "recomputed", value.recomputeSeconds);
  }
}

static void addVariants(const std::vector<Variant> &variants, plan::Plan &out) {
  for (const Variant &variant : variants)
    addDecision(out, variant.change, "what-if", variant.outcome, variant.detail)
        .set_seconds(variant.seconds);
}

// What became of a mesh: `chosen`, `slower`, `at least` where only a bound is known, or its note.
static std::string outcomeOf(const planner::TriedMesh &tried) {
  if (tried.note.starts_with("chosen"))
    return "chosen";
  if (tried.isPlanned)
    return "slower";
  return tried.seconds > 0 ? "at least" : "none";
}

static void addMeshes(const planner::PlanReport &report, plan::Plan &out) {
  for (const planner::TriedMesh &tried : report.meshesTried) {
    plan::Decision &decision =
        addDecision(out, tried.mesh.str(), "mesh", outcomeOf(tried), tried.note);
    decision.set_seconds(tried.seconds);
    decision.set_bytes(static_cast<uint64_t>(tried.bytes));
  }
}

// The numbers of tokens and classes that the step's inputs index.
static std::set<int64_t> vocabulariesOf(mlir::func::FuncOp step) {
  std::set<int64_t> found;
  for (unsigned i = 0; i < step.getNumArguments(); ++i)
    if (auto size = step.getArgAttrOfType<mlir::IntegerAttr>(i, analysis::kVocabulary))
      found.insert(size.getInt());
  return found;
}

static void addAxes(const Compilation &c, const planner::StepModel &model, plan::Plan &out) {
  const planner::PlanReport &report = c.report;
  const std::vector<planner::AxisUse> uses =
      planner::axisUses(model, report, vocabulariesOf(graph::stepOf(c.module())));
  const bool trains = llvm::any_of(
      model.ops, [](const planner::Op &op) { return op.part == planner::Part::Update; });
  if (const planner::Strategy strategy = planner::strategyOf(report.mesh, uses, trains);
      !strategy.name.empty())
    addDecision(out, strategy.name, "strategy", strategy.axes, strategy.text);
  for (size_t axis = 0; axis < uses.size(); ++axis) {
    const MeshAxis &plain = report.mesh.axes[axis];
    addDecision(out, concat(plain.name, "=", plain.size), "axis", planner::splitText(uses[axis]),
                planner::text(uses[axis]));
  }
}

static void addRemarks(const planner::PlanReport &report, plan::Plan &out) {
  if (!report.pin.empty())
    addDecision(out, "pin", "remark", "", report.pin);
  for (const planner::PlanRemark &remark : report.remarks)
    if (remark.kind == "memory")
      addDecision(out, remark.kind, "remark", "", remark.text);
}

Status describePlan(const Compilation &c, const planner::StepModel &model, plan::Plan &out) {
  const planner::PlanReport &report = c.report;
  CLEAVE_TRY_ASSIGN(cluster::Cluster shared, cluster::forRanks(*c.cluster, c.options.ranks));
  const planner::ModelWork work = planner::modelWork(model, shared);
  plan::Prediction &predicted = *out.mutable_predicted();
  predicted.set_planned_seconds(report.seconds);
  predicted.set_bound_seconds(report.boundSeconds);
  predicted.set_gap(report.gap);
  predicted.set_peak_bytes(static_cast<uint64_t>(report.arenaBytes));
  predicted.set_model_flops(work.flops);
  predicted.set_peak_seconds(work.peakSeconds);
  predicted.set_peak_type(work.type == "f32" ? graph::f32Products(c.module()).str() : work.type);
  if (report.budget.isLimited())
    predicted.set_budget_bytes(static_cast<uint64_t>(report.budget.bytes()));
  predicted.set_is_memory_binding(report.isBinding);
  predicted.set_is_calibrated(c.cluster->isCalibrated());
  const planner::Places places(model);
  addLayouts(report, model, places, out);
  addRemat(report, model, places, out);
  addVariants(c.variants, out);
  addMeshes(report, out);
  addAxes(c, model, out);
  addRemarks(report, out);
  return Status::ok();
}

void suggestLowType(Compilation &c, const plan::Plan &described) {
  constexpr double kWorth = 4; // times as fast
  if (c.cluster->isCpu || described.predicted().peak_type() != "f32")
    return;
  const double full = c.cluster->computeOf("f32").peakFlops,
               low = c.cluster->computeOf("bf16").peakFlops;
  if (low >= kWorth * full)
    c.remarks.push_back(
        {"hint",
         concat("matrix products compute in f32, at most ", countText(full, "FLOP/s"),
                " per device; --dtype bf16 computes them at up to ", countText(low, "FLOP/s"))});
}

} // namespace cleave::driver
