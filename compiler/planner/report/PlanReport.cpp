#include "compiler/planner/report/PlanReport.h"

#include "runtime/base/Concat.h"
#include "runtime/base/Units.h"

#include "nlohmann/json.hpp"

namespace cleave::planner {

std::string comparisonText(const Reason &reason) {
  if (reason.alternative.empty())
    return reason.whyNone;
  if (reason.alternativeSeconds == 0)
    return "equally fast: " + reason.alternative;
  const bool isFaster = reason.alternativeSeconds < 0;
  const std::string memory = isFaster && reason.alternativeBytes > 0
                                 ? concat(", but ", bytesText(reason.alternativeBytes), " more")
                                 : "";
  return concat(isFaster ? "" : "+", secondsText(reason.alternativeSeconds), memory, ": ",
                reason.alternative);
}

std::string text(const TriedMesh &tried) {
  std::string text = tried.mesh.str() + ":";
  if (tried.seconds > 0)
    text += (tried.isPlanned ? " " : " at least ") + secondsText(tried.seconds);
  if (!tried.note.empty())
    text += (tried.seconds > 0 ? ", " : " ") + tried.note;
  return text;
}

using Json = nlohmann::ordered_json;

static Json axisNames(const std::vector<int> &axes, const Mesh &mesh) {
  Json names = Json::array();
  for (int axis : axes)
    names.push_back(mesh.axes[axis].name);
  return names;
}

static Json layoutJson(const Sharding &sharding, const Mesh &mesh) {
  Json dims = Json::array();
  for (const std::vector<int> &axes : sharding.dims)
    dims.push_back(axisNames(axes, mesh));
  if (sharding.partial.empty())
    return dims;
  return {{"dims", dims}, {"partial", axisNames(sharding.partial, mesh)}};
}

static Json reasonsJson(const PlanReport &plan) {
  Json reasons = Json::array();
  for (const Reason &reason : plan.reasons) {
    Json entry = {{"name", reason.name},
                  {"kind", reason.kind},
                  {"choice", reason.choice},
                  {"seconds", reason.seconds}};
    if (!reason.alternative.empty())
      entry["alternative"] = {{"choice", reason.alternative},
                              {"costs_more_seconds", reason.alternativeSeconds},
                              {"more_bytes", reason.alternativeBytes}};
    else
      entry["why_no_alternative"] = reason.whyNone;
    reasons.push_back(std::move(entry));
  }
  return reasons;
}

static Json recomputedJson(const PlanReport &plan) {
  Json recomputed = Json::array();
  for (const RecomputedOp &op : plan.recomputed)
    recomputed.push_back({{"name", op.name}, {"seconds", op.seconds}, {"bytes", op.bytes}});
  return recomputed;
}

static Json copiesJson(const PlanReport &plan, const StepModel &model) {
  Json copies = Json::array();
  for (const CopyDecision &copy : plan.copies)
    copies.push_back({{"of", nameOf(model, copy.value)},
                      {"part", name(copy.part)},
                      {"layout", layoutJson(copy.layout, plan.mesh)}});
  return copies;
}

std::string toJson(const PlanReport &plan, const StepModel &model) {
  Json root;
  root["mesh"] = plan.mesh.str();
  root["pin"] = plan.pin;
  root["predicted"] = {
      {"step_seconds", plan.seconds},
      {"bound_seconds", plan.boundSeconds},
      {"gap", plan.gap},
      {"unlisted_choices", plan.unlistedChoices},
      {"peak_bytes", plan.peakBytes},
      {"budget_bytes", plan.budget.isLimited() ? Json(plan.budget.bytes()) : Json()},
      {"seconds_per_byte", plan.secondsPerByte},
      {"is_memory_binding", plan.isBinding}};
  root["meshes"] = Json::array();
  for (const TriedMesh &tried : plan.meshesTried)
    root["meshes"].push_back(text(tried));
  Json holders = Json::array(), arguments = Json::array(), ops = Json::array();
  for (const Holder &holder : plan.atPeak)
    holders.push_back({{"name", holder.name}, {"bytes", holder.bytes}});
  root["at_peak"] = holders;
  for (size_t i = 0; i < plan.arguments.size(); ++i)
    arguments.push_back({{"name", model.arguments[i].name},
                         {"storage", layoutJson(plan.arguments[i].storage, plan.mesh)},
                         {"use", layoutJson(plan.arguments[i].compute, plan.mesh)},
                         {"stays_gathered", plan.arguments[i].staysGathered}});
  root["arguments"] = arguments;
  for (size_t i = 0; i < plan.ops.size(); ++i) {
    Json factors = Json::array(), results = Json::array();
    for (const std::vector<int> &axes : plan.ops[i].factors)
      factors.push_back(axisNames(axes, plan.mesh));
    for (const Sharding &result : plan.ops[i].results)
      results.push_back(layoutJson(result, plan.mesh));
    ops.push_back({{"name", model.ops[i].name},
                   {"rule", model.ops[i].rule.str()},
                   {"factors", factors},
                   {"partial", axisNames(plan.ops[i].partial, plan.mesh)},
                   {"results", results}});
    if (plan.ops[i].isZigzag)
      ops.back()["zigzag"] = true;
    if (!plan.ops[i].buckets.empty())
      ops.back()["buckets"] = plan.ops[i].buckets;
  }
  root["ops"] = ops;
  root["copies"] = copiesJson(plan, model);
  root["recomputed"] = recomputedJson(plan);
  root["decisions"] = reasonsJson(plan);
  Json remarks = Json::array();
  for (const PlanRemark &remark : plan.remarks)
    remarks.push_back({{"kind", remark.kind}, {"text", remark.text}});
  root["remarks"] = remarks;
  return root.dump(2) + "\n";
}

} // namespace cleave::planner
