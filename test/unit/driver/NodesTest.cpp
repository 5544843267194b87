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
  options.memoryBytes = uint64_t(1) << 40;
  driver::Compilation c(options);
  Status status = driver::compileTo(c, "planned");
  INFO((status ? "" : status.message()));
  REQUIRE(status.isOk());
  return c.decided.seconds;
}

TEST_CASE("tensor parallelism across nodes is slower than inside them") {
  const ModelCase gpt = {"gpt3",
                         "softmax-cross-entropy:logits",
                         {{"batch", 64}, {"seq", 2048}},
                         {{"layers", 1}, {"vocab", 1024}}};
  ModelFile file(gpt);
  const double inside = secondsOn(file.path(), gpt, "dp=8,tp=8", "megatron");
  CHECK(secondsOn(file.path(), gpt, "dp=4,tp=16", "megatron") > 1.1 * inside);
  CHECK(secondsOn(file.path(), gpt, "dp=2,tp=32", "megatron") > 1.2 * inside);
  CHECK(secondsOn(file.path(), gpt, "dp=8,tp=8", "") <= inside);
}
