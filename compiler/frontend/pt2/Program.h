// An exported program as plain data: what Cleave reads of a torch.export archive's model.json, with
// PyTorch's names and meanings. ProgramReader.cpp fills it. No MLIR.
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

// The schema whose fields are read; other majors are refused.
inline constexpr int64_t kSchemaMajor = 8;

// A size: a polynomial of the program's symbols, or an expression that is none.
struct Size {
  std::optional<Polynomial> value;
  std::string text; // as the file has it
};

struct Graph;

// An argument or result of a node.
struct Argument {
  enum class Kind { None, Name, Integer, Number, Truth, Text, List, Graph, Other };
  Kind kind = Kind::None;
  std::string text;    // Name: of a value; Text; Other: what the file calls its kind
  int64_t integer = 0; // also element types, by the numbers of torch.dtype
  double number = 0;
  bool truth = false;
  std::vector<Argument> items;
  std::shared_ptr<const Graph> graph;
};

struct NamedArgument {
  std::string name;
  Argument value;
};

struct Node {
  std::string target; // `torch.ops.aten.add.Tensor`
  std::string name;   // of the node, or of its first result
  std::string module; // the innermost module in which it was written: `blocks.0.attn`
  std::vector<NamedArgument> inputs;
  std::vector<Argument> outputs;
};

// What a tensor of the program, or of the archive's data, looks like.
struct TensorMeta {
  std::string dtypeName;              // `float32`
  std::optional<ElementType> element; // none: Cleave does not compute with it
  std::vector<Size> sizes, strides;   // strides in elements
  Size offset;
  bool requiresGrad = false;
};

struct Graph {
  std::vector<Node> nodes;
  std::vector<Argument> inputs, outputs;
  std::map<std::string, TensorMeta> tensors;
  std::map<std::string, Size> integers;
};

// An input of the main graph.
struct InputSpec {
  enum class Kind { User, Parameter, Buffer, Constant, Fixed, Other };
  Kind kind = Kind::User;
  std::string name;       // of the value in the graph; empty for a user input that is no value
  std::string target;     // what it is in the user's program: `fc.weight`
  std::string kindName;   // as the file has it
  bool persistent = true; // of buffers: whether it is among the weights
};

struct OutputSpec {
  enum class Kind { User, Buffer, Parameter, Input, Loss, Other };
  Kind kind = Kind::User;
  Argument value;
  std::string target; // of the buffer, parameter or input that gets the value
  std::string kindName;
};

// The values that a symbol may have.
struct Range {
  std::optional<int64_t> least, most;
};

struct Program {
  Graph graph;
  std::vector<InputSpec> inputs;
  std::vector<OutputSpec> outputs;
  std::vector<std::string> outputNames; // the user's, one per user output
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

// Read the JSON text. Fail on damage (with the place in the JSON), on other schema versions (with
// both numbers).
Program readProgram(std::string_view json);
// Who wrote a program, of whatever schema version: `torch 2.6.0`. Fails on damage.
std::string producerOf(std::string_view json);
std::map<std::string, Payload> readPayloads(std::string_view json);

// The polynomial that an expression of the file means: `s0`, `2*s0 + 1`, or sympy's
// `Mul(Integer(2), Symbol('s0', …))`; none if it is anything else.
std::optional<Polynomial> parseSize(const std::string &text);

} // namespace cleave::pt2
