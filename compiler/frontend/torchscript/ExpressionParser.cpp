// See ExpressionParser.h.
#include "compiler/frontend/torchscript/ExpressionParser.h"

#include <algorithm>
#include <array>

namespace cleave::torchscript {

using TokenKind = Token::Kind;
using EK = Expression::Kind;

// Binary operators from the loosest to the tightest.
static constexpr std::array<std::array<const char *, 9>, 6> kLevels = {{
    {"or"},
    {"and"},
    {"==", "!=", "<=", ">=", "<", ">", "in", "is", "not"},
    {"|", "^", "&", "<<", ">>"},
    {"+", "-"},
    {"*", "/", "//", "%", "@"},
}};

// One expression, or a tuple without parentheses.
ExpressionPtr ExpressionParser::readTargets() {
  ExpressionPtr first = read();
  if (!tokens_.isSymbol(","))
    return first;
  ExpressionPtr tuple = make(EK::Tuple);
  tuple->items.push_back(std::move(first));
  while (tokens_.takeSymbol(","))
    if (!tokens_.is(TokenKind::NewLine) && !tokens_.isSymbol("="))
      tuple->items.push_back(read());
  return finished(std::move(tuple));
}

// `i in`, `k, v in`.
ExpressionPtr ExpressionParser::readLoopTarget() {
  ExpressionPtr tuple = make(EK::Tuple);
  do
    tuple->items.push_back(readPostfix());
  while (tokens_.takeSymbol(","));
  if (!tokens_.takeName("in"))
    tokens_.wrong("expected 'in'");
  return tuple->items.size() == 1 ? std::move(tuple->items[0]) : finished(std::move(tuple));
}

ExpressionPtr ExpressionParser::make(EK kind) const {
  auto out = std::make_unique<Expression>();
  out->kind = kind;
  out->line = tokens_.token().line;
  return out;
}

// Sets the height and checks it: chains (`a + b + …`, `a.b.c…`) build deep trees without nested
// rules.
ExpressionPtr ExpressionParser::finished(ExpressionPtr expression) const {
  int below = 0;
  for (const ExpressionPtr &item : expression->items)
    below = std::max(below, item ? item->height : 0);
  for (const auto &[name, value] : expression->keywords)
    below = std::max(below, value->height);
  expression->height = below + 1;
  if (below >= kMaxNesting)
    tokens_.wrong("expected a shorter expression");
  return expression;
}

ExpressionPtr ExpressionParser::read() {
  TokenStream::Nesting nesting(tokens_);
  return readLevel(0);
}

// The current token if it is an operator of this level, else null.
const char *ExpressionParser::operatorAt(size_t level) const {
  if (!tokens_.is(TokenKind::Symbol) && !tokens_.is(TokenKind::Name))
    return nullptr;
  for (const char *text : kLevels[level])
    if (text && tokens_.token().text == text)
      return text;
  return nullptr;
}

ExpressionPtr ExpressionParser::readLevel(size_t level) {
  if (level == kLevels.size())
    return readUnary();
  ExpressionPtr left = readLevel(level + 1);
  while (const char *text = operatorAt(level)) {
    ExpressionPtr both = make(EK::Binary);
    tokens_.next();
    both->text = text;
    if (both->text == "is" && tokens_.takeName("not"))
      both->text = "is not";
    if (both->text == "not" && tokens_.takeName("in"))
      both->text = "not in";
    both->items.push_back(std::move(left));
    both->items.push_back(readLevel(level + 1));
    left = finished(std::move(both));
  }
  return left;
}

ExpressionPtr ExpressionParser::readUnary() {
  TokenStream::Nesting nesting(tokens_);
  for (const char *text : {"-", "+", "~", "not"})
    if ((tokens_.is(TokenKind::Symbol) || tokens_.is(TokenKind::Name)) &&
        tokens_.token().text == text) {
      ExpressionPtr out = make(EK::Unary);
      tokens_.next();
      out->text = text;
      out->items.push_back(readUnary());
      return finished(std::move(out));
    }
  ExpressionPtr base = readPostfix();
  if (!tokens_.isSymbol("**"))
    return base;
  ExpressionPtr power = make(EK::Binary);
  tokens_.next();
  power->text = "**";
  power->items.push_back(std::move(base));
  power->items.push_back(readUnary());
  return finished(std::move(power));
}

ExpressionPtr ExpressionParser::readPostfix() {
  ExpressionPtr out = readPrimary();
  while (true) {
    ExpressionPtr next;
    if (tokens_.takeSymbol(".")) {
      next = make(EK::Attribute);
      next->text = tokens_.expectName();
      next->items.push_back(std::move(out));
    } else if (tokens_.isSymbol("(")) {
      next = make(EK::Call);
      tokens_.next();
      next->items.push_back(std::move(out));
      readArguments(*next);
    } else if (tokens_.isSymbol("[")) {
      next = make(EK::Index);
      tokens_.next();
      next->items.push_back(std::move(out));
      readIndex(*next);
    } else {
      return out;
    }
    out = finished(std::move(next));
  }
}

void ExpressionParser::readArguments(Expression &call) {
  while (!tokens_.takeSymbol(")")) {
    bool isKeyword = tokens_.is(TokenKind::Name) && tokens_.ahead().kind == TokenKind::Symbol &&
                     tokens_.ahead().text == "=";
    if (isKeyword) {
      std::string name = tokens_.expectName();
      tokens_.expect("=");
      call.keywords.emplace_back(name, read());
    } else {
      call.items.push_back(read());
    }
    if (!tokens_.isSymbol(")"))
      tokens_.expect(",");
  }
}

// `[i]`, `[a, b]` (of a type), `[a:b]`.
void ExpressionParser::readIndex(Expression &out) {
  ExpressionPtr low = tokens_.isSymbol(":") ? nullptr : read();
  if (tokens_.takeSymbol(":")) {
    out.kind = EK::Slice;
    out.items.push_back(std::move(low));
    out.items.push_back(tokens_.isSymbol("]") ? nullptr : read());
  } else {
    out.items.push_back(std::move(low));
    while (tokens_.takeSymbol(","))
      if (!tokens_.isSymbol("]"))
        out.items.push_back(read());
  }
  tokens_.expect("]");
}

ExpressionPtr ExpressionParser::readPrimary() {
  ExpressionPtr out = make(EK::None);
  const Token &now = tokens_.token();
  switch (now.kind) {
  case TokenKind::Int:
  case TokenKind::Float:
    out->kind = now.kind == TokenKind::Int ? EK::Int : EK::Float;
    out->integer = now.integer;
    out->number = now.number;
    tokens_.next();
    return out;
  case TokenKind::String:
    out->kind = EK::String;
    while (tokens_.is(TokenKind::String)) // adjacent strings are one
      out->text += tokens_.next().text;
    return out;
  case TokenKind::Name:
    return readWord(std::move(out));
  case TokenKind::Symbol:
    if (tokens_.takeSymbol("("))
      return readParentheses(std::move(out));
    if (tokens_.takeSymbol("[")) {
      out->kind = EK::List;
      readItems(*out, "]");
      return finished(std::move(out));
    }
    if (tokens_.takeSymbol("{"))
      return readDict(std::move(out));
    break;
  default:
    break;
  }
  tokens_.wrong("expected an expression");
}

ExpressionPtr ExpressionParser::readWord(ExpressionPtr out) {
  std::string word = tokens_.expectName();
  if (word == "True" || word == "False") {
    out->kind = EK::Bool;
    out->integer = word == "True";
  } else if (word == "inf" || word == "nan") {
    out->kind = EK::Float;
    out->number = word == "inf" ? __builtin_inf() : __builtin_nan("");
  } else if (word != "None") {
    out->kind = EK::Name;
    out->text = word;
  }
  return out;
}

void ExpressionParser::readItems(Expression &out, const char *end) {
  while (!tokens_.takeSymbol(end)) {
    out.items.push_back(read());
    if (!tokens_.isSymbol(end))
      tokens_.expect(",");
  }
}

ExpressionPtr ExpressionParser::readParentheses(ExpressionPtr out) {
  out->kind = EK::Tuple;
  if (tokens_.takeSymbol(")"))
    return out;
  ExpressionPtr first = read();
  if (tokens_.takeSymbol(")"))
    return first;
  tokens_.expect(",");
  out->items.push_back(std::move(first));
  readItems(*out, ")");
  return finished(std::move(out));
}

ExpressionPtr ExpressionParser::readDict(ExpressionPtr out) {
  out->kind = EK::Dict;
  while (!tokens_.takeSymbol("}")) {
    out->items.push_back(read());
    tokens_.expect(":");
    out->items.push_back(read());
    if (!tokens_.isSymbol("}"))
      tokens_.expect(",");
  }
  return finished(std::move(out));
}

} // namespace cleave::torchscript
