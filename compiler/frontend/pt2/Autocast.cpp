// See Autocast.h.
#include "compiler/frontend/pt2/Autocast.h"

#include "compiler/frontend/emit/Emitter.h"

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

} // namespace cleave::pt2
