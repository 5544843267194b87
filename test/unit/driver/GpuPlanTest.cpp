// Plans for GPUs, made where there is none: modules, grids, workspaces, and queues.
#include "dialects/graph/Graph.h"
#include "dialects/program/Program.h"
#include "passes/driver/Compile.h"
#include "passes/driver/Predict.h"
#include "runtime/artifact/Verify.h"
#include "test/unit/driver/Models.h"

#include <catch2/catch.hpp>

using namespace cleave;
using Catch::Matchers::Contains;

namespace {

enum Model { kMlpCase, kGptCase, kResnetCase = 4 };

driver::CompileOptions optionsFor(const std::string &device, const Split &split,
                                  Model which = kMlpCase) {
  const ModelCase &model = bundledCases()[which];
  ModelFile file(model);
  driver::CompileOptions options = optionsOf(file.path(), model, split);
  options.device = device;
  return options;
}

plan::Plan planFor(const std::string &device, const Split &split, Model which = kMlpCase) {
  driver::Compilation c(optionsFor(device, split, which));
  Status status = driver::compileTo(c, "artifact");
  INFO((status ? "" : status.message()));
  REQUIRE(status.isOk());
  return c.plan;
}

} // namespace

TEST_CASE("a plan for a cluster of GPUs holds PTX, grids and workspaces") {
  plan::Plan plan = planFor("", {1});
  CHECK(plan.device() == "cuda");
  REQUIRE(plan.modules_size() == 1);
  CHECK(plan.modules(0).target() == "sm_90");
  CHECK_THAT(plan.modules(0).code(), Contains(".target sm_90") && Contains(".entry"));
  const plan::Program &program = plan.programs(0);
  for (const plan::Kernel &kernel : program.kernels())
    CHECK(kernel.has_grid());
  int products = 0, workspaces = 0;
  for (const plan::Segment &segment : program.segments())
    for (const plan::Instruction &instruction : segment.instructions()) {
      products += instruction.has_matmul();
      workspaces += instruction.matmul().workspace_size();
    }
  CHECK(products > 0);
  CHECK(workspaces == products);
}

TEST_CASE("the verifier finds every dropped wait and every instruction in a wrong queue") {
  plan::Plan plan = planFor("", {4, "dp=2,tp=2", 1, "megatron"}, kGptCase);
  int dropped = 0, moved = 0;
  for (plan::Segment &segment : *plan.mutable_programs(0)->mutable_segments())
    for (plan::Instruction &instruction : *segment.mutable_instructions()) {
      const plan::Instruction before = instruction;
      for (int i = 0; i < before.waits_size(); ++i, ++dropped) {
        instruction.mutable_waits()->erase(instruction.waits().begin() + i);
        CHECK_THAT(artifact::verifyPlan(plan).message(), Contains("without a wait for"));
        instruction = before;
      }
      if (before.has_collective()) {
        instruction.set_queue(2);
        CHECK_FALSE(artifact::verifyPlan(plan).isOk());
        instruction = before;
        ++moved;
      }
    }
  CHECK(artifact::verifyPlan(plan).message() == "");
  CHECK(dropped > 10);
  CHECK(moved > 3);
}

// The seconds of the launches that small kernels save by sharing: the planner prices each kernel
// alone.
static double savedByShared(driver::Compilation &c) {
  int64_t saved = 0;
  c.module().walk([&](program::LaunchOp launch) {
    auto kernel = c.module().lookupSymbol<program::KernelOp>(launch.getKernel());
    saved += kernel.instanceCount() - 1;
  });
  return static_cast<double>(saved) * c.cluster->launchSeconds;
}

TEST_CASE(
    "convolutions by generated kernels need no workspace, and are priced as they are planned") {
  driver::CompileOptions library = optionsFor("", {1}, kResnetCase), direct = library;
  direct.directConvolution = true;
  driver::Compilation byLibrary(library), byKernels(direct);
  REQUIRE(driver::compileTo(byLibrary, "artifact").isOk());
  REQUIRE(driver::compileTo(byKernels, "artifact").isOk());
  auto countOf = [](driver::Compilation &c) {
    int convolutions = 0, kernels = 0;
    for (const plan::Segment &segment : c.plan.programs(0).segments())
      for (const plan::Instruction &instruction : segment.instructions())
        convolutions += instruction.has_convolution();
    for (const auto &[symbol, work] : driver::kernelWorks(c.module()))
      kernels += work.directResults > 0;
    return std::pair(convolutions, kernels);
  };
  auto [convolutions, none] = countOf(byLibrary);
  CHECK((convolutions > 0 && none == 0));
  auto [left, kernels] = countOf(byKernels);
  CHECK((left == 0 && kernels > 0));
  const plan::Prediction &predicted = byKernels.plan.predicted();
  CHECK(predicted.step_seconds() > byLibrary.plan.predicted().step_seconds());
  // The planner does not price the second steps of column sums.
  CHECK(predicted.planned_seconds() ==
        Approx(predicted.step_seconds() + savedByShared(byKernels)).epsilon(0.02));
}

namespace {

// The attention and gradients of a GPT for GPUs.
struct AttentionCounts {
  int64_t kernels = 0, instructions = 0;
};

AttentionCounts countAttention(const driver::CompileOptions &options, std::string &remark) {
  driver::Compilation c(options);
  REQUIRE(driver::compileTo(c, "artifact").isOk());
  AttentionCounts counts;
  c.module().walk([&](mlir::Operation *op) {
    if (mlir::isa<graph::AttentionOp, graph::AttentionGradOp>(op))
      counts.kernels += mlir::isa<program::KernelOp>(op->getParentOp());
    if (auto attention = mlir::dyn_cast<program::AttentionOp>(op)) {
      CHECK((attention.getWorkspace() && !attention.getScratch()));
      ++counts.instructions;
    }
  });
  for (const driver::Remark &each : c.remarks)
    if (each.kind == "attention")
      remark += each.text;
  return counts;
}

} // namespace

TEST_CASE("attention in 16 bits is cuDNN's on GPUs, all other is in kernels") {
  driver::CompileOptions options = optionsFor("cuda:sm_90", {1}, kGptCase);
  std::string remark;
  SECTION("f32") {
    const AttentionCounts counts = countAttention(options, remark);
    CHECK((counts.kernels > 0 && counts.instructions == 0));
    CHECK_THAT(remark, Contains("neither bf16 nor f16"));
  }
  SECTION("bf16") {
    options.dtype = "bf16";
    const AttentionCounts counts = countAttention(options, remark);
    CHECK((counts.kernels == 0 && counts.instructions > 0));
    CHECK_THAT(remark, Contains("by cuDNN"));
  }
  SECTION("bf16 by kernels, if the user says so") {
    options.dtype = "bf16", options.directAttention = true;
    const AttentionCounts counts = countAttention(options, remark);
    CHECK((counts.kernels > 0 && counts.instructions == 0));
    CHECK_THAT(remark, Contains("--direct-attention"));
  }
}
