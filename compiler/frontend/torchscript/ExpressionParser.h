// ExpressionParser: the expressions of a source file, by recursive descent with one function per
// level of the grammar.
#pragma once

#include "compiler/frontend/torchscript/TokenStream.h"

namespace cleave::torchscript {

class ExpressionParser {
public:
  // Reads from `tokens`, which must outlive the parser.
  explicit ExpressionParser(TokenStream &tokens) : tokens_(tokens) {}

  // Each reads from the current token on and fails on anything else than the named rule.
  // One expression.
  ExpressionPtr read();
  // One expression, or a tuple without parentheses.
  ExpressionPtr readTargets();
  // The target of a for loop and `in`: `i in`, `k, v in`.
  ExpressionPtr readLoopTarget();

private:
  ExpressionPtr make(Expression::Kind kind) const;
  ExpressionPtr finished(ExpressionPtr expression) const;
  const char *operatorAt(size_t level) const;
  ExpressionPtr readLevel(size_t level);
  ExpressionPtr readUnary();
  ExpressionPtr readPostfix();
  void readArguments(Expression &call);
  void readIndex(Expression &out);
  ExpressionPtr readPrimary();
  ExpressionPtr readWord(ExpressionPtr out);
  void readItems(Expression &out, const char *end);
  ExpressionPtr readParentheses(ExpressionPtr out);
  ExpressionPtr readDict(ExpressionPtr out);

  TokenStream &tokens_;
};

} // namespace cleave::torchscript
