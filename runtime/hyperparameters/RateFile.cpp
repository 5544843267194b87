// See RateFile.h.
#include "runtime/hyperparameters/RateFile.h"

#include "runtime/base/RegularFile.h"
#include "runtime/base/Sha256.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <sstream>

namespace cleave::hyperparameters {
namespace {

constexpr uint64_t kMostBytes = uint64_t(1) << 28;

// The numbers of a line; none if a word is not a number of at least 0.
std::optional<std::vector<double>> numbersOf(const std::string &line) {
  std::istringstream words(line);
  std::vector<double> numbers;
  for (std::string word; words >> word;) {
    char *end = nullptr;
    numbers.push_back(std::strtod(word.c_str(), &end));
    if (*end || !std::isfinite(numbers.back()) || numbers.back() < 0)
      return std::nullopt;
  }
  return numbers;
}

} // namespace

Result<RateFile> RateFile::read(const std::string &path) {
  CLEAVE_TRY_ASSIGN(std::string text, readRegularFile(path, kMostBytes));
  RateFile file;
  file.digest_ = sha256(text).substr(0, 12);
  std::istringstream lines(text);
  size_t number = 0, width = 0; // of the line; of every line, in numbers
  for (std::string line; std::getline(lines, line);) {
    ++number;
    size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string::npos || line[begin] == '#')
      continue;
    std::optional<std::vector<double>> numbers = numbersOf(line);
    bool isFirst = file.points_.empty();
    if (!numbers || numbers->size() > 2 || (!isFirst && numbers->size() != width))
      return Status::userError("line ", number, " of '", path, "' is `", line,
                               "`, expected a learning rate in every line, or a step and a "
                               "learning rate in every line");
    width = numbers->size();
    double step = width == 2 ? numbers->front() : double(file.points_.size());
    if (!isFirst && step < file.points_.back().first)
      return Status::userError("line ", number, " of '", path, "' is of step ", step,
                               ", expected one of at least ", file.points_.back().first);
    file.points_.emplace_back(step, numbers->back());
  }
  if (file.points_.empty())
    return Status::userError("'", path, "' has no learning rate, expected one in every line");
  return file;
}

double RateFile::at(int64_t step) const {
  auto after = std::upper_bound(
      points_.begin(), points_.end(), double(step),
      [](double step, const std::pair<double, double> &point) { return step < point.first; });
  if (after == points_.begin())
    return after->second;
  auto before = std::prev(after);
  if (after == points_.end() || before->first == double(step))
    return before->second;
  double share = (double(step) - before->first) / (after->first - before->first);
  return before->second + (after->second - before->second) * share;
}

} // namespace cleave::hyperparameters
