// Steps that are split into stages compute what the whole step computes: each stage is run again
// and again on the messages of the others, until these are complete.
#include "passes/stage/Split.h"

#include "compiler/interpret/Interpret.h"
#include "dialects/graph/Messages.h"
#include "dialects/graph/Stage.h"
#include "passes/stage/Cut.h"
#include "passes/train/Train.h"
#include "test/unit/graph_text/GraphText.h"

#include <catch2/catch.hpp>
#include <map>
#include <set>

using namespace cleave;
using namespace cleave::test;
using namespace mlir;

namespace {

// Three products; the first weight is read again by the last one (tied), the first result is added
// to the last one, and a function of the parameter d is added at the beginning and at the end.
const char *kTiedModel = R"(
func.func @step(%x: tensor<4x4xf64> {graph.name = "x", graph.role = "input"},
    %a: tensor<4x4xf64> {graph.name = "a", graph.role = "parameter", graph.source = {fill = 0.5 : f64}},
    %b: tensor<4x4xf64> {graph.name = "b", graph.role = "parameter", graph.source = {fill = 0.5 : f64}},
    %c: tensor<4x4xf64> {graph.name = "c", graph.role = "parameter", graph.source = {fill = 0.5 : f64}},
    %d: tensor<4x4xf64> {graph.name = "d", graph.role = "parameter", graph.source = {fill = 0.5 : f64}})
    -> (tensor<4x4xf64> {graph.name = "y", graph.role = "output"}) {
  %bias = graph.tanh %d : tensor<4x4xf64>
  %p = graph.dot_general %x, %a batch [] x [] contract [1] x [0] : tensor<4x4xf64>, tensor<4x4xf64> -> tensor<4x4xf64>
  %0 = graph.add %p, %bias : tensor<4x4xf64>
  %1 = graph.dot_general %0, %b batch [] x [] contract [1] x [0] : tensor<4x4xf64>, tensor<4x4xf64> -> tensor<4x4xf64>
  %2 = graph.tanh %1 : tensor<4x4xf64>
  %3 = graph.dot_general %2, %c batch [] x [] contract [1] x [0] : tensor<4x4xf64>, tensor<4x4xf64> -> tensor<4x4xf64>
  %4 = graph.dot_general %3, %a batch [] x [] contract [1] x [0] : tensor<4x4xf64>, tensor<4x4xf64> -> tensor<4x4xf64>
  %5 = graph.add %4, %0 : tensor<4x4xf64>
  %6 = graph.mul %5, %bias : tensor<4x4xf64>
  return %6 : tensor<4x4xf64>
})";

// Cuts by the FLOPs of ops.
LogicalResult cut(func::FuncOp step, int64_t chunks) {
  stage::CutCosts costs{{}, 1e-6};
  for (Operation *op : graph::opsOf(step))
    costs.opSeconds.push_back(
        static_cast<double>(cast<graph::CostInterface>(op).getFlops().constant().value_or(0)));
  return stage::cutIntoChunks(step, chunks, costs);
}

train::TrainOptions options(int64_t chunks) {
  train::TrainOptions options;
  options.losses = {*train::parseLoss("mse:y")};
  options.optimizer = *train::parseOptimizer("adamw:lr=0.1");
  options.clipNorm = 0.5;
  if (chunks > 1)
    options.cut = [chunks](func::FuncOp step) { return cut(step, chunks); };
  return options;
}

using Tensors = std::map<std::string, Tensor>;

// The results of a step by name, on arguments by name; received values that are not there are 0.
Tensors runStep(func::FuncOp step, const Tensors &given) {
  Random random(1);
  std::vector<Tensor> arguments;
  for (unsigned i = 0; i < step.getNumArguments(); ++i) {
    auto it = given.find(graph::argName(step, i).str());
    arguments.push_back(it != given.end() ? it->second
                                          : randomTensor(step.getArgumentTypes()[i], random, 0, 0));
  }
  Result<std::vector<Tensor>> results = interpret::run(step, arguments);
  REQUIRE(results.status().message() == "");
  Tensors named;
  for (unsigned i = 0; i < step.getNumResults(); ++i)
    named.emplace(graph::resultName(step, i).str(), (*results)[i]);
  return named;
}

// The arguments of the whole step, drawn at random.
Tensors argumentsOf(func::FuncOp step) {
  Random random(3);
  Tensors named;
  for (unsigned i = 0; i < step.getNumArguments(); ++i)
    named.emplace(graph::argName(step, i).str(),
                  randomTensor(step.getArgumentTypes()[i], random, 0.1, 1));
  return named;
}

} // namespace

TEST_CASE("stages that pass messages compute the results of the whole step") {
  // By chunk its stage: one on each, several in a loop, and there and back.
  const std::vector<std::vector<int64_t>> placements = {{0, 1},       {0, 1, 2},    {0, 1, 2, 3},
                                                        {0, 1, 0, 1}, {0, 1, 1, 0}, {0, 0, 1}};
  for (const std::vector<int64_t> &placement : placements) {
    const auto stages = *llvm::max_element(placement) + 1;
    INFO(placement.size() << " chunks on " << stages << " stages");
    GraphText text(kTiedModel);
    func::FuncOp whole = text.function();
    REQUIRE(succeeded(
        train::buildTrainingStep(whole, options(static_cast<int64_t>(placement.size())))));
    auto modules = stage::splitIntoStages(text.module(), placement);
    REQUIRE(succeeded(modules));
    const Tensors given = argumentsOf(whole), wanted = runStep(whole, given);
    Tensors known = given, found;
    for (int64_t round = 0; round < 3 * static_cast<int64_t>(placement.size()); ++round)
      for (OwningOpRef<ModuleOp> &module : *modules) {
        func::FuncOp step = graph::stepOf(*module);
        const Tensors results = runStep(step, known);
        for (unsigned i = 0; i < step.getNumResults(); ++i) {
          const std::string name = graph::resultName(step, i).str();
          (graph::sentWhen(step, i) ? known : found).insert_or_assign(name, results.at(name));
        }
      }
    CHECK(found.size() == wanted.size());
    for (const auto &[name, value] : wanted) {
      INFO(name);
      CHECK(difference(found.at(name), value) < 1e-12);
    }
  }
}

TEST_CASE("both ends of a message have its name, and name each other") {
  GraphText text(kTiedModel);
  REQUIRE(succeeded(train::buildTrainingStep(text.function(), options(3))));
  auto modules = stage::splitIntoStages(text.module(), {0, 1, 2});
  REQUIRE(succeeded(modules));
  std::set<std::tuple<std::string, int64_t, int64_t, graph::Passed>> sent, received;
  for (auto [s, module] : llvm::enumerate(*modules)) {
    func::FuncOp step = graph::stepOf(*module);
    const auto stage = static_cast<int64_t>(s);
    CHECK(graph::stageOf(step)->index == stage);
    for (unsigned i = 0; i < step.getNumResults(); ++i)
      if (std::optional<graph::Passed> passed = graph::sentWhen(step, i))
        sent.emplace(graph::resultName(step, i).str(), stage, graph::receiverOf(step, i), *passed);
    for (unsigned i = 0; i < step.getNumArguments(); ++i)
      if (std::optional<graph::Passed> passed = graph::receivedWhen(step, i))
        received.emplace(graph::argName(step, i).str(), graph::senderOf(step, i), stage, *passed);
  }
  CHECK(!sent.empty());
  CHECK(sent == received);
}

TEST_CASE("each parameter is in the stages that read it, with its states") {
  GraphText text(kTiedModel);
  train::TrainOptions averaged = options(2);
  averaged.ema = 0.9; // no stage reads the averages
  REQUIRE(succeeded(train::buildTrainingStep(text.function(), averaged)));
  auto modules = stage::splitIntoStages(text.module(), {0, 1});
  REQUIRE(succeeded(modules));
  std::vector<std::set<std::string>> stored(2), owners(2);
  for (auto [s, module] : llvm::enumerate(*modules)) {
    func::FuncOp step = graph::stepOf(*module);
    for (unsigned i = 0; i < step.getNumArguments(); ++i)
      if (graph::argRole(step, i) == Role::Parameter)
        stored[s].insert(graph::argName(step, i).str());
      else if (auto owner = step.getArgAttrOfType<StringAttr>(i, "graph.parameter"))
        owners[s].insert(owner.str());
  }
  CHECK(owners == stored);
  CHECK(stored[0] == std::set<std::string>{"a", "b", "d"});
  CHECK(stored[1] == std::set<std::string>{"a", "c", "d"}); // a and d are read by both
}

TEST_CASE("a value of each micro-batch that another stage reads without a transfer is refused") {
  GraphText text(R"(
func.func @step(%x: tensor<4xf32> {graph.name = "x", graph.role = "input"})
    -> (tensor<4xf32> {graph.name = "y", graph.role = "sent"}, tensor<4xf32> {graph.name = "z", graph.role = "loss"}) {
  %0 = graph.transfer %x from 0 to 1 : tensor<4xf32>
  %1 = graph.exp %0 : tensor<4xf32>
  %2 = graph.transfer %1 from 1 to 2 : tensor<4xf32>
  %3 = graph.add %1, %2 : tensor<4xf32>
  %4 = graph.accumulate %3 count 2 : tensor<4xf32>
  return %3, %4 : tensor<4xf32>, tensor<4xf32>
})");
  ScopedDiagnosticHandler handler(text.context(), [&](Diagnostic &d) {
    text.diagnostics += d.str() + "\n";
    return success();
  });
  CHECK(failed(stage::splitIntoStages(text.module(), {0, 1, 2})));
  CHECK(text.diagnostics.find("without a graph.transfer") != std::string::npos);
}

TEST_CASE("parts run after those whose values they read, and chunks send what their parts make") {
  using Kind = graph::StagePart::Kind;
  for (const std::vector<int64_t> &placement :
       std::vector<std::vector<int64_t>>{{0, 1}, {0, 1, 0, 1}, {0, 1, 1, 0}})
    for (const bool hasWeights : {false, true}) {
      GraphText text(kTiedModel);
      REQUIRE(succeeded(train::buildTrainingStep(text.function(),
                                                 options(static_cast<int64_t>(placement.size())))));
      auto modules = stage::splitIntoStages(text.module(), placement);
      REQUIRE(succeeded(modules));
      for (OwningOpRef<ModuleOp> &module : *modules) {
        if (hasWeights)
          graph::setSchedule(*module, {{graph::Action::Weights, 0, 0}});
        func::FuncOp step = graph::stepOf(*module);
        const auto parts = graph::partsOf(step);
        std::set<std::pair<Kind, int64_t>> found;
        for (Operation &op : step.getBody().front().without_terminator()) {
          const graph::StagePart part = parts.lookup(&op);
          found.insert({part.kind, part.chunk});
          for (Value operand : op.getOperands())
            if (Operation *maker = operand.getDefiningOp())
              CHECK(parts.lookup(maker) <= part);
        }
        CHECK(found.contains({Kind::Weights, 0}) == hasWeights);
        for (unsigned i = 0; i < step.getNumResults(); ++i) {
          const auto passed = graph::sentWhen(step, i);
          Operation *maker = step.getBody().front().getTerminator()->getOperand(i).getDefiningOp();
          if (!passed || *passed == graph::Passed::Update || !maker)
            continue;
          const graph::StagePart part = parts.lookup(maker),
                                 latest = {*passed == graph::Passed::Forward ? Kind::Forward
                                                                             : Kind::Backward,
                                           graph::sendingChunk(step, i)};
          CHECK(part <= latest);
        }
      }
    }
}
