// Table: rows of text in aligned columns, for what the tools print.
#pragma once

#include <string>
#include <vector>

namespace cleave {

// How many columns of a terminal a UTF-8 text takes, if no character is wide.
size_t displayWidth(const std::string &text);

// The text, or its beginning and `…`, so that it takes at most `width` columns.
std::string clipped(const std::string &text, size_t width);

class Table {
public:
  enum class Align { Left, Right };

  // The headings; a column is aligned right if its heading begins with `>` (which is not printed).
  explicit Table(std::vector<std::string> headings);

  // One row; missing cells are empty.
  void add(std::vector<std::string> cells);
  bool isEmpty() const { return rows_.size() == (hasHeadings_ ? 1 : 0); }

  // The lines, each after `indent` spaces and clipped to `width` columns. No blanks at line ends;
  // without a heading line if all headings are empty.
  std::string str(size_t indent = 2, size_t width = 110) const;

private:
  std::vector<Align> aligns_;
  std::vector<std::vector<std::string>> rows_; // the headings first
  bool hasHeadings_ = false;
};

} // namespace cleave
