// Compares imported models, trained by the interpreter, with records of PyTorch (test/golden):
// losses and gradient norms of the first steps, for the step as built and after all passes on whole
// tensors.
#include "compiler/frontend/onnx/Import.h"
#include "compiler/interpret/Interpret.h"
#include "dialects/graph/FedArguments.h"
#include "dialects/graph/Step.h"
#include "passes/decompose/Decompose.h"
#include "passes/fuse/Fuse.h"
#include "passes/simplify/Simplify.h"
#include "passes/train/Train.h"
#include "runtime/data/ArrayFile.h"
#include "test/unit/train/Origins.h"

#include "mlir/IR/MLIRContext.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>

using namespace cleave;
using namespace cleave::test;
using namespace mlir;

namespace {

const std::string kData = CLEAVE_TEST_DATA;

nlohmann::json readRecord(const std::string &name) {
  std::ifstream file(kData + "/golden/" + name + ".json");
  REQUIRE(file.good());
  return nlohmann::json::parse(file);
}

train::TrainOptions optionsOf(const nlohmann::json &record) {
  train::TrainOptions options;
  options.losses = {*train::parseLoss(record["loss"])};
  options.optimizer = *train::parseOptimizer(record["optimizer"]);
  if (record.contains("clip_norm"))
    options.clipNorm = record["clip_norm"];
  if (record.contains("freeze"))
    options.freeze = {record["freeze"].get<std::string>() + "*"};
  options.accumulate = record.value("accumulate", 1);
  options.freezeBatchNorm = record.value("batch_norm", "") == "frozen";
  return options;
}

// Samples [begin, begin + count) of an array, wrapping round, as a tensor of this type.
Tensor samples(const data::ArrayView &array, Type type, int64_t begin, int64_t count) {
  Tensor tensor(graph::toElementType(graph::elementTypeOf(type)), graph::staticShapeOf(type));
  REQUIRE(tensor.shape[0] == count);
  int64_t perSample = tensor.size() / count;
  for (int64_t i = 0; i < tensor.size(); ++i) {
    int64_t at = (begin + i / perSample) % array.shape[0] * perSample + i % perSample;
    double value = array.dtype == DType::I64 ? static_cast<double>(array.at<int64_t>(at))
                                             : array.at<float>(at);
    tensor.set(i, value);
  }
  return tensor;
}

// One model that is being trained.
class Training {
public:
  Training(const std::string &file, const nlohmann::json &record, bool isTransformed)
      : record(record), accumulate(record.value("accumulate", 1)) {
    onnx::ImportOptions options;
    options.batchNorm = onnx::ImportOptions::BatchNorm::Train; // the step freezes them, if at all
    options.symbols["batch"] = record["batch"].get<int64_t>() / accumulate;
    auto model = onnx::importOnnx(context, kData + "/models/" + file, options);
    INFO(model.status().message());
    REQUIRE(model.isOk());
    module = std::move(model->module);
    step = graph::stepOf(*module);
    if (isTransformed)
      REQUIRE(succeeded(simplify::simplify(step)));
    REQUIRE(succeeded(train::buildTrainingStep(step, optionsOf(record))));
    if (isTransformed) {
      REQUIRE(succeeded(simplify::simplify(step, simplify::Composites::Leave)));
      decompose::decomposeComposites(step);
      fuse::formGroups(step);
      checkGroups();
    }
    for (unsigned i = 0; i < step.getNumArguments(); ++i)
      if (!graph::isFed(step, i))
        persistent.push_back(firstValue(step, i, kData + "/models", file));
    auto opened = data::ArrayFile::open(kData + "/golden/" + record["data"].get<std::string>());
    REQUIRE(opened.isOk());
    arrays = *opened;
  }

  // Runs step number `index`; afterwards `loss` and `norm` are those of that step.
  void run(int64_t index) {
    int64_t batch = record["batch"], micro = batch / accumulate;
    std::vector<std::vector<Tensor>> inputs(accumulate);
    for (int64_t m = 0; m < accumulate; ++m)
      for (unsigned i = 0; i < step.getNumArguments(); ++i)
        if (graph::isPerMicroBatch(step, i)) {
          const data::ArrayView *array = arrays->find(graph::argName(step, i).str());
          REQUIRE(array);
          inputs[m].push_back(
              samples(*array, step.getArgument(i).getType(), index * batch + m * micro, micro));
        }
    auto results = interpret::runStep(step, persistent, inputs);
    INFO(results.status().message());
    REQUIRE(results.isOk());
    take(*results);
  }

  double loss = 0, norm = 0;

private:
  // Recomputation leaves no unused operands and results of kernel groups.
  void checkGroups() {
    step.walk([&](graph::FusionOp group) {
      for (BlockArgument argument : group.getBody().getArguments())
        CHECK_FALSE(argument.use_empty());
      for (Value result : group.getResults())
        CHECK_FALSE(result.use_empty());
    });
  }

  void take(const std::vector<Tensor> &results) {
    std::vector<size_t> position(step.getNumArguments(), 0);
    for (unsigned i = 0, next = 0; i < step.getNumArguments(); ++i)
      if (!graph::isFed(step, i))
        position[i] = next++;
    for (unsigned i = 0; i < step.getNumResults(); ++i) {
      if (std::optional<unsigned> alias = graph::aliasOf(step, i))
        persistent[position[*alias]] = results[i];
      if (graph::resultRole(step, i) == Role::Loss)
        loss = results[i].values[0];
      if (graph::resultName(step, i) == "grad_norm")
        norm = results[i].values[0];
    }
  }

  nlohmann::json record;
  int64_t accumulate;
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  func::FuncOp step;
  std::vector<Tensor> persistent;
  std::shared_ptr<const data::ArrayFile> arrays;
};

void check(const std::string &name, const std::string &file, int64_t steps) {
  nlohmann::json record = readRecord(name);
  for (bool isTransformed : {false, true}) {
    Training training(file, record, isTransformed);
    for (int64_t i = 0; i < steps; ++i) {
      INFO(name << " on " << file << ", step " << i << (isTransformed ? ", after all passes" : ""));
      training.run(i);
      CHECK(training.loss == Approx(record["float64"]["loss"][i].get<double>()).epsilon(1e-5));
      CHECK(training.norm == Approx(record["float64"]["grad_norm"][i].get<double>()).epsilon(1e-4));
    }
  }
}

} // namespace

TEST_CASE("an MLP trains as in PyTorch, with every optimizer and loss") {
  for (const char *name : {"mlp.b8", "mlp.b7", "mlp.adam", "mlp.sgd", "mlp.nesterov",
                           "mlp.dampening", "mlp.mse", "mlp.freeze"})
    check(name, "mlp.dynamo-noopt.onnx", 10);
}

TEST_CASE("a GPT trains as in PyTorch") { check("gpt.b8", "gpt.dynamo-noopt.onnx", 3); }

TEST_CASE("a GPT exported with the exporter's defaults trains as in PyTorch") {
  check("gpt.b8", "gpt.dynamo.onnx", 2);
}

TEST_CASE("a GPT spelled out in small ops trains as in PyTorch") {
  check("gpt2.b8", "gpt2.dynamo-noopt.onnx", 2);
}

TEST_CASE("clipping, micro-batches and ignored labels are PyTorch's") {
  for (const char *name : {"gpt.clip", "gpt.accumulate", "gpt.ignore"})
    check(name, "gpt.dynamo-noopt.onnx", 2);
}

TEST_CASE("a vision transformer trains as in PyTorch") {
  check("vit.b8", "vit.dynamo-noopt.onnx", 2);
}

TEST_CASE("a ResNet trains as in PyTorch, with batch statistics and with frozen ones") {
  check("resnet.b8", "resnet.dynamo-noopt.onnx", 2);
  check("resnet.frozen", "resnet.dynamo-noopt.onnx", 2);
  check("resnet.accumulate", "resnet.dynamo-noopt.onnx", 2);
}
