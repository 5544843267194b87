#include "passes/driver/BreakLines.h"

#include <algorithm>
#include <vector>

namespace cleave::driver {

namespace {

// A list in brackets: the places of its brackets and of the commas between its entries.
struct List {
  size_t open = 0, close = 0;
  std::vector<size_t> commas;
  size_t length() const { return close - open; }
};

// The place behind the string that begins at `at`.
size_t endOfString(const std::string &text, size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at)
    at += text[at] == '\\';
  return at + 1;
}

// Whether the character is the bracket of a type or attribute, and not part of `->`, `>=` or `<=`.
bool isAngle(const std::string &line, size_t at) {
  return (line[at] == '<' || line[at] == '>') && (at == 0 || line[at - 1] != '-') &&
         (at + 1 == line.size() || line[at + 1] != '=');
}

// The longest outermost list of a line; of no length if there is none. Lists in angle brackets stay
// whole. Brackets that close what an earlier line has opened are passed over.
List longestList(const std::string &line) {
  List longest, current;
  int depth = 0, angles = 0;
  for (size_t at = 0; at < line.size(); ++at) {
    const char c = line[at];
    if (c == '"') {
      at = endOfString(line, at) - 1;
    } else if (c == '(' || c == '[' || c == '{') {
      if (depth++ == 0)
        current = {.open = at};
    } else if (c == ')' || c == ']' || c == '}') {
      if (depth == 0)
        continue;
      --depth;
      current.close = at;
      if (depth == 0 && current.length() > longest.length())
        longest = current;
    } else if (isAngle(line, at)) {
      angles = std::max(0, angles + (c == '<' ? 1 : -1));
    } else if (c == ',' && depth == 1 && angles == 0) {
      current.commas.push_back(at);
    }
  }
  return longest;
}

// The line, of operands or types in no brackets, broken behind commas.
void appendFilled(std::string &out, const std::string &line, size_t indent, size_t columns) {
  std::string blanks(indent, ' '), rest = line;
  while (indent + rest.size() > columns) {
    size_t end = 0; // behind the last comma that fits, or the first one
    int angles = 0;
    for (size_t at = 0; at < rest.size() && (end == 0 || indent + at < columns); ++at) {
      if (rest[at] == '"')
        at = endOfString(rest, at) - 1;
      else if (isAngle(rest, at))
        angles = std::max(0, angles + (rest[at] == '<' ? 1 : -1));
      else if (rest[at] == ',' && angles == 0)
        end = at + 1;
    }
    const size_t next = end == 0 ? std::string::npos : rest.find_first_not_of(' ', end);
    if (next == std::string::npos)
      break;
    out += blanks + rest.substr(0, end) + "\n";
    rest.erase(0, next);
    blanks.assign(indent + 4, ' ');
  }
  out += blanks + rest + "\n";
}

void append(std::string &out, const std::string &line, size_t indent, size_t columns) {
  constexpr size_t kWorthLines = 40; // shorter lists stay whole, however long the line
  const std::string blanks(indent, ' ');
  const List list = indent + line.size() > columns ? longestList(line) : List();
  if (list.length() < kWorthLines)
    return appendFilled(out, line, indent,
                        line.size() > 2 * columns ? columns : line.size() + indent);
  out += blanks + line.substr(0, list.open + 1) + "\n";
  size_t begin = list.open + 1;
  for (size_t i = 0; i <= list.commas.size(); ++i) {
    const size_t end = i < list.commas.size() ? list.commas[i] + 1 : list.close;
    begin = line.find_first_not_of(' ', begin);
    append(out, line.substr(begin, end - begin), indent + 2, columns);
    begin = end;
  }
  append(out, line.substr(list.close), indent, columns);
}

} // namespace

std::string brokenLines(const std::string &text, size_t columns) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const size_t begin = std::min(text.find_first_not_of(' ', at), end);
    const std::string line = text.substr(begin, end - begin);
    if (end - at <= columns || line.starts_with("//"))
      out += text.substr(at, end - at) + "\n";
    else
      append(out, line, begin - at, columns);
    at = end + 1;
  }
  return out;
}

} // namespace cleave::driver
