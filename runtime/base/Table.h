// Table: rows of text in aligned columns, for the output of the tools.
#pragma once

#include <string>
#include <vector>

namespace cleave {

// The number of terminal columns of a UTF-8 text without wide characters. Escape sequences of
// styles (Terminal.h) take none.
size_t displayWidth(const std::string &text);

// The text in at most `width` columns: unchanged, or its beginning and `…`.
std::string clipped(const std::string &text, size_t width);

// The text in lines of at most `width` columns, broken at spaces; longer words are broken behind
// one of `./,_-`, or anywhere.
// At least one line.
std::vector<std::string> wrapped(const std::string &text, size_t width);

class Table {
public:
  enum class Align { Left, Right };

  // A column is aligned right if its heading begins with `>`, which is not printed.
  explicit Table(std::vector<std::string> headings);

  // Appends a row; missing cells are empty.
  void add(std::vector<std::string> cells);
  bool isEmpty() const { return rows_.size() == (hasHeadings_ ? 1 : 0); }

  // The lines, each indented by `indent` spaces and at most `width` columns wide, without trailing
  // blanks. No heading line if all headings are empty; a column without content is left out. Where
  // a row is wider, the widest columns that are aligned left are narrowed, those of names last, and
  // their cells continue on further lines; what is still too wide is clipped. `decorate` changes
  // the heading line, for a style.
  std::string str(size_t indent = 2, size_t width = 110,
                  std::string (*decorate)(const std::string &line) = nullptr) const;

private:
  std::vector<size_t> columnWidths(size_t available) const;
  void narrow(std::vector<size_t> &widths, const std::vector<size_t> &least,
              size_t available) const;
  std::string line(const std::vector<std::string> &cells, const std::vector<size_t> &widths,
                   size_t indent) const;

  std::vector<Align> aligns_;
  std::vector<std::vector<std::string>> rows_; // the headings first
  bool hasHeadings_ = false;
};

} // namespace cleave
