// See Quantized.h.
#include "compiler/frontend/torch/Quantized.h"

#include "compiler/frontend/emit/Failure.h"

namespace cleave::torch {

static bool contains(const std::string &text, const char *part) {
  return text.find(part) != std::string::npos;
}

bool isQuantizedElement(const std::string &name) {
  return name.starts_with("qint") || name.starts_with("quint");
}

bool isQuantizedClass(const std::string &qualified) {
  return contains(qualified, ".quantized.") || contains(qualified, "PackedParam") ||
         contains(qualified, ".classes.rnn."); // of dynamically quantized LSTMs
}

bool isQuantizedOperator(const std::string &name) {
  return name.starts_with("quantized::") || contains(name, "quantize_") ||
         contains(name, "dequantize") || contains(name, "::quantized_") ||
         contains(name, "fbgemm_") || contains(name, "::q_");
}

void failOnQuantized(const std::string &found) {
  emit::fail(found, "; quantized models are not supported, expected a model of floating-point "
                    "numbers: export the float model, before its quantization");
}

} // namespace cleave::torch
