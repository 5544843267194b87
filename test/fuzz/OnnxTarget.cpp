// ONNX files.
#include "compiler/frontend/onnx/Import.h"
#include "test/fuzz/ImportModel.h"
#include "test/fuzz/Targets.h"

namespace cleave::fuzz {

void onnx(std::string_view bytes) {
  static const std::string weights = asFile("x.data", std::string(64, 1)); // for external tensors
  importModel(cleave::onnx::importOnnx, asFile("x.onnx", bytes), bytes.find("batch") != bytes.npos);
}

} // namespace cleave::fuzz
