// ModelInputs: the model's inputs in the step: arguments, constants for those with a value from the
// user (--value), several arguments for a sequence, none for an optional without an element.
#pragma once

#include "compiler/frontend/onnx/UnsupportedOperators.h"
#include "compiler/frontend/onnx/node/Binding.h"
#include "compiler/frontend/onnx/node/Strings.h"
#include "compiler/frontend/step/StepBuilder.h"

namespace cleave::onnx {

// Adds the inputs to the step; returns their bindings by name. An input that cannot be imported is
// added to `unsupported` and bound as failed. Throws a Failure for options that name inputs or
// symbols that the model does not have, and for symbols without a size.
std::map<std::string, Binding> bindInputs(const Model &model,
                                          const frontend::ImportOptions &options,
                                          frontend::StepBuilder &step, StringPool &strings,
                                          UnsupportedOperators &unsupported);

} // namespace cleave::onnx
