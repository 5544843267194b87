// --json: the plan as JSON. The fields listed in docs/interface.md are stable.
#include "runtime/artifact/Access.h"
#include "runtime/artifact/Mesh.h"
#include "runtime/artifact/Verify.h"
#include "tools/cleave-dump/PlanJson.h"
#include "tools/cleave-dump/PlanText.h"
#include "tools/cleave-dump/Speed.h"
#include "tools/cleave-dump/Views.h"

#include <algorithm>

namespace cleave::dump {

static Json decisionJson(const plan::Decision &decision) {
  Json alternatives = Json::array();
  for (const plan::Alternative &alternative : decision.alternatives())
    alternatives.push_back({{"choice", alternative.choice()}, {"seconds", alternative.seconds()}});
  return {{"name", decision.name()},       {"kind", decision.kind()},
          {"choice", decision.choice()},   {"reason", decision.reason()},
          {"seconds", decision.seconds()}, {"bytes", decision.bytes()},
          {"place", decision.place()},     {"alternatives", alternatives}};
}

static Json tensorJson(const plan::Plan &plan, const plan::Tensor &tensor) {
  Json shape = Json::array(), sharding = Json::array();
  for (int64_t size : tensor.shape())
    shape.push_back(size);
  for (const plan::DimSharding &dim : tensor.sharding()) {
    Json axes = Json::array();
    for (uint32_t axis : dim.axes())
      axes.push_back(axis < static_cast<uint32_t>(plan.mesh_size()) ? plan.mesh(axis).name() : "?");
    sharding.push_back(axes);
  }
  Json json = {{"name", tensor.name()},
               {"other_names", tensor.other_names()},
               {"role", text(tensor.role())},
               {"is_label", tensor.is_label()},
               {"dtype", artifact::dtypeName(tensor.dtype())},
               {"shape", shape},
               {"sharding", sharding},
               {"bytes", tensorBytes(tensor)},
               {"rank_bytes", blockBytes(plan, tensor)}};
  if (!tensor.all_of().empty())
    json["all_of"] = tensor.all_of();
  return json;
}

static Json collectivesJson(const plan::Plan &plan, const plan::Program &program) {
  Json result = Json::array();
  for (int s = 0; s < program.segments_size(); ++s) {
    for (const plan::Instruction &instruction : program.segments(s).instructions()) {
      if (!instruction.has_collective())
        continue;
      const plan::Collective &collective = instruction.collective();
      result.push_back({{"name", instruction.name()},
                        {"segment", program.segments(s).name()},
                        {"runs", runsOf(program, s)},
                        {"kind", artifact::kindName(collective)},
                        {"reduce", text(collective.reduce())},
                        {"axes", axesText(plan, collective.axes())},
                        {"group_size", ranksAlong(plan, collective.axes())},
                        {"bytes", collectiveBytes(program, collective)},
                        {"seconds", instruction.seconds()}});
    }
  }
  return result;
}

static Json programJson(const plan::Plan &plan, const plan::Program &program) {
  Json arenas = Json::array();
  for (const plan::Arena &arena : program.arenas())
    arenas.push_back({{"space", text(arena.space())},
                      {"bytes", arena.bytes()},
                      {"peak_bytes", arena.peak_bytes()}});
  return {{"name", program.name()},
          {"kind", isEvaluation(program) ? "evaluation" : "step"},
          {"ranks", program.ranks()},
          {"no_padding", program.no_padding()},
          {"arenas", arenas},
          {"buffers", program.buffers_size()},
          {"kernels", program.kernels_size()},
          {"collectives", collectivesJson(plan, program)}};
}

static Json predictedJson(const plan::Plan &plan) {
  const plan::Prediction &predicted = plan.predicted();
  const Speed speed = speedOf(plan);
  return {{"samples_per_second", speed.samples},
          {"tokens_per_second", speed.tokens},
          {"mfu", speed.utilization},
          {"step_seconds", predicted.step_seconds()},
          {"peak_bytes", predicted.peak_bytes()},
          {"planned_seconds", predicted.planned_seconds()},
          {"bound_seconds", predicted.bound_seconds()},
          {"gap", predicted.gap()},
          {"compute_seconds", predicted.compute_seconds()},
          {"communication_seconds", predicted.communication_seconds()},
          {"flops", predicted.flops()},
          {"model_flops", predicted.model_flops()},
          {"peak_seconds", predicted.peak_seconds()},
          {"peak_type", predicted.peak_type()},
          {"budget_bytes", predicted.budget_bytes()},
          {"is_memory_binding", predicted.is_memory_binding()},
          {"is_calibrated", predicted.is_calibrated()},
          {"communication_bytes", predicted.communication_bytes()},
          {"cluster", predicted.cluster()}};
}

static Json knownTextsJson(const plan::Plan &plan) {
  Json all = Json::object();
  for (const plan::KnownTexts &known : plan.known_texts())
    all[known.name()] = {{"shape", known.shape()}, {"texts", known.elements()}};
  return all;
}

Json planJson(const plan::Plan &plan) {
  Json mesh = Json::object(), decisions = Json::array(), tensors = Json::array(),
       programs = Json::array(), targets = Json::array();
  for (const plan::MeshAxis &axis : plan.mesh())
    mesh[axis.name()] = axis.size();
  for (const plan::Module &module : plan.modules())
    targets.push_back(module.target());
  for (const plan::Decision &decision : plan.decisions())
    decisions.push_back(decisionJson(decision));
  for (const plan::Tensor &tensor : plan.tensors())
    tensors.push_back(tensorJson(plan, tensor));
  for (const plan::Program &program : plan.programs())
    programs.push_back(programJson(plan, program));
  return {{"mesh", mesh},
          {"ranks", artifact::rankCount(plan)},
          {"trains", plan.trains()},
          {"micro_batches", microBatchesOf(plan)},
          {"device", plan.device()},
          {"targets", targets},
          {"predicted", predictedJson(plan)},
          {"decisions", decisions},
          {"tensors", tensors},
          {"programs", programs},
          {"objection", artifact::verifyPlan(plan).message()},
          {"source", {{"path", plan.source().path()}, {"sha256", plan.source().sha256()}}},
          {"producer", plan.producer()},
          {"known_texts", knownTextsJson(plan)},
          {"command_line", plan.command_line()},
          {"format_version", plan.format_version()},
          {"content_hash", plan.content_hash()}};
}

// Names come from the user's file; invalid UTF-8 is replaced.
std::string json(const plan::Plan &plan) {
  return planJson(plan).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace cleave::dump
