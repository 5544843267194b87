// What never makes a plan worse, on five models: a finer mesh, more memory, and choosing layouts
// and recomputation together instead of one after the other.
#include "compiler/planner/choices/Meshes.h"
#include "passes/driver/Compile.h"
#include "test/unit/driver/Models.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <iostream>

using namespace cleave;

namespace {

constexpr uint64_t kEnough = uint64_t(1) << 40; // bytes
constexpr double kEqual = 1 + 1e-6;

// The five models that plans are compared on, at reduced size.
const std::vector<ModelCase> &models() {
  const std::string words = "softmax-cross-entropy:logits";
  const std::map<std::string, int64_t> text = {{"batch", 32}, {"seq", 64}},
                                       images = {{"batch", 32}};
  static const std::vector<ModelCase> cases = {
      {"gpt2",
       words,
       text,
       {{"layers", 1},
        {"hidden", 256},
        {"heads", 8},
        {"ffn", 1024},
        {"vocab", 512},
        {"context", 64}}},
      {"mixtral-8x7b",
       words,
       text,
       {{"layers", 1},
        {"hidden", 128},
        {"heads", 8},
        {"kv-heads", 4},
        {"ffn", 256},
        {"vocab", 512}}},
      {"vit_b_16",
       words,
       images,
       {{"layers", 1},
        {"hidden", 256},
        {"heads", 8},
        {"ffn", 1024},
        {"image", 64},
        {"classes", 16}}},
      {"unet",
       "mse:logits",
       images,
       {{"layers", 2}, {"hidden", 16}, {"image", 64}, {"classes", 2}}},
      {"resnet50", words, images, {{"image", 64}, {"classes", 16}}}};
  return cases;
}

// A plan, or nothing where none fits.
struct Found {
  double seconds = 0; // per step
  uint64_t arena = 0; // bytes of one rank
};

std::optional<Found> planWith(driver::CompileOptions options) {
  driver::Compilation c(options);
  const Status status = driver::compileTo(c, "planned");
  INFO((status ? "" : status.message()));
  REQUIRE((status || status.kind() == StatusKind::Infeasible));
  if (std::getenv("CLEAVE_SHOW"))
    std::cout << options.model.substr(options.model.rfind('/') + 1) << ", " << options.ranks
              << " ranks, mesh " << (options.mesh ? options.mesh->str() : "free") << ", "
              << memoryText(options) << ", " << options.pin << ": "
              << (status ? std::to_string(1e6 * c.report.seconds) : "none") << " us, "
              << c.report.arenaBytes << " bytes\n"
              << std::flush;
  if (!status)
    return std::nullopt;
  return Found{c.report.seconds, static_cast<uint64_t>(c.report.arenaBytes)};
}

// The seconds of a plan without a limit of memory, on a mesh.
double secondsOn(const ModelFile &file, const ModelCase &model, const std::string &mesh) {
  driver::CompileOptions options =
      optionsOf(file.path(), model, {Mesh::parse(mesh)->ranks(), mesh});
  options.memory = kEnough;
  const std::optional<Found> found = planWith(options);
  REQUIRE(found);
  return found->seconds;
}

// Every one of these meshes beside the coarser ones among them.
void checkMeshes(const ModelCase &model, const std::vector<std::string> &meshes) {
  const ModelFile file(model);
  auto sizesOf = [](const Mesh &mesh) {
    std::vector<int64_t> sizes;
    for (const MeshAxis &axis : mesh.axes)
      sizes.push_back(axis.size);
    return sizes;
  };
  std::map<std::vector<int64_t>, double> seconds;
  for (const std::string &mesh : meshes)
    seconds[sizesOf(*Mesh::parse(mesh))] = secondsOn(file, model, mesh);
  int compared = 0;
  for (const std::string &mesh : meshes)
    for (const planner::CoarserMesh &coarser : planner::coarserMeshes(*Mesh::parse(mesh)))
      if (const auto coarse = seconds.find(sizesOf(coarser.mesh)); coarse != seconds.end()) {
        INFO(model.name << " on " << mesh << " and on " << coarser.mesh.str());
        CHECK(seconds[sizesOf(*Mesh::parse(mesh))] <= coarse->second * kEqual);
        ++compared;
      }
  CHECK(compared > 0);
}

// Budgets in falling order, as shares of the memory of the fastest plan: less memory is no faster,
// and sharding first and recomputation after is no faster than both together. Returns how many
// plans of the latter were compared.
int checkBudgets(const ModelCase &model, const Split &split, const std::vector<int> &percent) {
  const ModelFile file(model);
  driver::CompileOptions options = optionsOf(file.path(), model, split);
  options.memory = kEnough;
  const std::optional<Found> ample = planWith(options);
  REQUIRE(ample);
  double seconds = ample->seconds;
  int compared = 0;
  for (int share : percent) {
    options.memory = ample->arena * static_cast<uint64_t>(share) / 100;
    options.pin = "";
    const std::optional<Found> found = planWith(options);
    options.pin = "sharding-first";
    const std::optional<Found> first = planWith(options);
    INFO(model.name << " on " << split.ranks << " ranks in " << share << " %");
    if (!found) {
      CHECK(!first);
      continue;
    }
    CHECK(options.memory->holds(found->arena));
    CHECK(found->seconds * kEqual >= seconds);
    seconds = std::max(seconds, found->seconds);
    if (first) {
      CHECK(found->seconds <= first->seconds * kEqual);
      ++compared;
    }
  }
  return compared;
}

} // namespace

TEST_CASE("of five models a finer mesh is no worse") {
  for (const ModelCase &model : models())
    checkMeshes(model, {"a=4", "a=2,b=2"});
  checkMeshes(models()[0], {"a=8", "a=2,b=4", "a=4,b=2", "a=2,b=2,c=2"});
}

TEST_CASE("of five models less memory is no faster, nor is sharding before recomputing") {
  int compared = 0;
  for (const ModelCase &model : models())
    compared += checkBudgets(model, {4, "dp=4"}, {85});
  CHECK(compared > 3);
}

// The peak of the fastest plan is made of few large parameters, so that the solver has to find out
// which of them to split.
TEST_CASE("a residual network that keeps everything is no slower in more memory") {
  const ModelCase model{
      "resnet50", "softmax-cross-entropy:logits", {{"batch", 8}}, {{"image", 32}, {"classes", 10}}};
  const ModelFile file(model);
  driver::CompileOptions options = optionsOf(file.path(), model, {4, "dp=4"});
  options.pin = "no-recompute";
  options.memory = kEnough;
  const uint64_t peak = planWith(options)->arena;
  double seconds = 0;
  for (uint64_t percent : {75, 70, 65}) {
    options.memory = peak * percent / 100;
    const std::optional<Found> found = planWith(options);
    REQUIRE(found);
    CHECK(found->seconds * kEqual >= seconds);
    seconds = found->seconds;
  }
}

TEST_CASE("of five models no budget is faster than a larger one", "[.sweep]") {
  for (const ModelCase &model : models())
    for (int64_t ranks : {1, 4})
      checkBudgets(model, {ranks}, {95, 90, 80, 70, 60, 50});
}

TEST_CASE("of five models no factorisation of 8 or 64 ranks is worse than a coarser one",
          "[.sweep]") {
  for (const ModelCase &model : models())
    checkMeshes(model, {"a=8", "a=2,b=4", "a=4,b=2", "a=2,b=2,c=2"});
  for (const ModelCase &model : models())
    checkMeshes(model, {"a=64", "a=2,b=32", "a=4,b=16", "a=8,b=8", "a=16,b=4", "a=32,b=2",
                        "a=4,b=4,c=4", "a=2,b=4,c=8", "a=8,b=4,c=2", "a=2,b=2,c=16"});
}
