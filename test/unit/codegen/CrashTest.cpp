// Errors for kernels that cannot be compiled.
#include "passes/codegen/nest/Crash.h"
#include "dialects/graph/Graph.h"
#include "passes/codegen/cpu/CpuCodegen.h"

#include "mlir/Parser/Parser.h"

#include <catch2/catch.hpp>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

using namespace mlir;
using namespace cleave;

namespace {

const char *const kTwoKernels = R"(
  program.kernel @good on 2 operands [#program.view<0 at 0 by [1]>] results [#program.view<1 at 0 by [1]>] {
  ^bb0(%x: tensor<4xf32>):
    %r = graph.fusion (%a = %x : tensor<4xf32>) -> (tensor<4xf32>) {
      %y = graph.neg %a : tensor<4xf32>
      graph.yield %y : tensor<4xf32>
    }
  }
  program.kernel @bad on 2 operands [#program.view<0 at 0 by [1]>] results [#program.view<1 at 0 by [1]>] {
  ^bb0(%x: tensor<4xf32>):
    %r = graph.fusion (%a = %x : tensor<4xf32>) -> (tensor<4xf32>) {
      %y = graph.neg %a : tensor<4xf32>
      graph.yield %y : tensor<4xf32>
    }
  })";

} // namespace

TEST_CASE("a signal while code is generated is a defect that names it") {
  Status status = codegen::runGuarded([] {
    std::raise(SIGSEGV);
    return Status::ok();
  });
  CHECK(status.kind() == StatusKind::Defect);
  CHECK(status.message().find("Segmentation fault") != std::string::npos);
  CHECK(codegen::runGuarded([] { return Status::ok(); }).isOk());
}

TEST_CASE("a kernel on which code generation crashes is named and kept") {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<graph::GraphDialect, program::ProgramDialect>();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(kTwoKernels, &context);
  REQUIRE(module);
  SmallVector<program::KernelOp> kernels(module->getOps<program::KernelOp>());
  // A view of a buffer that the kernel does not have, which its verifier would refuse.
  Builder b(&context);
  kernels[1].setOperandsAttr(b.getArrayAttr({program::ViewAttr::get(&context, 1 << 20, 0, {1})}));
  std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("cleave-crash-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  codegen::CpuOptions options;
  options.reproducer = (folder / "model.plan").string();
  Result<codegen::CpuLibrary> library = codegen::compileKernels(kernels, options);
  REQUIRE(!library.isOk());
  CHECK(library.status().kind() == StatusKind::Defect);
  const std::string &message = library.status().message();
  INFO(message);
  CHECK(message.find("kernel 'bad'") != std::string::npos);
  size_t begin = message.find(options.reproducer), end = message.find(".mlir", begin);
  REQUIRE(end != std::string::npos);
  std::stringstream text;
  text << std::ifstream(message.substr(begin, end + 5 - begin)).rdbuf();
  CHECK(text.str().find("bad") != std::string::npos);
  CHECK(text.str().find("good") == std::string::npos);
  std::filesystem::remove_all(folder);
}
