// An ONNX model as plain data: what Cleave reads of the file, with weights as places in it.
// ModelReader.cpp fills it. Names and meanings are those of the public ONNX format. No MLIR.
#pragma once

#include "compiler/frontend/onnx/file/Wire.h"
#include "dialects/interfaces/Tensor.h"
#include "runtime/base/Status.h"

#include <map>
#include <memory>
#include <optional>

namespace cleave::onnx {

// More dims than this are damage, not a tensor.
inline constexpr size_t kMaxRank = 32;

using Metadata = std::map<std::string, std::string>;

// The format's number of strings, which are known while importing or not at all (Texts.h).
inline constexpr int32_t kStringType = 8;

// The element types of the format, by its numbers, that Cleave computes with; of narrow types
// (NarrowTypes.h), those that hold them.
std::optional<ElementType> elementTypeOf(int32_t dataType);
// The other way round.
int32_t dataTypeOf(ElementType type);
// `float32`, `int64`, `string`, … for messages; also for those that Cleave does not know.
std::string dataTypeName(int32_t dataType);
std::string typeName(ElementType type);

// A tensor of the file: an initializer or an attribute.
struct StoredTensor {
  std::string name;
  int32_t dataType = 0;
  std::vector<int64_t> dims; // checked: none negative, the product fits
  // Where the elements are, row-major and little-endian: at `range` of the model file or of the
  // file `location` (relative to the model's folder), or else decoded in `decoded`.
  bool inFile = false;
  std::string location;
  ByteRange range;
  std::string decoded;
  std::vector<std::string> texts; // of a tensor of strings, in place of both

  // The product of the dims.
  int64_t elementCount() const;
  // The element type; fails when Cleave does not compute with it.
  ElementType element() const;
  // Bytes that dims and element type ask for.
  int64_t byteCount() const { return elementCount() * byteSize(element()); }
};

struct Graph;

// The kinds of attributes, by the format's numbers.
enum class AttributeType {
  Undefined = 0,
  Float = 1,
  Int = 2,
  String = 3,
  Tensor = 4,
  Graph = 5,
  Floats = 6,
  Ints = 7,
  Strings = 8
};

struct Attribute {
  std::string name;
  std::string reference; // inside a function: the attribute of the call that stands here
  AttributeType type = AttributeType::Undefined;
  float number = 0;
  int64_t integer = 0;
  std::string text;
  std::vector<float> numbers;
  std::vector<std::string> texts;
  std::vector<int64_t> integers;
  std::shared_ptr<const StoredTensor> tensor;
  std::shared_ptr<const Graph> graph;
};

struct Node {
  std::string op;
  std::string domain;   // empty: the standard operators
  std::string overload; // of several functions of this name and domain
  int64_t opset = 0;    // of the standard operators, where it is not the model's (inside functions)
  std::string name;
  std::vector<std::string> inputs; // empty: left out
  std::vector<std::string> outputs;
  std::vector<Attribute> attributes;
  Metadata metadata;

  // The name, or for a nameless node its first output.
  const std::string &label() const { return name.empty() && !outputs.empty() ? outputs[0] : name; }
};

// One dim of an input: a number, a symbol, or neither.
struct Dim {
  std::optional<int64_t> size;
  std::string symbol;
};

struct ValueInfo {
  std::string name;
  int32_t dataType = 0; // of a sequence or optional, what its elements are; 0: no tensors
  bool hasShape = false;
  std::vector<Dim> dims;
  bool isSequence = false, isOptional = false;
  Metadata metadata;
};

struct Graph {
  std::string name;
  std::vector<Node> nodes;
  std::vector<StoredTensor> initializers;
  std::vector<ValueInfo> inputs; // without those that are initializers
  std::vector<ValueInfo> outputs;
  std::vector<ValueInfo> values; // what the file says about others
  Metadata metadata;
};

// An operator that the model defines itself.
struct Function {
  std::string domain, name, overload; // together they say which one it is
  std::vector<std::string> inputs, outputs;
  std::vector<Attribute> defaults; // of attributes that a call may leave out
  std::vector<Node> nodes;
  int64_t opset = 0; // of the standard operators in it, 0: the model's
};

struct Model {
  std::string path;                      // of the file
  std::string producer;                  // name and version of the exporter
  std::map<std::string, int64_t> opsets; // domain -> version
  std::vector<Function> functions;
  Graph graph;

  // The version of the standard operators.
  int64_t opset() const { return opsets.at(""); }
};

// Reads the message `bytes`; `path` is for the messages. Fails on damage and on a model that is not
// one.
Model readModel(std::string_view bytes, const std::string &path);

} // namespace cleave::onnx
