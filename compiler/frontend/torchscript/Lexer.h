// Lexer: the text of a program as tokens, with Python's indentation as tokens of its own.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cleave::torchscript {

struct Token {
  enum class Kind { Name, Int, Float, String, Symbol, NewLine, Indent, Dedent, End };
  Kind kind = Kind::End;
  int line = 0;
  std::string text; // of a string: without quotes, escapes resolved
  int64_t integer = 0;
  double number = 0;
};

// All tokens, the last is End. Fails with path and line on characters that belong to none.
std::vector<Token> tokenize(const std::string &path, std::string_view text);

} // namespace cleave::torchscript
