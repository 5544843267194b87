// Every architecture of the zoo: written, read back, imported; errors.
#include "compiler/zoo/Zoo.h"
#include "compiler/frontend/onnx/Import.h"
#include "compiler/frontend/onnx/file/Initialisation.h"
#include "compiler/frontend/onnx/file/ModelWriter.h"

#include "mlir/IR/MLIRContext.h"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace cleave::zoo {
namespace {

using Sizes = std::map<std::string, int64_t>;

// Small values of those sizes that an entry has.
Sizes small(const Entry &entry) {
  const Sizes wanted = {{"layers", 2},    {"hidden", 32},  {"heads", 4},   {"ffn", 48},
                        {"head-size", 8}, {"kv-heads", 2}, {"vocab", 50},  {"experts", 4},
                        {"context", 16},  {"mels", 8},     {"frames", 12}, {"patch", 16},
                        {"classes", 10}};
  Sizes sizes;
  for (const auto &[name, value] : wanted)
    if (entry.sizes.contains(name))
      sizes[name] = value;
  if (entry.sizes.contains("image") && !entry.name.starts_with("vgg"))
    sizes["image"] = 64;
  return sizes;
}

class ModelFile {
public:
  explicit ModelFile(const onnx::Model &model)
      : path_(std::filesystem::temp_directory_path() /
              ("cleave-zoo-" + std::to_string(::getpid()) + ".onnx")) {
    std::ofstream(path_, std::ios::binary) << onnx::writeModel(model);
  }
  ~ModelFile() { std::filesystem::remove(path_); }
  std::string path() const { return path_.string(); }

private:
  std::filesystem::path path_;
};

TEST_CASE("every architecture is read back as it was written") {
  for (const Entry &entry : entries()) {
    INFO(entry.name);
    Result<onnx::Model> model = build(entry.name, small(entry));
    REQUIRE(model.status().isOk());
    std::string bytes = onnx::writeModel(*model);
    onnx::Model again = onnx::readModel(bytes, entry.name);
    REQUIRE(again.graph.nodes.size() == model->graph.nodes.size());
    for (size_t i = 0; i < again.graph.nodes.size(); ++i) {
      const onnx::Node &found = again.graph.nodes[i], &written = model->graph.nodes[i];
      CHECK(found.op == written.op);
      CHECK(found.inputs == written.inputs);
      CHECK(found.outputs == written.outputs);
      CHECK(found.attributes.size() == written.attributes.size());
    }
    REQUIRE(again.graph.initializers.size() == model->graph.initializers.size());
    for (size_t i = 0; i < again.graph.initializers.size(); ++i) {
      const onnx::StoredTensor &tensor = again.graph.initializers[i];
      CHECK(tensor.name == model->graph.initializers[i].name);
      CHECK(tensor.dims == model->graph.initializers[i].dims);
      CHECK(onnx::initialisationOf(tensor));
      CHECK(tensor.location == model->graph.initializers[i].location);
    }
  }
}

TEST_CASE("every architecture is imported without its weights") {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  for (const Entry &entry : entries()) {
    INFO(entry.name);
    Sizes symbols = {{"batch", 2}};
    if (entry.sizes.contains("vocab"))
      symbols["seq"] = 10;
    if (entry.name.starts_with("t5"))
      symbols["target"] = 7;
    Result<onnx::Model> model = build(entry.name, small(entry));
    REQUIRE(model.status().isOk());
    frontend::ImportOptions options;
    options.symbols = symbols;
    Result<frontend::Imported> imported =
        onnx::importOnnx(context, ModelFile(*model).path(), options);
    INFO(imported.status().message());
    CHECK(imported.status().isOk());
  }
}

TEST_CASE("a fixed dim is a number, another one a symbol") {
  Result<onnx::Model> model = build("gpt2", {{"layers", 1}, {"hidden", 24}}, {{"batch", 8}});
  const std::vector<onnx::Dim> &dims = model->graph.inputs[0].dims;
  CHECK(dims[0].size == 8);
  CHECK(dims[1].symbol == "seq");
}

TEST_CASE("sizes that do not fit are refused with what would") {
  auto message = [](const char *name, const Sizes &sizes) {
    return build(name, sizes).status().message();
  };
  using Catch::Matchers::Contains;
  CHECK_THAT(message("gpt5", {}),
             Contains("unknown architecture 'gpt5'; did you mean gpt2 or gpt3?"));
  CHECK_THAT(message("lstm", {}),
             Contains("unknown architecture 'lstm': expected gpt2, gpt2-medium"));
  CHECK_THAT(message("resnet50", {{"heads", 2}}),
             Contains("resnet50 has only --classes or --image"));
  CHECK_THAT(message("gpt2", {{"heads", 7}}), Contains("that the heads divide"));
  CHECK_THAT(message("llama3-8b", {{"kv-heads", 5}}), Contains("--kv-heads 5"));
  CHECK_THAT(message("mixtral-8x7b", {{"top-k", 9}}), Contains("--top-k 9"));
  CHECK_THAT(message("vit_b_16", {{"image", 100}}), Contains("that the patches divide"));
  CHECK_THAT(message("gpt2", {{"layers", 0}}), Contains("expected 1 to"));
  CHECK(message("unet", {{"image", 100}, {"layers", 3}}) ==
        "found --image 100 with --layers 3, expected a side that can be halved so often");
  CHECK(message("llama3-8b", {{"hidden", 96}, {"heads", 32}, {"kv-heads", 8}}) ==
        "found heads of odd size, expected an even one: rotary positions work on pairs");
}

TEST_CASE("initialisations are read as they are written, and nothing else is") {
  for (const char *text : {"fill(1)", "fill(-0.5)", "normal(0.02)", "uniform(0.125)"}) {
    auto read = onnx::Initialisation::parse(text);
    REQUIRE(read);
    CHECK(read->str() == text);
  }
  for (const char *text :
       {"", "fill", "fill()", "normal(-1)", "normal(nan)", "uniform(1", "fill(1)x"})
    CHECK(!onnx::Initialisation::parse(text));
}

} // namespace
} // namespace cleave::zoo
