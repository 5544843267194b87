// An ONNX model as plain data: the parts of the file that Cleave reads, with weights as byte
// ranges. Names and meanings are those of the public ONNX format. Filled by ModelReader.cpp. No
// MLIR.
#pragma once

#include "compiler/frontend/onnx/file/Wire.h"
#include "dialects/interfaces/Tensor.h"
#include "runtime/base/Status.h"

#include <map>
#include <memory>
#include <optional>

namespace cleave::onnx {

// A tensor with more dims is damaged.
inline constexpr size_t kMaxRank = 32;

// Notes of an exporter by key (metadata_props).
using Metadata = std::map<std::string, std::string>;

// The format's data type of strings, which exist while importing only (node/Strings.h).
inline constexpr int32_t kStringType = 8;

// The element type of a data type of the format; for a narrow type (NarrowTypes.h), the type that
// holds it. None for types with which Cleave does not compute.
std::optional<ElementType> elementTypeOf(int32_t dataType);
// The inverse of elementTypeOf, without narrow types.
int32_t dataTypeOf(ElementType type);
// The name for messages: `float32`, `int64`, `string`, …; also for types that Cleave does not know.
std::string dataTypeName(int32_t dataType);
std::string typeName(ElementType type);

// A tensor of the file: an initializer or an attribute.
struct StoredTensor {
  std::string name;
  int32_t dataType = 0;
  std::vector<int64_t> dims; // checked: none negative, the product fits
  // The elements, row-major and little-endian: at `range` of the model file or of the file
  // `location` (relative to the model's folder) if `inFile`, else in `decoded`.
  bool inFile = false;
  std::string location;
  ByteRange range;
  std::string decoded;
  std::vector<std::string> strings; // the elements of a string tensor; it has no bytes

  // The product of the dims.
  int64_t elementCount() const;
  // The element type; fails if Cleave does not compute with it.
  ElementType element() const;
  // The size in bytes according to dims and element type.
  int64_t byteCount() const { return elementCount() * byteSize(element()); }
};

struct Graph;

// The types of attributes, by the format's numbers.
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

// An attribute of a node. The field of its type holds the value.
struct Attribute {
  std::string name;
  std::string reference; // inside a function: the call's attribute that gives the value
  AttributeType type = AttributeType::Undefined; // also of attributes from before the field existed
  // One value per type, in the order Float, Int, String, Floats, Strings, Ints, Tensor, Graph.
  float number = 0;
  int64_t integer = 0;
  std::string string;
  std::vector<float> numbers;
  std::vector<std::string> strings;
  std::vector<int64_t> integers;
  std::shared_ptr<const StoredTensor> tensor;
  std::shared_ptr<const Graph> graph;
};

// One call of an operator.
struct Node {
  std::string op;                    // name of the operator
  std::string domain;                // empty: the standard operators
  std::string overload;              // tells functions of the same name and domain apart
  int64_t opset = 0;                 // of the standard operators; 0: the model's
  std::string name;                  // may be empty
  std::vector<std::string> inputs;   // names of values; empty: left out
  std::vector<std::string> outputs;  // names of values; empty: not read by the model
  std::vector<Attribute> attributes; // in the file's order
  Metadata metadata;                 // the exporter's notes by key

  // The name; for a nameless node, its first output.
  const std::string &label() const { return name.empty() && !outputs.empty() ? outputs[0] : name; }
};

// One dim of an input or output: a number, a symbol, or neither.
struct Dim {
  std::optional<int64_t> size;
  std::string symbol;
};

// The declaration of a value: an input, an output, or another value of a graph.
struct ValueInfo {
  std::string name;
  int32_t dataType = 0; // of a sequence or optional, that of its elements; 0: no tensors
  // `dims` is the shape if `hasShape`; else the number of dims is unknown.
  bool hasShape = false;
  std::vector<Dim> dims;
  // A sequence or optional of such tensors.
  bool isSequence = false, isOptional = false;
  Metadata metadata; // the exporter's notes by key
};

// The main graph of a model, or a subgraph in an attribute.
struct Graph {
  std::string name;
  // In the file's order; sortedNodes (Topology.h) gives one in which the nodes can be computed.
  std::vector<Node> nodes;
  std::vector<StoredTensor> initializers;
  std::vector<ValueInfo> inputs;  // without those that are initializers
  std::vector<ValueInfo> outputs; // in the order of the model's results
  std::vector<ValueInfo> values;  // declarations of other values
  Metadata metadata;              // the exporter's notes by key
};

// An operator that the model defines itself.
struct Function {
  std::string domain, name, overload; // together they identify the function
  std::vector<std::string> inputs, outputs;
  std::vector<Attribute> defaults; // for attributes that a call leaves out
  std::vector<Node> nodes;
  int64_t opset = 0; // of the standard operators in it, 0: the model's
};

// The content of one file.
struct Model {
  std::string path;                      // of the file
  std::string producer;                  // name and version of the exporter
  std::map<std::string, int64_t> opsets; // domain -> version
  std::vector<Function> functions;       // operators that the model defines
  Graph graph;                           // the main graph

  // The version of the standard operators.
  int64_t opset() const { return opsets.at(""); }
};

// Reads a model message; `path` is for messages. Fails on damage and on bytes that are not a model.
Model readModel(std::string_view bytes, const std::string &path);

} // namespace cleave::onnx
