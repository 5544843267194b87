#include "compiler/planner/Plan.h"

#include "compiler/planner/Buckets.h"
#include "compiler/planner/LayoutChanges.h"
#include "runtime/base/Concat.h"
#include "runtime/base/Units.h"

#include "nlohmann/json.hpp"

#include <charconv>

namespace cleave::planner {

std::string comparisonText(const Reason &reason) {
  if (reason.alternative.empty())
    return "the only choice";
  return concat(reason.alternativeSeconds >= 0 ? "+" : "", secondsText(reason.alternativeSeconds),
                ": ", reason.alternative);
}

std::string text(const TriedMesh &tried) {
  std::string text = str(tried.mesh) + ":";
  if (tried.seconds > 0)
    text += (tried.isPlanned ? " " : " at least ") + secondsText(tried.seconds);
  if (!tried.note.empty())
    text += (tried.seconds > 0 ? ", " : " ") + tried.note;
  return text;
}

// Of the op's kernels, and of the copy behind its producer.
static double secondsOf(const Costs &costs, const Decisions &decisions, const Op &op,
                        const OpChoice &choice) {
  double seconds = costs.kernels(op, choice);
  if (op.copiesBehindProducer) {
    const int maker = costs.model().values[op.operands[0]].producer;
    const OpChoice made = choiceOf(costs.model().ops[maker], decisions.ops[maker]);
    seconds += costs.copyBehind(made, op, choice);
  }
  return seconds;
}

double secondsOf(Costs &costs, const Decisions &decisions) {
  const StepModel &model = costs.model();
  double seconds = 0;
  for (size_t i = 0; i < model.ops.size(); ++i)
    seconds += secondsOf(costs, decisions, model.ops[i], choiceOf(model.ops[i], decisions.ops[i]));
  for (size_t i = 0; i < model.arguments.size(); ++i)
    seconds += costs.replacement(model.arguments[i], decisions.arguments[i].storage);
  for (const LayoutChange &change : layoutChanges(model, decisions))
    seconds +=
        static_cast<double>(change.times) * costs.reshard(change.value, change.from, change.to);
  return seconds - savedByBuckets(costs, decisions);
}

std::string axesText(const std::vector<int> &axes, const Mesh &mesh) {
  std::string text;
  for (int axis : axes)
    text += (text.empty() ? "" : "+") + mesh.axes[axis].name;
  return text;
}

std::string str(const Mesh &mesh) {
  std::string text;
  for (const MeshAxis &axis : mesh.axes)
    text += concat(text.empty() ? "" : ",", axis.name, "=", axis.size);
  return text;
}

std::optional<Mesh> parseMesh(const std::string &text) {
  Mesh mesh;
  for (size_t at = 0; at <= text.size();) {
    size_t end = std::min(text.find(',', at), text.size());
    std::string part = text.substr(at, end - at);
    size_t equals = part.find('=');
    if (equals == std::string::npos || equals == 0)
      return std::nullopt;
    MeshAxis axis{part.substr(0, equals), 0};
    const char *last = part.data() + part.size();
    auto [stop, error] = std::from_chars(part.data() + equals + 1, last, axis.size);
    if (error != std::errc() || stop != last || axis.size < 1 || mesh.axisIndex(axis.name) >= 0)
      return std::nullopt;
    mesh.axes.push_back(std::move(axis));
    at = end + 1;
  }
  return mesh;
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

static Json reasonsJson(const Plan &plan) {
  Json reasons = Json::array();
  for (const Reason &reason : plan.reasons) {
    Json entry = {{"name", reason.name},
                  {"kind", reason.kind},
                  {"choice", reason.choice},
                  {"seconds", reason.seconds}};
    if (!reason.alternative.empty())
      entry["alternative"] = {{"choice", reason.alternative},
                              {"costs_more_seconds", reason.alternativeSeconds}};
    reasons.push_back(std::move(entry));
  }
  return reasons;
}

static Json repetitionsJson(const Plan &plan) {
  Json repetitions = Json::array();
  for (const Repetition &again : plan.repetitions)
    repetitions.push_back(
        {{"name", again.name}, {"seconds", again.seconds}, {"bytes", again.bytes}});
  return repetitions;
}

static Json copiesJson(const Plan &plan, const StepModel &model) {
  Json copies = Json::array();
  for (const CopyDecision &copy : plan.copies)
    copies.push_back({{"of", nameOf(model, copy.value)},
                      {"part", name(copy.part)},
                      {"layout", layoutJson(copy.layout, plan.mesh)}});
  return copies;
}

std::string toJson(const Plan &plan, const StepModel &model) {
  Json root;
  root["mesh"] = str(plan.mesh);
  root["pin"] = plan.pin;
  root["predicted"] = {{"step_seconds", plan.seconds},
                       {"bound_seconds", plan.boundSeconds},
                       {"gap", plan.gap},
                       {"unlisted_choices", plan.unlistedChoices},
                       {"peak_bytes", plan.peakBytes},
                       {"budget_bytes", plan.budgetBytes},
                       {"seconds_per_byte", plan.secondsPerByte}};
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
    if (!plan.ops[i].buckets.empty())
      ops.back()["buckets"] = plan.ops[i].buckets;
  }
  root["ops"] = ops;
  root["copies"] = copiesJson(plan, model);
  root["recomputed"] = repetitionsJson(plan);
  root["decisions"] = reasonsJson(plan);
  Json remarks = Json::array();
  for (const PlanRemark &remark : plan.remarks)
    remarks.push_back({{"kind", remark.kind}, {"text", remark.text}});
  root["remarks"] = remarks;
  return root.dump(2) + "\n";
}

} // namespace cleave::planner
