// What PyTorch's exporters tell about a node besides the computation: in the metadata of the
// current one (FX node, module, folding), and in the node names of the old one.
#pragma once

#include "compiler/frontend/onnx/file/Model.h"

namespace cleave::onnx {

// `%linear_3 : … = call_function[target=torch.ops.aten.linear.default](args = (%view, %p_fc_weight,
// %p_fc_bias), …)`
struct FxNode {
  std::string name;                   // `linear_3`
  std::string target;                 // `aten.linear.default`
  std::vector<std::string> arguments; // names of the values among the arguments, in order
};
std::optional<FxNode> fxNodeOf(const Node &node);

// A parameter or buffer of the exported program.
struct SignatureEntry {
  std::string target; // its name in PyTorch: `fc.weight`
  bool isParameter = false;
};
// By FX name (`p_fc_weight`); empty where the file has no such metadata.
std::map<std::string, SignatureEntry> signatureOf(const Graph &graph);

// The initializers from which the exporter computed the named one, if it says so.
std::map<std::string, std::vector<std::string>> foldedFrom(const Graph &graph);

// The PyTorch module in which the node was written: `blocks.0.attn.qkv`; empty if that is not
// known.
std::string moduleOf(const Node &node);

// Whether the node stands where PyTorch had a batch norm.
bool isInBatchNorm(const Node &node);

// Whether the exporter (not the user) made up the name: `val_7`, `onnx::MatMul_299`,
// `/fc/Constant_output_0`.
bool isMadeUpName(const std::string &name);

} // namespace cleave::onnx
