// See Source.h. Recursive descent, one function per rule of the grammar: definitions and
// statements.
#include "compiler/frontend/torchscript/ExpressionParser.h"
#include "compiler/frontend/torchscript/Source.h"

namespace cleave::torchscript {
namespace {

using TokenKind = Token::Kind;
using EK = Expression::Kind;
using SK = Statement::Kind;

class Parser {
public:
  Parser(const std::string &path, std::string_view text)
      : tokens_(path, text), expressions_(tokens_) {}

  SourceFile run() {
    SourceFile file;
    file.path = tokens_.path();
    takeOperatorSet();
    while (!tokens_.is(TokenKind::End)) {
      if (tokens_.takeName("class")) {
        Class read = readClass();
        std::string name = read.name;
        file.classes.emplace(name, std::move(read));
      } else if (tokens_.takeName("def")) {
        Function read = readFunction();
        std::string name = read.name;
        file.functions.emplace(name, std::move(read));
      } else if (!tokens_.take(TokenKind::NewLine) && !takeImport()) {
        tokens_.wrong("expected a class or a function");
      }
    }
    return file;
  }

private:
  // -- what only archives of version 1 have
  // `op_version_set = 1`, which repeats the archive's version.
  void takeOperatorSet() {
    if (!tokens_.takeName("op_version_set"))
      return;
    tokens_.expect("=");
    tokens_.expect(TokenKind::Int, "a number");
    tokens_.expect(TokenKind::NewLine, "a new line");
  }

  // `import __torch__.a.b`: every use has the whole path.
  bool takeImport() {
    if (!tokens_.isName("import") || tokens_.ahead().text != "__torch__")
      return false;
    tokens_.next();
    readDotted();
    tokens_.expect(TokenKind::NewLine, "a new line");
    return true;
  }

  // -- definitions
  Class readClass() {
    Class out;
    out.name = tokens_.expectName();
    if (tokens_.takeSymbol("(")) {
      while (!tokens_.takeSymbol(")")) {
        out.base = readDotted();
        tokens_.takeSymbol(",");
      }
    }
    tokens_.expect(":");
    tokens_.expect(TokenKind::NewLine, "a new line");
    tokens_.expect(TokenKind::Indent, "an indented block");
    while (!tokens_.take(TokenKind::Dedent))
      readMember(out);
    return out;
  }

  std::string readDotted() {
    std::string name = tokens_.expectName();
    while (tokens_.takeSymbol("."))
      name += "." + tokens_.expectName();
    return name;
  }

  void readMember(Class &out) {
    if (tokens_.takeName("def")) {
      Function method = readFunction();
      std::string name = method.name;
      out.methods.emplace(name, std::move(method));
      return;
    }
    if (!tokens_.takeName("pass")) {
      ExpressionPtr name = expressions_.read();
      bool isAnnotated = tokens_.takeSymbol(":");
      if (isAnnotated)
        expressions_.read(); // the type, which is not needed
      ExpressionPtr value;
      if (tokens_.takeSymbol("="))
        value = expressions_.read();
      addMember(out, *name, isAnnotated, std::move(value));
    }
    tokens_.expect(TokenKind::NewLine, "a new line");
  }

  void addMember(Class &out, const Expression &name, bool isAnnotated, ExpressionPtr value) {
    if (name.kind ==
        EK::Index) { // __annotations__["0"] = …: an attribute whose name is no identifier
      if (name.items[1]->kind == EK::String)
        out.fields.push_back(name.items[1]->text);
      return;
    }
    if (name.text == "__parameters__" || name.text == "__buffers__") {
      if (!value)
        tokens_.wrong("expected a list of names");
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
    out.line = tokens_.token().line;
    out.name = tokens_.expectName();
    tokens_.expect("(");
    while (!tokens_.takeSymbol(")")) {
      if (tokens_.takeSymbol("*")) { // keyword-only parameters follow
        tokens_.takeSymbol(",");
        continue;
      }
      Parameter parameter;
      parameter.name = tokens_.expectName();
      if (tokens_.takeSymbol(":"))
        parameter.type = expressions_.read();
      if (tokens_.takeSymbol("="))
        parameter.absent = expressions_.read();
      out.parameters.push_back(std::move(parameter));
      if (!tokens_.isSymbol(")"))
        tokens_.expect(",");
    }
    if (tokens_.takeSymbol("->"))
      expressions_.read();
    tokens_.expect(":");
    out.body = readBlock();
    return out;
  }

  // -- statements
  Block readBlock() {
    TokenStream::Nesting nesting(tokens_);
    Block out;
    if (!tokens_.take(TokenKind::NewLine)) { // on the same line
      out.push_back(readStatement());
      return out;
    }
    tokens_.expect(TokenKind::Indent, "an indented block");
    while (!tokens_.take(TokenKind::Dedent))
      out.push_back(readStatement());
    return out;
  }

  Statement readStatement() {
    Statement out;
    out.line = tokens_.token().line;
    if (tokens_.takeName("if")) {
      readIf(out);
      return out;
    }
    if (tokens_.takeName("while")) {
      out.kind = SK::While;
      out.value = expressions_.read();
      tokens_.expect(":");
      out.body = readBlock();
      return out;
    }
    if (tokens_.takeName("for")) {
      out.kind = SK::For;
      out.target = expressions_.readLoopTarget();
      out.value = expressions_.read();
      tokens_.expect(":");
      out.body = readBlock();
      return out;
    }
    if (tokens_.takeName("with")) {
      readWith(out);
      return out;
    }
    readSimple(out);
    tokens_.expect(TokenKind::NewLine, "a new line");
    return out;
  }

  void readIf(Statement &out) {
    out.kind = SK::If;
    out.value = expressions_.read();
    tokens_.expect(":");
    out.body = readBlock();
    if (tokens_.takeName("else")) {
      tokens_.expect(":");
      out.otherwise = readBlock();
    } else if (tokens_.isName("elif")) {
      TokenStream::Nesting nesting(tokens_);
      Statement inner;
      inner.line = tokens_.token().line;
      tokens_.next();
      readIf(inner);
      out.otherwise.push_back(std::move(inner));
    }
  }

  void readWith(Statement &out) {
    out.kind = SK::With;
    out.value = expressions_.read();
    if (tokens_.takeName("as"))
      out.target = expressions_.readTargets();
    tokens_.expect(":");
    out.body = readBlock();
  }

  void readSimple(Statement &out) {
    if (tokens_.takeName("pass"))
      return;
    if (tokens_.takeName("return")) {
      out.kind = SK::Return;
      if (!tokens_.is(TokenKind::NewLine))
        out.value = expressions_.readTargets();
      return;
    }
    if (tokens_.isName("raise") || tokens_.isName("assert")) {
      out.kind = tokens_.isName("raise") ? SK::Raise : SK::Assert;
      tokens_.next();
      out.value = expressions_.read();
      if (tokens_.takeSymbol(","))
        expressions_.read();
      return;
    }
    ExpressionPtr first = expressions_.readTargets();
    out.kind = SK::Assign;
    if (tokens_.takeSymbol(":"))
      expressions_.read(); // the type
    if (tokens_.takeSymbol("=")) {
      out.target = std::move(first);
      out.value = expressions_.readTargets();
      return;
    }
    out.kind = SK::Expression;
    out.value = std::move(first);
  }

  TokenStream tokens_;
  ExpressionParser expressions_;
};

} // namespace

SourceFile parseSource(const std::string &path, std::string_view text) {
  return Parser(path, text).run();
}

} // namespace cleave::torchscript
