// Plans for less and less memory: what is planned is allocated, and less memory is never faster.
#include "passes/driver/Compile.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <iomanip>
#include <iostream>

using namespace cleave;
using driver::Compilation;

namespace {

// A bundled model.
struct Model {
  const char *file;
  int64_t batch;
};
constexpr Model kGpt = {"gpt.dynamo.onnx", 64}, kVit = {"vit.dynamo-noopt.onnx", 64},
                kResnet = {"resnet.ts-train.onnx", 16};

driver::CompileOptions optionsOf(const Model &model, int64_t ranks) {
  driver::CompileOptions options;
  options.model = std::string(CLEAVE_MODELS) + "/" + model.file;
  options.output = "-";
  options.train = true;
  options.losses = {"softmax-cross-entropy:logits"};
  options.symbols = {{"batch", model.batch}};
  options.cluster = "h100-node";
  options.ranks = ranks;
  return options;
}

struct Point {
  double seconds = 0;
  uint64_t peak = 0, arena = 0;
  int64_t planned = 0;
  size_t repetitions = 0;
};

Point compile(const driver::CompileOptions &options) {
  Compilation c(options);
  Status status = driver::compileTo(c, "program");
  INFO(options.model << " on " << options.ranks << " ranks in " << options.memoryBytes
                     << " bytes: " << (status ? "" : status.message()));
  REQUIRE(status.isOk());
  return {c.decided.seconds, c.peakBytes, c.arenaBytes, c.decided.peakBytes,
          c.decided.repetitions.size()};
}

void print(const Model &model, const driver::CompileOptions &options, const Point &point) {
  if (std::getenv("CLEAVE_SHOW"))
    std::cout << std::left << std::setw(24) << model.file << options.ranks << " ranks, budget "
              << std::setw(10) << options.memoryBytes << ": planned " << point.planned
              << ", arena's peak " << point.peak << ", " << point.repetitions << " again, "
              << 1e6 * point.seconds << " us\n"
              << std::flush;
}

// Budgets from what keeps everything to what a recipe gets by with.
void checkBudgets(const Model &model, int64_t ranks) {
  driver::CompileOptions options = optionsOf(model, ranks);
  const Point free = compile(options);
  options.pin = "full-recompute";
  const Point least = compile(options);
  options.pin = "";
  REQUIRE(least.arena < free.arena);
  double seconds = free.seconds;
  for (uint64_t quarters : {4, 3, 2, 1, 0}) {
    options.memoryBytes = least.arena + quarters * (free.arena - least.arena) / 4;
    const Point point = compile(options);
    print(model, options, point);
    INFO(model.file << " on " << ranks << " ranks in " << options.memoryBytes << " bytes");
    CHECK(point.arena <= options.memoryBytes);
    if (ranks == 1) {
      CHECK(static_cast<uint64_t>(point.planned) == point.peak);
      CHECK((point.repetitions > 0) == (quarters < 4));
    }
    CHECK(point.seconds >= seconds * (1 - 1e-9));
    seconds = point.seconds;
  }
}

} // namespace

TEST_CASE("less memory is never faster, and what is planned is allocated") {
  for (const Model &model : {kGpt, kVit, kResnet})
    checkBudgets(model, 1);
  checkBudgets(kGpt, 4);
}

TEST_CASE("a plan that the user's recipe allows is no faster than the planner's in its memory") {
  for (const Model &model : {kGpt, kResnet})
    for (const char *recipe : {"full-recompute", "selective-recompute"}) {
      driver::CompileOptions options = optionsOf(model, 1);
      options.pin = recipe;
      const Point pinned = compile(options);
      options.pin = "";
      options.memoryBytes = pinned.arena;
      INFO(model.file << ", " << recipe);
      CHECK(compile(options).seconds <= pinned.seconds * (1 + 1e-9));
    }
}
