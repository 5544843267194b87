// The first values of a step's arguments, read from their TensorOrigins as the runtime does.
#pragma once

#include "dialects/graph/Step.h"

namespace cleave::test {

// The value of argument i of the model in `folder`/`file`. An origin that cannot be read fails the
// test.
Tensor firstValue(mlir::func::FuncOp step, unsigned i, const std::string &folder,
                  const std::string &file);

} // namespace cleave::test
