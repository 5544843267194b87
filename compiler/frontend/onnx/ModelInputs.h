// ModelInputs: the model's inputs in the step: arguments, constants where the user says what they are (--value),
// several of them for a sequence, none for an optional without an element.
#pragma once

#include "compiler/frontend/onnx/node/NodeImport.h"
#include "compiler/frontend/onnx/Refusals.h"

#include "dialects/graph/SignatureEdit.h"

namespace cleave::onnx {

// The inputs by name. What cannot be taken goes to `refusals` and is bound as failed. Options that name what the
// model does not have fail.
std::map<std::string, Binding> bindInputs(const Model &model, const ImportOptions &options,
                                          graph::SignatureEdit &signature, mlir::OpBuilder &b,
                                          TextPool &texts, Refusals &refusals);

} // namespace cleave::onnx
