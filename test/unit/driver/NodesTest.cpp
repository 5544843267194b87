// Plans for several nodes: what an expert knows to be slower is priced slower.
#include "passes/driver/Compile.h"
#include "test/unit/driver/Models.h"

#include <catch2/catch.hpp>

using namespace cleave;

// Seconds of a step of one layer as wide as GPT-3's on 8 nodes of 8 GPUs.
static double secondsOn(const std::string &path, const ModelCase &model, const std::string &mesh,
                        const std::string &pin) {
  driver::CompileOptions options = optionsOf(path, model, {64, mesh, 1, pin});
  options.dtype = "bf16";
  options.memory = uint64_t(1) << 40;
  driver::Compilation c(options);
  Status status = driver::compileTo(c, "planned");
  INFO((status ? "" : status.message()));
  REQUIRE(status.isOk());
  return c.report.seconds;
}

TEST_CASE("tensor parallelism across nodes is slower than inside them") {
  const ModelCase gpt = {"gpt3",
                         "softmax-cross-entropy:logits",
                         {{"batch", 64}, {"seq", 2048}},
                         {{"layers", 1}, {"vocab", 1024}}};
  ModelFile file(gpt);
  const double inside = secondsOn(file.path(), gpt, "dp=8,tp=8", "megatron");
  CHECK(secondsOn(file.path(), gpt, "dp=4,tp=16", "megatron") > 1.05 * inside);
  CHECK(secondsOn(file.path(), gpt, "dp=2,tp=32", "megatron") > 1.2 * inside);
  CHECK(secondsOn(file.path(), gpt, "dp=8,tp=8", "") <= inside);
}

// Per axis of the fastest plan on 8 nodes of 8 GPUs, the factors of matrix products that it splits.
static std::vector<std::string> axesOf(const ModelCase &model) {
  ModelFile file(model);
  driver::CompileOptions options = optionsOf(file.path(), model, {64});
  options.dtype = "bf16";
  options.memory = uint64_t(1) << 40;
  driver::Compilation c(options);
  Status status = driver::compileTo(c, "planned");
  INFO((status ? "" : status.message()));
  REQUIRE(status.isOk());
  std::vector<std::string> axes;
  for (const planner::PlanRemark &remark : c.report.remarks)
    if (remark.kind == "axis")
      axes.push_back(remark.text);
  return axes;
}

// Every tensor parallelism splits the features of some products. With two samples per GPU, gathers
// of weights cost less than sums of activations across nodes.
TEST_CASE("no plan of a large model for several nodes is tensor parallel across them") {
  for (const auto &[name, length] : {std::pair("gpt3", 2048), std::pair("llama2-70b", 4096)}) {
    const std::vector<std::string> axes = axesOf(
        {name, "softmax-cross-entropy:logits", {{"batch", 128}, {"seq", length}}, {{"layers", 2}}});
    REQUIRE(!axes.empty());
    INFO(name << ": " << axes[0]);
    CHECK(axes[0].find(" splits the batch") != std::string::npos); // the first axis crosses nodes
    for (const std::string &axis : axes)
      CHECK(axis.find("features") == std::string::npos);
  }
}
