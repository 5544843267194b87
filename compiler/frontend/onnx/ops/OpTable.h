// The table of operators: a handler per operator and opset, by family.
#pragma once

#include "compiler/frontend/onnx/node/NodeImport.h"

namespace cleave::onnx {

// The first input cast to this type, if that is a cast of texts or to texts.
std::optional<Binding> castText(NodeImport &n, int32_t to);

// The values of the outputs; a null one is not computed, which only matters where the model reads it.
using Handler = Values (*)(NodeImport &);
// For operators whose outputs need not be tensors.
using BindingHandler = Bindings (*)(NodeImport &);

// One operator from one opset version on.
struct OpEntry {
  constexpr OpEntry(const char *name, int64_t since, Handler handler)
      : name(name), since(since), handler(handler) {}
  constexpr OpEntry(const char *name, int64_t since, BindingHandler handler)
      : name(name), since(since), bindingHandler(handler) {}

  const char *name; // of another domain than the standard one: `DOMAIN:NAME`, from version 1 on
  int64_t since;
  Handler handler = nullptr;
  BindingHandler bindingHandler = nullptr;
};

// The families' tables.
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
llvm::ArrayRef<OpEntry> extremeOps();
llvm::ArrayRef<OpEntry> flexAttentionOps();
llvm::ArrayRef<OpEntry> stateOps();
llvm::ArrayRef<OpEntry> textOps();
llvm::ArrayRef<OpEntry> gradientOps();
llvm::ArrayRef<OpEntry> lookupOps();
llvm::ArrayRef<OpEntry> randomOps();
llvm::ArrayRef<OpEntry> regionOps();

// The oldest and newest opset whose meaning the tables know; of those before 6 only the operators
// that have not changed since.
inline constexpr int64_t kOldestOpset = 1;
inline constexpr int64_t kNewestOpset = 27;
// The handler of an operator at an opset; null if there is none.
const OpEntry *findOp(const std::string &domain, const std::string &op, int64_t opset);

} // namespace cleave::onnx
