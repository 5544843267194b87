// See Source.h. Recursive descent, one function per level of the grammar; nesting is counted.
#include "compiler/frontend/torchscript/Source.h"

#include "compiler/frontend/emit/Failure.h"
#include "compiler/frontend/torchscript/Lexer.h"

#include <algorithm>
#include <array>

namespace cleave::torchscript {
namespace {

using TokenKind = Token::Kind;
using EK = Expression::Kind;
using SK = Statement::Kind;

// Binary operators from the loosest to the tightest.
constexpr std::array<std::array<const char *, 9>, 6> kLevels = {{
    {"or"},
    {"and"},
    {"==", "!=", "<=", ">=", "<", ">", "in", "is", "not"},
    {"|", "^", "&", "<<", ">>"},
    {"+", "-"},
    {"*", "/", "//", "%", "@"},
}};

class Parser {
public:
  Parser(const std::string &path, std::string_view text)
      : path_(path), tokens_(tokenize(path, text)) {}

  SourceFile run() {
    SourceFile file;
    file.path = path_;
    takeOperatorSet();
    while (!is(TokenKind::End)) {
      if (takeName("class")) {
        Class read = readClass();
        std::string name = read.name;
        file.classes.emplace(name, std::move(read));
      } else if (takeName("def")) {
        Function read = readFunction();
        std::string name = read.name;
        file.functions.emplace(name, std::move(read));
      } else if (!take(TokenKind::NewLine) && !takeImport()) {
        wrong("expected a class or a function");
      }
    }
    return file;
  }

private:
  // Counts how deep the grammar is at a place.
  struct Nesting {
    explicit Nesting(Parser &parser) : parser(parser) {
      if (++parser.depth_ > kMaxNesting)
        parser.wrong("expected nesting of at most " + std::to_string(kMaxNesting));
    }
    ~Nesting() { --parser.depth_; }
    Parser &parser;
  };

  [[noreturn]] void wrong(const std::string &expected) const {
    std::string found = token().text.empty() ? "the end of a line or block" : token().text;
    emit::fail(path_ + ":" + std::to_string(token().line) + ": found '" + found + "', " + expected +
               "; save the model again");
  }

  // -- tokens
  const Token &token() const { return tokens_[at_]; }
  bool is(TokenKind kind) const { return token().kind == kind; }
  bool isSymbol(const char *text) const { return is(TokenKind::Symbol) && token().text == text; }
  bool isName(const char *text) const { return is(TokenKind::Name) && token().text == text; }
  bool take(TokenKind kind) { return is(kind) && ++at_; }
  bool takeSymbol(const char *text) { return isSymbol(text) && ++at_; }
  bool takeName(const char *text) { return isName(text) && ++at_; }
  void expect(const char *symbol) {
    if (!takeSymbol(symbol))
      wrong(std::string("expected '") + symbol + "'");
  }
  void expect(TokenKind kind, const char *what) {
    if (!take(kind))
      wrong(std::string("expected ") + what);
  }
  std::string expectName() {
    if (!is(TokenKind::Name))
      wrong("expected a name");
    return tokens_[at_++].text;
  }

  // -- what only archives of version 1 have
  // `op_version_set = 1`: the number says nothing that the archive's version does not.
  void takeOperatorSet() {
    if (!takeName("op_version_set"))
      return;
    expect("=");
    expect(TokenKind::Int, "a number");
    expect(TokenKind::NewLine, "a new line");
  }

  // `import __torch__.a.b`: every use has the whole path.
  bool takeImport() {
    if (!isName("import") || tokens_[at_ + 1].text != "__torch__")
      return false;
    ++at_;
    readDotted();
    expect(TokenKind::NewLine, "a new line");
    return true;
  }

  // -- definitions
  Class readClass() {
    Class out;
    out.name = expectName();
    if (takeSymbol("(")) {
      while (!takeSymbol(")")) {
        out.base = readDotted();
        takeSymbol(",");
      }
    }
    expect(":");
    expect(TokenKind::NewLine, "a new line");
    expect(TokenKind::Indent, "an indented block");
    while (!take(TokenKind::Dedent))
      readMember(out);
    return out;
  }

  std::string readDotted() {
    std::string name = expectName();
    while (takeSymbol("."))
      name += "." + expectName();
    return name;
  }

  void readMember(Class &out) {
    if (takeName("def")) {
      Function method = readFunction();
      std::string name = method.name;
      out.methods.emplace(name, std::move(method));
      return;
    }
    if (!takeName("pass")) {
      ExpressionPtr name = readExpression();
      bool isAnnotated = takeSymbol(":");
      if (isAnnotated)
        readExpression(); // the type: values tell theirs
      ExpressionPtr value;
      if (takeSymbol("="))
        value = readExpression();
      addMember(out, *name, isAnnotated, std::move(value));
    }
    expect(TokenKind::NewLine, "a new line");
  }

  void addMember(Class &out, const Expression &name, bool isAnnotated, ExpressionPtr value) {
    if (name.kind == EK::Index) { // __annotations__["0"] = …: an attribute whose name is no word
      if (name.items[1]->kind == EK::String)
        out.fields.push_back(name.items[1]->text);
      return;
    }
    if (name.text == "__parameters__" || name.text == "__buffers__") {
      if (!value)
        wrong("expected a list of names");
      out.listsBuffers |= name.text == "__buffers__";
      for (const ExpressionPtr &item : value->items)
        if (item) // a slice may lack its bounds
          (name.text == "__buffers__" ? out.buffers : out.parameters).push_back(item->text);
    } else if (isAnnotated && !value) {
      out.fields.push_back(name.text);
    } else if (value) {
      out.constants[name.text] = std::move(value);
    }
  }

  Function readFunction() {
    Function out;
    out.line = token().line;
    out.name = expectName();
    expect("(");
    while (!takeSymbol(")")) {
      if (takeSymbol("*")) { // what follows is given by name only
        takeSymbol(",");
        continue;
      }
      Parameter parameter;
      parameter.name = expectName();
      if (takeSymbol(":"))
        parameter.type = readExpression();
      if (takeSymbol("="))
        parameter.absent = readExpression();
      out.parameters.push_back(std::move(parameter));
      if (!isSymbol(")"))
        expect(",");
    }
    if (takeSymbol("->"))
      readExpression();
    expect(":");
    out.body = readBlock();
    return out;
  }

  // -- statements
  Block readBlock() {
    Nesting nesting(*this);
    Block out;
    if (!take(TokenKind::NewLine)) { // on the same line
      out.push_back(readStatement());
      return out;
    }
    expect(TokenKind::Indent, "an indented block");
    while (!take(TokenKind::Dedent))
      out.push_back(readStatement());
    return out;
  }

  Statement readStatement() {
    Statement out;
    out.line = token().line;
    if (takeName("if")) {
      readIf(out);
      return out;
    }
    if (takeName("while")) {
      out.kind = SK::While;
      out.value = readExpression();
      expect(":");
      out.body = readBlock();
      return out;
    }
    if (takeName("for")) {
      out.kind = SK::For;
      out.target = readLoopTarget();
      out.value = readExpression();
      expect(":");
      out.body = readBlock();
      return out;
    }
    if (takeName("with")) {
      readWith(out);
      return out;
    }
    readSimple(out);
    expect(TokenKind::NewLine, "a new line");
    return out;
  }

  void readIf(Statement &out) {
    out.kind = SK::If;
    out.value = readExpression();
    expect(":");
    out.body = readBlock();
    if (takeName("else")) {
      expect(":");
      out.otherwise = readBlock();
    } else if (isName("elif")) {
      Nesting nesting(*this);
      Statement inner;
      inner.line = token().line;
      ++at_;
      readIf(inner);
      out.otherwise.push_back(std::move(inner));
    }
  }

  void readWith(Statement &out) {
    out.kind = SK::With;
    out.value = readExpression();
    if (takeName("as"))
      out.target = readTargets();
    expect(":");
    out.body = readBlock();
  }

  void readSimple(Statement &out) {
    if (takeName("pass"))
      return;
    if (takeName("return")) {
      out.kind = SK::Return;
      if (!is(TokenKind::NewLine))
        out.value = readTargets();
      return;
    }
    if (isName("raise") || isName("assert")) {
      out.kind = isName("raise") ? SK::Raise : SK::Assert;
      ++at_;
      out.value = readExpression();
      if (takeSymbol(","))
        readExpression();
      return;
    }
    ExpressionPtr first = readTargets();
    out.kind = SK::Assign;
    if (takeSymbol(":"))
      readExpression(); // the type
    if (takeSymbol("=")) {
      out.target = std::move(first);
      out.value = readTargets();
      return;
    }
    out.kind = SK::Expression;
    out.value = std::move(first);
  }

  // One expression, or a tuple without parentheses.
  ExpressionPtr readTargets() {
    ExpressionPtr first = readExpression();
    if (!isSymbol(","))
      return first;
    ExpressionPtr tuple = make(EK::Tuple);
    tuple->items.push_back(std::move(first));
    while (takeSymbol(","))
      if (!is(TokenKind::NewLine) && !isSymbol("="))
        tuple->items.push_back(readExpression());
    return finished(std::move(tuple));
  }

  // `i in`, `k, v in`.
  ExpressionPtr readLoopTarget() {
    ExpressionPtr tuple = make(EK::Tuple);
    do
      tuple->items.push_back(readPostfix());
    while (takeSymbol(","));
    if (!takeName("in"))
      wrong("expected 'in'");
    return tuple->items.size() == 1 ? std::move(tuple->items[0]) : finished(std::move(tuple));
  }

  // -- expressions
  ExpressionPtr make(EK kind) const {
    auto out = std::make_unique<Expression>();
    out->kind = kind;
    out->line = token().line;
    return out;
  }

  // With its height: chains (`a + b + …`, `a.b.c…`) grow trees without nesting.
  ExpressionPtr finished(ExpressionPtr expression) const {
    int below = 0;
    for (const ExpressionPtr &item : expression->items)
      below = std::max(below, item ? item->height : 0);
    for (const auto &[name, value] : expression->keywords)
      below = std::max(below, value->height);
    expression->height = below + 1;
    if (below >= kMaxNesting)
      wrong("expected a shorter expression");
    return expression;
  }

  ExpressionPtr readExpression() {
    Nesting nesting(*this);
    return readLevel(0);
  }

  // The operator of this level at this place, or null.
  const char *operatorAt(size_t level) const {
    if (!is(TokenKind::Symbol) && !is(TokenKind::Name))
      return nullptr;
    for (const char *text : kLevels[level])
      if (text && token().text == text)
        return text;
    return nullptr;
  }

  ExpressionPtr readLevel(size_t level) {
    if (level == kLevels.size())
      return readUnary();
    ExpressionPtr left = readLevel(level + 1);
    while (const char *text = operatorAt(level)) {
      ExpressionPtr both = make(EK::Binary);
      ++at_;
      both->text = text;
      if (both->text == "is" && takeName("not"))
        both->text = "is not";
      if (both->text == "not" && takeName("in"))
        both->text = "not in";
      both->items.push_back(std::move(left));
      both->items.push_back(readLevel(level + 1));
      left = finished(std::move(both));
    }
    return left;
  }

  ExpressionPtr readUnary() {
    Nesting nesting(*this);
    for (const char *text : {"-", "+", "~", "not"})
      if ((is(TokenKind::Symbol) || is(TokenKind::Name)) && token().text == text) {
        ExpressionPtr out = make(EK::Unary);
        ++at_;
        out->text = text;
        out->items.push_back(readUnary());
        return finished(std::move(out));
      }
    ExpressionPtr base = readPostfix();
    if (!isSymbol("**"))
      return base;
    ExpressionPtr power = make(EK::Binary);
    ++at_;
    power->text = "**";
    power->items.push_back(std::move(base));
    power->items.push_back(readUnary());
    return finished(std::move(power));
  }

  ExpressionPtr readPostfix() {
    ExpressionPtr out = readPrimary();
    while (true) {
      ExpressionPtr next;
      if (takeSymbol(".")) {
        next = make(EK::Attribute);
        next->text = expectName();
        next->items.push_back(std::move(out));
      } else if (isSymbol("(")) {
        next = make(EK::Call);
        ++at_;
        next->items.push_back(std::move(out));
        readArguments(*next);
      } else if (isSymbol("[")) {
        next = make(EK::Index);
        ++at_;
        next->items.push_back(std::move(out));
        readIndex(*next);
      } else {
        return out;
      }
      out = finished(std::move(next));
    }
  }

  void readArguments(Expression &call) {
    while (!takeSymbol(")")) {
      bool isKeyword = is(TokenKind::Name) && tokens_[at_ + 1].kind == TokenKind::Symbol &&
                       tokens_[at_ + 1].text == "=";
      if (isKeyword) {
        std::string name = expectName();
        expect("=");
        call.keywords.emplace_back(name, readExpression());
      } else {
        call.items.push_back(readExpression());
      }
      if (!isSymbol(")"))
        expect(",");
    }
  }

  // `[i]`, `[a, b]` (of a type), `[a:b]`.
  void readIndex(Expression &out) {
    ExpressionPtr low = isSymbol(":") ? nullptr : readExpression();
    if (takeSymbol(":")) {
      out.kind = EK::Slice;
      out.items.push_back(std::move(low));
      out.items.push_back(isSymbol("]") ? nullptr : readExpression());
    } else {
      out.items.push_back(std::move(low));
      while (takeSymbol(","))
        if (!isSymbol("]"))
          out.items.push_back(readExpression());
    }
    expect("]");
  }

  ExpressionPtr readPrimary() {
    ExpressionPtr out = make(EK::None);
    const Token &now = token();
    switch (now.kind) {
    case TokenKind::Int:
    case TokenKind::Float:
      out->kind = now.kind == TokenKind::Int ? EK::Int : EK::Float;
      out->integer = now.integer;
      out->number = now.number;
      ++at_;
      return out;
    case TokenKind::String:
      out->kind = EK::String;
      while (is(TokenKind::String)) // adjacent strings are one
        out->text += tokens_[at_++].text;
      return out;
    case TokenKind::Name:
      return readWord(std::move(out));
    case TokenKind::Symbol:
      if (takeSymbol("("))
        return readParentheses(std::move(out));
      if (takeSymbol("[")) {
        out->kind = EK::List;
        readItems(*out, "]");
        return finished(std::move(out));
      }
      if (takeSymbol("{"))
        return readDict(std::move(out));
      break;
    default:
      break;
    }
    wrong("expected an expression");
  }

  ExpressionPtr readWord(ExpressionPtr out) {
    std::string word = expectName();
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

  void readItems(Expression &out, const char *end) {
    while (!takeSymbol(end)) {
      out.items.push_back(readExpression());
      if (!isSymbol(end))
        expect(",");
    }
  }

  ExpressionPtr readParentheses(ExpressionPtr out) {
    out->kind = EK::Tuple;
    if (takeSymbol(")"))
      return out;
    ExpressionPtr first = readExpression();
    if (takeSymbol(")"))
      return first;
    expect(",");
    out->items.push_back(std::move(first));
    readItems(*out, ")");
    return finished(std::move(out));
  }

  ExpressionPtr readDict(ExpressionPtr out) {
    out->kind = EK::Dict;
    while (!takeSymbol("}")) {
      out->items.push_back(readExpression());
      expect(":");
      out->items.push_back(readExpression());
      if (!isSymbol("}"))
        expect(",");
    }
    return finished(std::move(out));
  }

  const std::string &path_;
  std::vector<Token> tokens_;
  size_t at_ = 0;
  int depth_ = 0;
};

} // namespace

SourceFile parseSource(const std::string &path, std::string_view text) {
  return Parser(path, text).run();
}

} // namespace cleave::torchscript
