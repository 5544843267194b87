// Binding: the value of a name of the model while it is imported.
#pragma once

#include "compiler/frontend/emit/Emitter.h"

namespace cleave::onnx {

using emit::Value;
using emit::Values;

// One tensor, a sequence of tensors, or nothing (an input that is left out, an optional without an
// element).
struct Binding {
  Values values;
  bool isSequence = false;
  // The narrow type (file/NarrowTypes.h) whose numbers the tensor holds; 0: not a narrow type.
  int32_t narrow = 0;
  // The elements are numbers of strings (Strings.h).
  bool isString = false;
  // The node that computes it cannot be imported, which has been reported. Nodes that read it are
  // left out without a message.
  bool failed = false;

  // The kind of the binding; a sequence is neither.
  bool isNothing() const { return values.empty() && !isSequence; }
  bool isTensor() const { return values.size() == 1 && !isSequence; }
};
using Bindings = std::vector<Binding>;

} // namespace cleave::onnx
