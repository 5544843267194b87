// Checkpoints that are saved under one plan and loaded under another.
#include "Job.h"

#include "runtime/checkpoint/Export.h"
#include "runtime/data/ArrayFile.h"

#include <catch2/catch.hpp>
#include <fstream>

using namespace cleave;
using namespace cleave::checkpoint;

// Tensors with sizes that are not divisible by the numbers of ranks.
static std::vector<Sharded> tensors(std::vector<std::vector<int>> weight,
                                    std::vector<std::vector<int>> bias) {
  return {{"weight", {7, 10, 3}, weight}, {"bias", {5}, bias}, {"steps", {}, {}}};
}

TEST_CASE("tensors saved under one sharding are loaded under any other") {
  struct Plan {
    std::vector<int64_t> mesh;
    std::vector<Sharded> tensors;
  };
  std::vector<Plan> plans{{{1}, tensors({{}, {}, {}}, {{}})},
                          {{4}, tensors({{0}, {}, {}}, {{0}})},
                          {{2, 2}, tensors({{0}, {1}, {}}, {{1}})},
                          {{3, 2}, tensors({{}, {1, 0}, {}}, {{}})},
                          {{2, 3}, tensors({{1}, {}, {0}}, {{0, 1}})}};
  for (const Plan &from : plans) {
    Folder folder;
    Status saved = saveAll(folder / "run", from.mesh, from.tensors, 12);
    INFO(saved.message());
    REQUIRE(saved);
    for (const Plan &to : plans)
      CHECK(loadAll(folder / "run", to.mesh, to.tensors, 12) == "");
  }
}

TEST_CASE("of equal slices on several ranks, one is written") {
  Folder folder;
  REQUIRE(saveAll(folder / "run", {2, 2}, {{"weight", {1000, 64}, {{1}, {}}}}, 1));
  uintmax_t bytes = 0;
  for (const auto &entry : std::filesystem::directory_iterator(folder / "run/step-00000001"))
    if (entry.path().extension() == ".safetensors")
      bytes += entry.file_size();
  CHECK(bytes > 1000 * 64 * sizeof(float));
  CHECK(bytes < 1000 * 64 * sizeof(float) + 2000);
}

TEST_CASE("the newest complete checkpoint is opened with its progress, and older ones are removed "
          "as requested") {
  Folder folder;
  std::vector<Sharded> small{{"w", {3}, {{0}}}};
  for (int64_t step : {10, 20, 30})
    REQUIRE(saveAll(folder / "run", {2}, small, step, 2));
  CHECK_FALSE(std::filesystem::exists(folder / "run/step-00000010"));
  CHECK(loadAll(folder / "run", {1}, small, 30) == "");
  CHECK(loadAll(folder / "run/step-00000020", {1}, small, 20) == "");
  auto checkpoint = Checkpoint::open(folder / "run");
  REQUIRE(checkpoint);
  CHECK((*checkpoint)->progress().extra.at("samples") == "240");
  CHECK((*checkpoint)->tensors().at("w").shape == std::vector<int64_t>{3});
}

TEST_CASE("saving a step again replaces its checkpoint") {
  Folder folder;
  REQUIRE(saveAll(folder / "run", {2}, {{"old", {3}, {{0}}}}, 5));
  REQUIRE(saveAll(folder / "run", {3}, {{"newer", {4}, {{0}}}}, 5));
  CHECK(loadAll(folder / "run", {1}, {{"newer", {4}, {{0}}}}, 5) == "");
  for (const auto &entry : std::filesystem::directory_iterator(folder / "run"))
    CHECK(entry.path().filename() == "step-00000005");
}

TEST_CASE("a folder with another run's checkpoint is rejected for saving") {
  Folder folder;
  std::string run = folder / "run";
  CHECK(checkSaveFolder(run, ""));
  std::vector<Sharded> small{{"w", {3}, {{0}}}};
  for (int64_t step : {10, 20})
    REQUIRE(saveAll(run, {2}, small, step, 2));
  CHECK(checkSaveFolder(run, run + "/step-00000020"));
  for (const std::string &resumed : {std::string(), run + "/step-00000010", folder / "other"})
    CHECK(checkSaveFolder(run, resumed).message().find("step-00000020' is the checkpoint of") !=
          std::string::npos);
}

TEST_CASE(
    "whole tensors are exported to one safetensors file, under the names that are asked for") {
  Folder folder;
  std::vector<Sharded> all = tensors({{0}, {1}, {}}, {{}});
  REQUIRE(saveAll(folder / "run", {2, 2}, all, 3));
  auto checkpoint = Checkpoint::open(folder / "run");
  REQUIRE(checkpoint);
  ExportOptions options{.path = folder / "model.safetensors",
                        .names = {{all[0].name, "first"}, {all[1].name, all[1].name}},
                        .mostBytes = 0};
  auto written = exportSafetensors(**checkpoint, options);
  REQUIRE(written);
  CHECK(*written == std::vector<std::string>{options.path});
  auto file = data::ArrayFile::open(folder / "model.safetensors");
  REQUIRE(file);
  CHECK((*file)->arrays().size() == 2);
  for (size_t i : {0, 1}) {
    const data::ArrayView *array = (*file)->find(options.names[all[i].name]);
    REQUIRE(array);
    CHECK(array->shape == all[i].shape);
    std::vector<float> right =
        valuesOf(all[i], {std::vector<int64_t>(array->shape.size(), 0), array->shape}, 3);
    CHECK(std::equal(right.begin(), right.end(), static_cast<const float *>(array->data)));
  }
}

TEST_CASE("tensors are exported to several files of bounded size, and an index of them") {
  Folder folder;
  std::vector<Sharded> all{
      {"a", {10}, {{0}}}, {"b", {10}, {{0}}}, {"c", {30}, {{0}}}, {"d", {5}, {{0}}}};
  REQUIRE(saveAll(folder / "run", {2}, all, 3));
  auto checkpoint = Checkpoint::open(folder / "run");
  REQUIRE(checkpoint);
  ExportOptions options{.path = folder / "model.safetensors",
                        .names = {{"a", "a"}, {"b", "b"}, {"c", "c"}, {"d", "d"}},
                        .mostBytes = 80};
  auto written = exportSafetensors(**checkpoint, options);
  REQUIRE(written);
  REQUIRE(written->size() == 4);
  CHECK((*written)[0] == folder / "model-00001-of-00003.safetensors");
  CHECK((*written)[3] == folder / "model.safetensors.index.json");
  std::vector<std::vector<std::string>> names;
  for (int i : {0, 1, 2}) {
    auto file = data::ArrayFile::open((*written)[size_t(i)]);
    REQUIRE(file);
    names.push_back((*file)->names());
  }
  CHECK(names == std::vector<std::vector<std::string>>{{"a", "b"}, {"c"}, {"d"}}); // c is larger
  std::ifstream stream(written->back());
  std::string index((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  CHECK(index.find("\"total_size\": 220") != std::string::npos);
  CHECK(index.find("\"c\": \"model-00002-of-00003.safetensors\"") != std::string::npos);
  CHECK(!std::filesystem::exists(options.path));
}

TEST_CASE("a tensor is converted to the plan's dtype") {
  Folder folder;
  std::vector<Sharded> one{{"w", {5}, {{0}}}};
  REQUIRE(saveAll(folder / "run", {2}, one, 3));
  auto checkpoint = Checkpoint::open(folder / "run");
  std::vector<double> found(5);
  REQUIRE((*checkpoint)->read("w", DType::F64, {5}, {0}, {5}, found.data()));
  CHECK(found[4] == valueAt("w", {4}, 3));
}

TEST_CASE("missing tensors and wrong shapes are named") {
  Folder folder;
  REQUIRE(saveAll(folder / "run", {2}, {{"w", {5}, {{0}}}}, 3));
  auto checkpoint = Checkpoint::open(folder / "run");
  REQUIRE(checkpoint);
  std::vector<float> memory(8);
  std::string where = "checkpoint " + (folder / "run/step-00000003");
  CHECK((*checkpoint)->read("v", DType::F32, {5}, {0}, {5}, memory.data()).message() ==
        where + " has no tensor `v`");
  CHECK((*checkpoint)->read("w", DType::F32, {2, 3}, {0, 0}, {2, 3}, memory.data()).message() ==
        "found tensor `w` of shape [5] in " + where + ", expected [2, 3]");
  CHECK(Checkpoint::open(folder / "none").status().message() ==
        "found no checkpoint " + (folder / "none"));
}
