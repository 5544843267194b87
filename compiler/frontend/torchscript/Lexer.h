// Lexer: splits the text of a program into tokens; Python's indentation becomes tokens of its own.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cleave::torchscript {

// A token and its value.
struct Token {
  // Indent, Dedent: a block begins, ends.
  enum class Kind { Name, Int, Float, String, Symbol, NewLine, Indent, Dedent, End };
  Kind kind = Kind::End;
  int line = 0;        // counted from 1
  std::string text;    // of a String: without quotes, escapes resolved
  int64_t integer = 0; // of an Int
  double number = 0;   // of a Float
};

// Splits the text into tokens; the last is End. Fails with path and line on characters outside of
// the language.
std::vector<Token> tokenize(const std::string &path, std::string_view text);

} // namespace cleave::torchscript
