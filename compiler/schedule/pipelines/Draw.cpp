#include "compiler/schedule/pipelines/Draw.h"

#include "runtime/base/Concat.h"
#include "runtime/base/Units.h"

#include <algorithm>
#include <cmath>

namespace cleave::pipelines {
namespace {

constexpr double kMostColumns = 20'000; // of a whole drawing

class Drawing {
public:
  Drawing(const Order &order, const Evaluation &evaluation, std::string_view row)
      : order_(order), evaluation_(evaluation), row_(row),
        isStageClear_(order.rankOf.size() == order.ranks()) {}

  std::string text(size_t width) {
    findScale();
    std::vector<std::string> rows;
    for (uint32_t rank = 0; rank < order_.ranks(); ++rank)
      rows.push_back(row(rank));
    const size_t labelWidth = label(order_.ranks() - 1).size();
    const size_t columns = width > labelWidth ? width - labelWidth : 1, all = columnOf(end());
    std::string text;
    for (size_t begin = 0; begin < std::max<size_t>(all, 1); begin += columns) {
      if (all > columns)
        text += concat(begin > 0 ? "\n" : "", "from ",
                       secondsText(static_cast<double>(begin) / scale_), ":\n");
      for (uint32_t rank = 0; rank < order_.ranks(); ++rank)
        text += line(label(rank), labelWidth, rows[rank].substr(begin, columns));
    }
    return text + summary();
  }

private:
  double end() const { return evaluation_.makespan; }
  size_t columnOf(double seconds) const {
    return static_cast<size_t>(std::llround(seconds * scale_));
  }
  std::string label(uint32_t rank) const { return concat(row_, ' ', rank, "  "); }

  static std::string line(std::string text, size_t labelWidth, const std::string &row) {
    text.resize(labelWidth, ' ');
    text += row;
    text.erase(text.find_last_not_of(' ') + 1);
    return text + '\n';
  }

  std::string textOf(const Task &task) const {
    std::string text;
    if (task.actions().front().kind == Kind::Recompute && task.actions().size() == 2)
      text = pipelines::textOf(task);
    else
      for (const Action &action : task.actions())
        text += pipelines::textOf(action).substr(isStageClear_ ? std::to_string(action.stage).size()
                                                               : 0);
    return text;
  }

  // The text of the shortest task fits, with a blank, but a drawing does not get endless.
  void findScale() {
    for (uint32_t rank = 0; rank < order_.ranks(); ++rank)
      for (size_t i = 0; i < order_.tasks[rank].size(); ++i) {
        const schedule::Interval &time = evaluation_.times[rank][i];
        if (time.end > time.begin)
          scale_ = std::max(scale_, static_cast<double>(textOf(order_.tasks[rank][i]).size() + 1) /
                                        (time.end - time.begin));
      }
    scale_ = std::min(scale_, kMostColumns / std::max(end(), 1e-300));
  }

  std::string row(uint32_t rank) const {
    std::string row(columnOf(end()), '.');
    for (size_t i = 0; i < order_.tasks[rank].size(); ++i) {
      const schedule::Interval &time = evaluation_.times[rank][i];
      const size_t begin = columnOf(time.begin), length = columnOf(time.end) - begin;
      std::string text = textOf(order_.tasks[rank][i]);
      if (text.size() < length) {
        text.resize(length - 1, '-');
        text += ' ';
      }
      row.replace(begin, length, text.substr(0, length));
    }
    return row;
  }

  std::string summary() const {
    std::string text =
        concat("makespan ", secondsText(end()), ", longest ", row_, ' ',
               secondsText(evaluation_.longestRank), ", bubble ",
               percentText(evaluation_.bubbleFraction), "; in flight on ", row_, "s:");
    for (uint32_t inFlight : evaluation_.inFlightOfRank)
      text += concat(' ', inFlight);
    return text + '\n';
  }

  const Order &order_;
  const Evaluation &evaluation_;
  const std::string_view row_;
  const bool isStageClear_; // from the rank: there is one stage on each
  double scale_ = 0;        // columns per second
};

} // namespace

std::string draw(const Order &order, const Evaluation &evaluation, size_t width,
                 std::string_view row) {
  return Drawing(order, evaluation, row).text(width);
}

} // namespace cleave::pipelines
