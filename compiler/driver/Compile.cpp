// Runs the phases, times them, dumps them where asked, and writes the output.
#include "compiler/driver/Compile.h"

#include "compiler/driver/Diagnostics.h"
#include "compiler/driver/Phases.h"
#include "runtime/artifact/Artifact.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>

using namespace mlir;

namespace cleave::driver {

Compilation::Compilation(CompileOptions options) : options(std::move(options)) {
  DialectRegistry registry;
  registerDialects(registry);
  context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
}
Compilation::~Compilation() = default;

static Status writeText(ModuleOp module, const std::string &path) {
  std::error_code error;
  llvm::raw_fd_ostream out(path, error);
  if (error)
    return Status::userError("cannot write " + path + ": " + error.message());
  module.print(out, OpPrintingFlags().enableDebugInfo(/*enable=*/true, /*prettyForm=*/false));
  out << "\n";
  return Status::ok();
}

static Status readText(Compilation &c) {
  DiagnosticText diagnostics(*c.context);
  c.module = parseSourceFile<ModuleOp>(c.options.model, c.context.get());
  return c.module ? Status::ok() : Status::userError(diagnostics.text());
}

static Status dumpPhase(Compilation &c, size_t number, const Phase &phase) {
  if (c.options.dumpPhases.empty() || !c.module)
    return Status::ok();
  if (std::error_code error = llvm::sys::fs::create_directories(c.options.dumpPhases))
    return Status::userError("cannot create " + c.options.dumpPhases + ": " + error.message());
  return writeText(*c.module, c.options.dumpPhases + "/" + std::to_string(number) + "-" + phase.name + ".mlir");
}

// What every phase owes: IR that its ops accept, and its own promise.
static Status verifyPhase(Compilation &c, const Phase &phase) {
  DiagnosticText diagnostics(*c.context);
  if (c.module && failed(mlir::verify(*c.module)))
    return Status::defect(diagnostics.text());
  return phase.verify ? phase.verify(c) : Status::ok();
}

static Status runPhase(Compilation &c, size_t number) {
  const Phase &phase = phases()[number];
  auto begin = std::chrono::steady_clock::now();
  CLEAVE_TRY(phase.run(c));
  CLEAVE_TRY(verifyPhase(c, phase).withContext(std::string("after phase ") + phase.name));
  std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
  c.times.push_back({phase.name, spent.count()});
  return dumpPhase(c, number, phase);
}

Status compile(Compilation &c) {
  size_t first = 0, last = phases().size() - 1;
  if (!c.options.startFrom.empty()) {
    Result<size_t> phase = findPhase(c.options.startFrom);
    CLEAVE_TRY(phase.status().withContext("--start-from"));
    CLEAVE_TRY(readText(c));
    first = *phase + 1;
  }
  if (!c.options.stopAfter.empty()) {
    Result<size_t> phase = findPhase(c.options.stopAfter);
    CLEAVE_TRY(phase.status().withContext("--stop-after"));
    last = *phase;
  }
  for (size_t number = first; number <= last; ++number)
    CLEAVE_TRY(runPhase(c, number));
  if (!c.options.stopAfter.empty())
    return writeText(*c.module, c.options.output);
  return artifact::writePlan(c.plan, c.options.output);
}

} // namespace cleave::driver
