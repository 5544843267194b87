// Provenance by names alone: for files of PyTorch's old exporter and of other exporters. See
// Provenance.h.
#include "compiler/frontend/onnx/parameters/Metadata.h"
#include "compiler/frontend/onnx/parameters/Provenance.h"

#include <algorithm>

namespace cleave::onnx {
namespace {

// The name that PyTorch's modules give to the parameter at an operator's input.
struct Leaf {
  const char *op;
  size_t input;
  const char *name;
};

constexpr Leaf kLeaves[] = {
    {"MatMul", 1, "weight"},
    {"Gemm", 1, "weight"},
    {"Gemm", 2, "bias"},
    {"Conv", 1, "weight"},
    {"Conv", 2, "bias"},
    {"ConvTranspose", 1, "weight"},
    {"ConvTranspose", 2, "bias"},
    {"BatchNormalization", 1, "weight"},
    {"BatchNormalization", 2, "bias"},
    {"BatchNormalization", 3, "running_mean"},
    {"BatchNormalization", 4, "running_var"},
    {"LayerNormalization", 1, "weight"},
    {"LayerNormalization", 2, "bias"},
    {"Gather", 0, "weight"},
    {"PRelu", 1, "weight"},
};

class NameMatcher {
public:
  NameMatcher(const Graph &graph, const InitializerUses &uses) : graph_(graph) {
    for (const InitializerUse &use : uses)
      noteBias(use);
  }

  Provenance provenanceOf(const InitializerUse &use) const {
    const StoredTensor &tensor = graph_.initializers[use.initializer];
    Provenance out;
    out.name = nameOf(use);
    if (!isMadeUpName(out.name)) {
      if (!use.alias.empty())
        out.remark =
            "had been merged with the equal '" + tensor.name + "': a parameter of its own again";
      return out;
    }
    const Leaf *leaf =
        std::find_if(std::begin(kLeaves), std::end(kLeaves), [&](const Leaf &candidate) {
          return use.reader && use.reader->op == candidate.op && use.input == candidate.input;
        });
    if (leaf == std::end(kLeaves)) {
      out.kind = ParameterKind::Constant;
      if (tensor.elementCount() > 1) {
        out.repair = Remark::Kind::TrainingWarning;
        out.remark = "the exporter computed it, so it is not trained; if there are parameters in "
                     "it, export with do_constant_folding=False";
      }
      return out;
    }
    nameByPlace(use, *leaf, out);
    return out;
  }

private:
  const std::string &nameOf(const InitializerUse &use) const {
    return use.alias.empty() ? graph_.initializers[use.initializer].name : use.alias;
  }

  // A bias that is added to a product gives the name of the product's weight. Subgraphs are left
  // out: branches may use one name for different products.
  void noteBias(const InitializerUse &use) {
    const std::string &name = nameOf(use);
    if (use.isInSubgraph() || use.reader->op != "Add" || isMadeUpName(name) ||
        !name.ends_with("bias"))
      return;
    for (const std::string &input : use.reader->inputs)
      biases_[input] = name;
  }

  // Names the weight after the bias `fc.bias` of its product, or after the node's module.
  void nameByPlace(const InitializerUse &use, const Leaf &leaf, Provenance &out) const {
    const Node &node = *use.reader;
    std::string module = moduleOf(node), lost = out.name;
    bool isProduct = !use.isInSubgraph() && node.op == "MatMul" && !node.outputs.empty();
    auto bias = isProduct ? biases_.find(node.outputs[0]) : biases_.end();
    if (bias != biases_.end())
      out.name = bias->second.substr(0, bias->second.size() - 4) + "weight";
    else if (!module.empty())
      out.name = module + "." + leaf.name;
    out.transposed = isLinearWeight(graph_, use);
    if (out.name == lost)
      return;
    if (out.transposed) {
      out.repair = Remark::Kind::Transposed;
      out.remark = "'" + lost + "' holds its transpose: given back its name and orientation";
      return;
    }
    out.remark = "'" + lost + "' had lost its name: named after the node '" + node.name + "'";
    if (node.op == "PRelu")
      out.dims = withoutUnitDims(graph_.initializers[use.initializer].dims, 1);
  }

  const Graph &graph_;
  std::map<std::string, std::string> biases_; // by the value to which the bias is added
};

} // namespace

std::vector<Provenance> provenanceFromNames(const Graph &graph, const InitializerUses &uses) {
  NameMatcher matcher(graph, uses);
  std::vector<Provenance> out;
  for (const InitializerUse &use : uses)
    out.push_back(matcher.provenanceOf(use));
  return out;
}

} // namespace cleave::onnx
