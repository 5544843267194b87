// See Autocast.h.
#include "compiler/frontend/pt2/Autocast.h"

#include "compiler/frontend/emit/Emitter.h"

#include "llvm/ADT/STLExtras.h"

namespace cleave::pt2 {
namespace {

using aten::IValue;
using aten::TensorState;

// The operators that torch.autocast computes in its 16-bit type. The others keep or promote the
// types of their arguments, or compute in f32.
bool isProduct(llvm::StringRef name) {
  static constexpr const char *kProducts[] = {"_convolution",
                                              "addbmm",
                                              "addmm",
                                              "addmv",
                                              "baddbmm",
                                              "bmm",
                                              "chain_matmul",
                                              "conv1d",
                                              "conv2d",
                                              "conv3d",
                                              "convolution",
                                              "conv_transpose1d",
                                              "einsum",
                                              "gru",
                                              "linear",
                                              "lstm",
                                              "matmul",
                                              "conv_transpose2d",
                                              "mm",
                                              "mv",
                                              "prelu",
                                              "rnn_tanh",
                                              "rnn_relu",
                                              "conv_transpose3d",
                                              "scaled_dot_product_attention"};
  return llvm::is_contained(kProducts, name);
}

bool isNarrow(ElementType type) { return type == ElementType::BF16 || type == ElementType::F16; }

} // namespace

// The element type of a region's products; PyTorch's default for the device if none is given.
static ElementType typeOfRegion(const IValue &type, const std::string &device) {
  if (type.isNone())
    return device == "cuda" ? ElementType::F16 : ElementType::BF16;
  std::optional<int64_t> number = type.integer().constant();
  std::optional<ElementType> found = number ? aten::elementTypeOfDtype(*number) : std::nullopt;
  if (!found)
    emit::fail("casts to an element type that Cleave does not support");
  return *found;
}

AutocastRegion regionOf(const aten::IValueList &arguments) {
  const std::string &device = arguments.at(0).string();
  return {device, typeOfRegion(arguments.at(1), device), arguments.at(2).boolean()};
}

void castArguments(aten::Context &context, llvm::StringRef name, std::optional<ElementType> result,
                   std::optional<ElementType> region, aten::IValueList &positional,
                   std::map<std::string, IValue> &keyword) {
  name.consume_front("aten::");
  if (result == ElementType::F32 && region && isNarrow(*region) && isProduct(name))
    result = region;
  bool narrows = result && isNarrow(*result) && isProduct(name);
  if (!narrows && result != ElementType::F32)
    return;
  emit::Emitter &e = context.emitter;
  mlir::Type type = graph::fromElementType(*result, e.b.getContext());
  auto castOne = [&](IValue &value) {
    if (!value.isTensor() || !value.tensor() || value.tensor()->number())
      return;
    mlir::Value elements = value.tensor()->read(e);
    bool isMeant = narrows ? emit::isFloat(elements) && emit::elementOf(elements) != type
                           : isNarrow(graph::toElementType(emit::elementOf(elements)));
    if (isMeant)
      value = TensorState::create(e.cast(elements, type));
  };
  for (IValue &value : positional)
    castOne(value);
  for (auto &[argument, value] : keyword)
    castOne(value);
}

static bool isRegion(const Node &node) {
  return node.target == "torch.ops.higher_order.wrap_with_autocast";
}

// Whether two regions have the same device, type and switch.
static bool areOfOneKind(const Node &left, const Node &right) {
  constexpr size_t kModes = 3;
  if (left.inputs.size() < kModes || right.inputs.size() < kModes)
    return false;
  return llvm::all_of(llvm::seq(kModes), [&](size_t i) {
    const Argument &a = left.inputs[i].value, &b = right.inputs[i].value;
    return a.kind == b.kind && a.text == b.text && a.integer == b.integer && a.boolean == b.boolean;
  });
}

static void findSplitRegions(const Graph &graph, std::vector<std::string> &found) {
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node &node = graph.nodes[i];
    if (i && isRegion(node) && isRegion(graph.nodes[i - 1]) &&
        areOfOneKind(graph.nodes[i - 1], node))
      found.push_back(node.name);
    for (const NamedArgument &input : node.inputs)
      if (input.value.graph)
        findSplitRegions(*input.value.graph, found);
  }
}

std::vector<frontend::Remark> warningsOfRegions(const Graph &graph) {
  std::vector<std::string> found;
  findSplitRegions(graph, found);
  if (found.empty())
    return {};
  return {{frontend::Remark::Kind::TrainingWarning, found.front(),
           "follows another region of torch.autocast with nothing in between (" +
               std::to_string(found.size()) +
               " such places); torch.export leaves out torch.no_grad() inside of torch.autocast, "
               "and what it held gets gradients: if the model has that, put no_grad around "
               "autocast, or call detach()"}};
}

} // namespace cleave::pt2
