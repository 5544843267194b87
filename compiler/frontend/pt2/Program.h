// An exported program as plain data: the parts of a torch.export archive's model.json that Cleave
// uses, with the names of PyTorch's schema (torch/_export/serde/schema.py). ProgramReader.cpp fills
// it. No MLIR.
#pragma once

#include "dialects/interfaces/Polynomial.h"
#include "dialects/interfaces/Tensor.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cleave::pt2 {

// The supported major version of the schema.
inline constexpr int64_t kSchemaMajor = 8;

// A size.
struct Size {
  std::optional<Polynomial> value; // of the program's symbols; none: another kind of expression
  std::string text;                // in the file
};

struct Graph;

// An argument or result of a node.
struct Argument {
  enum class Kind { None, Name, Integer, Number, Bool, String, List, Graph, Other };
  Kind kind = Kind::None;
  std::string text;    // Name: of a value; String; Other: its kind in the file
  int64_t integer = 0; // Integer; element types by the numbers of torch.dtype
  double number = 0;
  bool boolean = false;
  std::vector<Argument> items;
  std::shared_ptr<const Graph> graph;
};

// An argument of a node; the name is empty if it is passed by position.
struct NamedArgument {
  std::string name;
  Argument value;
};

// A call of an operator.
struct Node {
  std::string target; // `torch.ops.aten.add.Tensor`
  std::string name;   // of the node, or of its first result
  std::string module; // the innermost module whose code it belongs to: `blocks.0.attn`
  std::vector<NamedArgument> inputs;
  std::vector<Argument> outputs;
};

// Type and layout of a tensor of the program or of the archive's data.
struct TensorMeta {
  std::string dtypeName;              // `float32`
  std::optional<ElementType> element; // none: not supported
  std::vector<Size> sizes, strides;   // strides in elements
  Size offset;
  bool requiresGrad = false;
  std::string device; // `cpu`; `meta`: without elements
};

// A graph, the main one or one that a node calls.
struct Graph {
  std::vector<Node> nodes; // in execution order
  std::vector<Argument> inputs, outputs;
  std::map<std::string, TensorMeta> tensors; // values that are tensors, by name
  std::map<std::string, Size> integers;      // values that are integers, by name
};

// An input of the main graph.
struct InputSpec {
  enum class Kind { User, Parameter, Buffer, Constant, Fixed, Other };
  Kind kind = Kind::User;
  std::string name;       // of the value in the graph; empty for a user input that is a literal
  std::string target;     // of parameters, buffers and constants: name in PyTorch, `fc.weight`
  std::string kindName;   // kind in the file
  bool persistent = true; // of buffers: whether the state dict contains it
};

// An output of the main graph.
struct OutputSpec {
  enum class Kind { User, Buffer, Parameter, Input, Loss, Other };
  Kind kind = Kind::User;
  Argument value;
  std::string target;   // the buffer, parameter or input that the value replaces
  std::string kindName; // kind in the file
};

// The bounds of a symbol, both included; none: unbounded.
struct Range {
  std::optional<int64_t> least, most;
};

// A whole program. The arguments of `graph` are `inputs`, its results `outputs`.
struct Program {
  Graph graph;
  std::vector<InputSpec> inputs;
  std::vector<OutputSpec> outputs;
  std::vector<std::string> outputNames; // one per user output
  std::map<std::string, Range> ranges;  // by symbol
  std::string producer;                 // `torch 2.15.0`
};

// A tensor of the archive's data.
struct Payload {
  std::string entry; // name in the weights folder
  bool isParameter = false;
  bool isPickled = false;
  std::optional<TensorMeta> meta;
};

// Read the JSON text of a program. Fails on damage, with the path in the JSON, and on other schema
// versions.
Program readProgram(std::string_view json);
// The exporter of a program of any schema version: `torch 2.6.0`. Fails on damage.
std::string producerOf(std::string_view json);
// Reads a list of weights or constants: payloads by name. Fails on damage.
std::map<std::string, Payload> readPayloads(std::string_view json);

// Parses an expression: `s0`, `2*s0 + 1`, or sympy's `Mul(Integer(2), Symbol('s0', …))`. None if it
// is not a polynomial.
std::optional<Polynomial> parseSize(const std::string &text);

} // namespace cleave::pt2
