// Builder: an ONNX graph written node by node, in the patterns of PyTorch's exporter: constants as
// nodes, sizes that depend on the input computed from its Shape, the module that a node stands in
// as metadata. Parameters have no elements, only an initialisation (onnx::Initialisation).
#pragma once

#include "compiler/frontend/onnx/file/Initialisation.h"

#include <set>
#include <string>
#include <vector>

namespace cleave::zoo {

using onnx::Initialisation;
using Dims = std::vector<int64_t>;
// A tensor of the graph, by its name.
using Value = std::string;

// One dim of a target shape: a number, or where `value` is not empty a tensor of one integer.
struct Size {
  Size(int64_t number) : number(number) {}
  Size(int number) : number(number) {}
  explicit Size(Value value) : value(std::move(value)) {}
  int64_t number = 0;
  Value value;
};

onnx::Attribute attribute(std::string name, int64_t value);
onnx::Attribute attribute(std::string name, double value);
onnx::Attribute attribute(std::string name, const char *value);
onnx::Attribute attribute(std::string name, Dims values);
inline onnx::Attribute attribute(std::string name, int value) {
  return attribute(std::move(name), int64_t(value));
}

Initialisation normal(double deviation);
Initialisation uniform(double bound);
Initialisation fill(double value);

class Builder {
public:
  // `symbols`: sizes of input dims that are fixed instead of symbolic, by symbol.
  Builder(std::string architecture, std::map<std::string, int64_t> symbols);

  // Nodes and parameters that are made while it lives belong to the submodule `name` (`h.0`); an
  // empty name changes nothing.
  class Module {
  public:
    Module(Builder &b, const std::string &name);
    ~Module() { b_.path_ = std::move(outer_); }
    Module(const Module &) = delete;

  private:
    Builder &b_;
    std::string outer_;
  };

  // A node; returns its (first) output. Outputs beyond the first: see split().
  Value op(const std::string &op, std::vector<Value> inputs,
           std::vector<onnx::Attribute> attributes = {});

  // A parameter `module.name`; asking again for the same name gives the same one.
  Value parameter(const std::string &name, const Dims &dims, Initialisation initialisation);
  // A buffer of the model with known elements: not trained.
  Value floats(const std::vector<float> &values, const Dims &dims);
  Value number(double value);
  Value integer(int64_t value);                 // a scalar
  Value integers(const Dims &values);           // one-dimensional
  Value concat(const std::vector<Size> &sizes); // as one shape tensor

  // A graph input of the element type, whose dims are numbers or symbols.
  Value input(const std::string &name, ElementType type, const std::vector<std::string> &dims);
  void output(const std::string &name, Value value, const std::vector<std::string> &dims);

  // Dim `dim` of `value`; a number where `symbol` is fixed.
  Size sizeOf(const Value &value, int64_t dim, const std::string &symbol);

  Value reshape(const Value &value, const std::vector<Size> &sizes);
  Value expand(const Value &value, const std::vector<Size> &sizes);
  Value transpose(const Value &value, Dims permutation);
  Value add(const Value &a, const Value &b) { return op("Add", {a, b}); }
  Value mul(const Value &a, const Value &b) { return op("Mul", {a, b}); }
  Value matmul(const Value &a, const Value &b) { return op("MatMul", {a, b}); }
  Value cast(const Value &value, ElementType type);
  // [start, end) of one dim; `end` may be a tensor.
  Value slice(const Value &value, int64_t dim, int64_t start, Size end);
  Value unsqueeze(const Value &value, int64_t dim);
  // Equal parts along the last dim.
  std::vector<Value> split(const Value &value, int parts);
  // 0, 1, … as int64.
  Value range(Size end);

  // The model. Call once, at the end.
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
