// The source text of a TorchScript archive as a tree. TorchScript is the small part of Python in
// which PyTorch writes programs. Plain data; Parser.cpp fills it, ScriptInterpreter runs it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace cleave::torchscript {

// Deeper nesting of expressions, statements and calls is refused, so recursion over trees is safe.
inline constexpr int kMaxNesting = 400;

// Null where the grammar allows an expression to be absent.
struct Expression;
using ExpressionPtr = std::unique_ptr<Expression>;

// An expression; its kind says which fields are set.
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
  int line = 0;   // in the file, counted from 1
  int height = 1; // of the tree, at most kMaxNesting
  // The content, as the comments of Kind describe.
  int64_t integer = 0;
  double number = 0;
  std::string text;
  std::vector<ExpressionPtr> items;
  std::vector<std::pair<std::string, ExpressionPtr>> keywords;
};

// Statements in order.
struct Statement;
using Block = std::vector<Statement>;

// A statement; its kind says which fields are set.
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
  int line = 0; // in the file, counted from 1
  // The content, as the comments of Kind describe.
  ExpressionPtr target, value;
  Block body, otherwise;
};

// A parameter of a function.
struct Parameter {
  std::string name;
  ExpressionPtr type, absent; // the annotation, the default; null: none
};

// A function or method.
struct Function {
  std::string name;
  int line = 0;                      // of the definition
  std::vector<Parameter> parameters; // with self
  Block body;
};

// A class: a module of the model, or a plain class of its program.
struct Class {
  std::string name, base;                         // base: `Module`, `NamedTuple`, … or empty
  std::vector<std::string> parameters, buffers;   // names of attributes
  bool listsBuffers = false;                      // false in old archives
  std::vector<std::string> fields;                // annotated attributes, in order
  std::map<std::string, ExpressionPtr> constants; // attributes with a value in the class
  std::map<std::string, Function> methods;
};

// One source file; definitions by name.
struct SourceFile {
  std::string path; // in the archive
  std::map<std::string, Class> classes;
  std::map<std::string, Function> functions;
};

// Parses one file; fails with path and line on anything that PyTorch does not write.
SourceFile parseSource(const std::string &path, std::string_view text);

} // namespace cleave::torchscript
