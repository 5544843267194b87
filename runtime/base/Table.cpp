// Column widths and padding.
#include "runtime/base/Table.h"

#include <algorithm>
#include <cassert>

namespace cleave {

static bool beginsCharacter(char byte) { return (byte & 0xC0) != 0x80; }

size_t displayWidth(const std::string &text) {
  return std::count_if(text.begin(), text.end(), beginsCharacter);
}

std::string clipped(const std::string &text, size_t width) {
  if (displayWidth(text) <= width)
    return text;
  size_t end = 0;
  for (size_t characters = 0; end < text.size(); ++end)
    if (beginsCharacter(text[end]) && ++characters >= width)
      break;
  return text.substr(0, end) + "…";
}

Table::Table(std::vector<std::string> headings) {
  for (std::string &heading : headings) {
    bool right = heading.starts_with('>');
    heading.erase(0, right);
    aligns_.push_back(right ? Align::Right : Align::Left);
    hasHeadings_ |= !heading.empty();
  }
  if (hasHeadings_)
    rows_.push_back(std::move(headings));
}

void Table::add(std::vector<std::string> cells) {
  assert(cells.size() <= aligns_.size() && "more cells than columns");
  cells.resize(aligns_.size());
  rows_.push_back(std::move(cells));
}

std::string Table::str(size_t indent, size_t width) const {
  std::vector<size_t> widths(aligns_.size());
  for (const std::vector<std::string> &row : rows_)
    for (size_t c = 0; c < row.size(); ++c)
      widths[c] = std::max(widths[c], displayWidth(row[c]));
  std::string text;
  for (const std::vector<std::string> &row : rows_) {
    std::string line(indent, ' ');
    for (size_t c = 0; c < row.size(); ++c) {
      std::string padding(widths[c] - displayWidth(row[c]), ' ');
      line += c ? "  " : "";
      line += aligns_[c] == Align::Right ? padding + row[c] : row[c] + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += clipped(line, width) + "\n";
  }
  return text;
}

} // namespace cleave
