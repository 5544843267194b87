// Nodes are named as PyTorch's exporter names them.
#include "compiler/zoo/Builder.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <limits>

namespace cleave::zoo {

// The opset of the models: the newest one that all of PyTorch's exporters write.
constexpr int64_t kOpset = 20;

static int32_t numberOf(ElementType type) {
  for (int32_t number = 1; number <= 16; ++number)
    if (onnx::elementTypeOf(number) == type)
      return number;
  return 0;
}

onnx::Attribute attribute(std::string name, int64_t value) {
  onnx::Attribute out;
  out.name = std::move(name), out.type = onnx::AttributeType::Int, out.integer = value;
  return out;
}

onnx::Attribute attribute(std::string name, double value) {
  onnx::Attribute out;
  out.name = std::move(name), out.type = onnx::AttributeType::Float;
  out.number = static_cast<float>(value);
  return out;
}

onnx::Attribute attribute(std::string name, const char *value) {
  onnx::Attribute out;
  out.name = std::move(name), out.type = onnx::AttributeType::String, out.string = value;
  return out;
}

onnx::Attribute attribute(std::string name, Dims values) {
  onnx::Attribute out;
  out.name = std::move(name), out.type = onnx::AttributeType::Ints;
  out.integers = std::move(values);
  return out;
}

Initialisation normal(double deviation) { return {Initialisation::Kind::Normal, deviation}; }
Initialisation uniform(double bound) { return {Initialisation::Kind::Uniform, bound}; }
Initialisation fill(double value) { return {Initialisation::Kind::Fill, value}; }

Builder::Builder(std::string architecture, std::map<std::string, int64_t> symbols)
    : symbols_(std::move(symbols)) {
  model_.producer = "cleave-zoo";
  model_.opsets[""] = kOpset;
  model_.graph.name = std::move(architecture);
}

Builder::Module::Module(Builder &b, const std::string &name) : b_(b), outer_(b.path_) {
  if (!name.empty())
    b.path_ += (b.path_.empty() ? "" : ".") + name;
}

// The module is metadata in the form of PyTorch's exporter: `: gpt2/h.0.attn: Module/matmul_3:
// MatMul`.
onnx::Node &Builder::node(const std::string &op, std::vector<Value> inputs,
                          std::vector<onnx::Attribute> attributes) {
  std::string name = op;
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  if (int count = counts_[name]++)
    name += concat("_", count);
  onnx::Node &out = model_.graph.nodes.emplace_back();
  out.op = op;
  out.name = "node_" + name;
  out.inputs = std::move(inputs);
  out.outputs = {name};
  out.attributes = std::move(attributes);
  std::string module = path_.empty() ? "" : "/" + path_ + ": Module";
  out.metadata["namespace"] = ": " + model_.graph.name + module + "/" + name + ": " + op;
  return out;
}

Value Builder::op(const std::string &op, std::vector<Value> inputs,
                  std::vector<onnx::Attribute> attributes) {
  return node(op, std::move(inputs), std::move(attributes)).outputs[0];
}

Value Builder::parameter(const std::string &name, const Dims &dims, Initialisation initialisation) {
  Value full = path_.empty() ? name : path_ + "." + name;
  if (!parameters_.insert(full).second)
    return full;
  onnx::StoredTensor &tensor = model_.graph.initializers.emplace_back();
  tensor.name = full;
  tensor.dataType = numberOf(ElementType::F32);
  tensor.dims = dims;
  setInitialisation(tensor, initialisation);
  return full;
}

Value Builder::constant(onnx::StoredTensor tensor) {
  onnx::Attribute value;
  value.name = "value";
  value.type = onnx::AttributeType::Tensor;
  value.tensor = std::make_shared<onnx::StoredTensor>(std::move(tensor));
  return op("Constant", {}, {value});
}

template <typename T>
static onnx::StoredTensor tensorOf(ElementType type, const std::vector<T> &values,
                                   const Dims &dims) {
  onnx::StoredTensor tensor;
  tensor.dataType = numberOf(type);
  tensor.dims = dims;
  tensor.decoded.assign(reinterpret_cast<const char *>(values.data()), values.size() * sizeof(T));
  return tensor;
}

Value Builder::floats(const std::vector<float> &values, const Dims &dims) {
  return constant(tensorOf(ElementType::F32, values, dims));
}

Value Builder::number(double value) { return floats({static_cast<float>(value)}, {}); }

Value Builder::integer(int64_t value) {
  return constant(tensorOf<int64_t>(ElementType::I64, {value}, {}));
}

Value Builder::integers(const Dims &values) {
  return constant(
      tensorOf<int64_t>(ElementType::I64, values, {static_cast<int64_t>(values.size())}));
}

Value Builder::shape(const std::vector<Size> &sizes) {
  Dims known;
  for (const Size &size : sizes)
    known.push_back(size.number);
  if (std::all_of(sizes.begin(), sizes.end(), [](const Size &s) { return s.value.empty(); }))
    return integers(known);
  std::vector<Value> parts;
  for (const Size &size : sizes)
    parts.push_back(size.value.empty() ? integers({size.number}) : size.value);
  return parts.size() == 1 ? parts[0] : op("Concat", parts, {attribute("axis", 0)});
}

onnx::Dim Builder::dim(const std::string &text) const {
  if (!text.empty() && std::isdigit(static_cast<unsigned char>(text[0])))
    return {std::stoll(text), {}};
  auto fixed = symbols_.find(text);
  return fixed == symbols_.end() ? onnx::Dim{{}, text} : onnx::Dim{fixed->second, {}};
}

Value Builder::input(const std::string &name, ElementType type,
                     const std::vector<std::string> &dims) {
  onnx::ValueInfo &info = model_.graph.inputs.emplace_back();
  info.name = name;
  info.dataType = numberOf(type);
  info.hasShape = true;
  for (const std::string &text : dims)
    info.dims.push_back(dim(text));
  return name;
}

void Builder::output(const std::string &name, Value value, const std::vector<std::string> &dims) {
  for (onnx::Node &node : model_.graph.nodes)
    std::replace(node.inputs.begin(), node.inputs.end(), value, name);
  for (onnx::Node &node : model_.graph.nodes)
    std::replace(node.outputs.begin(), node.outputs.end(), value, name);
  onnx::ValueInfo &info = model_.graph.outputs.emplace_back();
  info.name = name;
  info.dataType = numberOf(ElementType::F32);
  info.hasShape = true;
  for (const std::string &text : dims)
    info.dims.push_back(dim(text));
}

Size Builder::sizeOf(const Value &value, int64_t dim, const std::string &symbol) {
  if (auto fixed = symbols_.find(symbol); fixed != symbols_.end())
    return fixed->second;
  return Size(op("Shape", {value}, {attribute("start", dim), attribute("end", dim + 1)}));
}

Value Builder::reshape(const Value &value, const std::vector<Size> &sizes) {
  return op("Reshape", {value, shape(sizes)}, {attribute("allowzero", 1)});
}

Value Builder::expand(const Value &value, const std::vector<Size> &sizes) {
  return op("Expand", {value, shape(sizes)});
}

Value Builder::transpose(const Value &value, Dims permutation) {
  return op("Transpose", {value}, {attribute("perm", std::move(permutation))});
}

Value Builder::cast(const Value &value, ElementType type) {
  return op("Cast", {value}, {attribute("to", int64_t(numberOf(type)))});
}

Value Builder::slice(const Value &value, int64_t dim, int64_t start, Size end) {
  return op("Slice", {value, integers({start}), shape({end}), integers({dim})});
}

Value Builder::unsqueeze(const Value &value, int64_t dim) {
  return op("Unsqueeze", {value, integers({dim})});
}

std::vector<Value> Builder::split(const Value &value, int parts) {
  onnx::Node &made =
      node("Split", {value}, {attribute("axis", -1), attribute("num_outputs", parts)});
  std::string base = made.outputs[0];
  made.outputs.clear();
  for (int i = 0; i < parts; ++i)
    made.outputs.push_back(concat(base, "_part_", i));
  return made.outputs;
}

Value Builder::range(Size end) {
  if (end.value.empty())
    return op("Range", {integer(0), integer(end.number), integer(1)});
  return op("Range", {integer(0), op("Squeeze", {end.value}), integer(1)});
}

onnx::Model Builder::finish() { return std::move(model_); }

} // namespace cleave::zoo
