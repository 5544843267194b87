// Operators that compute strings or cast them, evaluated while importing.
#include "compiler/frontend/onnx/file/NarrowTypes.h"
#include "compiler/frontend/onnx/ops/OpTable.h"

#include "llvm/ADT/StringExtras.h"

#include <charconv>
#include <cmath>
#include <regex>

namespace cleave::onnx {

// Elements of one string tensor.
constexpr size_t kMaxStrings = size_t(1) << 20;

// -- casts ----------------------------------------------------------------------------------------
namespace {

// The fewest digits that identify the number, with `.0` for integers: `0.25`, `1e-05`, `3.0`,
// `nan`.
std::string decimalString(double value, ElementType type) {
  if (std::isnan(value))
    return "nan";
  if (std::isinf(value))
    return value < 0 ? "-inf" : "inf";
  char digits[64];
  auto end = type == ElementType::F64
                 ? std::to_chars(digits, digits + sizeof(digits), value)
                 : std::to_chars(digits, digits + sizeof(digits), static_cast<float>(value));
  std::string text(digits, end.ptr);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

double numberIn(const std::string &text) {
  char *end = nullptr;
  double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end)
    fail("has the string '", text, "', expected a number");
  return value;
}

std::string stringOf(double value, ElementType type) {
  if (type == ElementType::Bool)
    return value != 0 ? "True" : "False";
  return isFloat(type) ? decimalString(value, type) : concat(emit::truncated(value));
}

StringTensor stringsOfNumbers(NodeImport &n) {
  Tensor numbers =
      n.tensorInput(0, "numbers that become strings, which exist while importing only");
  StringTensor strings{numbers.shape, {}};
  for (double value : numbers.values)
    strings.elements.push_back(stringOf(value, numbers.type));
  return strings;
}

} // namespace

std::optional<Binding> castString(NodeImport &n, int32_t to) {
  if (to == kStringType)
    return n.isString(0) ? n.binding(0) : n.stringBinding(stringsOfNumbers(n));
  if (!n.isString(0))
    return std::nullopt;
  std::optional<ElementType> type = elementTypeOf(to);
  if (!type || narrowNumber(to))
    fail("makes ", dataTypeName(to), " of strings, which Cleave does not import");
  StringTensor strings = n.stringsInput(0);
  Tensor numbers(*type, strings.shape);
  for (size_t i = 0; i < strings.elements.size(); ++i)
    numbers.set(static_cast<int64_t>(i), numberIn(strings.elements[i]));
  return Binding{{n.constant(numbers)}};
}

namespace {

// -- strings computed from strings ----------------------------------------------------------------

enum class Letters { Keep, Lower, Upper };

Letters lettersAttribute(NodeImport &n) {
  std::string action = n.string("case_change_action", "NONE");
  if (action != "NONE" && action != "LOWER" && action != "UPPER")
    fail("attribute 'case_change_action' is '", action, "', expected NONE, LOWER or UPPER");
  return action == "NONE" ? Letters::Keep : action == "LOWER" ? Letters::Lower : Letters::Upper;
}

// Changes the case of the letters a to z. Other letters depend on a locale and fail.
std::string withLetters(std::string text, Letters letters) {
  if (letters == Letters::Keep)
    return text;
  for (char &c : text) {
    if (static_cast<unsigned char>(c) >= 128)
      fail("changes the case of '", text, "', which Cleave does for the letters a to z only");
    c = static_cast<char>(letters == Letters::Lower ? llvm::toLower(c) : llvm::toUpper(c));
  }
  return text;
}

// Removes the stop words and changes the case; one empty string if nothing is left.
Bindings importNormalizer(NodeImport &n) {
  n.checkInputs(1, 1);
  n.ignore({"locale"}); // see withLetters
  StringTensor strings = n.stringsInput(0);
  Letters change = lettersAttribute(n);
  Letters compared = n.integer("is_case_sensitive", 0) ? Letters::Keep : Letters::Lower;
  std::set<std::string> stop;
  for (const std::string &word : n.strings("stopwords").value_or(std::vector<std::string>()))
    stop.insert(withLetters(word, compared));
  if (strings.shape.empty() || strings.shape.size() > 2 ||
      (strings.shape.size() == 2 && strings.shape[0] != 1))
    fail("has strings ", emit::showInts(strings.shape), ", expected [count] or [1, count]");
  StringTensor kept;
  for (const std::string &text : strings.elements)
    if (stop.empty() || !stop.contains(withLetters(text, compared)))
      kept.elements.push_back(withLetters(text, change));
  if (kept.elements.empty())
    kept.elements.emplace_back();
  kept.shape = strings.shape;
  kept.shape.back() = static_cast<int64_t>(kept.elements.size());
  return {n.stringBinding(kept)};
}

// Concatenates the elements of both operands, broadcast to a common shape.
Bindings importStringConcat(NodeImport &n) {
  n.checkInputs(2, 2);
  n.stringsInput(0), n.stringsInput(1);
  Value x = n.input(0), y = n.input(1);
  n.broadcastTogether(x, y);
  StringTensor first = knownStrings(n.evaluator, n.services.strings(), x),
               second = knownStrings(n.evaluator, n.services.strings(), y);
  for (size_t i = 0; i < first.elements.size(); ++i)
    first.elements[i] += second.elements[i];
  return {n.stringBinding(first)};
}

// Splits the string at the delimiter at most `most` times; an empty delimiter stands for any white
// space.
std::vector<std::string> split(const std::string &text, const std::string &delimiter,
                               int64_t most) {
  const char *blanks = " \t\n\v\f\r";
  std::vector<std::string> parts;
  size_t at = delimiter.empty() ? text.find_first_not_of(blanks) : 0;
  while (at != std::string::npos) {
    if (parts.size() > kMaxStrings)
      fail("has a string of more than ", kMaxStrings, " parts");
    bool isLast = static_cast<int64_t>(parts.size()) == most;
    size_t end = isLast              ? std::string::npos
                 : delimiter.empty() ? text.find_first_of(blanks, at)
                                     : text.find(delimiter, at);
    parts.push_back(text.substr(at, end == std::string::npos ? end : end - at));
    if (end == std::string::npos)
      break;
    at = delimiter.empty() ? text.find_first_not_of(blanks, end) : end + delimiter.size();
  }
  return parts;
}

// Outputs the parts along a new last dim, padded with empty strings, and the numbers of parts.
Bindings importSplit(NodeImport &n) {
  n.checkInputs(1, 1);
  StringTensor strings = n.stringsInput(0), out;
  std::string delimiter = n.string("delimiter", "");
  int64_t most = n.integer("maxsplit", std::numeric_limits<int64_t>::max());
  std::vector<std::vector<std::string>> parts;
  size_t longest = 0;
  Tensor counts(ElementType::I64, strings.shape);
  for (const std::string &text : strings.elements) {
    parts.push_back(split(text, delimiter, most));
    longest = std::max(longest, parts.back().size());
    counts.values[parts.size() - 1] = static_cast<double>(parts.back().size());
  }
  if (strings.elements.size() * longest > kMaxStrings)
    fail("has more than ", kMaxStrings, " parts in all");
  out.shape = strings.shape;
  out.shape.push_back(static_cast<int64_t>(longest));
  for (std::vector<std::string> &row : parts) {
    row.resize(longest);
    out.elements.insert(out.elements.end(), row.begin(), row.end());
  }
  return {n.stringBinding(out), Binding{{n.constant(counts)}}};
}

// An upper bound for the number of states of the pattern: the library expands counted repetitions
// and recurses into parts that may be empty.
size_t statesOf(const std::string &pattern) {
  size_t states = pattern.size();
  for (size_t at = pattern.find('{'); at != std::string::npos; at = pattern.find('{', at + 1)) {
    size_t end = std::min(pattern.find('}', at), pattern.size()), comma = pattern.rfind(',', end);
    size_t least = std::strtoul(pattern.c_str() + at + 1, nullptr, 10),
           last = comma != std::string::npos && comma > at
                      ? std::strtoul(pattern.c_str() + comma + 1, nullptr, 10)
                      : 0;
    states *= std::clamp<size_t>(std::max(least, last), 1, 1 << 16);
    states = std::min<size_t>(states, 1 << 16);
  }
  return states;
}

// Whether each string as a whole matches the pattern.
Values importMatch(NodeImport &n) {
  n.checkInputs(1, 1);
  constexpr size_t most = 1024; // bytes that are matched
  StringTensor strings = n.stringsInput(0);
  std::string pattern = n.string("pattern", "");
  Tensor out(ElementType::Bool, strings.shape);
  size_t states = statesOf(pattern), bytes = strings.elements.size();
  for (const std::string &text : strings.elements)
    bytes += text.size();
  if (states > (1 << 13) || states * bytes > (1 << 24))
    fail("matches strings against a pattern that takes more time than Cleave allows");
  try {
    // The one of the library's two matchers whose time is bounded.
    std::regex expression(pattern.substr(0, most),
                          std::regex::ECMAScript | std::regex_constants::__polynomial);
    for (size_t i = 0; i < strings.elements.size(); ++i) {
      if (strings.elements[i].size() > most || pattern.size() > most)
        fail("matches a string or pattern of more than ", most, " bytes");
      out.values[i] = std::regex_match(strings.elements[i], expression);
    }
  } catch (const std::regex_error &) {
    fail("has the pattern '", pattern, "', which Cleave does not understand");
  }
  return {n.constant(out)};
}

constexpr OpEntry kStringsOps[] = {
    {"RegexFullMatch", 20, importMatch},
    {"StringConcat", 20, importStringConcat},
    {"StringNormalizer", 10, importNormalizer},
    {"StringSplit", 20, importSplit},
};

} // namespace

llvm::ArrayRef<OpEntry> stringOps() { return kStringsOps; }

} // namespace cleave::onnx
