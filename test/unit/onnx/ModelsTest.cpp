// Whole models: parameters and logits are those of PyTorch, for every exporter.
#include "compiler/frontend/onnx/file/Weights.h"
#include "test/unit/onnx/RunModel.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>

namespace cleave::onnx {
namespace {

const std::string kTests = std::string(CLEAVE_SOURCE) + "/test/";
using Shapes = std::map<std::string, std::vector<int64_t>>;

struct Record {
  std::string model;
  std::vector<std::string> files;
  Shapes parameters;
  std::map<std::string, std::string> tied; // the exporters' name -> PyTorch's
};

// The models with a record of batch 8 under plain options.
std::vector<Record> records() {
  std::vector<Record> out;
  for (const char *name : {"gpt", "gpt2", "vit", "resnet", "mlp", "example"}) {
    std::ifstream file(kTests + "golden/" + name + ".b8.json");
    nlohmann::json json = nlohmann::json::parse(file);
    Record record{json["model"], {}, json["parameters"], {}};
    for (const std::string file : json["files"])
      if (llvm::StringRef(file).ends_with(".onnx"))
        record.files.push_back(file);
    for (const auto &[other, first] : json["tied"].items())
      record.tied[other] = first;
    out.push_back(record);
  }
  return out;
}

std::string pathOf(const std::string &file) {
  return std::filesystem::path(kTests + "models/" + file).lexically_normal().string();
}

Shapes parametersOf(const Computed &computed, Role role = Role::Parameter) {
  Shapes out;
  for (const Argument &argument : computed.arguments)
    if (argument.role == role)
      out[argument.name] = argument.shape;
  return out;
}

ImportOptions options(int64_t batch) {
  ImportOptions out;
  out.symbols["batch"] = batch;
  out.batchNorm = ImportOptions::BatchNorm::Train;
  return out;
}

std::vector<Remark> remarksOn(const Computed &computed, const std::string &name) {
  std::vector<Remark> out;
  for (const Remark &remark : computed.remarks)
    if (remark.name == name)
      out.push_back(remark);
  return out;
}

TEST_CASE("every export has the parameters that the model has in PyTorch") {
  for (const Record &record : records()) {
    for (const std::string &file : record.files) {
      INFO(file);
      Computed computed = importModel(pathOf(file), options(8));
      INFO(computed.status.message());
      REQUIRE(computed.status.isOk());
      Shapes found = parametersOf(computed);
      for (const auto &[other, first] : record.tied)
        if (auto node = found.extract(other)) {
          node.key() = first;
          found.insert(std::move(node));
        }
      // Of the position table, that export holds only the rows that are read.
      if (file == "gpt2.dynamo.onnx" && found.contains("wpe.weight")) {
        CHECK(found["wpe.weight"] == std::vector<int64_t>{16, 32});
        found["wpe.weight"] = {24, 32};
      }
      CHECK(found == record.parameters);
    }
  }
}

TEST_CASE("every export gives PyTorch's logits") {
  for (const Record &record : records()) {
    Arrays arrays = readArrays(kTests + "golden/" + record.model + ".forward.npz");
    for (const std::string &file : record.files) {
      int64_t batch = arrays.at("logits").shape[0];
      Computed plain = runModel(pathOf(file), options(batch), arrays);
      INFO(file << " " << plain.status.message());
      REQUIRE(plain.status.isOk());
      CHECK(difference(plain.outputs.at("logits"), arrays.at("logits")) < 5e-6);
      Computed simplified = runModel(pathOf(file), options(batch), arrays, After::Simplify);
      CHECK(difference(simplified.outputs.at("logits"), arrays.at("logits")) < 5e-6);
    }
  }
}

TEST_CASE("frozen batch norms use the statistics of the file and do not update them") {
  Arrays arrays = readArrays(kTests + "golden/resnet.forward.npz");
  ImportOptions frozen = options(arrays.at("logits").shape[0]);
  frozen.batchNorm = ImportOptions::BatchNorm::Frozen;
  Computed computed = runModel(pathOf("resnet.dynamo-noopt.onnx"), frozen, arrays);
  REQUIRE(computed.status.isOk());
  CHECK(difference(computed.outputs.at("logits"), arrays.at("logits.eval")) < 5e-6);
  CHECK(computed.outputs.size() == 1);
  CHECK(parametersOf(computed, Role::State).empty());
}

TEST_CASE("training batch norms update the running statistics") {
  Arrays arrays = readArrays(kTests + "golden/resnet.forward.npz");
  Computed computed =
      runModel(pathOf("resnet.ts-train-13.onnx"), options(arrays.at("logits").shape[0]), arrays);
  REQUIRE(computed.status.isOk());
  CHECK(parametersOf(computed, Role::State).size() == 16);
  CHECK(computed.outputs.size() == 17);
}

TEST_CASE("merged and transposed parameters are repaired with a remark each") {
  Computed computed = importModel(pathOf("gpt.dynamo.onnx"), options(8));
  CHECK(remarksOn(computed, "blocks.1.ln2.weight").size() == 1);
  CHECK(remarksOn(computed, "blocks.1.mlp.fc.weight").at(0).kind == Remark::Kind::Transposed);
  CHECK(importModel(pathOf("gpt.dynamo-noopt.onnx"), options(8)).remarks.empty());
}

TEST_CASE("a slope that got a further dim before it was merged has its own dims") {
  Shapes shapes = parametersOf(importModel(pathOf("merged-slope.dynamo.onnx"), options(8)));
  CHECK(shapes.at("act.weight") == std::vector<int64_t>{1});
  CHECK(shapes.at("fc.weight") == std::vector<int64_t>{1, 1});
}

TEST_CASE("transposed parameters are transposed back, in any field that holds their elements") {
  StoredTensor tensor;
  tensor.dataType = 1;
  tensor.dims = {2, 3};
  for (float element : {0.0f, 1.0f, 2.0f, 3.0f, 4.0f, 5.0f})
    tensor.decoded.append(reinterpret_cast<const char *>(&element), sizeof element);
  WeightFiles files(pathOf("gpt.dynamo.onnx"));
  CHECK(files.originOf(tensor, false).data.values == std::vector<double>{0, 1, 2, 3, 4, 5});
  CHECK(files.originOf(tensor, true).data.values == std::vector<double>{0, 3, 1, 4, 2, 5});
  CHECK(files.originOf(tensor, true).data.shape == std::vector<int64_t>{3, 2});
}

TEST_CASE("a zero bias that the exporter dropped is a parameter again") {
  Computed computed = importModel(pathOf("gpt2.dynamo.onnx"), options(8));
  CHECK(remarksOn(computed, "h.0.c_fc.bias").at(0).kind == Remark::Kind::Restored);
}

TEST_CASE("a buffer that is only compared is not a parameter") {
  Computed computed = importModel(pathOf("gpt2.ts-train.onnx"), options(8));
  CHECK_FALSE(parametersOf(computed).contains("h.0.mask"));
}

TEST_CASE("folded batch norms give a warning with a way out") {
  Computed current = importModel(pathOf("resnet.dynamo.onnx"), options(8));
  REQUIRE(current.status.isOk());
  CHECK_THAT(current.remarks.at(0).text, Catch::Contains("optimize=False"));
  Computed old = importModel(pathOf("resnet.ts-eval.onnx"), options(8));
  REQUIRE(old.status.isOk());
  CHECK_THAT(old.remarks.back().text, Catch::Contains("TrainingMode.TRAINING"));
}

TEST_CASE("a tied head is found by its elements, and can be untied") {
  ImportOptions untied = options(8);
  Shapes tiedOnes = parametersOf(importModel(pathOf("gpt.ts-eval.onnx"), untied));
  CHECK_FALSE(tiedOnes.contains("head.weight"));
  untied.untie = {"head.weight"};
  Shapes apart = parametersOf(importModel(pathOf("gpt.ts-eval.onnx"), untied));
  CHECK(apart.at("head.weight") == apart.at("tok.weight"));
}

TEST_CASE("parameters are tied and untied by name") {
  ImportOptions asked = options(8);
  asked.untie = {"tok.weight"};
  asked.tie = {{"blocks.1.ln1.bias", "blocks.0.ln1.bias"}};
  Computed computed = importModel(pathOf("gpt.ts-train.onnx"), asked);
  REQUIRE(computed.status.isOk());
  Shapes found = parametersOf(computed);
  CHECK(found.size() == 28);
  CHECK(found.contains("tok.weight"));
  CHECK_FALSE(found.contains("blocks.1.ln1.bias"));
}

TEST_CASE("a tie of unknown parameters or of different shapes is an error") {
  ImportOptions asked = options(8);
  asked.tie = {{"nothing", "tok.weight"}};
  CHECK_THAT(importModel(pathOf("gpt.ts-train.onnx"), asked).status.message(),
             Catch::Contains("'nothing'"));
  asked.tie = {{"pos.weight", "tok.weight"}};
  CHECK_THAT(importModel(pathOf("gpt.ts-train.onnx"), asked).status.message(),
             Catch::Contains("different shapes"));
}

TEST_CASE("a symbol without a value and a value without a symbol are errors with the name") {
  CHECK_THAT(importModel(pathOf("mlp.dynamo.onnx"), {}).status.message(),
             Catch::Contains("symbol 'batch'") && Catch::Contains("--set batch="));
  ImportOptions asked = options(8);
  asked.symbols["bach"] = 8;
  CHECK_THAT(importModel(pathOf("mlp.dynamo.onnx"), asked).status.message(),
             Catch::Contains("no symbol 'bach'") && Catch::Contains("batch"));
}

TEST_CASE("broken models give one message that names the error") {
  std::ifstream file(kTests + "models/bad/cases.json");
  nlohmann::json cases = nlohmann::json::parse(file);
  for (const auto &[name, words] : cases.items()) {
    INFO(name);
    Computed computed = importModel(kTests + "models/bad/" + name, options(2));
    CHECK(computed.status.kind() == StatusKind::UserError);
    CHECK(computed.status.message().find('\n') == std::string::npos);
    for (const std::string word : words)
      CHECK_THAT(computed.status.message(), Catch::Contains(word, Catch::CaseSensitive::No));
  }
  CHECK(importModel(kTests + "models/bad/good.onnx", options(2)).status.isOk());
  CHECK_THAT(importModel(kTests + "models/none.onnx", {}).status.message(),
             Catch::Contains("none.onnx"));
  CHECK_THAT(importModel(kTests + "models", {}).status.message(),
             Catch::Contains("expected a regular file"));
}

} // namespace
} // namespace cleave::onnx
