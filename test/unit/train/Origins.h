// First values of a step's arguments from where its TensorOrigin says, as the runtime reads them.
#pragma once

#include "dialects/graph/Step.h"

namespace cleave::test {

// The value of argument i of the model in `folder`/`file`; the test fails where the origin is not readable.
Tensor firstValue(mlir::func::FuncOp step, unsigned i, const std::string &folder,
                  const std::string &file);

} // namespace cleave::test
