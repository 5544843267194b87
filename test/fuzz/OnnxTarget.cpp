// Model files.
#include "compiler/frontend/onnx/Import.h"
#include "test/fuzz/Targets.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"

#include <cstdlib>

namespace cleave::fuzz {

void onnx(std::string_view bytes) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.getDiagEngine().registerHandler([](mlir::Diagnostic &) {});
  cleave::onnx::ImportOptions options;
  options.symbols["batch"] = 2;
  Result<cleave::onnx::Imported> imported =
      cleave::onnx::importOnnx(context, asFile("x.onnx", bytes), options);
  mustBeTheirs(imported.status());
  if (imported.isOk() && mlir::failed(mlir::verify(*imported->module)))
    std::abort();
}

} // namespace cleave::fuzz
