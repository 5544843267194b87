// The tables of models and splits.
#include "test/unit/driver/Models.h"

#include "compiler/frontend/onnx/file/ModelWriter.h"
#include "compiler/zoo/Zoo.h"
#include "runtime/base/Concat.h"
#include "runtime/base/FileWriter.h"

#include <catch2/catch.hpp>

#include <cstdio>
#include <filesystem>
#include <unistd.h>

namespace cleave {

static const char kLoss[] = "softmax-cross-entropy:logits";

const std::vector<ModelCase> &bundledCases() {
  static const std::vector<ModelCase> cases = [] {
    std::vector<ModelCase> list;
    for (const char *name : {"mlp.dynamo.onnx", "gpt.dynamo.onnx", "gpt2.dynamo.onnx",
                             "vit.dynamo-noopt.onnx", "resnet.ts-train.onnx"})
      list.push_back({name, kLoss, {{"batch", 16}}, {}});
    return list;
  }();
  return cases;
}

using Sizes = std::map<std::string, int64_t>;

// The sizes of a small transformer, and more.
static Sizes small(Sizes more) {
  more.insert({{"layers", 2}, {"hidden", 64}, {"heads", 4}, {"ffn", 128}});
  return more;
}

const std::vector<ModelCase> &zooCases() {
  const Sizes text = {{"batch", 16}, {"seq", 32}}, images = {{"batch", 16}};
  const Sizes pairs = {{"batch", 16}, {"seq", 32}, {"target", 32}};
  const Sizes grouped = small({{"kv-heads", 2}, {"vocab", 256}});
  const Sizes placed = small({{"vocab", 256}, {"context", 64}});
  static const std::vector<ModelCase> cases = {
      {"gpt2", kLoss, text, placed},
      {"llama3-8b", kLoss, text, grouped},
      {"mixtral-8x7b", kLoss, text, grouped},
      {"bert-base", kLoss, text, placed},
      {"t5-small", kLoss, pairs, small({{"head-size", 16}, {"vocab", 256}})},
      {"vit_b_16", kLoss, images, small({{"image", 64}, {"classes", 16}})},
      {"resnet18", kLoss, images, {{"image", 64}, {"classes", 16}}},
      {"densenet121", kLoss, images, {{"image", 64}, {"classes", 16}}}};
  return cases;
}

std::vector<Split> allSplits() {
  std::vector<Split> list;
  for (int64_t accumulate : {1, 4}) {
    list.push_back({1, "", accumulate});
    for (int64_t ranks : {2, 4, 8}) {
      const std::string n = std::to_string(ranks), half = std::to_string(ranks / 2);
      for (const std::string &mesh :
           {std::string(), "dp=" + n, ranks > 2 ? "dp=" + half + ",tp=2" : "dp=1,tp=2"})
        list.push_back({ranks, mesh, accumulate});
    }
  }
  return list;
}

ModelFile::ModelFile(const ModelCase &model)
    : path_(std::string(CLEAVE_MODELS) + "/" + model.name), isTemporary_(!model.sizes.empty()) {
  if (!isTemporary_)
    return;
  path_ = std::filesystem::temp_directory_path() /
          ("cleave-" + model.name + std::to_string(getpid()) + ".onnx");
  auto built = zoo::build(model.name, model.sizes);
  INFO((built ? "" : built.status().message()));
  REQUIRE(built.isOk());
  REQUIRE(writeFile(path_, onnx::writeModel(*built)).isOk());
}

ModelFile::~ModelFile() {
  if (isTemporary_)
    std::remove(path_.c_str());
}

driver::CompileOptions optionsOf(const std::string &path, const ModelCase &model,
                                 const Split &split) {
  driver::CompileOptions options;
  options.model = path;
  options.output = "-";
  options.train = true;
  options.losses = {model.loss};
  options.symbols = model.symbols;
  options.cluster = "h100-node";
  options.device = "cpu";
  options.ranks = split.ranks;
  if (!split.mesh.empty())
    options.mesh = *Mesh::parse(split.mesh);
  options.accumulate = split.accumulate;
  options.pin = split.pin;
  return options;
}

void check(const Status &status) {
  INFO((status ? "" : status.message()));
  REQUIRE(status.isOk());
}

std::string memoryText(const driver::CompileOptions &options) {
  return concat(options.memory ? concat(options.memory->bytes()) : "any", " bytes");
}

} // namespace cleave
