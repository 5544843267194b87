// See ImportModel.h.
#include "test/fuzz/ImportModel.h"

#include "test/fuzz/Targets.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"

#include <cstdlib>

namespace cleave::fuzz {

void importModel(Importer *read, const std::string &path, bool hasBatch) {
  for (bool keepsSymbols : {false, true}) {
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    if (!std::getenv("CLEAVE_FUZZ_VERBOSE"))
      context.getDiagEngine().registerHandler([](mlir::Diagnostic &) {});
    frontend::ImportOptions options;
    options.keepSymbols = keepsSymbols;
    if (keepsSymbols)
      options.batchNorm = frontend::ImportOptions::BatchNorm::Train;
    else if (hasBatch)
      options.symbols["batch"] = 2;
    Result<frontend::Imported> imported = read(context, path, options);
    mustBeTheirs(imported.status());
    if (imported.isOk() && mlir::failed(mlir::verify(*imported->module)))
      std::abort();
  }
}

} // namespace cleave::fuzz
