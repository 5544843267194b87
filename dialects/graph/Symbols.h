// The symbols of a module: listing them, and binding them to values.
//
// A symbol is the unknown size of a dim of an input. Decisions that depend on a symbol take it to
// be at least kLeastSymbol, as PyTorch's exporters do: never 0, and never 1, which numpy would
// broadcast. Different symbols may have the same value. Constants that bound sizes (the rows of a
// position table, say) are taken to be large enough. The module records these assumptions in its
// attribute graph.assumptions = ["-seq + 1024", …] as sizes that are at least 0; binding checks
// them.
#pragma once

#include "dialects/graph/Graph.h"
#include "runtime/base/Status.h"

#include "mlir/IR/BuiltinOps.h"

namespace cleave::graph {

// The least value of a symbol in decisions.
inline constexpr int64_t kLeastSymbol = 2;

// Whether `size` cannot be 1 for any values of its symbols.
bool isNotOne(const Polynomial &size);

// The names of the symbols in types and attributes, sorted.
std::vector<std::string> symbolsOf(mlir::ModuleOp module);

// The assumptions of the import, as sizes that are at least 0; constant sizes are left out.
void setAssumptions(mlir::ModuleOp module, const std::vector<Polynomial> &notNegative);
std::vector<Polynomial> assumptionsOf(mlir::ModuleOp module);
// An assumption as text for messages: `seq <= 1024`.
std::string asInequality(const Polynomial &notNegative);

// Replaces the symbols in `binding` by their values everywhere: dims become numbers, graph.sizes
// become constants. The result is the graph that the import would have made with these values,
// except where a size of 1 would have been broadcast. User errors: a value below 1, values that
// violate an assumption, and values for which the shapes of an op do not fit.
Status bindSymbols(mlir::ModuleOp module, const Polynomial::Binding &binding);

} // namespace cleave::graph
