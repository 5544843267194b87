#include "compiler/planner/report/Remarks.h"

#include "compiler/planner/choices/LayoutChanges.h"
#include "compiler/planner/report/AxisUse.h"
#include "compiler/planner/report/Explain.h"
#include "runtime/base/Units.h"

#include <algorithm>

namespace cleave::planner {

namespace {

class RemarkWriter {
public:
  RemarkWriter(const StepModel &model, const PlanReport &plan, const PlanProblem &problem,
               const solver::Solution &solution, Costs &costs)
      : model_(model), plan_(plan), problem_(problem), costs_(costs),
        explainer_(model, plan.mesh, problem, solution) {}

  std::vector<PlanRemark> write() {
    addMesh();
    addAxes();
    addBound();
    addMemory();
    addPins();
    for (size_t i = 0; i < model_.arguments.size(); ++i)
      addArgument(static_cast<int>(i));
    for (size_t i = 0; i < model_.ops.size(); ++i)
      addOp(static_cast<int>(i));
    for (const LayoutChange &change : layoutChanges(model_, plan_))
      addChange(change);
    return std::move(remarks_);
  }

private:
  // -- the plan as a whole ------------------------------------------------------------------------

  void addMesh() {
    std::string tried;
    for (const TriedMesh &mesh : plan_.meshesTried)
      tried += (tried.empty() ? "" : "; ") + planner::text(mesh);
    if (plan_.meshesTried.size() == 1)
      remarks_.push_back({"mesh", concat("the only mesh tried: ", tried)});
    else
      remarks_.push_back({"mesh", concat(plan_.mesh.str(), " chosen out of ",
                                         plan_.meshesTried.size(), ": ", tried)});
  }

  // What each axis splits, whatever its name.
  void addAxes() {
    const std::vector<AxisUse> uses = axisUses(model_, plan_, {});
    for (size_t axis = 0; axis < uses.size(); ++axis)
      if (const MeshAxis &plain = plan_.mesh.axes[axis]; plain.size > 1)
        remarks_.push_back(
            {"axis", concat(plain.name, " (", plain.size, " ranks) ", text(uses[axis]))});
  }

  void addBound() {
    std::string text =
        concat(secondsText(plan_.seconds), " per step; no plan on the meshes tried takes ",
               "less than ", secondsText(plan_.boundSeconds), ": gap ", percentText(plan_.gap));
    if (plan_.unlistedChoices > 0)
      text += concat("; ", plan_.unlistedChoices, " choices remained unlisted, which the bound ",
                     "counts at their least seconds and bytes");
    remarks_.push_back({"bound", text});
  }

  void addMemory() {
    constexpr int64_t kMiB = 1 << 20;
    const Budget &budget = plan_.budget;
    std::string text =
        concat(bytesText(plan_.peakBytes), " at the peak, ",
               budget.isLimited() ? "budget " + bytesText(budget.bytes()) : "no budget");
    if (plan_.secondsPerByte > 0)
      text += concat("; binding: one more MiB saves about ",
                     secondsText(plan_.secondsPerByte * kMiB), " per step");
    else if (plan_.isBinding)
      text += "; binding: the fastest plan needs more";
    else
      text += "; not binding";
    for (size_t i = 0; i < plan_.atPeak.size(); ++i)
      text += concat(i ? ", " : "; largest at the peak: ", plan_.atPeak[i].name, " (",
                     bytesText(plan_.atPeak[i].bytes), ")");
    remarks_.push_back({"memory", text});
  }

  void addPins() {
    if (plan_.pin.empty())
      return;
    PinEffect all;
    size_t decisions = 0, forced = 0;
    auto count = [&](const PinEffect &effect) {
      all.before += effect.before;
      all.after += effect.after;
      ++decisions;
      forced += effect.before > 1 && effect.after == 1;
    };
    for (const std::shared_ptr<const PricedOp> &kind : problem_.priced)
      count(kind->pinEffect);
    for (size_t i = 0; i < model_.arguments.size(); ++i)
      if (problem_.argumentNode[i] >= 0)
        count(problem_.argumentPinEffects[i]);
    remarks_.push_back(
        {"pin", concat(plan_.pin, " leaves ", all.after, " of ", all.before, " choices; ", forced,
                       " of ", decisions, " arguments and ops have a single choice left")});
  }

  // -- layouts ------------------------------------------------------------------------------------

  static std::string nextBest(const Reason &reason) {
    return (reason.alternative.empty() ? "" : "next best ") + comparisonText(reason);
  }

  std::string pinText(const PinEffect &effect) const {
    if (effect.after == effect.before)
      return "";
    return concat("; ", plan_.pin, " leaves ", effect.after, " of ", effect.before, " choices");
  }

  void addArgument(int index) {
    const Argument &argument = model_.arguments[index];
    const ArgumentDecision &decision = plan_.arguments[index];
    if (argument.role != Role::Parameter && decision.storage.isReplicated() &&
        model_.values[argument.value].space == Space::Device)
      return;
    std::string text;
    if (std::optional<Reason> reason = explainer_.ofArgument(index)) {
      text = concat(reason->choice, "; ", nextBest(*reason),
                    pinText(problem_.argumentPinEffects[index]));
    } else {
      const Op &reader = model_.ops[model_.values[argument.value].uses[0].op];
      text = concat("lives as ", decision.storage.str(plan_.mesh),
                    placeText(model_.values[argument.value]), ", the layout that its only reader ",
                    reader.name, " wants");
    }
    remarks_.push_back({.kind = std::string(name(argument.role)),
                        .text = concat(argument.name, " ", text),
                        .argument = index});
  }

  void addOp(int index) {
    const OpDecision &decision = plan_.ops[index];
    bool isDefault = std::all_of(decision.factors.begin(), decision.factors.end(),
                                 [](const std::vector<int> &axes) { return axes.empty(); }) &&
                     decision.partial.empty() &&
                     std::all_of(decision.results.begin(), decision.results.end(),
                                 [](const Sharding &result) { return result.isReplicated(); });
    if (isDefault)
      return;
    Reason reason = explainer_.ofOp(index);
    remarks_.push_back(
        {.kind = "op",
         .text = concat(reason.name, ": ", reason.choice, "; takes ", secondsText(reason.seconds),
                        "; ", nextBest(reason), pinText(problem_.priced[index]->pinEffect)),
         .op = index});
  }

  // -- layout changes -----------------------------------------------------------------------------

  // `all_gather over dp of 1.00 MiB (12.3 us)`
  std::string stepText(const cost::ReshardStep &step) const {
    return concat(step.name(), " over ", plan_.mesh.axesText(step.axes), " of ",
                  bytesText(static_cast<uint64_t>(step.bytes)), " (", secondsText(step.seconds),
                  ")");
  }

  // The text of `remark` names what changes its layout.
  void addSteps(PlanRemark remark, const LayoutChange &change) {
    std::optional<std::vector<cost::ReshardStep>> steps =
        costs_.path(change.value, change.from, change.to);
    if (!steps || steps->empty())
      return;
    double seconds = 0;
    std::string how;
    for (const cost::ReshardStep &step : *steps) {
      seconds += step.seconds;
      how += (how.empty() ? "" : ", ") + stepText(step);
    }
    remark.text += concat(" from ", change.from.str(plan_.mesh), " to ", change.to.str(plan_.mesh),
                          " by ", how);
    if (change.times > 1)
      remark.text +=
          concat(", ", change.times,
                 " times per step: ", secondsText(seconds * static_cast<double>(change.times)));
    remarks_.push_back(std::move(remark));
  }

  void addChange(const LayoutChange &change) {
    const std::string &name = nameOf(model_, change.value);
    const Value &value = model_.values[change.value];
    PlanRemark remark{.kind = "collective", .op = value.producer, .argument = value.argument};
    switch (change.purpose) {
    case ChangePurpose::Copy:
      remark.text = concat(name, " for the ", planner::name(change.part), " pass");
      break;
    case ChangePurpose::Reduction:
      remark.text = concat("result ", value.result, " of ", name, bucketText(value));
      break;
    case ChangePurpose::Reader:
      remark.text = concat(name, " for ", model_.ops[change.user].name);
      remark.op = change.user;
      break;
    case ChangePurpose::Output:
      remark.text = concat(name, " as the output ", model_.outputs[change.user].name);
      break;
    }
    addSteps(std::move(remark), change);
  }

  // `, in bucket 3`
  std::string bucketText(const Value &value) const {
    const std::vector<int> &buckets = plan_.ops[value.producer].buckets;
    bool isJoined = !buckets.empty() && buckets[value.result] >= 0;
    return isJoined ? concat(", in bucket ", buckets[value.result]) : "";
  }

  const StepModel &model_;
  const PlanReport &plan_;
  const PlanProblem &problem_;
  Costs &costs_;
  Explainer explainer_;
  std::vector<PlanRemark> remarks_;
};

} // namespace

std::vector<PlanRemark> remarksOn(const StepModel &model, const PlanReport &plan,
                                  const PlanProblem &problem, const solver::Solution &solution,
                                  Costs &costs) {
  return RemarkWriter(model, plan, problem, solution, costs).write();
}

} // namespace cleave::planner
