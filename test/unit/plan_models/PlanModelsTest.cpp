// Whole training steps of real models: under every recipe and the solver's own choice N ranks
// compute the results of one rank.
#include "compiler/cluster/Presets.h"
#include "compiler/frontend/onnx/Import.h"
#include "compiler/interpret/Ranks.h"
#include "compiler/planner/model/ReadStep.h"
#include "compiler/planner/search/Planner.h"
#include "dialects/graph/Step.h"
#include "dialects/mesh/MeshDialect.h"
#include "passes/decompose/Decompose.h"
#include "passes/fuse/Fuse.h"
#include "passes/schedule/Bucket.h"
#include "passes/schedule/Order.h"
#include "passes/shard/Annotate.h"
#include "passes/shard/Partition.h"
#include "passes/simplify/Simplify.h"
#include "passes/train/Train.h"
#include "test/unit/graph_text/GraphText.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <iostream>

using namespace cleave;
using namespace cleave::test;
using namespace mlir;

namespace {

struct Model {
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::string diagnostics;
  int composites = 0; // left by decomposition

  // `accumulate` 0: inference.
  Model(const std::string &path, int64_t batch, int64_t accumulate,
        decompose::Keeps keeps = decompose::keepsNothing) {
    context.loadDialect<graph::GraphDialect, func::FuncDialect, mesh::MeshDialect>();
    context.getDiagEngine().registerHandler(
        [this](Diagnostic &diagnostic) { diagnostics += diagnostic.str() + "\n"; });
    onnx::ImportOptions options;
    options.symbols = {{"batch", batch}};
    options.batchNorm = onnx::ImportOptions::BatchNorm::Train;
    auto imported = onnx::importOnnx(context, path, options);
    INFO((imported.isOk() ? "" : imported.status().message()));
    REQUIRE(imported.isOk());
    module = std::move(imported->module);
    tidy();
    REQUIRE(succeeded(simplify::simplify(step())));
    if (accumulate > 0)
      train(accumulate);
    decompose::decomposeComposites(step(), keeps);
    step().walk([&](graph::DecompositionInterface) { ++composites; });
    tidy();
    fuse::formGroups(step());
    schedule::orderForMemory(step());
    REQUIRE(succeeded(mlir::verify(*module)));
  }

  void train(int64_t accumulate) {
    train::TrainOptions train;
    train.losses = {*train::parseLoss("softmax-cross-entropy:logits")};
    train.optimizer = *train::parseOptimizer("adamw:lr=1e-3");
    train.accumulate = accumulate;
    train.clipNorm = 1.0;
    bool isBuilt = succeeded(train::buildTrainingStep(step(), train));
    INFO(diagnostics);
    REQUIRE(isBuilt);
  }

  func::FuncOp step() { return graph::stepOf(*module); }

  void tidy() {
    PassManager passes(&context);
    passes.addNestedPass<func::FuncOp>(createCanonicalizerPass());
    passes.addNestedPass<func::FuncOp>(createCSEPass());
    REQUIRE(succeeded(passes.run(*module)));
  }
};

// Small weights, states that a step may have, tokens and labels below 10.
std::vector<Tensor> argumentsOf(func::FuncOp step, Random &random) {
  std::vector<Tensor> args;
  for (unsigned i = 0; i < step.getNumArguments(); ++i) {
    Type type = step.getArgument(i).getType();
    bool isFloat = isa<FloatType>(graph::elementTypeOf(type));
    bool isState = graph::argRole(step, i) == Role::State;
    args.push_back(isState   ? randomTensor(type, random, 0.01, 0.02)
                   : isFloat ? randomTensor(type, random, -0.3, 0.3)
                             : randomTensor(type, random, 0, 10));
  }
  return args;
}

void checkModel(const std::string &file, int64_t batch, int64_t ranks, const std::string &pin,
                const std::string &mesh, int64_t accumulate = 1,
                decompose::Keeps keeps = decompose::keepsNothing) {
  Model model(std::string(CLEAVE_MODELS) + "/" + file, batch, accumulate, keeps);
  CHECK((model.composites > 0) == (keeps != decompose::keepsNothing));
  Random random(1);
  std::vector<Tensor> args = argumentsOf(model.step(), random);
  auto expected = interpret::run(model.step(), args);
  REQUIRE(expected.isOk());
  auto begin = std::chrono::steady_clock::now();
  auto plain = planner::readStep(model.step());
  INFO(model.diagnostics);
  REQUIRE(succeeded(plain));
  planner::PlannerOptions options;
  options.ranks = ranks;
  options.pins = *planner::Pins::parse(pin);
  if (!mesh.empty())
    options.mesh = *Mesh::parse(mesh);
  auto cluster = cluster::findCluster("h100-node");
  auto plan = planner::planStep(*plain, *cluster, options);
  INFO(file << " batch " << batch << " on " << ranks << " ranks, pin " << pin);
  INFO((plan.isOk() ? "" : plan.status().message()));
  REQUIRE(plan.isOk());
  std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
  if (std::getenv("CLEAVE_SHOW"))
    std::cout << file << " batch " << batch << " ranks " << ranks << " pin " << pin << " mesh "
              << plan->mesh.str() << ": ops " << plain->ops.size() << " planned in "
              << spent.count() << " s (solve " << plan->solveSeconds << "), " << plan->seconds
              << " s, gap " << plan->gap << ", peak " << plan->peakBytes << std::endl;
  shard::annotate(model.step(), *plan);
  auto shared = cluster::forRanks(*cluster, ranks);
  REQUIRE(succeeded(shard::partition(model.step(), *shared)));
  model.tidy();
  schedule::bucketReductions(model.step());
  fuse::formGroups(model.step()); // ops that partitioning added
  schedule::orderForMemory(model.step());
  REQUIRE(succeeded(mlir::verify(*model.module)));
  auto actual = interpret::runPartitioned(model.step(), args);
  INFO((actual.isOk() ? "" : actual.status().message()));
  REQUIRE(actual.isOk());
  for (size_t i = 0; i < expected->size(); ++i) {
    INFO("result " << graph::resultName(model.step(), i).str());
    CHECK(difference((*actual)[i], (*expected)[i]) < 1e-4);
  }
}

} // namespace

TEST_CASE("four ranks train like one, whatever the recipe") {
  for (const char *pin : {"", "dp", "zero1", "zero2", "zero3", "megatron"})
    checkModel("gpt.dynamo.onnx", 4, 4, pin, "");
  for (const char *pin : {"", "zero3"})
    checkModel("mlp.dynamo.onnx", 4, 4, pin, "");
  for (const char *pin : {"", "megatron"})
    checkModel("vit.dynamo-noopt.onnx", 4, 4, pin, "");
  for (const char *pin : {"", "dp", "zero2", "megatron"})
    checkModel("resnet.ts-train.onnx", 4, 4, pin, "");
}

TEST_CASE("four ranks on two axes train like one, with uneven batches and micro-batches") {
  checkModel("gpt.dynamo.onnx", 4, 4, "megatron", "dp=2,tp=2");
  for (const char *pin : {"megatron+zero1", "fsdp+tp", "hsdp+sp", "zero1+cp", "cp+sp"})
    checkModel("gpt.dynamo.onnx", 4, 4, pin, "dp=2,tp=2");
  checkModel("gpt.dynamo.onnx", 7, 4, "dp", "");
  checkModel("gpt.dynamo.onnx", 7, 4, "", "dp=2,tp=2");
  checkModel("mlp.dynamo.onnx", 7, 4, "zero3", "");
  checkModel("gpt.dynamo.onnx", 2, 2, "zero2", "", 3);
}

static bool isAttention(graph::DecompositionInterface op) {
  return isa<graph::AttentionOp, graph::AttentionGradOp>(op.getOperation());
}

TEST_CASE("attention that stays one op is split by samples, heads and rows") {
  for (const char *pin : {"", "dp", "zero3", "megatron"})
    checkModel("gpt.dynamo.onnx", 7, 4, pin, "", 1, isAttention);
  checkModel("gpt2.dynamo.onnx", 4, 4, "", "dp=2,tp=2", 2, isAttention);
  checkModel("gpt.dynamo.onnx", 7, 4, "", "", 0, isAttention);
}

TEST_CASE("inference is split like training") {
  for (const char *pin : {"", "dp", "megatron"})
    checkModel("gpt.dynamo.onnx", 7, 4, pin, "", 0);
  checkModel("resnet.dynamo.onnx", 4, 4, "", "", 0);
}

// Takes minutes; run by hand: unit-plan_models "[sweep]". The seed varies from case to case.
TEST_CASE("every exported model under every recipe and on other meshes", "[.sweep]") {
  const std::vector<std::string> meshes = {"dp=4", "dp=2,tp=2", "dp=3", "dp=2,tp=3"};
  size_t turn = 0;
  for (const char *model : {"gpt", "gpt2", "mlp", "vit", "resnet"})
    for (const char *exporter : {"dynamo", "dynamo-noopt", "ts-train", "ts-eval"})
      for (const char *pin : {"", "dp", "zero1", "zero2", "zero3", "megatron"}) {
        const std::string mesh = meshes[turn++ % meshes.size()];
        checkModel(std::string(model) + "." + exporter + ".onnx", 5 + turn % 3,
                   Mesh::parse(mesh)->ranks(), pin, mesh);
      }
}
