// TokenStream: the tokens of one source file and the place at which the parser reads.
#pragma once

#include "compiler/frontend/emit/Failure.h"
#include "compiler/frontend/torchscript/Lexer.h"
#include "compiler/frontend/torchscript/Source.h"

namespace cleave::torchscript {

class TokenStream {
public:
  // `path` is named in messages and must outlive the stream. Fails where tokenize() does.
  TokenStream(const std::string &path, std::string_view text)
      : path_(path), tokens_(tokenize(path, text)) {}

  // Counts a level of nested grammar rules while it exists; fails beyond kMaxNesting.
  struct Nesting {
    explicit Nesting(TokenStream &tokens) : tokens(tokens) {
      if (++tokens.depth_ > kMaxNesting)
        tokens.wrong("expected nesting of at most ", kMaxNesting);
    }
    ~Nesting() { --tokens.depth_; }
    Nesting(const Nesting &) = delete;
    TokenStream &tokens;
  };

  const std::string &path() const { return path_; }

  // -- the current token
  const Token &token() const { return tokens_[at_]; }
  bool is(Token::Kind kind) const { return token().kind == kind; }
  bool isSymbol(const char *text) const { return is(Token::Kind::Symbol) && token().text == text; }
  bool isName(const char *text) const { return is(Token::Kind::Name) && token().text == text; }
  // The token after the current one, which is not the last.
  const Token &ahead() const { return tokens_[at_ + 1]; }

  // -- consuming
  // Returns the current token and moves on.
  const Token &next() { return tokens_[at_++]; }
  // Move on and return true if the current token is the given one.
  bool take(Token::Kind kind) { return is(kind) && ++at_; }
  bool takeSymbol(const char *text) { return isSymbol(text) && ++at_; }
  bool takeName(const char *text) { return isName(text) && ++at_; }
  // Move on, or fail if the current token is another one; `what` names the expected kind.
  void expect(const char *symbol) {
    if (!takeSymbol(symbol))
      wrong("expected '", symbol, "'");
  }
  void expect(Token::Kind kind, const char *what) {
    if (!take(kind))
      wrong("expected ", what);
  }
  std::string expectName() {
    if (!is(Token::Kind::Name))
      wrong("expected a name");
    return next().text;
  }

  // Fails with path, line and the current token; `expected` is `expected a name`, say.
  template <typename... Parts> [[noreturn]] void wrong(const Parts &...expected) const {
    emit::fail(path_, ":", token().line, ": found '",
               token().text.empty() ? "the end of a line or block" : token().text, "', ",
               expected..., "; save the model again");
  }

private:
  const std::string &path_;
  std::vector<Token> tokens_;
  size_t at_ = 0;
  int depth_ = 0; // Nesting objects that exist
};

} // namespace cleave::torchscript
