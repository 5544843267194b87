// Writes Model.h as an ONNX file. One function per message of the format; the numbers are the field
// numbers of the public onnx.proto.
#include "compiler/frontend/onnx/file/ModelWriter.h"

#include "compiler/frontend/onnx/file/Initialisation.h"
#include "compiler/frontend/onnx/file/WireWriter.h"

namespace cleave::onnx {
namespace {

// The IR version of the format, from which on nodes and inputs have metadata.
constexpr int64_t kFormatVersion = 10;

void writeMetadata(WireWriter &out, uint32_t field, const Metadata &metadata) {
  for (const auto &[key, value] : metadata)
    out.entry(field, key, value);
}

WireWriter tensorMessage(const StoredTensor &tensor) {
  WireWriter out;
  for (int64_t dim : tensor.dims)
    out.integer(1, dim);
  out.integer(2, tensor.dataType);
  out.bytes(8, tensor.name);
  if (tensor.location.empty()) {
    out.bytes(9, tensor.decoded);
    return out;
  }
  out.entry(13, "location", tensor.location);
  out.entry(13, "offset", std::to_string(tensor.range.offset));
  out.entry(13, "length", std::to_string(tensor.range.size));
  out.integer(14, 1);
  return out;
}

WireWriter graphMessage(const Graph &graph);

WireWriter attributeMessage(const Attribute &attribute) {
  WireWriter out;
  out.bytes(1, attribute.name);
  switch (attribute.type) {
  case AttributeType::Float:
    out.float32(2, attribute.number);
    break;
  case AttributeType::Int:
    out.integer(3, attribute.integer);
    break;
  case AttributeType::String:
    out.bytes(4, attribute.string);
    break;
  case AttributeType::Tensor:
    out.message(5, tensorMessage(*attribute.tensor));
    break;
  case AttributeType::Graph:
    out.message(6, graphMessage(*attribute.graph));
    break;
  case AttributeType::Floats:
    for (float number : attribute.numbers)
      out.float32(7, number);
    break;
  case AttributeType::Ints:
    for (int64_t integer : attribute.integers)
      out.integer(8, integer);
    break;
  case AttributeType::Strings:
    for (const std::string &text : attribute.strings)
      out.bytes(9, text);
    break;
  default:
    break;
  }
  out.integer(20, static_cast<int64_t>(attribute.type));
  return out;
}

WireWriter nodeMessage(const Node &node) {
  WireWriter out;
  for (const std::string &input : node.inputs)
    out.bytes(1, input);
  for (const std::string &output : node.outputs)
    out.bytes(2, output);
  out.bytes(3, node.name);
  out.bytes(4, node.op);
  for (const Attribute &attribute : node.attributes)
    out.message(5, attributeMessage(attribute));
  if (!node.domain.empty())
    out.bytes(7, node.domain);
  if (!node.overload.empty())
    out.bytes(8, node.overload);
  writeMetadata(out, 9, node.metadata);
  return out;
}

WireWriter valueMessage(const ValueInfo &value) {
  WireWriter shape;
  for (const Dim &dim : value.dims) {
    WireWriter entry;
    if (dim.size)
      entry.integer(1, *dim.size);
    else if (!dim.symbol.empty())
      entry.bytes(2, dim.symbol);
    shape.message(1, entry);
  }
  WireWriter tensor, type, out;
  tensor.integer(1, value.dataType);
  if (value.hasShape)
    tensor.message(2, shape);
  type.message(1, tensor);
  for (auto [isOne, field] : {std::pair(value.isSequence, 4), std::pair(value.isOptional, 9)})
    if (isOne) { // the message so far is its element type
      WireWriter element, container;
      element.message(1, type);
      container.message(static_cast<uint32_t>(field), element);
      type = std::move(container);
    }
  out.bytes(1, value.name);
  out.message(2, type);
  writeMetadata(out, 4, value.metadata);
  return out;
}

// Writes a tensor without elements as an input.
ValueInfo asInput(const StoredTensor &tensor) {
  ValueInfo input{tensor.name, tensor.dataType, true, {}, {}};
  for (int64_t dim : tensor.dims)
    input.dims.push_back({dim, {}});
  input.metadata[kInitialisationKey] = initialisationOf(tensor)->str();
  return input;
}

WireWriter graphMessage(const Graph &graph) {
  WireWriter out;
  for (const Node &node : graph.nodes)
    out.message(1, nodeMessage(node));
  out.bytes(2, graph.name);
  for (const StoredTensor &tensor : graph.initializers)
    if (!initialisationOf(tensor))
      out.message(5, tensorMessage(tensor));
  for (const ValueInfo &input : graph.inputs)
    out.message(11, valueMessage(input));
  for (const StoredTensor &tensor : graph.initializers)
    if (initialisationOf(tensor))
      out.message(11, valueMessage(asInput(tensor)));
  for (const ValueInfo &output : graph.outputs)
    out.message(12, valueMessage(output));
  for (const ValueInfo &value : graph.values)
    out.message(13, valueMessage(value));
  return out;
}

} // namespace

std::string writeModel(const Model &model) {
  WireWriter out;
  out.integer(1, kFormatVersion);
  out.bytes(2, model.producer);
  out.message(7, graphMessage(model.graph));
  for (const auto &[domain, version] : model.opsets) {
    WireWriter opset;
    opset.bytes(1, domain);
    opset.integer(2, version);
    out.message(8, opset);
  }
  writeMetadata(out, 14, model.graph.metadata);
  return out.take();
}

} // namespace cleave::onnx
