// The order of phases, the state between them, and options that do not go together.
#include "passes/driver/Compile.h"

#include "test/unit/driver/TextFile.h"

#include "mlir/IR/Builders.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::driver;
using Catch::Matchers::Contains;
using cleave::test::TextFile;

namespace {

const char kStep[] = R"(module attributes {graph.phase = "import"} {
  func.func @step(%x: tensor<8x4xf32> {graph.name = "x", graph.role = "input"})
      -> (tensor<8x4xf32> {graph.name = "y", graph.role = "output"}) {
    return %x : tensor<8x4xf32>
  }
})";

// The message of a compilation of this text; empty if it succeeds.
std::string refused(const std::string &text, CompileOptions options) {
  TextFile file(text), output("");
  options.model = file.path();
  options.output = output.path();
  Compilation c(std::move(options));
  return compile(c).message();
}

} // namespace

TEST_CASE("IR resumes after the phase that left it, and stops after the one that is named") {
  TextFile file(kStep), output("");
  CompileOptions options;
  options.model = file.path();
  options.output = output.path();
  options.stopAfter = "train";
  Compilation c(options);
  REQUIRE(compile(c).message() == "");
  std::vector<std::string> run;
  for (const PhaseTime &time : c.times)
    run.push_back(time.phase);
  CHECK(run == std::vector<std::string>{"forward", "train"});
}

TEST_CASE("options of phases that do not run are refused") {
  CompileOptions options;
  options.symbols["batch"] = 8;
  CHECK_THAT(refused(kStep, options), Contains("--set has no effect with --start-from"));
  options.symbols.clear();
  options.stopAfter = "train";
  options.whatIf = true;
  CHECK_THAT(refused(kStep, options), Contains("--what-if has no effect: the phase planned"));
  options.whatIf = false;
  options.evaluate = true;
  CHECK_THAT(refused(kStep, options), Contains("--eval is given without --train"));
  options.evaluate = false;
  options.startFrom = "train";
  CHECK_THAT(refused(kStep, options), Contains("no phase lies behind --start-from train"));
}

TEST_CASE("names of phases, devices, clusters and pins are checked before anything is read") {
  CompileOptions options;
  options.stopAfter = "plan";
  CHECK_THAT(refused(kStep, options),
             Contains("--stop-after: unknown phase 'plan'; did you mean planned?"));
  options.stopAfter.clear();
  options.startFrom = "plan";
  CHECK_THAT(refused("not IR", options),
             Contains("--start-from: unknown phase 'plan'; did you mean planned?"));
  options.startFrom.clear();
  options.device = "tpu";
  CHECK_THAT(refused("not IR", options), Contains("--device: unknown device 'tpu'"));
  options = CompileOptions();
  options.cluster = "h100-nod";
  CHECK_THAT(refused("", options), Contains("--cluster") && Contains("h100-node"));
  options = CompileOptions();
  options.pin = "fsd";
  CHECK_THAT(refused("", options), Contains("--pin") && Contains("did you mean fsdp?"));
}

TEST_CASE("IR that breaks the promise of its phase is not what the phase wrote") {
  std::string text = kStep;
  text.replace(text.find("\"input\""), 7, "\"weight\"");
  CHECK_THAT(refused(text, {}), Contains("is not what --stop-after import wrote") &&
                                    Contains("has the graph.role 'weight'"));
}

TEST_CASE("what another compilation found is added to what this one did") {
  Compilation c{CompileOptions()}, other{CompileOptions()};
  c.remarks = {{"a", "first"}};
  c.times = {{"import", 1, 1}};
  other.remarks = {{"b", "second"}};
  other.times = {{"import", 2, 2}, {"forward", 3, 3}};
  other.report.seconds = 12;
  other.setModule(mlir::ModuleOp::create(mlir::UnknownLoc::get(other.context.get())));
  c.take(std::move(other));
  CHECK(c.module());
  CHECK(c.report.seconds == 12);
  REQUIRE(c.remarks.size() == 2);
  CHECK(c.remarks[1].text == "second");
  CHECK(c.times.size() == 3);
}
