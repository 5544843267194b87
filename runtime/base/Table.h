// Table: rows of text in aligned columns, for the output of the tools.
#pragma once

#include <string>
#include <vector>

namespace cleave {

// The number of terminal columns of a UTF-8 text without wide characters.
size_t displayWidth(const std::string &text);

// The text in at most `width` columns: unchanged, or its beginning and `…`.
std::string clipped(const std::string &text, size_t width);

class Table {
public:
  enum class Align { Left, Right };

  // A column is aligned right if its heading begins with `>`, which is not printed.
  explicit Table(std::vector<std::string> headings);

  // Appends a row; missing cells are empty.
  void add(std::vector<std::string> cells);
  bool isEmpty() const { return rows_.size() == (hasHeadings_ ? 1 : 0); }

  // The lines, each indented by `indent` spaces and clipped to `width` columns, without trailing
  // blanks. No heading line if all headings are empty.
  std::string str(size_t indent = 2, size_t width = 110) const;

private:
  std::vector<Align> aligns_;
  std::vector<std::vector<std::string>> rows_; // the headings first
  bool hasHeadings_ = false;
};

} // namespace cleave
