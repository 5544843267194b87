// See NodeImport.h.
#include "compiler/frontend/onnx/NodeImport.h"

#include "dialects/graph/Step.h"

#include <charconv>
#include <cmath>

namespace cleave::onnx {

using graph::toElementType;

// -- operands
// ------------------------------------------------------------------------------------------------
Value NodeImport::input(size_t i) const {
  if (!hasInput(i))
    fail("has " + std::to_string(inputs_.size()) + " inputs, but needs input " + std::to_string(i));
  if (inputs_[i].isSequence)
    fail("input " + std::to_string(i) + " is a sequence, expected a tensor");
  return inputs_[i].values[0];
}

const Values &NodeImport::sequence(size_t i) const {
  if (i >= inputs_.size() || !inputs_[i].isSequence)
    fail("input " + std::to_string(i) + " is no sequence");
  return inputs_[i].values;
}

Values NodeImport::allInputs() const {
  Values values;
  for (size_t i = 0; i < inputs_.size(); ++i)
    values.push_back(input(i));
  if (values.empty())
    fail("has no inputs, expected at least 1");
  return values;
}

void NodeImport::checkInputs(size_t atLeast, size_t atMost) const {
  size_t found = inputs_.size();
  bool missing = false;
  for (size_t i = 0; i < std::min(found, atLeast); ++i)
    missing |= !hasInput(i);
  if (found >= atLeast && found <= atMost && !missing)
    return;
  std::string expected = atLeast == atMost
                             ? std::to_string(atLeast)
                             : std::to_string(atLeast) + " to " + std::to_string(atMost);
  fail("has " + std::to_string(found) + (found == 1 ? " input" : " inputs") + ", expected " +
       expected);
}

// -- attributes
// ----------------------------------------------------------------------------------------------
const Attribute *NodeImport::find(const std::string &name, AttributeType type,
                                  const char *expected) {
  read_.insert(name);
  for (const Attribute &attribute : node.attributes) {
    if (attribute.name != name)
      continue;
    // Writers before the `type` field existed leave it 0.
    if (attribute.type != type && attribute.type != AttributeType::Undefined)
      fail("attribute '" + name + "' is of the wrong kind, expected " + expected);
    return &attribute;
  }
  return nullptr;
}

bool NodeImport::hasAttribute(const std::string &name) {
  return llvm::any_of(node.attributes, [&](const Attribute &a) { return a.name == name; });
}

int64_t NodeImport::integer(const std::string &name, int64_t absent) {
  const Attribute *found = find(name, AttributeType::Int, "an integer");
  return found ? found->integer : absent;
}

int64_t NodeImport::requiredInteger(const std::string &name) {
  if (!hasAttribute(name))
    fail("attribute '" + name + "' is missing");
  return integer(name, 0);
}

// The decimal that the user meant: 1e-05, not 9.999999747378752e-06.
static double shortestDecimal(float value) {
  char text[32];
  auto [end, error] = std::to_chars(text, text + sizeof(text), value);
  double out = value;
  if (error == std::errc() && std::isfinite(value))
    std::from_chars(text, end, out);
  return out;
}

double NodeImport::number(const std::string &name, double absent) {
  const Attribute *found = find(name, AttributeType::Float, "a number");
  return found ? shortestDecimal(found->number) : absent;
}

std::string NodeImport::text(const std::string &name, const std::string &absent) {
  const Attribute *found = find(name, AttributeType::String, "a string");
  return found ? found->text : absent;
}

std::optional<Dims> NodeImport::integers(const std::string &name) {
  const Attribute *found = find(name, AttributeType::Ints, "a list of integers");
  return found ? std::optional(found->integers) : std::nullopt;
}

std::optional<std::vector<double>> NodeImport::numbers(const std::string &name) {
  const Attribute *found = find(name, AttributeType::Floats, "a list of numbers");
  if (!found)
    return std::nullopt;
  std::vector<double> out;
  for (float value : found->numbers)
    out.push_back(shortestDecimal(value));
  return out;
}

const StoredTensor *NodeImport::tensor(const std::string &name) {
  const Attribute *found = find(name, AttributeType::Tensor, "a tensor");
  if (found && !found->tensor)
    fail("attribute '" + name + "' has no tensor");
  return found ? found->tensor.get() : nullptr;
}

const Graph &NodeImport::graph(const std::string &name) {
  const Attribute *found = find(name, AttributeType::Graph, "a graph");
  if (!found || !found->graph)
    fail("attribute '" + name + "' is missing");
  return *found->graph;
}

void NodeImport::ignore(std::initializer_list<const char *> names) {
  for (const char *name : names)
    read_.insert(name);
}

void NodeImport::checkAttributes() const {
  for (const Attribute &attribute : node.attributes)
    if (!read_.contains(attribute.name))
      fail("attribute '" + attribute.name + "' is not known at opset " +
           std::to_string(services.opset));
}

// -- known values
// --------------------------------------------------------------------------------------------
// The names of the step's inputs that the value depends on; empty if it depends on weights, too.
static std::set<std::string> inputsBehind(Value value) {
  std::set<std::string> names;
  llvm::SmallVector<Value> open{value};
  llvm::DenseSet<Value> seen{value};
  while (!open.empty()) {
    Value next = open.pop_back_val();
    if (auto argument = mlir::dyn_cast<mlir::BlockArgument>(next)) {
      auto step = mlir::cast<mlir::func::FuncOp>(argument.getOwner()->getParentOp());
      if (graph::argRole(step, argument.getArgNumber()) != "input")
        return {};
      names.insert(graph::argName(step, argument.getArgNumber()).str());
      continue;
    }
    for (Value operand : next.getDefiningOp()->getOperands())
      if (seen.insert(operand).second)
        open.push_back(operand);
  }
  return names;
}

[[noreturn]] static void failUnknown(Value value, const std::string &what) {
  std::set<std::string> inputs = inputsBehind(value);
  if (inputs.empty())
    fail(what + " depends on data, expected it to be known");
  std::string list;
  for (const std::string &name : inputs)
    list += (list.empty() ? "'" : ", '") + name + "'";
  fail(what + " depends on the input" + (inputs.size() > 1 ? "s " : " ") + list +
       ", expected it to be known; give --value " + *inputs.begin() + "=1,2,3, say");
}

Tensor NodeImport::constantTensor(size_t i, const std::string &what) const {
  std::optional<Tensor> tensor = services.evaluator.evaluate(input(i));
  if (!tensor)
    failUnknown(input(i), "the " + what + " (input " + std::to_string(i) + ")");
  return *tensor;
}

Dims NodeImport::constantIntegers(size_t i, const std::string &what) const {
  Tensor tensor = constantTensor(i, what);
  if (tensor.rank() > 1 || isFloat(tensor.type))
    fail("the " + what + " (input " + std::to_string(i) + ") is " + typeNameOf(input(i)) +
         showDims(tensor.shape) + ", expected a list of integers");
  return Dims(tensor.values.begin(), tensor.values.end());
}

int64_t NodeImport::constantInteger(size_t i, const std::string &what) const {
  Dims values = constantIntegers(i, what);
  if (values.size() != 1)
    fail("the " + what + " (input " + std::to_string(i) + ") has " + std::to_string(values.size()) +
         " elements, expected 1");
  return values[0];
}

double NodeImport::constantNumber(size_t i, const std::string &what) const {
  Tensor tensor = constantTensor(i, what);
  if (tensor.size() != 1)
    fail("the " + what + " (input " + std::to_string(i) + ") has " + std::to_string(tensor.size()) +
         " elements, expected 1");
  return tensor.values[0];
}

// -- checks
// --------------------------------------------------------------------------------------------------
int64_t NodeImport::axis(int64_t axis, int64_t rank, const std::string &what) const {
  if (axis < -rank || axis >= rank)
    fail(what + " " + std::to_string(axis) + " is out of range for " + std::to_string(rank) +
         " dims");
  return axis < 0 ? axis + rank : axis;
}

Dims NodeImport::axes(const Dims &axes, int64_t rank) const {
  std::set<int64_t> seen;
  for (int64_t one : axes)
    if (!seen.insert(axis(one, rank, "axes:")).second)
      fail("axes: " + std::to_string(one) + " is named twice");
  return Dims(seen.begin(), seen.end());
}

void NodeImport::checkFloat(Value value) const {
  if (!mlir::isa<mlir::FloatType>(elementOf(value)))
    fail("has an operand of " + typeNameOf(value) + ", expected floating-point numbers");
}

void NodeImport::checkSameType(Value a, Value b) const {
  if (elementOf(a) != elementOf(b))
    fail("has operands of " + typeNameOf(a) + " and " + typeNameOf(b) + ", expected the same type");
}

mlir::RankedTensorType NodeImport::type(const Dims &dims, mlir::Type element) const {
  int64_t count = 1;
  for (int64_t dim : dims) {
    if (dim < 0)
      fail("the result would have a dim of size " + std::to_string(dim));
    if (__builtin_mul_overflow(count, dim, &count) || count > (int64_t(1) << 56))
      fail("the result " + showDims(dims) + " has more elements than fit into memory");
  }
  if (dims.size() > kMaxRank)
    fail("the result has " + std::to_string(dims.size()) + " dims, expected at most " +
         std::to_string(kMaxRank));
  return mlir::RankedTensorType::get(dims, element);
}

// -- building
// ------------------------------------------------------------------------------------------------
Value NodeImport::constant(const Dims &dims, ElementType element,
                           std::vector<double> values) const {
  Tensor tensor(element, dims);
  for (size_t i = 0; i < values.size(); ++i)
    tensor.set(static_cast<int64_t>(i), values[i]);
  return graph::ConstantOp::create(b, loc, graph::toAttribute(tensor, b.getContext()));
}

Value NodeImport::constantIntegers(const Dims &values) const {
  auto type = mlir::RankedTensorType::get({static_cast<int64_t>(values.size())}, b.getI64Type());
  return graph::ConstantOp::create(b, loc,
                                   mlir::DenseElementsAttr::get(type, llvm::ArrayRef(values)));
}

Value NodeImport::reshape(Value value, const Dims &dims) const {
  Dims found = dimsOf(value);
  if (found == dims)
    return value;
  auto result = type(dims, elementOf(value));
  if (product(found) != product(dims))
    fail("cannot give " + showDims(found) + " with " + std::to_string(product(found)) +
         " elements the shape " + showDims(dims) + " with " + std::to_string(product(dims)));
  return graph::ReshapeOp::create(b, loc, result, value);
}

Value NodeImport::broadcast(Value value, const Dims &dims) const {
  Dims found = dimsOf(value);
  if (found == dims)
    return value;
  type(dims, elementOf(value));
  if (broadcastDims(found, dims) != dims)
    fail("cannot broadcast " + showDims(found) + " to " + showDims(dims));
  return graph::buildBroadcast(b, loc, value, graph::Shape(dims.begin(), dims.end()));
}

Value NodeImport::transpose(Value value, llvm::ArrayRef<int64_t> permutation) const {
  for (size_t i = 0; i < permutation.size(); ++i)
    if (permutation[i] != static_cast<int64_t>(i))
      return graph::buildTranspose(b, value, permutation);
  return value;
}

void NodeImport::broadcastTogether(Value &x, Value &y) const {
  Dims dims = broadcastDims(dimsOf(x), dimsOf(y));
  x = broadcast(x, dims);
  y = broadcast(y, dims);
}

Value NodeImport::slice(Value value, int64_t dim, int64_t start, int64_t size,
                        int64_t stride) const {
  Dims dims = dimsOf(value);
  if (start == 0 && stride == 1 && size == dims[dim])
    return value;
  dims[dim] = size;
  return graph::SliceOp::create(b, loc, type(dims, elementOf(value)), value, dim, start, stride);
}

// -- what handlers share
// -------------------------------------------------------------------------------------
std::string typeNameOf(Value value) { return typeName(toElementType(elementOf(value))); }

std::string showDims(const Dims &dims) {
  std::string text = "[";
  for (size_t i = 0; i < dims.size(); ++i)
    text += (i ? ", " : "") + std::to_string(dims[i]);
  return text + "]";
}

int64_t product(llvm::ArrayRef<int64_t> dims) {
  int64_t out = 1;
  for (int64_t dim : dims)
    out *= dim;
  return out;
}

Dims broadcastDims(const Dims &a, const Dims &b) {
  Dims out(std::max(a.size(), b.size()), 1);
  for (size_t i = 0; i < out.size(); ++i) { // from the last dim on
    int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1)
      fail("cannot broadcast the shapes " + showDims(a) + " and " + showDims(b) + " together");
    out[out.size() - 1 - i] = x == 1 ? y : x;
  }
  return out;
}

} // namespace cleave::onnx
