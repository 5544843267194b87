// Numbers in names, and sets of them as ranges.
#include "runtime/base/Fold.h"

#include "runtime/base/Concat.h"

#include <cctype>
#include <set>

namespace cleave {

static bool isDigit(char c) { return std::isdigit(static_cast<unsigned char>(c)); }

// The name split at its numbers: string, number, string, …; begins with a (possibly empty) string.
static std::vector<std::string> pieces(const std::string &name) {
  std::vector<std::string> result = {""};
  bool inNumber = false;
  for (char c : name) {
    if (isDigit(c) != inNumber) {
      result.emplace_back();
      inNumber = !inNumber;
    }
    result.back() += c;
  }
  return result;
}

std::string nameShape(const std::string &name) {
  std::string shape;
  std::vector<std::string> parts = pieces(name);
  for (size_t i = 0; i < parts.size(); ++i)
    shape += i % 2 ? "#" : parts[i];
  return shape;
}

// `{0-3}`, `{0,2,5-7}`, or the number itself if there is one.
static std::string setText(const std::set<std::string> &numbers) {
  if (numbers.size() == 1)
    return *numbers.begin();
  std::set<uint64_t> values;
  for (const std::string &number : numbers) {
    if (number.size() > 18)
      return "*";
    values.insert(std::stoull(number));
  }
  std::string result;
  for (auto first = values.begin(); first != values.end();) {
    auto last = first;
    auto next = std::next(first);
    while (next != values.end() && *next == *last + 1)
      last = next++;
    result += concat(result.empty() ? "" : ",", *first);
    if (last != first)
      result += concat(*last == *first + 1 ? "," : "-", *last);
    first = next;
  }
  return "{" + result + "}";
}

std::string foldedName(const std::vector<std::string> &names) {
  std::vector<std::set<std::string>> numbers;
  for (const std::string &name : names) {
    std::vector<std::string> parts = pieces(name);
    numbers.resize(parts.size());
    for (size_t i = 0; i < parts.size(); ++i)
      numbers[i].insert(parts[i]);
  }
  std::string result;
  for (size_t i = 0; i < numbers.size(); ++i)
    result += i % 2 ? setText(numbers[i]) : *numbers[i].begin();
  return result;
}

} // namespace cleave
