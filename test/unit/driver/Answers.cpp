#include "test/unit/driver/Answers.h"

#include "passes/driver/MicroBatches.h"
#include "runtime/base/Units.h"
#include "test/unit/driver/Models.h"

#include <catch2/catch.hpp>

#include <sstream>

namespace cleave::test {

using namespace driver;

static ModelCase gpt() {
  ModelCase model = bundledCases()[1];
  model.symbols["batch"] = 64;
  return model;
}

CompileOptions gptOptions(int64_t ranks, std::optional<planner::Budget> memory) {
  static const ModelFile file(gpt());
  CompileOptions options = optionsOf(file.path(), gpt(), {ranks});
  options.memory = memory;
  return options;
}

static Status plan(Compilation &c) {
  c.options.output = "-";
  if (!c.options.microBatch.empty())
    CLEAVE_TRY(cutBatch(c));
  return c.module() ? Status::ok() : compileTo(c, "planned");
}

Planned::Planned(const CompileOptions &options) : c(options), status(plan(c)) {}

Fitting::Fitting(const CompileOptions &options) : Planned(options) {
  INFO((status ? "" : status.message()));
  REQUIRE(status.isOk());
}

CompileOptions changed(CompileOptions options, const std::string &change) {
  std::istringstream words(change);
  for (std::string option, value; words >> option >> value;) {
    if (option == "--memory")
      options.memory = *parseBytes(value);
    else if (option == "--ranks")
      options.ranks = std::stoll(value);
    else if (option == "--micro-batch")
      options.microBatch = value;
    else if (option == "--mesh")
      options.mesh = *Mesh::parse(value);
    else if (option == "--pin")
      options.pin = value;
    else
      FAIL("unknown option " << option);
  }
  return options;
}

AtPrimitive::AtPrimitive(const CompileOptions &options) : c(options), variants(c) {
  REQUIRE(compileTo(c, "primitive").isOk());
}

} // namespace cleave::test
