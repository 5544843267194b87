// Column widths, wrapping and padding.
#include "runtime/base/Table.h"

#include <algorithm>
#include <cassert>
#include <functional>
#include <string_view>
#include <utility>

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

static bool mayBreakBehind(char byte) {
  return std::string_view("./,_-").find(byte) != std::string_view::npos;
}

// The place in the first `width` columns of a longer word at which it is broken: behind a character
// that separates the parts of names, unless that leaves more than half of the columns empty.
static size_t breakIn(const std::string &word, size_t width) {
  const size_t fits = endOfColumns(word, width);
  for (size_t at = fits; at > fits / 2; --at)
    if (mayBreakBehind(word[at - 1]) && !mayBreakBehind(word[at]))
      return at;
  return fits;
}

// Columns of the longest part of a text that is not broken: `isBreak` says behind which characters
// it may be.
template <typename IsBreak> static size_t longestPart(const std::string &text, IsBreak isBreak) {
  size_t longest = 0, begin = 0;
  for (size_t at = 0; at < text.size(); ++at)
    if (isBreak(text[at])) {
      const size_t end = at + (text[at] == ' ' ? 0 : 1);
      longest = std::max(longest, displayWidth(text.substr(begin, end - begin)));
      begin = at + 1;
    }
  return std::max(longest, displayWidth(text.substr(std::min(begin, text.size()))));
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
      const size_t fits = breakIn(word, width);
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

// Narrows the widest columns that are aligned left and wider than their `least` widths until a row
// fits into `available` columns, or none is left.
void Table::narrow(std::vector<size_t> &widths, const std::vector<size_t> &least,
                   size_t available) const {
  size_t total =
      widths.empty() ? 0 : kBetween * (std::ranges::count_if(widths, std::identity()) - 1);
  for (size_t width : widths)
    total += width;
  for (; total > available; --total) {
    size_t widest = widths.size();
    for (size_t c = 0; c < widths.size(); ++c)
      if (aligns_[c] == Align::Left && widths[c] > least[c] &&
          (widest == widths.size() || widths[c] >= widths[widest]))
        widest = c;
    if (widest == widths.size())
      return;
    --widths[widest];
  }
}

// Those of the widest cells, narrowed until a row fits into `available` columns: at first such that
// no name is broken, then such that no part of one is. 0: a column without content.
std::vector<size_t> Table::columnWidths(size_t available) const {
  constexpr size_t kNarrow = 20, kNarrower = 12, kNarrowest = 6;
  const size_t most = available * 2 / 5; // of a column whose names are not broken
  std::vector<size_t> widths(aligns_.size()), names(aligns_.size()), parts(aligns_.size());
  for (size_t r = 0; r < rows_.size(); ++r)
    for (size_t c = 0; c < rows_[r].size(); ++c) {
      const std::string &cell = rows_[r][c];
      widths[c] = std::max(widths[c], displayWidth(cell));
      names[c] = std::max(names[c], longestPart(cell, [](char byte) { return byte == ' '; }));
      parts[c] = std::max(parts[c], longestPart(cell, [](char byte) {
                            return byte == ' ' || mayBreakBehind(byte);
                          }));
    }
  for (size_t c = 0; c < widths.size(); ++c) {
    const bool isEmpty = hasHeadings_ && rows_.size() > 1 &&
                         std::all_of(rows_.begin() + 1, rows_.end(),
                                     [&](const auto &row) { return row[c].empty(); });
    widths[c] = isEmpty ? 0 : widths[c];
    names[c] = std::max(kNarrow, std::min(names[c], most));
    parts[c] = std::max(kNarrower, std::min(parts[c], most));
  }
  narrow(widths, names, available);
  narrow(widths, parts, available);
  narrow(widths, std::vector<size_t>(widths.size(), kNarrower), available);
  narrow(widths, std::vector<size_t>(widths.size(), kNarrowest), available);
  return widths;
}

std::string Table::line(const std::vector<std::string> &cells, const std::vector<size_t> &widths,
                        size_t indent) const {
  std::string text(indent, ' ');
  bool isFirst = true;
  for (size_t c = 0; c < cells.size(); ++c) {
    if (widths[c] == 0)
      continue;
    const std::string padding(widths[c] - std::min(widths[c], displayWidth(cells[c])), ' ');
    text += std::exchange(isFirst, false) ? "" : std::string(kBetween, ' ');
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
      cells.push_back(widths[c] ? wrapped(rows_[r][c], widths[c]) : std::vector<std::string>());
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
