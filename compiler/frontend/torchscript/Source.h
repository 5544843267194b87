// The source text of a TorchScript archive as a tree: the small part of Python that PyTorch writes
// its programs in. Plain data; Parser.cpp fills it, the Evaluator walks it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace cleave::torchscript {

// Expressions, statements and calls nested deeper are refused, so recursion over trees is safe.
inline constexpr int kMaxNesting = 400;

struct Expression;
using ExpressionPtr = std::unique_ptr<Expression>;

struct Expression {
  enum class Kind {
    None,
    Bool,      // integer
    Int,       // integer
    Float,     // number
    String,    // text
    Name,      // text
    Attribute, // items[0].text
    Call,      // items[0](items[1], …, keywords)
    Index,     // items[0][items[1]]
    Slice,     // items[0][items[1]:items[2]], bounds may be null
    List,      // items
    Tuple,     // items
    Dict,      // items: key, value, …
    Unary,     // text items[0]
    Binary     // items[0] text items[1]
  };
  Kind kind = Kind::None;
  int line = 0;
  int height = 1; // of the tree, at most kMaxNesting
  int64_t integer = 0;
  double number = 0;
  std::string text;
  std::vector<ExpressionPtr> items;
  std::vector<std::pair<std::string, ExpressionPtr>> keywords;
};

struct Statement;
using Block = std::vector<Statement>;

struct Statement {
  enum class Kind {
    Expression, // value
    Assign,     // target (a name, an attribute, an index, or a tuple of them) = value
    If,         // if value: body else: otherwise
    For,        // for target in value: body
    While,      // while value: body
    With,       // with value as target (may be null): body
    Return,     // value
    Raise,      // value
    Assert,     // value
    Pass
  };
  Kind kind = Kind::Pass;
  int line = 0;
  ExpressionPtr target, value;
  Block body, otherwise;
};

struct Parameter {
  std::string name;
  ExpressionPtr type, absent; // absent: the default, or null
};

struct Function {
  std::string name;
  int line = 0;
  std::vector<Parameter> parameters;
  Block body;
};

struct Class {
  std::string name, base;                       // base: `Module`, `NamedTuple`, … or empty
  std::vector<std::string> parameters, buffers; // the attributes that are
  bool listsBuffers = false;                    // those of old archives do not
  std::vector<std::string> fields;              // annotated attributes, in order
  std::map<std::string, ExpressionPtr> constants;
  std::map<std::string, Function> methods;
};

struct SourceFile {
  std::string path; // in the archive
  std::map<std::string, Class> classes;
  std::map<std::string, Function> functions;
};

// Reads one file; fails with path and line on anything that PyTorch does not write.
SourceFile parseSource(const std::string &path, std::string_view text);

} // namespace cleave::torchscript
