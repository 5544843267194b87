// ONNX files: as models to import, and as files that get new weights.
#include "compiler/frontend/onnx/Import.h"
#include "compiler/frontend/onnx/WeightExport.h"
#include "test/fuzz/ImportModel.h"
#include "test/fuzz/Targets.h"

#include "mlir/IR/MLIRContext.h"

#include <cstdlib>
#include <cstring>

namespace cleave::fuzz {

static std::string withWeights(std::string_view bytes) {
  static const std::string weights = asFile("x.data", std::string(64, 1)); // for external tensors
  return asFile("x.onnx", bytes);
}

void onnx(std::string_view bytes) {
  importModel(cleave::onnx::importOnnx, withWeights(bytes), bytes.find("batch") != bytes.npos);
}

// The file that is written can be read as the first one could.
void weights(std::string_view bytes) {
  std::string path = withWeights(bytes), written = asFile("y.onnx", "");
  cleave::onnx::NewValues zeros{
      [](const std::string &) { return true; },
      [](const std::string &, ElementType element, const std::vector<int64_t> &shape, void *to) {
        int64_t size = byteSize(element);
        for (int64_t dim : shape)
          size *= dim;
        std::memset(to, 0, static_cast<size_t>(size));
        return Status::ok();
      }};
  frontend::ImportOptions options;
  options.keepSymbols = true;
  for (uint64_t most : {cleave::onnx::kMaxFileBytes, uint64_t(1)}) {
    auto names = cleave::onnx::exportWeights(path, options, zeros, written, most);
    mustBeTheirs(names.status());
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    context.getDiagEngine().registerHandler([](mlir::Diagnostic &) {});
    if (names.isOk() && cleave::onnx::importOnnx(context, path, options).isOk() &&
        !cleave::onnx::importOnnx(context, written, options).isOk())
      std::abort();
  }
}

} // namespace cleave::fuzz
