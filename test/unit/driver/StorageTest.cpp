// Storage of parameters under a budget: a gathered parameter is kept for the backward pass where
// memory is ample, and gathered again where it binds.
#include "compiler/planner/choices/LayoutChanges.h"
#include "compiler/planner/model/ReadStep.h"
#include "dialects/graph/Step.h"
#include "passes/driver/Compile.h"
#include "runtime/base/FileWriter.h"
#include "test/unit/driver/Models.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <set>
#include <unistd.h>

using namespace cleave;

namespace {

// A file of the pin that gathers a parameter like this.
class PinFile {
public:
  PinFile(const std::string &name, const std::string &gathered)
      : path_(std::filesystem::temp_directory_path() /
              ("cleave-" + gathered + std::to_string(getpid()) + ".json")) {
    REQUIRE(writeFile(path_, R"({"pins": [{"name": ")" + name + R"(", "gathered": ")" + gathered +
                                 "\"}]}"));
  }
  ~PinFile() { std::filesystem::remove(path_); }
  const std::string &path() const { return path_; }

private:
  std::string path_;
};

// How the parameters of a plan are gathered, by name.
struct Storage {
  std::set<std::string> kept;  // once, for the forward and the backward pass
  std::set<std::string> again; // for each of them
  double seconds = 0;
  uint64_t arena = 0;
};

Storage storageIn(driver::CompileOptions options, std::optional<planner::Budget> memory) {
  options.memory = memory;
  driver::Compilation c(options);
  const Status status = driver::compileTo(c, "planned");
  INFO((status ? "" : status.message()));
  REQUIRE(status.isOk());
  auto model = planner::readStep(graph::stepOf(c.module()));
  REQUIRE(mlir::succeeded(model));
  std::map<int, std::set<planner::Part>> gathered; // per value
  for (const planner::LayoutChange &change : planner::layoutChanges(*model, c.report))
    gathered[change.value].insert(change.part);
  Storage storage{{}, {}, c.report.seconds, static_cast<uint64_t>(c.report.arenaBytes)};
  for (size_t i = 0; i < model->arguments.size(); ++i) {
    const planner::Argument &argument = model->arguments[i];
    const planner::ArgumentDecision &decision = c.report.arguments[i];
    const std::set<planner::Part> &parts = gathered[argument.value];
    if (argument.role != Role::Parameter || decision.storage == decision.compute ||
        !parts.count(planner::Part::Forward))
      continue;
    if (decision.staysGathered)
      storage.kept.insert(argument.name);
    else if (parts.count(planner::Part::Backward))
      storage.again.insert(argument.name);
  }
  if (std::getenv("CLEAVE_SHOW"))
    std::cout << (memory ? memory->bytes() : 0) << " bytes: " << storage.kept.size() << " kept, "
              << storage.again.size() << " again, " << storage.arena << " bytes, "
              << storage.seconds * 1e6 << " us\n"
              << std::flush;

  return storage;
}

} // namespace

TEST_CASE("parameters stay gathered where memory is ample, and are gathered again where it binds") {
  const ModelCase gpt = {"gpt2",
                         "softmax-cross-entropy:logits",
                         {{"batch", 64}, {"seq", 256}},
                         {{"layers", 1},
                          {"hidden", 1024},
                          {"heads", 8},
                          {"ffn", 4096},
                          {"vocab", 512},
                          {"context", 256}}};
  ModelFile file(gpt);
  driver::CompileOptions options = optionsOf(file.path(), gpt, {4, "dp=4"});
  const Storage ample = storageIn(options, {});
  const uint64_t budget = ample.arena * 6 / 10;
  const Storage tight = storageIn(options, budget);
  CHECK(ample.kept.size() > 1);
  CHECK(ample.again.empty());
  REQUIRE(!tight.again.empty());
  CHECK(tight.arena <= budget);
  CHECK(tight.seconds > ample.seconds);

  // The other way round both are slower, or do not fit.
  const PinFile again(*ample.kept.begin(), "again");
  options.pin = again.path();
  CHECK(storageIn(options, {}).seconds > ample.seconds);
  const PinFile keep(*tight.again.begin(), "keep");
  options.pin = keep.path();
  driver::Compilation kept(options);
  kept.options.memory = budget;
  const Status status = driver::compileTo(kept, "planned");
  INFO((status ? "" : status.message()));
  CHECK((status ? kept.report.seconds >= tight.seconds : status.kind() == StatusKind::Infeasible));
}
