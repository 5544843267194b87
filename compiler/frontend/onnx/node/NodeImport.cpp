// See NodeImport.h.
#include "compiler/frontend/onnx/node/NodeImport.h"

#include <charconv>
#include <cmath>

namespace cleave::onnx {

// -- operands -------------------------------------------------------------------------------------
Value NodeImport::input(size_t i) const {
  if (!hasInput(i))
    fail("has ", inputs_.size(), " inputs, but needs input ", i);
  readInputs_.insert(i);
  if (!inputs_[i].isTensor())
    fail("input ", i, " is a sequence, expected a tensor");
  return inputs_[i].values[0];
}

const Values &NodeImport::sequence(size_t i) const {
  if (i >= inputs_.size() || !inputs_[i].isSequence)
    fail("input ", i, " is not a sequence");
  readInputs_.insert(i);
  return inputs_[i].values;
}

Binding NodeImport::binding(size_t i) const {
  readInputs_.insert(i);
  return i < inputs_.size() ? inputs_[i] : Binding();
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
  for (size_t i = 0; i < std::min(found, atLeast); ++i)
    if (!hasInput(i))
      fail("leaves out input ", i, ", which it needs");
  if (found >= atLeast && found <= atMost)
    return;
  fail("has ", found, found == 1 ? " input" : " inputs", ", expected ",
       atLeast == atMost ? cleave::concat(atLeast) : cleave::concat(atLeast, " to ", atMost));
}

// -- attributes -----------------------------------------------------------------------------------
const Attribute *NodeImport::find(const std::string &name, AttributeType type,
                                  const char *expected) {
  read_.insert(name);
  for (const Attribute &attribute : node.attributes) {
    if (attribute.name != name)
      continue;
    // Writers before the `type` field existed leave it 0.
    if (attribute.type != type && attribute.type != AttributeType::Undefined)
      fail("attribute '", name, "' is of the wrong kind, expected ", expected);
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
    fail("attribute '", name, "' is missing");
  return integer(name, 0);
}

// The shortest decimal that identifies the float: 1e-05, not 9.999999747378752e-06.
static double shortestDecimal(float value) {
  char digits[32];
  auto [end, error] = std::to_chars(digits, digits + sizeof(digits), value);
  double out = value;
  if (error == std::errc() && std::isfinite(value))
    std::from_chars(digits, end, out);
  return out;
}

double NodeImport::decimal(const std::string &name, double absent) {
  const Attribute *found = find(name, AttributeType::Float, "a number");
  return found ? shortestDecimal(found->number) : absent;
}

std::string NodeImport::string(const std::string &name, const std::string &absent) {
  const Attribute *found = find(name, AttributeType::String, "a string");
  return found ? found->string : absent;
}

std::optional<Ints> NodeImport::integers(const std::string &name) {
  const Attribute *found = find(name, AttributeType::Ints, "a list of integers");
  return found ? std::optional(found->integers) : std::nullopt;
}

std::optional<std::vector<std::string>> NodeImport::strings(const std::string &name) {
  const Attribute *found = find(name, AttributeType::Strings, "a list of strings");
  return found ? std::optional(found->strings) : std::nullopt;
}

std::optional<std::vector<double>> NodeImport::decimals(const std::string &name) {
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
    fail("attribute '", name, "' has no tensor");
  return found ? found->tensor.get() : nullptr;
}

const Graph &NodeImport::graph(const std::string &name) {
  const Attribute *found = find(name, AttributeType::Graph, "a graph");
  if (!found || !found->graph)
    fail("attribute '", name, "' is missing");
  return *found->graph;
}

void NodeImport::ignore(std::initializer_list<const char *> names) {
  for (const char *name : names)
    read_.insert(name);
}

void NodeImport::checkAllRead() const {
  for (const Attribute &attribute : node.attributes)
    if (!read_.contains(attribute.name))
      fail("attribute '", attribute.name, "' is not known at opset ", opset());
  for (size_t i = 0; i < inputs_.size(); ++i)
    if (hasInput(i) && !readInputs_.contains(i))
      fail("input ", i,
           " would change the outputs in a way that Cleave does not import; export the model "
           "without it");
}

int64_t NodeImport::axisAttribute(int64_t absent) { return axisAttribute(absent, rank()); }

int64_t NodeImport::axisAttribute(int64_t absent, int64_t rank) {
  return axis(integer("axis", absent), rank);
}

// -- known inputs ---------------------------------------------------------------------------------
static std::string describe(size_t i, const std::string &what) {
  return cleave::concat(what, " (input ", i, ")");
}

Tensor NodeImport::tensorInput(size_t i, const std::string &what) const {
  return tensorOf(input(i), describe(i, what));
}

Sizes NodeImport::sizesInput(size_t i, const std::string &what) const {
  return sizesOf(input(i), describe(i, what));
}

Ints NodeImport::integersInput(size_t i, const std::string &what) const {
  return integersOf(input(i), describe(i, what));
}

int64_t NodeImport::integerInput(size_t i, const std::string &what) const {
  return integerOf(input(i), describe(i, what));
}

double NodeImport::decimalInput(size_t i, const std::string &what) const {
  return numberOf(input(i), describe(i, what));
}

} // namespace cleave::onnx
