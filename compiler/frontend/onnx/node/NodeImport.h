// NodeImport: one node while it is imported: an Emitter (compiler/frontend/emit) that also knows
// what the format says about the node. A handler is a function from its node to the values of its
// outputs: it reads operands and attributes and calls what emit knows; a Failure in it is reported
// with the node's name.
#pragma once

#include "compiler/frontend/emit/Emitter.h"
#include "compiler/frontend/onnx/file/Failure.h"
#include "compiler/frontend/step/Import.h"
#include "compiler/frontend/onnx/file/Model.h"
#include "compiler/frontend/onnx/node/Texts.h"

#include <functional>
#include <set>

namespace cleave::onnx {

using emit::Evaluator;
using emit::Ints;
using emit::Shape;
using emit::Value;
using emit::Values;
using frontend::ImportOptions;

// What a name of the model stands for: one tensor, a sequence of tensors, or nothing (an input that
// is left out, an optional without an element).
struct Binding {
  Values values;
  bool isSequence = false;
  int32_t narrow =
      0; // the tensor's numbers are those of this narrow type (NarrowTypes.h); 0: of no such one

  bool isText = false; // the numbers are those of texts (Texts.h)
  bool failed = false; // it was refused, which has been noted: what needs it is left out silently

  bool isNothing() const { return values.empty() && !isSequence; }
  bool isTensor() const { return values.size() == 1 && !isSequence; }
};
using Bindings = std::vector<Binding>;

// Thrown where something cannot go on because of what has been reported as unsupported already.
struct AlreadyRefused {
  bool isInside = false; // it was reported in the subgraph that cannot go on
};

// What the import as a whole does for handlers.
struct ImportServices {
  Evaluator &evaluator;
  const ImportOptions &options;
  int64_t opset;
  TextPool &texts;
  // Imports a subgraph with these inputs at the builder's place; returns its outputs.
  std::function<Bindings(const Graph &, const Bindings &inputs)> importGraph;
  // What `result` of the graph that is imported becomes where these names stand for other values: the nodes between
  // them are imported once more.
  std::function<Binding(const std::map<std::string, Binding> &given, const std::string &result)>
      importSlice;
  // The tensor as a value: a small one as a constant, a large one as an argument of the step.
  std::function<Value(mlir::OpBuilder &, mlir::Location, const StoredTensor &)> tensorValue;
  // The state that a value of the step stands for gets a new value at the end of it.
  std::function<void(Value state, Value next)> replaceState;
  // A scalar int64 that tells draws of random numbers apart, another one in every step; the next one is free, too.
  std::function<Value()> randomKey;
  // Imports a subgraph that is computed whether it counts or not: it must not replace states.
  std::function<Bindings(const Graph &, const Bindings &inputs)> importSpeculatively;
  // Whether the value is a running statistic that may be replaced.
  std::function<bool(Value)> isState;
};

class NodeImport : public emit::Emitter {
public:
  NodeImport(const Node &node, Bindings inputs, mlir::OpBuilder &b, mlir::Location loc,
             const ImportServices &services)
      : Emitter(b, loc, services.evaluator), node(node), services(services),
        inputs_(std::move(inputs)) {}

  const Node &node;
  const ImportServices &services;

  // The version of the standard operators that the node is written for.
  int64_t opset() const { return node.opset ? node.opset : services.opset; }

  // -- operands: input(i) fails where it is missing, or not a tensor
  size_t inputCount() const { return inputs_.size(); }
  bool hasInput(size_t i) const { return i < inputs_.size() && !inputs_[i].isNothing(); }
  // Says of an input that it changes nothing about the outputs.
  void ignoreInput(size_t i) const { readInputs_.insert(i); }
  Value input(size_t i) const;
  // Null where it is left out.
  Value optionalInput(size_t i) const { return hasInput(i) ? input(i) : Value(); }
  const Values &sequence(size_t i) const;
  // Whatever it is; nothing where it is left out.
  Binding binding(size_t i) const;
  // All inputs, at least one.
  Values allInputs() const;
  void checkInputs(size_t atLeast, size_t atMost) const;
  // Whether the model reads output i.
  bool hasOutput(size_t i) const { return i < node.outputs.size() && !node.outputs[i].empty(); }
  int64_t rank(size_t i = 0) const { return emit::rankOf(input(i)); }

  // -- attributes: a wrong type fails; reading one marks it as known
  bool hasAttribute(const std::string &name);
  int64_t integer(const std::string &name, int64_t absent);
  int64_t requiredInteger(const std::string &name);
  double decimal(const std::string &name, double absent);
  std::string text(const std::string &name, const std::string &absent);
  std::optional<Ints> integers(const std::string &name);
  using Emitter::integers;
  std::optional<std::vector<std::string>> texts(const std::string &name);
  std::optional<std::vector<double>> decimals(const std::string &name);
  const StoredTensor *tensor(const std::string &name);
  const Graph &graph(const std::string &name);
  void ignore(std::initializer_list<const char *> names);
  // Fails on attributes and inputs that the handler has not read.
  void checkAllRead() const;
  // The attribute `axis` counted from 0, for the first input or so many dims.
  int64_t axisAttribute(int64_t absent);
  int64_t axisAttribute(int64_t absent, int64_t rank);

  // -- known inputs: fail where the operand depends on data
  Tensor tensorInput(size_t i, const std::string &what) const;
  Shape sizesInput(size_t i, const std::string &what) const;
  Ints integersInput(size_t i, const std::string &what) const;
  int64_t integerInput(size_t i, const std::string &what) const;
  double decimalInput(size_t i, const std::string &what) const;

  // -- texts (Texts.h)
  bool isText(size_t i) const { return i < inputs_.size() && inputs_[i].isText; }
  // Texts that do not depend on data; fails for others, with a way out.
  Texts textsInput(size_t i) const;
  Binding textBinding(const Texts &texts) const;

private:
  const Attribute *find(const std::string &name, AttributeType type, const char *expected);

  Bindings inputs_;
  std::set<std::string> read_;
  mutable std::set<size_t> readInputs_;
};

// The texts that these numbers stand for; fails where the numbers depend on data.
Texts knownTexts(Evaluator &evaluator, const TextPool &pool, Value numbers);

} // namespace cleave::onnx
