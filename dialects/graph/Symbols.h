// The symbols of a module: which ones its types and attributes name, and giving them values.
//
// A symbol is the unknown size of a dim of an input. Wherever a decision depends on one, it counts as
// a number of at least kLeastSymbol, as it does for PyTorch's exporters: never 1, which numpy would
// broadcast, and never 0. Different symbols may have the same value. Numbers that bound sizes (the
// rows of a position table, say) are taken to be large enough. The module says so in its attribute
// graph.assumptions = ["-seq + 1024", …], sizes that are taken to be at least 0; binding checks that.
#pragma once

#include "dialects/graph/Graph.h"
#include "runtime/base/Status.h"

#include "mlir/IR/BuiltinOps.h"

namespace cleave::graph {

inline constexpr int64_t kLeastSymbol = 2;

// Whether `size` is surely not 1; a symbol never is.
bool isNotOne(const Polynomial &size);

// The names of the symbols in types and attributes, sorted.
std::vector<std::string> symbolsOf(mlir::ModuleOp module);

// What the import took for granted, as sizes that are at least 0; those that are numbers are left out.
void setAssumptions(mlir::ModuleOp module, const std::vector<Polynomial> &notNegative);
std::vector<Polynomial> assumptionsOf(mlir::ModuleOp module);
// One of them for people: `seq <= 1024`.
std::string asInequality(const Polynomial &notNegative);

// Gives the symbols that `binding` names their values, everywhere: dims become numbers, graph.sizes
// constants. What the import knew of symbols then is as if it had known the values, but for sizes of
// 1. User errors: a value below 1, values that an assumption excludes, and values for which an op's
// shapes do not fit.
Status bindSymbols(mlir::ModuleOp module, const Polynomial::Binding &binding);

} // namespace cleave::graph
