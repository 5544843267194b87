// See Lexer.h.
#include "compiler/frontend/torchscript/Lexer.h"

#include "compiler/frontend/emit/Failure.h"

#include <cctype>
#include <charconv>

namespace cleave::torchscript {
namespace {

using Kind = Token::Kind;

// Longest first.
constexpr const char *kSymbols[] = {"**", "//", "->", "==", "!=", "<=", ">=", "<<", ">>", "(", ")",
                                    "[",  "]",  "{",  "}",  ",",  ":",  ".",  "=",  "+",  "-", "*",
                                    "/",  "%",  "<",  ">",  "&",  "|",  "^",  "~",  "@"};

// Limit of tokens of one file, of which a zip archive can contain many in few bytes.
constexpr size_t kMaxTokens = size_t(1) << 20;

bool isNameStart(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool isDigit(char c) { return c >= '0' && c <= '9'; }

class Lexer {
public:
  Lexer(const std::string &path, std::string_view text) : path_(path), text_(text) {}

  std::vector<Token> run() {
    while (at_ < text_.size()) {
      if (isLineStart_ && brackets_ == 0 && !readIndentation())
        continue;
      readToken();
    }
    if (!isLineStart_)
      add(Kind::NewLine);
    for (; indents_.size() > 1; indents_.pop_back())
      add(Kind::Dedent);
    add(Kind::End);
    return std::move(tokens_);
  }

private:
  template <typename... Parts> [[noreturn]] void wrong(const Parts &...what) const {
    emit::fail(path_, ":", line_, ": ", what...,
               ", which is not how PyTorch writes programs; save the model again");
  }
  char peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  void add(Kind kind, std::string text = {}) {
    if (tokens_.size() == kMaxTokens)
      wrong("found more than ", kMaxTokens, " words");
    tokens_.push_back({kind, line_, std::move(text), 0, 0});
  }

  // Reads the indentation at the start of a line; false for an empty line.
  bool readIndentation() {
    size_t width = 0;
    while (peek() == ' ')
      ++width, ++at_;
    if (peek() == '\n' || peek() == '\r' || peek() == '#' || at_ == text_.size()) {
      skipLine();
      return false;
    }
    isLineStart_ = false;
    if (width > indents_.back()) {
      indents_.push_back(width);
      add(Kind::Indent);
    }
    while (width < indents_.back()) {
      indents_.pop_back();
      add(Kind::Dedent);
    }
    if (width != indents_.back())
      wrong("a line is indented like no line before it");
    return true;
  }

  void skipLine() {
    while (at_ < text_.size() && text_[at_] != '\n')
      ++at_;
    if (at_ < text_.size())
      ++at_;
    ++line_;
  }

  void readToken() {
    char c = peek();
    if (c == '\n') {
      if (brackets_ == 0) {
        add(Kind::NewLine);
        isLineStart_ = true;
      }
      ++at_, ++line_;
    } else if (c == ' ' || c == '\r' || c == '\t') {
      ++at_;
    } else if (c == '#') {
      while (at_ < text_.size() && text_[at_] != '\n')
        ++at_;
    } else if (isNameStart(c)) {
      readName();
    } else if (isDigit(c) || (c == '.' && isDigit(peek(1)))) {
      readNumber();
    } else if (c == '"' || c == '\'') {
      readString(c);
    } else {
      readSymbol();
    }
  }

  void readName() {
    size_t begin = at_;
    while (isNameStart(peek()) || isDigit(peek()))
      ++at_;
    add(Kind::Name, std::string(text_.substr(begin, at_ - begin)));
  }

  void readNumber() {
    size_t begin = at_;
    bool isFloat = false;
    for (;; ++at_) {
      char c = peek();
      bool isExponent = c == 'e' || c == 'E';
      if (isExponent && (peek(1) == '-' || peek(1) == '+'))
        ++at_;
      isFloat |= c == '.' || isExponent;
      if (!isDigit(c) && c != '.' && !isExponent)
        break;
    }
    std::string text(text_.substr(begin, at_ - begin));
    add(isFloat ? Kind::Float : Kind::Int, text);
    const char *first = text.data(), *last = first + text.size();
    Token &token = tokens_.back();
    auto result = isFloat ? std::from_chars(first, last, token.number)
                          : std::from_chars(first, last, token.integer);
    if (result.ec != std::errc() || result.ptr != last)
      wrong("found the number '", text, "'");
  }

  void readString(char quote) {
    ++at_;
    std::string out;
    while (peek() != quote) {
      if (at_ >= text_.size() || peek() == '\n')
        wrong("found a string without an end");
      if (peek() == '\\')
        readEscape(out);
      else
        out += text_[at_++];
    }
    ++at_;
    add(Kind::String, std::move(out));
  }

  void readEscape(std::string &out) {
    ++at_;
    char c = peek();
    if (c >= '0' && c <= '7') { // octal
      int code = 0;
      for (int i = 0; i < 3 && peek() >= '0' && peek() <= '7'; ++i)
        code = code * 8 + (text_[at_++] - '0');
      out += static_cast<char>(code);
      return;
    }
    ++at_;
    if (c == 'x' && std::isxdigit(static_cast<unsigned char>(peek())) &&
        std::isxdigit(static_cast<unsigned char>(peek(1)))) {
      int code = 0;
      std::from_chars(text_.data() + at_, text_.data() + at_ + 2, code, 16);
      at_ += 2;
      out += static_cast<char>(code);
      return;
    }
    static constexpr std::string_view from = "nrtabfv", to = "\n\r\t\a\b\f\v";
    size_t index = from.find(c);
    out += index == std::string_view::npos ? c : to[index];
  }

  void readSymbol() {
    for (const char *symbol : kSymbols) {
      std::string_view view = symbol;
      if (text_.substr(at_, view.size()) != view)
        continue;
      at_ += view.size();
      if (view == "(" || view == "[" || view == "{")
        ++brackets_;
      else if (brackets_ > 0 && (view == ")" || view == "]" || view == "}"))
        --brackets_;
      add(Kind::Symbol, symbol);
      return;
    }
    wrong("found '", peek(), "'");
  }

  const std::string &path_;
  std::string_view text_;
  size_t at_ = 0;
  int line_ = 1;
  int brackets_ = 0;
  bool isLineStart_ = true;
  std::vector<size_t> indents_{0};
  std::vector<Token> tokens_;
};

} // namespace

std::vector<Token> tokenize(const std::string &path, std::string_view text) {
  return Lexer(path, text).run();
}

} // namespace cleave::torchscript
