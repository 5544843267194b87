// OpTable: the handlers of all operators, by name and opset. Each family of operators (one file)
// has a table.
#pragma once

#include "compiler/frontend/onnx/node/NodeImport.h"

namespace cleave::onnx {

// Input 0 cast to the data type `to`, if that is a cast of strings or to strings; none for other
// casts.
std::optional<Binding> castString(NodeImport &n, int32_t to);

// Imports a node; returns the values of its outputs. A null value is not computed, which is an
// error only where the model reads it.
using Handler = Values (*)(NodeImport &);
// The same for operators with outputs that may be other than tensors.
using BindingHandler = Bindings (*)(NodeImport &);

// A row of a table: the handler of an operator from one opset version on.
struct OpEntry {
  constexpr OpEntry(const char *name, int64_t since, Handler handler)
      : name(name), since(since), handler(handler) {}
  constexpr OpEntry(const char *name, int64_t since, BindingHandler handler)
      : name(name), since(since), bindingHandler(handler) {}

  const char *name; // outside the standard domain: `DOMAIN:NAME`
  int64_t since;    // the first opset; 1 outside the standard domain
  // One of both is set.
  Handler handler = nullptr;
  BindingHandler bindingHandler = nullptr;
};

// The tables of the families.
llvm::ArrayRef<OpEntry> elementwiseOps();
llvm::ArrayRef<OpEntry> activationOps();
llvm::ArrayRef<OpEntry> contractionOps();
llvm::ArrayRef<OpEntry> poolingOps();
llvm::ArrayRef<OpEntry> normalizationOps();
llvm::ArrayRef<OpEntry> movementOps();
llvm::ArrayRef<OpEntry> slicingOps();
llvm::ArrayRef<OpEntry> reductionOps();
llvm::ArrayRef<OpEntry> indexingOps();
llvm::ArrayRef<OpEntry> structureOps();
llvm::ArrayRef<OpEntry> controlFlowOps();
llvm::ArrayRef<OpEntry> sequenceOps();
llvm::ArrayRef<OpEntry> attentionOps();
llvm::ArrayRef<OpEntry> coordinateOps();
llvm::ArrayRef<OpEntry> lossOps();
llvm::ArrayRef<OpEntry> quantizationOps();
llvm::ArrayRef<OpEntry> recurrentOps();
llvm::ArrayRef<OpEntry> resizeOps();
llvm::ArrayRef<OpEntry> samplingOps();
llvm::ArrayRef<OpEntry> beforeOpset7Ops();
llvm::ArrayRef<OpEntry> contribOps();
llvm::ArrayRef<OpEntry> generatorOps();
llvm::ArrayRef<OpEntry> selectionOps();
llvm::ArrayRef<OpEntry> updateOps();
llvm::ArrayRef<OpEntry> bitwiseOps();
llvm::ArrayRef<OpEntry> contribAttentionOps();
llvm::ArrayRef<OpEntry> contribQuantizedOps();
llvm::ArrayRef<OpEntry> argMaxOps();
llvm::ArrayRef<OpEntry> flexAttentionOps();
llvm::ArrayRef<OpEntry> stateOps();
llvm::ArrayRef<OpEntry> stringOps();
llvm::ArrayRef<OpEntry> gradientOps();
llvm::ArrayRef<OpEntry> lookupOps();
llvm::ArrayRef<OpEntry> randomOps();
llvm::ArrayRef<OpEntry> regionOps();

// The oldest and newest opset that the tables cover; of the opsets before 6, only operators that
// have not changed since.
inline constexpr int64_t kOldestOpset = 1;
inline constexpr int64_t kNewestOpset = 27;
// The row of an operator at an opset; null if there is none.
const OpEntry *findOp(const std::string &domain, const std::string &op, int64_t opset);

} // namespace cleave::onnx
