// Lifetimes of buffers, with and without transfers in flight.
#include "passes/schedule/Lifetimes.h"

#include "dialects/program/Program.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include <catch2/catch.hpp>
#include <map>

using namespace cleave;
using namespace mlir;

namespace {

using Lives = std::map<std::string, std::pair<int64_t, int64_t>>;

Lives livesOf(const std::string &device) {
  MLIRContext context;
  context.loadDialect<program::ProgramDialect>();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>("module attributes {" + device + R"(} {
    program.program schedule [0, 0] {
      %w = program.buffer parameter "w" tensor<4xf32> at 0 bytes 16 live 0 to 0
      %x = program.buffer activation "x" tensor<4xf32> at 0 bytes 16 live 0 to 0
      %y = program.buffer activation "y" tensor<4xf32> at 0 bytes 16 live 0 to 0
      %z = program.buffer activation "z" tensor<4xf32> at 0 bytes 16 live 0 to 0
      %none = program.buffer activation "none" tensor<4xf32> at 0 bytes 16 live 0 to 0
      program.segment "micro" {
        program.copy %w to %x
        program.collective all_reduce over [0] reduce 0 (%x) to (%y)
        program.fill %z with 1.0
        program.fill %z with 2.0
        program.copy %y to %w
        program.fill %z with 3.0
      }
    }
  })",
                                                             &context);
  REQUIRE(module);
  auto program = *module->getOps<program::ProgramOp>().begin();
  schedule::setLifetimes(program);
  Lives lives;
  for (auto buffer : program.getBody().front().getOps<program::BufferOp>())
    lives[buffer.getName().str()] = {buffer.getFirst(), buffer.getLast()};
  return lives;
}

} // namespace

TEST_CASE("a buffer that is sent lives until what it is sent for is waited for") {
  CHECK(livesOf("program.device = \"cuda\"") ==
        Lives{{"w", {0, 5}}, {"x", {0, 3}}, {"y", {1, 4}}, {"z", {2, 5}}});
}

TEST_CASE("in one queue, a buffer lives until its last access") {
  CHECK(livesOf("") == Lives{{"w", {0, 5}}, {"x", {0, 1}}, {"y", {1, 4}}, {"z", {2, 5}}});
}
