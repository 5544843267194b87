// Builder: writes an ONNX graph node by node, in the patterns of PyTorch's exporter: constants are
// nodes, sizes that depend on the input are computed from its Shape, the module of a node is
// metadata. Parameters have an initialisation (onnx::Initialisation) instead of elements.
#pragma once

#include "compiler/frontend/onnx/file/Initialisation.h"
#include "runtime/base/Concat.h"

#include <set>
#include <string>
#include <vector>

namespace cleave::zoo {

using onnx::Initialisation;
// A shape, or other list of integers.
using Dims = std::vector<int64_t>;
// A tensor of the graph, identified by its name.
using Value = std::string;

// One dim of a target shape: a number, or, if `value` is not empty, a tensor of one integer.
struct Size {
  Size(int64_t number) : number(number) {}
  Size(int number) : number(number) {}
  explicit Size(Value value) : value(std::move(value)) {}
  int64_t number = 0;
  Value value;
};

// An attribute of a node, by type of its value.
onnx::Attribute attribute(std::string name, int64_t value);
onnx::Attribute attribute(std::string name, double value);
onnx::Attribute attribute(std::string name, const char *value);
onnx::Attribute attribute(std::string name, Dims values);
inline onnx::Attribute attribute(std::string name, int value) {
  return attribute(std::move(name), int64_t(value));
}

// Initialisations: normally distributed with mean 0, uniform in [-bound, bound], constant.
Initialisation normal(double deviation);
Initialisation uniform(double bound);
Initialisation fill(double value);

// Builds one model.
class Builder {
public:
  // `symbols`: values of symbols in input dims that are fixed; others stay symbolic.
  Builder(std::string architecture, std::map<std::string, int64_t> symbols);

  // Nodes and parameters that are created during its lifetime belong to the submodule `name`
  // (`h.0`); an empty name has no effect.
  class Module {
  public:
    // Enters the submodule `name` of the current one; the destructor leaves it.
    Module(Builder &b, const std::string &name);
    ~Module() { b_.path_ = std::move(outer_); }
    Module(const Module &) = delete;

  private:
    Builder &b_;
    std::string outer_;
  };

  // Adds a node; returns its first output. Nodes with several outputs: see split().
  Value op(const std::string &op, std::vector<Value> inputs,
           std::vector<onnx::Attribute> attributes = {});

  // The parameter `MODULE.name` of the current module, created on first use.
  Value parameter(const std::string &name, const Dims &dims, Initialisation initialisation);
  // Constants: tensors of floats and integers, which are not trained.
  Value floats(const std::vector<float> &values, const Dims &dims);
  Value number(double value);                  // a float scalar
  Value integer(int64_t value);                // an integer scalar
  Value integers(const Dims &values);          // one-dimensional
  Value shape(const std::vector<Size> &sizes); // one shape tensor

  // A graph input or output; `dims` are numbers or symbols.
  Value input(const std::string &name, ElementType type, const std::vector<std::string> &dims);
  void output(const std::string &name, Value value, const std::vector<std::string> &dims);

  // The size of a dim of `value`; a number if `symbol` is fixed.
  Size sizeOf(const Value &value, int64_t dim, const std::string &symbol);

  // ONNX operators.
  Value reshape(const Value &value, const std::vector<Size> &sizes);
  Value expand(const Value &value, const std::vector<Size> &sizes);
  Value transpose(const Value &value, Dims permutation);
  Value add(const Value &a, const Value &b) { return op("Add", {a, b}); }
  Value mul(const Value &a, const Value &b) { return op("Mul", {a, b}); }
  Value matmul(const Value &a, const Value &b) { return op("MatMul", {a, b}); }
  Value cast(const Value &value, ElementType type);
  // The elements [start, end) of one dim.
  Value slice(const Value &value, int64_t dim, int64_t start, Size end);
  Value unsqueeze(const Value &value, int64_t dim);
  // Equal parts along the last dim.
  std::vector<Value> split(const Value &value, int parts);
  // 0, 1, …, end - 1 as int64.
  Value range(Size end);

  // The finished model; to be called once.
  onnx::Model finish();

private:
  onnx::Node &node(const std::string &op, std::vector<Value> inputs,
                   std::vector<onnx::Attribute> attributes);
  Value constant(onnx::StoredTensor tensor);
  onnx::Dim dim(const std::string &text) const;

  onnx::Model model_;
  std::map<std::string, int64_t> symbols_;
  std::set<std::string> parameters_;  // names that exist
  std::map<std::string, int> counts_; // of nodes by operator
  std::string path_;
};

} // namespace cleave::zoo
