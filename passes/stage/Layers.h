// Layers: finds the layers of a model by the names of its parameters, and the places between them.
//
// A layer is named by its parameters' names up to the first part that is a number or ends with `_`
// and a number: `h.3.attn.weight` belongs to `h.3`, `layers.layer_3.attn.weight` to
// `layers.layer_3`. The embedding is everything before the first layer, the loss everything after
// the last one.
#pragma once

#include "compiler/schedule/pipelines/LayerLayout.h"
#include "runtime/base/Status.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>
#include <string>
#include <vector>

namespace cleave::stage {

struct Layers {
  std::vector<std::string> names; // in the order in which they run
  // The ops, by their numbers, that may be the first of the next chunk after a number of layers:
  // all between `from` and `to`, both included.
  struct Places {
    int64_t from, to;
  };
  // After 0, 1, …, all layers.
  std::vector<Places> places;
};

// The layers of a forward step. `ops` are its ops that depend on both inputs and parameters, in
// order; places number them. A user error if the step has no layers, or if one begins before
// another has ended.
Result<Layers> layersOf(mlir::func::FuncOp step, llvm::ArrayRef<mlir::Operation *> ops);

// The place in a range that is crossed by the fewest bytes; the last one of equal ones. `crossing`:
// by place.
int64_t narrowest(const Layers::Places &places, llvm::ArrayRef<double> crossing);

// The layers of the chunks that begin at `cuts` and at op 0; nothing if a cut lies inside of a
// layer.
std::optional<pipelines::LayerLayout> layoutOf(const Layers &layers, llvm::ArrayRef<int64_t> cuts);

} // namespace cleave::stage
