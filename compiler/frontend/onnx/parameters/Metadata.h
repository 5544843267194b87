// The facts that PyTorch's exporters record about a node besides the computation: in the metadata
// of the current exporter (FX node, module, folding), and in the node names of the old one.
#pragma once

#include "compiler/frontend/onnx/file/Model.h"

namespace cleave::onnx {

// The FX node from which a node was exported, written in the metadata as
//   %linear_3 : … = call_function[target=torch.ops.aten.linear.default](args = (%view,
//   %p_fc_weight, %p_fc_bias), …)
struct FxNode {
  std::string name;                   // `linear_3`
  std::string target;                 // `aten.linear.default`
  std::vector<std::string> arguments; // names of the values among the arguments, in order
  std::vector<std::string> texts;     // of all arguments without a keyword: `%view`, `None`, `0.1`

  // The text of one argument; empty: it has its default.
  std::string text(size_t position) const;
  // One argument as a number; none: it has its default, or is something else.
  std::optional<double> number(size_t position) const;
};
// None where the node has no such metadata.
std::optional<FxNode> fxNodeOf(const Node &node);

// A parameter or buffer of the exported program.
struct SignatureEntry {
  std::string target; // its name in PyTorch: `fc.weight`
  bool isParameter = false;
};
// By FX name (`p_fc_weight`); empty where the file has no such metadata.
std::map<std::string, SignatureEntry> signatureOf(const Graph &graph);

// The initializers from which the exporter computed another one, by the name of that one.
std::map<std::string, std::vector<std::string>> foldedFrom(const Graph &graph);

// The PyTorch module that contains the node: `blocks.0.attn.qkv`; empty if unknown.
std::string moduleOf(const Node &node);

// Whether the node belongs to a batch norm of the PyTorch model.
bool isInBatchNorm(const Node &node);

// Whether the exporter (not the user) chose the name: `val_7`, `onnx::MatMul_299`,
// `/fc/Constant_output_0`.
bool isMadeUpName(const std::string &name);

} // namespace cleave::onnx
