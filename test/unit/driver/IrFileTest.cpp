// The IR of a phase as a file.
#include "passes/driver/IrFile.h"

#include "passes/driver/Record.h"
#include "test/unit/driver/TextFile.h"

#include "mlir/IR/Builders.h"

#include <catch2/catch.hpp>

#include <sstream>

using namespace cleave;
using namespace cleave::driver;
using Catch::Matchers::Contains;
using cleave::test::TextFile;

static Status read(Compilation &c, const std::string &path) {
  c.options.model = path;
  return readIr(c);
}

TEST_CASE("a file is IR if it begins as a module does, after comments") {
  for (const char *text : {"module {}", "\n// A step.\n// RUN: x\n\nmodule attributes {}",
                           "builtin.module {}", "func.func @step() {", "#loc = loc(unknown)"})
    CHECK(isIrFile(TextFile(text).path()));
  for (const char *text : {"", "// module", "modul", "PK\003\004 module", "{\"module\": 1}"})
    CHECK_FALSE(isIrFile(TextFile(text).path()));
  CHECK_FALSE(isIrFile("."));
  CHECK_FALSE(isIrFile("no such file"));
}

TEST_CASE("a module that is written is read with its remarks") {
  Compilation c{CompileOptions()};
  c.setModule(mlir::ModuleOp::create(mlir::UnknownLoc::get(c.context.get())));
  c.remarks = {{"frozen", "fc.weight"}};
  recordProgress(c, "import");
  TextFile file("");
  REQUIRE(writeIr(c, file.path()));
  CHECK(isIrFile(file.path()));
  Compilation other{CompileOptions()};
  REQUIRE(read(other, file.path()));
  CHECK(recordedPhase(other.module()) == "import");
  REQUIRE(other.remarks.size() == 1);
  CHECK(other.remarks[0].text == "fc.weight");
}

TEST_CASE("lines have at most 120 columns where lists can be broken") {
  Compilation c{CompileOptions()};
  c.setModule(mlir::ModuleOp::create(mlir::UnknownLoc::get(c.context.get())));
  c.module()->setAttr(
      "list", mlir::Builder(c.context.get()).getI64ArrayAttr(std::vector<int64_t>(100, 123456)));
  TextFile file("");
  REQUIRE(writeIr(c, file.path()));
  std::ifstream in(file.path());
  size_t longest = 0, lines = 0;
  for (std::string line; std::getline(in, line);)
    longest = std::max(longest, line.size()), ++lines;
  CHECK(lines > 100); // one per element
  CHECK(longest <= 120);
}

TEST_CASE("text that is no module is the user's mistake, with its place") {
  Compilation c{CompileOptions()};
  TextFile file("module {\n  graph.nothing\n}\n");
  const Status refused = read(c, file.path());
  CHECK(refused.kind() == StatusKind::UserError);
  CHECK_THAT(refused.message(), Contains(file.path() + ":2"));
  CHECK(read(c, "no such file").kind() == StatusKind::UserError);
}
