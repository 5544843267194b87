// See CutStages.h.
#include "passes/driver/CutStages.h"

#include "compiler/cost/Collective.h"
#include "compiler/planner/model/ReadStep.h"
#include "compiler/planner/network/Costs.h"
#include "dialects/graph/Stage.h"
#include "dialects/graph/Step.h"
#include "dialects/mesh/MeshDialect.h"
#include "passes/driver/Device.h"
#include "passes/driver/Diagnostics.h"
#include "passes/driver/Predict.h"
#include "passes/driver/Stages.h"
#include "passes/driver/Variants.h"
#include "passes/stage/Cut.h"

#include <algorithm>
#include <numeric>

using namespace mlir;

namespace cleave::driver {

// Seconds of the ops of a forward step, each on one device.
static Result<std::vector<double>> secondsAlone(Compilation &c, func::FuncOp step) {
  CLEAVE_TRY_ASSIGN(const cluster::Cluster device, cluster::forRanks(*c.cluster, 1));
  DiagnosticText diagnostics(*c.context);
  const FailureOr<planner::StepModel> model = planner::readStep(step);
  if (failed(model))
    return Status::userError(diagnostics.text());
  const Mesh mesh;
  const planner::Costs costs(*model, device, mesh);
  std::vector<double> seconds;
  for (const planner::Op &op : model->ops)
    seconds.push_back(costs.kernels(op, planner::enumerateOp(op, *model, mesh).front()));
  return seconds;
}

// Seconds of the ops of a forward step at the peak rate, by FLOPs.
static std::vector<double> secondsByFlops(Compilation &c, func::FuncOp step) {
  const double peak = c.cluster->computeOf(c.options.dtype).peakFlops;
  std::vector<double> seconds;
  for (Operation *op : graph::opsOf(step)) {
    const Polynomial flops = cast<graph::CostInterface>(op).getFlops();
    seconds.push_back(static_cast<double>(flops.constant().value_or(0)) / peak);
  }
  return seconds;
}

// The seconds per byte that one stage sends to the next.
static Result<double> secondsPerByte(Compilation &c) {
  CLEAVE_TRY_ASSIGN(cluster::Cluster shared,
                    cluster::forRanks(*c.cluster, c.options.ranks).withContext("--cluster"));
  const int64_t stages = c.options.stages;
  const cost::CollectiveCost messages(
      std::move(shared), Mesh{{{mesh::kStages.str(), stages}, {"rest", c.options.ranks / stages}}});
  constexpr double kBytes = 1 << 30; // the latency does not count
  return messages.seconds(CollectiveKind::Send, {0}, kBytes) / kBytes;
}

// --cut: the chunks that the user states.
static Status cutAsAsked(Compilation &c, func::FuncOp step, size_t chunks) {
  CLEAVE_TRY_ASSIGN(const pipelines::LayerLayout layout,
                    pipelines::parseLayerLayout(c.options.cut).withContext("--cut"));
  if (layout.stages.size() != chunks)
    return Status::userError("--cut: found ", layout.stages.size(), " parts in '", c.options.cut,
                             "', expected ", chunks,
                             ", the number of stages times that of chunks per stage");
  if (llvm::any_of(layout.stages,
                   [](const std::string &stage) { return StringRef(stage).contains('m'); }))
    return Status::userError("--cut: found a layer 'm' in '", c.options.cut,
                             "', expected E, t and L only; write a layer that predicts further "
                             "tokens as t");
  DiagnosticText diagnostics(*c.context);
  FailureOr<stage::Chunks> found = stage::cutAtLayers(step, layout);
  if (failed(found))
    return Status::userError(diagnostics.text()).withContext(concat("--cut ", c.options.cut));
  c.cut.chunkOf = std::move(found->ofOp);
  c.cut.layout = std::move(found->layout);
  return Status::ok();
}

Status cutModel(Compilation &c, func::FuncOp step) {
  CLEAVE_TRY(loadCluster(c));
  CLEAVE_TRY_ASSIGN(const std::vector<int64_t> stageOf, placementOf(c.options));
  if (!c.options.cut.empty())
    return cutAsAsked(c, step, stageOf.size());
  CLEAVE_TRY_ASSIGN(const bool isForGpus, wantsGpus(c));
  if (c.cut.opSeconds.empty() && !isForGpus)
    c.cut.opSeconds = secondsByFlops(c, step);
  if (c.cut.opSeconds.empty()) {
    CLEAVE_TRY_ASSIGN(c.cut.opSeconds, secondsAlone(c, step));
  }
  CLEAVE_TRY_ASSIGN(const double perByte, secondsPerByte(c));
  DiagnosticText diagnostics(*c.context);
  FailureOr<stage::Chunks> found =
      stage::cutIntoChunks(step, static_cast<int64_t>(stageOf.size()), {c.cut.opSeconds, perByte});
  if (failed(found))
    return Status::userError(diagnostics.text());
  c.cut.chunkOf = std::move(found->ofOp);
  c.cut.layout = std::move(found->layout);
  return Status::ok();
}

// The seconds of a micro-batch in the chunk with this number of a stage.
static double secondsOfChunk(const plan::Program &stage, int64_t number) {
  double seconds = 0;
  for (graph::Action part : {graph::Action::Forward, graph::Action::Recompute,
                             graph::Action::Backward, graph::Action::Weights}) {
    const std::string name = graph::nameOf(part, number);
    const auto segment = llvm::find_if(stage.segments(), [&](const plan::Segment &segment) {
      return segment.name() == name; // those of other slots take as long
    });
    if (segment == stage.segments().end())
      continue;
    for (const plan::Instruction &instruction : segment->instructions())
      seconds += instruction.seconds();
  }
  return seconds;
}

// The seconds of a micro-batch by chunk of the model.
static Result<std::vector<double>> secondsOfChunks(Compilation &c, ArrayRef<int64_t> stageOf) {
  CLEAVE_TRY_ASSIGN(const plan::Plan outline, predictedOutline(c));
  std::vector<int64_t> chunks(c.options.stages, 0); // of each stage, counted so far
  std::vector<double> seconds;
  for (int64_t stage : stageOf)
    seconds.push_back(secondsOfChunk(outline.programs(static_cast<int>(stage)), chunks[stage]++));
  return seconds;
}

// Whether a stage takes longer than the mean by a share that is worth another cut.
static bool isUnbalanced(ArrayRef<double> chunks, ArrayRef<int64_t> stageOf, int64_t stages) {
  constexpr double kShare = 0.02;
  std::vector<double> seconds(stages, 0);
  for (auto [chunk, stage] : llvm::zip_equal(chunks, stageOf))
    seconds[stage] += chunk;
  const double mean =
      std::accumulate(seconds.begin(), seconds.end(), 0.0) / static_cast<double>(stages);
  return *std::max_element(seconds.begin(), seconds.end()) > (1 + kShare) * mean;
}

Result<std::optional<std::vector<double>>> secondsByPlan(Compilation &c) {
  using Seconds = std::optional<std::vector<double>>;
  CLEAVE_TRY_ASSIGN(const bool isForGpus, wantsGpus(c));
  if (!isForGpus || !c.options.cut.empty())
    return Seconds();
  CLEAVE_TRY_ASSIGN(const std::vector<int64_t> stageOf, placementOf(c.options));
  CLEAVE_TRY_ASSIGN(const std::vector<double> planned, secondsOfChunks(c, stageOf));
  if (!isUnbalanced(planned, stageOf, c.options.stages))
    return Seconds();
  std::vector<double> assumed(planned.size(), 0);
  for (auto [seconds, chunk] : llvm::zip_equal(c.cut.opSeconds, c.cut.chunkOf))
    if (chunk >= 0)
      assumed[chunk] += seconds;
  // Messages keep their weight: the sum over all chunks stays.
  const double scale = std::accumulate(assumed.begin(), assumed.end(), 0.0) /
                       std::accumulate(planned.begin(), planned.end(), 0.0);
  std::vector<double> corrected = c.cut.opSeconds;
  for (auto [seconds, chunk] : llvm::zip_equal(corrected, c.cut.chunkOf))
    if (chunk >= 0 && assumed[chunk] > 0)
      seconds *= scale * planned[chunk] / assumed[chunk];
  return Seconds(std::move(corrected));
}

} // namespace cleave::driver
