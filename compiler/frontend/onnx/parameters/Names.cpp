// Which parameter a slot means, by names alone: for the files of PyTorch's old exporter and of others. See Parameters.h.
#include "compiler/frontend/onnx/parameters/Metadata.h"
#include "compiler/frontend/onnx/parameters/Parameters.h"

#include <algorithm>

namespace cleave::onnx {
namespace {

struct Leaf {
  const char *op;
  size_t input;
  const char *name;
};

// The names that PyTorch's modules give to what an operator reads.
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

class Namer {
public:
  Namer(const Graph &graph, const std::vector<Slot> &slots) : graph_(graph) {
    for (const Slot &slot : slots)
      noteBias(slot);
  }

  Claim claim(const Slot &slot) const {
    const StoredTensor &tensor = graph_.initializers[slot.initializer];
    Claim out;
    out.name = nameOf(slot);
    if (!isMadeUpName(out.name)) {
      if (!slot.alias.empty())
        out.remark =
            "had been merged with the equal '" + tensor.name + "': a parameter of its own again";
      return out;
    }
    const Leaf *leaf =
        std::find_if(std::begin(kLeaves), std::end(kLeaves), [&](const Leaf &candidate) {
          return slot.reader && slot.reader->op == candidate.op && slot.input == candidate.input;
        });
    if (leaf == std::end(kLeaves)) {
      out.kind = Claim::Kind::Constant;
      if (tensor.elementCount() > 1) {
        out.repair = Remark::Kind::TrainingWarning;
        out.remark = "the exporter computed it, so it is not trained; if there are parameters in "
                     "it, export with "
                     "do_constant_folding=False";
      }
      return out;
    }
    nameByPlace(slot, *leaf, out);
    return out;
  }

private:
  const std::string &nameOf(const Slot &slot) const {
    return slot.alias.empty() ? graph_.initializers[slot.initializer].name : slot.alias;
  }

  // A bias that is added to a product names the weight of the product. Branches share names of products.
  void noteBias(const Slot &slot) {
    const std::string &name = nameOf(slot);
    if (slot.isInSubgraph() || slot.reader->op != "Add" || isMadeUpName(name) ||
        !name.ends_with("bias"))
      return;
    for (const std::string &input : slot.reader->inputs)
      biases_[input] = name;
  }

  // `fc.bias` beside it, or the module in which the node stands.
  void nameByPlace(const Slot &slot, const Leaf &leaf, Claim &out) const {
    const Node &node = *slot.reader;
    std::string module = moduleOf(node), lost = out.name;
    bool isProduct = !slot.isInSubgraph() && node.op == "MatMul" && !node.outputs.empty();
    auto bias = isProduct ? biases_.find(node.outputs[0]) : biases_.end();
    if (bias != biases_.end())
      out.name = bias->second.substr(0, bias->second.size() - 4) + "weight";
    else if (!module.empty())
      out.name = module + "." + leaf.name;
    out.transposed = isLinearWeight(graph_, slot);
    if (out.name == lost)
      return;
    if (out.transposed) {
      out.repair = Remark::Kind::Transposed;
      out.remark = "'" + lost + "' holds its transpose: given back its name and orientation";
      return;
    }
    out.remark = "'" + lost + "' had lost its name: named after the node '" + node.name + "'";
    if (node.op == "PRelu")
      out.dims = withoutUnitDims(graph_.initializers[slot.initializer].dims, 1);
  }

  const Graph &graph_;
  std::map<std::string, std::string> biases_; // what is added to -> the bias
};

} // namespace

std::vector<Claim> claimByNames(const Graph &graph, const std::vector<Slot> &slots) {
  Namer namer(graph, slots);
  std::vector<Claim> out;
  for (const Slot &slot : slots)
    out.push_back(namer.claim(slot));
  return out;
}

} // namespace cleave::onnx
