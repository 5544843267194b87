// NodeImport: one node while it is imported: an Emitter (compiler/frontend/emit) with the node's
// operands and attributes. A handler is a function from a NodeImport to the values of the node's
// outputs: it reads operands and attributes and calls the functions of emit. A Failure in it is
// reported with the node's name.
#pragma once

#include "compiler/frontend/onnx/file/Failure.h"
#include "compiler/frontend/onnx/node/ImportServices.h"

#include <set>

namespace cleave::onnx {

using emit::Ints;
using emit::Sizes;

class NodeImport : public emit::Emitter {
public:
  // `inputs` are the bindings of the node's inputs, in order; an empty one is left out.
  NodeImport(const Node &node, Bindings inputs, mlir::OpBuilder &b, mlir::Location loc,
             ImportServices &services)
      : Emitter(b, loc, services.evaluator()), node(node), services(services),
        inputs_(std::move(inputs)) {}

  const Node &node;         // as the file has it
  ImportServices &services; // of the whole import

  // The version of the standard operators for which the node is written.
  int64_t opset() const { return node.opset ? node.opset : services.opset(); }

  // -- operands
  // Each access to a value marks the input as read.
  size_t inputCount() const { return inputs_.size(); }
  // Whether the input is present and not nothing.
  bool hasInput(size_t i) const { return i < inputs_.size() && !inputs_[i].isNothing(); }
  // Marks an input as read whose value does not change the outputs.
  void ignoreInput(size_t i) const { readInputs_.insert(i); }
  // The tensor at input i; fails where it is missing or not a tensor.
  Value input(size_t i) const;
  // The same; null where it is left out.
  Value optionalInput(size_t i) const { return hasInput(i) ? input(i) : Value(); }
  // The elements of the sequence at input i; fails if it is not a sequence.
  const Values &sequence(size_t i) const;
  // The input of any kind; nothing where it is left out.
  Binding binding(size_t i) const;
  // The tensors at all inputs; fails if there are none.
  Values allInputs() const;
  // Fails unless the node has `atLeast` to `atMost` inputs, the first `atLeast` of them present.
  void checkInputs(size_t atLeast, size_t atMost) const;
  // Whether the model reads output i.
  bool hasOutput(size_t i) const { return i < node.outputs.size() && !node.outputs[i].empty(); }
  // The number of dims of input i.
  int64_t rank(size_t i = 0) const { return emit::rankOf(input(i)); }

  // -- attributes
  // Each access marks the attribute as read, and fails if it has another type. `absent` is the
  // value of an attribute that is missing.
  bool hasAttribute(const std::string &name);
  int64_t integer(const std::string &name, int64_t absent);
  int64_t requiredInteger(const std::string &name);
  double decimal(const std::string &name, double absent);
  std::string string(const std::string &name, const std::string &absent);
  std::optional<Ints> integers(const std::string &name);
  using Emitter::integers;
  std::optional<std::vector<std::string>> strings(const std::string &name);
  std::optional<std::vector<double>> decimals(const std::string &name);
  // Null where it is missing.
  const StoredTensor *tensor(const std::string &name);
  // Fails where it is missing.
  const Graph &graph(const std::string &name);
  // Marks attributes as read that do not change the outputs.
  void ignore(std::initializer_list<const char *> names);
  // Fails if there is an attribute or input that the handler has not read.
  void checkAllRead() const;
  // The attribute `axis`, counted from 0, of a value with the rank of input 0 or the given rank.
  int64_t axisAttribute(int64_t absent);
  int64_t axisAttribute(int64_t absent, int64_t rank);

  // -- known inputs
  // The values of inputs; fail where they depend on data. `what` names the input in the message.
  Tensor tensorInput(size_t i, const std::string &what) const;
  Sizes sizesInput(size_t i, const std::string &what) const;
  Ints integersInput(size_t i, const std::string &what) const;
  int64_t integerInput(size_t i, const std::string &what) const;
  double decimalInput(size_t i, const std::string &what) const;

  // -- strings (Strings.h)
  bool isString(size_t i) const { return i < inputs_.size() && inputs_[i].isString; }
  // The strings at input i; fails where they depend on data or the input holds numbers.
  StringTensor stringsInput(size_t i) const;
  // A constant of the strings' numbers.
  Binding stringBinding(const StringTensor &strings) const;

private:
  const Attribute *find(const std::string &name, AttributeType type, const char *expected);

  Bindings inputs_;
  std::set<std::string> read_; // attributes
  mutable std::set<size_t> readInputs_;
};

// The strings of these numbers; fails where the numbers depend on data.
StringTensor knownStrings(Evaluator &evaluator, const StringPool &pool, Value numbers);

} // namespace cleave::onnx
