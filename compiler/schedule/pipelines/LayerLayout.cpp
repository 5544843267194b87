#include "compiler/schedule/pipelines/LayerLayout.h"

#include <algorithm>
#include <charconv>
#include <numeric>

namespace cleave::pipelines {
namespace {

constexpr size_t kMostCharacters = 1'000'000;

// Writes out repetitions.
class Expansion {
public:
  explicit Expansion(std::string_view text) : text_(text) {}

  Result<std::string> run() {
    while (at_ < text_.size()) {
      const size_t begin = at_;
      std::string_view part = text_.substr(at_++, 1);
      if (part == ",")
        continue;
      if (part == "(") {
        const size_t end = text_.find_first_of("()", at_);
        if (end == text_.npos || text_[end] != ')' || !text_.substr(end).starts_with(")*"))
          return errorAt(begin, "expected a matching )*N without other parentheses between");
        part = text_.substr(at_, end - at_);
        at_ = end + 1;
        CLEAVE_TRY_ASSIGN(const std::string inner, Expansion(part).run());
        CLEAVE_TRY(append(inner, begin));
      } else if (std::string_view("Etm|L").find(part) != part.npos) {
        CLEAVE_TRY(append(part, begin));
      } else {
        return errorAt(begin, concat("found '", part, "', expected E, t, m, L, |, (…)*N or ,"));
      }
    }
    return std::move(result_);
  }

private:
  Status errorAt(size_t at, const std::string &what) const {
    return Status::userError("column ", at + 1, " of '", text_, "': ", what);
  }

  // Appends a part as often as the text says after it.
  Status append(std::string_view part, size_t begin) {
    size_t times = 1;
    if (text_.substr(at_).starts_with('*')) {
      const auto [end, error] =
          std::from_chars(text_.data() + at_ + 1, text_.data() + text_.size(), times);
      if (error != std::errc())
        return errorAt(at_, "expected a number after *");
      at_ = static_cast<size_t>(end - text_.data());
    }
    if (times > kMostCharacters || result_.size() + times * part.size() > kMostCharacters)
      return errorAt(begin, concat("the layout has more than ", kMostCharacters, " characters"));
    for (; times > 0; --times)
      result_ += part;
    return Status::ok();
  }

  std::string_view text_;
  size_t at_ = 0; // the next character
  std::string result_;
};

Status checkLayers(const std::string &expanded) {
  const auto isOnly = [&](char letter, size_t at) {
    return at != expanded.npos && expanded[at] == letter &&
           std::count(expanded.begin(), expanded.end(), letter) == 1;
  };
  if (!isOnly('E', expanded.find_first_not_of('|')))
    return Status::userError("expected the first layer, and no other one, to be the embedding E");
  if (!isOnly('L', expanded.find_last_not_of('|')))
    return Status::userError("expected the last layer, and no other one, to be the loss L");
  return Status::ok();
}

// `t*3` for `ttt`.
std::string shortened(const std::string &stage) {
  std::string text;
  for (size_t begin = 0; begin < stage.size();) {
    const size_t end = std::min(stage.find_first_not_of(stage[begin], begin), stage.size());
    text += stage[begin];
    if (end - begin > 1)
      text += concat('*', end - begin);
    begin = end;
  }
  return text;
}

} // namespace

std::vector<uint32_t> LayerLayout::transformerLayers() const {
  std::vector<uint32_t> layers;
  for (const std::string &stage : stages)
    layers.push_back(static_cast<uint32_t>(std::count(stage.begin(), stage.end(), 't')));
  return layers;
}

Result<LayerLayout> parseLayerLayout(std::string_view text, uint32_t ranks) {
  CLEAVE_TRY_ASSIGN(const std::string expanded, Expansion(text).run().withContext("layout"));
  CLEAVE_TRY(checkLayers(expanded).withContext(concat("layout '", text, "'")));
  LayerLayout layout;
  for (size_t begin = 0; begin <= expanded.size();) {
    const size_t end = std::min(expanded.find('|', begin), expanded.size());
    layout.stages.push_back(expanded.substr(begin, end - begin));
    begin = end + 1;
  }
  if (ranks > 0 && layout.stages.size() % ranks != 0)
    return Status::userError("layout '", text, "': found ", layout.stages.size(),
                             " stages; expected a multiple of the ", ranks, " ranks");
  return layout;
}

std::string textOf(const LayerLayout &layout) {
  std::string text;
  for (size_t begin = 0; begin < layout.stages.size();) {
    const std::string &stage = layout.stages[begin];
    size_t end = begin + 1;
    while (end < layout.stages.size() && layout.stages[end] == stage)
      ++end;
    // The last stage of the layout has no `|` after it, so it is not repeated.
    const size_t times = end - begin - (end == layout.stages.size());
    const bool isRepeated = times > 1;
    if (isRepeated)
      text += concat('(', shortened(stage), "|)*", times, ',');
    else
      text += shortened(stage) + (begin + 1 < layout.stages.size() ? "|" : "");
    begin += isRepeated ? times : 1;
  }
  return text;
}

LayerLayout layoutOf(const std::vector<uint32_t> &sizes) {
  std::string letters(std::accumulate(sizes.begin(), sizes.end(), size_t(0)), 't');
  letters.front() = 'E';
  letters.back() = 'L';
  LayerLayout layout;
  size_t begin = 0;
  for (uint32_t size : sizes) {
    layout.stages.push_back(letters.substr(begin, size));
    begin += size;
  }
  return layout;
}

} // namespace cleave::pipelines
