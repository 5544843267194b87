// Provenance: what a step was made from, as attributes of its module. Every phase keeps them, so
// that a plan made from the text of a phase reads the weights of the model.
//   graph.model = {path = "/models/gpt.onnx", bytes = 52428 : i64, sha256 = "9f86d0…"}
//   graph.optimizer = "adamw:lr=0.001,beta1=0.9,…"
//   graph.other_names = {"head.weight" = "tok.weight"}
#pragma once

#include "mlir/IR/BuiltinOps.h"

#include <optional>
#include <string>
#include <vector>

namespace cleave::graph {

// The file that the step was imported from. Origins in files (TensorOrigin) are relative to it.
struct SourceModel {
  std::string path;   // absolute
  uint64_t bytes = 0; // its size, without external data
  std::string sha256; // of these bytes, in hex; empty: not computed
};

// graph.model; none if the module has none, such as a step that was written by hand.
void setSourceModel(mlir::ModuleOp module, const SourceModel &model);
std::optional<SourceModel> sourceModelOf(mlir::ModuleOp module);

// Whether an attribute is a graph.source (Step.h): a dictionary of the form of a TensorOrigin or a
// RandomOrigin.
bool isOrigin(mlir::Attribute attribute);
// The innermost name of a location, that of an op in the user's model; empty if it has none.
llvm::StringRef nameOf(mlir::Location location);

// Whether the values of this origin are in a file.
bool isInFile(mlir::Attribute origin);

// graph.optimizer: that of a training step with all its options; empty if unknown.
void setOptimizer(mlir::ModuleOp module, const std::string &optimizer);
std::string optimizerOf(mlir::ModuleOp module);

// graph.no_padding: why the micro-batches of a training step or an evaluation may not be completed
// by samples whose labels are ignored; empty if they may.
void setNoPadding(mlir::ModuleOp module, const std::string &reason);
std::string noPaddingOf(mlir::ModuleOp module);

// graph.other_names: a further name of a parameter in the user's model, which is tied.
void addOtherName(mlir::ModuleOp module, llvm::StringRef other, llvm::StringRef parameter);
// Of one parameter.
std::vector<std::string> otherNamesOf(mlir::ModuleOp module, llvm::StringRef parameter);

} // namespace cleave::graph
