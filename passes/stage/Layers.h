// Layers: the layers of a model by the names of its parameters, and the places between them.
//
// Parameters whose names agree up to and including the first part between dots that is or ends with
// a number belong to one layer, such as `h.3` of `h.3.attn.weight` and `layers.layer_3` of
// `layers.layer_3.attn.weight`. What lies before the first layer is called the embedding, and what
// lies after the last one the loss.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <string>
#include <vector>

namespace cleave::stage {

struct Layers {
  std::vector<std::string> names; // in the order in which they run
  // After 0, 1, …, all layers: the numbers of the ops before which a chunk may begin, `from` to
  // `to`, both included. Between them, no op reads a parameter.
  struct Places {
    int64_t from, to;
  };
  std::vector<Places> places;
};

// The layers of a forward step, whose ops on inputs and parameters are `ops`. Fails with a
// diagnostic if it has none, or if one begins before another has ended.
mlir::FailureOr<Layers> layersOf(mlir::func::FuncOp step, llvm::ArrayRef<mlir::Operation *> ops);

} // namespace cleave::stage
