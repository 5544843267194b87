// Targets: ONNX files, imported as models, and rewritten with new weights.
#include "compiler/frontend/onnx/Import.h"
#include "compiler/frontend/onnx/WeightExport.h"
#include "dialects/graph/Step.h"
#include "dialects/graph/Types.h"
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

// Whether the parameters of a step have few elements. A file may declare parameters of any size by
// their initialization alone.
static bool isSmall(mlir::ModuleOp module) {
  int64_t elements = 0;
  for (mlir::Type type : graph::stepOf(module).getArgumentTypes())
    if (graph::hasStaticShape(type))
      elements += mlir::cast<mlir::RankedTensorType>(type).getNumElements();
  return elements < (1 << 22);
}

// The rewritten file must be readable like the original one.
void weights(std::string_view bytes) {
  std::string path = withWeights(bytes), written = asFile("y.onnx", "");
  cleave::onnx::NewValues zeros{
      {},
      [](const std::string &, ElementType element, const std::vector<int64_t> &shape, void *to) {
        int64_t size = byteSize(element);
        for (int64_t dim : shape)
          size *= dim;
        std::memset(to, 0, static_cast<size_t>(size));
        return Status::ok();
      }};
  frontend::ImportOptions options;
  options.keepSymbols = true;
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.getDiagEngine().registerHandler([](mlir::Diagnostic &) {});
  auto model = cleave::onnx::importOnnx(context, path, options);
  mustBeTheirs(model.status());
  if (!model.isOk() || !isSmall(*model->module))
    return; // nothing was trained
  mlir::func::FuncOp step = graph::stepOf(*model->module);
  for (unsigned i = 0; i < step.getNumArguments(); ++i)
    if (graph::argRole(step, i) == Role::Parameter)
      zeros.names.insert(graph::argName(step, i).str());
  for (uint64_t most : {cleave::onnx::kMaxFileBytes, uint64_t(1)}) {
    Status status = cleave::onnx::exportWeights(path, options, zeros, written, most);
    mustBeTheirs(status);
    if (status && !cleave::onnx::importOnnx(context, written, options).isOk())
      std::abort();
  }
}

} // namespace cleave::fuzz
