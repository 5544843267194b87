// Column widths, wrapping and padding.
#include "runtime/base/Table.h"

#include <algorithm>
#include <cassert>

namespace cleave {

static constexpr size_t kBetween = 2; // blanks between columns

static bool beginsCharacter(char byte) { return (byte & 0xC0) != 0x80; }

// The end of the escape sequence that begins at `at` (`ESC [ … m`), or `at` if none does.
static size_t endOfStyle(const std::string &text, size_t at) {
  if (text.compare(at, 2, "\x1b[") != 0)
    return at;
  const size_t end = text.find('m', at);
  return end == std::string::npos ? text.size() : end + 1;
}

// The place behind the first `width` columns of the text.
static size_t endOfColumns(const std::string &text, size_t width) {
  size_t at = 0;
  for (size_t columns = 0; at < text.size();) {
    if (const size_t end = endOfStyle(text, at); end != at) {
      at = end;
      continue;
    }
    if (beginsCharacter(text[at]) && ++columns > width)
      break;
    ++at;
  }
  return at;
}

size_t displayWidth(const std::string &text) {
  size_t columns = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = endOfStyle(text, at);
    columns += end == at && beginsCharacter(text[at]);
    at = std::max(end, at + 1);
  }
  return columns;
}

std::string clipped(const std::string &text, size_t width) {
  if (displayWidth(text) <= width)
    return text;
  return text.substr(0, endOfColumns(text, width - std::min<size_t>(width, 1))) + "…";
}

std::vector<std::string> wrapped(const std::string &text, size_t width) {
  if (displayWidth(text) <= width)
    return {text};
  width = std::max<size_t>(width, 1);
  std::vector<std::string> lines(1);
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    std::string word = text.substr(at, end - at);
    std::string *line = &lines.back();
    if (!line->empty() && displayWidth(*line) + 1 + displayWidth(word) > width)
      line = &lines.emplace_back();
    for (; displayWidth(word) > width; line = &lines.emplace_back()) {
      const size_t fits = endOfColumns(word, width);
      *line = word.substr(0, fits);
      word.erase(0, fits);
    }
    *line += (line->empty() ? "" : " ") + word;
    at = end + 1;
  }
  return lines;
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

// Those of the widest cells, narrowed until a row fits into `available` columns.
std::vector<size_t> Table::columnWidths(size_t available) const {
  constexpr size_t kNarrowest = 12;
  std::vector<size_t> widths(aligns_.size());
  for (const std::vector<std::string> &row : rows_)
    for (size_t c = 0; c < row.size(); ++c)
      widths[c] = std::max(widths[c], displayWidth(row[c]));
  size_t total = widths.empty() ? 0 : kBetween * (widths.size() - 1);
  for (size_t width : widths)
    total += width;
  while (total > available) {
    size_t widest = widths.size();
    for (size_t c = 0; c < widths.size(); ++c)
      if (aligns_[c] == Align::Left && widths[c] > kNarrowest &&
          (widest == widths.size() || widths[c] >= widths[widest]))
        widest = c;
    if (widest == widths.size())
      break;
    --widths[widest];
    --total;
  }
  return widths;
}

std::string Table::line(const std::vector<std::string> &cells, const std::vector<size_t> &widths,
                        size_t indent) const {
  std::string text(indent, ' ');
  for (size_t c = 0; c < cells.size(); ++c) {
    const std::string padding(widths[c] - std::min(widths[c], displayWidth(cells[c])), ' ');
    text += c ? std::string(kBetween, ' ') : "";
    text += aligns_[c] == Align::Right ? padding + cells[c] : cells[c] + padding;
  }
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

std::string Table::str(size_t indent, size_t width,
                       std::string (*decorate)(const std::string &line)) const {
  const std::vector<size_t> widths = columnWidths(width - std::min(width, indent));
  std::string text;
  for (size_t r = 0; r < rows_.size(); ++r) {
    std::vector<std::vector<std::string>> cells;
    size_t lines = 1;
    for (size_t c = 0; c < widths.size(); ++c) {
      cells.push_back(wrapped(rows_[r][c], widths[c]));
      lines = std::max(lines, cells.back().size());
    }
    for (size_t l = 0; l < lines; ++l) {
      std::vector<std::string> part;
      for (const std::vector<std::string> &cell : cells)
        part.push_back(l < cell.size() ? cell[l] : "");
      const std::string full = clipped(line(part, widths, indent), width);
      text += (decorate && hasHeadings_ && r == 0 ? decorate(full) : full) + "\n";
    }
  }
  return text;
}

} // namespace cleave
