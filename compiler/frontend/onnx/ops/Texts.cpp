// Operators that make texts of texts or cast them, computed while importing.
#include "compiler/frontend/onnx/file/NarrowTypes.h"
#include "compiler/frontend/onnx/ops/OpTable.h"

#include "llvm/ADT/StringExtras.h"

#include <charconv>
#include <cmath>
#include <regex>

namespace cleave::onnx {

// Elements of one tensor of texts.
constexpr size_t kMostTexts = size_t(1) << 20;

// -- casts ----------------------------------------------------------------------------------------
namespace {

// `0.25`, `1e-05`, `nan`: the fewest digits that tell the number apart, a whole one with `.0`.
std::string decimalText(double value, ElementType type) {
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
    fail("has the text '" + text + "', expected a number");
  return value;
}

Texts textsOfNumbers(NodeImport &n) {
  Tensor numbers = n.tensorInput(0, "numbers that become texts, which exist while importing only");
  Texts texts{numbers.shape, {}};
  for (double value : numbers.values)
    texts.elements.push_back(numbers.type == ElementType::Bool ? value != 0 ? "True" : "False"
                             : isFloat(numbers.type)           ? decimalText(value, numbers.type)
                                                     : std::to_string(emit::truncated(value)));
  return texts;
}

} // namespace

std::optional<Binding> castText(NodeImport &n, int32_t to) {
  if (to == kStringType)
    return n.isText(0) ? n.binding(0) : n.textBinding(textsOfNumbers(n));
  if (!n.isText(0))
    return std::nullopt;
  std::optional<ElementType> type = elementTypeOf(to);
  if (!type || narrowNumber(to))
    fail("makes " + dataTypeName(to) + " of texts, which Cleave does not import");
  Texts texts = n.textsInput(0);
  Tensor numbers(*type, texts.shape);
  for (size_t i = 0; i < texts.elements.size(); ++i)
    numbers.set(static_cast<int64_t>(i), numberIn(texts.elements[i]));
  return Binding{{n.constant(numbers)}};
}

namespace {

// -- texts of texts -------------------------------------------------------------------------------

enum class Letters { Keep, Lower, Upper };

Letters lettersAttribute(NodeImport &n) {
  std::string action = n.text("case_change_action", "NONE");
  if (action != "NONE" && action != "LOWER" && action != "UPPER")
    fail("attribute 'case_change_action' is '" + action + "', expected NONE, LOWER or UPPER");
  return action == "NONE" ? Letters::Keep : action == "LOWER" ? Letters::Lower : Letters::Upper;
}

// Of the letters a to z only: those of other alphabets depend on a locale, which a compiler does not have.
std::string withLetters(std::string text, Letters letters) {
  if (letters == Letters::Keep)
    return text;
  for (char &c : text) {
    if (static_cast<unsigned char>(c) >= 128)
      fail("changes the case of '" + text + "', which Cleave does for the letters a to z only");
    c = static_cast<char>(letters == Letters::Lower ? llvm::toLower(c) : llvm::toUpper(c));
  }
  return text;
}

// Without the stop words, in one case; one empty text where nothing is left.
Bindings importNormalizer(NodeImport &n) {
  n.checkInputs(1, 1);
  n.ignore({"locale"}); // see withLetters
  Texts texts = n.textsInput(0);
  Letters change = lettersAttribute(n);
  Letters compared = n.integer("is_case_sensitive", 0) ? Letters::Keep : Letters::Lower;
  std::set<std::string> stop;
  for (const std::string &word : n.texts("stopwords").value_or(std::vector<std::string>()))
    stop.insert(withLetters(word, compared));
  if (texts.shape.empty() || texts.shape.size() > 2 ||
      (texts.shape.size() == 2 && texts.shape[0] != 1))
    fail("has texts " + emit::showInts(texts.shape) + ", expected [count] or [1, count]");
  Texts kept;
  for (const std::string &text : texts.elements)
    if (stop.empty() || !stop.contains(withLetters(text, compared)))
      kept.elements.push_back(withLetters(text, change));
  if (kept.elements.empty())
    kept.elements.emplace_back();
  kept.shape = texts.shape;
  kept.shape.back() = static_cast<int64_t>(kept.elements.size());
  return {n.textBinding(kept)};
}

// Both, broadcast together, one behind the other.
Bindings importConcat(NodeImport &n) {
  n.checkInputs(2, 2);
  n.textsInput(0), n.textsInput(1);
  Value x = n.input(0), y = n.input(1);
  n.broadcastTogether(x, y);
  Texts first = knownTexts(n.evaluator, n.services.texts, x),
        second = knownTexts(n.evaluator, n.services.texts, y);
  for (size_t i = 0; i < first.elements.size(); ++i)
    first.elements[i] += second.elements[i];
  return {n.textBinding(first)};
}

// At most `most` cuts at the delimiter; an empty one stands for any white space.
std::vector<std::string> split(const std::string &text, const std::string &delimiter,
                               int64_t most) {
  const char *blanks = " \t\n\v\f\r";
  std::vector<std::string> parts;
  size_t at = delimiter.empty() ? text.find_first_not_of(blanks) : 0;
  while (at != std::string::npos) {
    if (parts.size() > kMostTexts)
      fail("has a text of more than " + std::to_string(kMostTexts) + " parts");
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

// The parts along a new last dim, filled up with empty texts, and how many there are.
Bindings importSplit(NodeImport &n) {
  n.checkInputs(1, 1);
  Texts texts = n.textsInput(0), out;
  std::string delimiter = n.text("delimiter", "");
  int64_t most = n.integer("maxsplit", std::numeric_limits<int64_t>::max());
  std::vector<std::vector<std::string>> parts;
  size_t longest = 0;
  Tensor counts(ElementType::I64, texts.shape);
  for (const std::string &text : texts.elements) {
    parts.push_back(split(text, delimiter, most));
    longest = std::max(longest, parts.back().size());
    counts.values[parts.size() - 1] = static_cast<double>(parts.back().size());
  }
  if (texts.elements.size() * longest > kMostTexts)
    fail("has more than " + std::to_string(kMostTexts) + " parts in all");
  out.shape = texts.shape;
  out.shape.push_back(static_cast<int64_t>(longest));
  for (std::vector<std::string> &row : parts) {
    row.resize(longest);
    out.elements.insert(out.elements.end(), row.begin(), row.end());
  }
  return {n.textBinding(out), Binding{{n.constant(counts)}}};
}

// How many states a pattern may have: the library writes counted repetitions out, and goes deep into what may be empty.
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

// Whether the whole of each text fits the pattern.
Values importMatch(NodeImport &n) {
  n.checkInputs(1, 1);
  constexpr size_t most = 1024; // bytes that are matched
  Texts texts = n.textsInput(0);
  std::string pattern = n.text("pattern", "");
  Tensor out(ElementType::Bool, texts.shape);
  size_t states = statesOf(pattern), bytes = texts.elements.size();
  for (const std::string &text : texts.elements)
    bytes += text.size();
  if (states > (1 << 13) || states * bytes > (1 << 24))
    fail("matches texts and a pattern that are more than Cleave looks at");
  try {
    // Of the library's two ways of matching the one whose time is bounded.
    std::regex expression(pattern.substr(0, most),
                          std::regex::ECMAScript | std::regex_constants::__polynomial);
    for (size_t i = 0; i < texts.elements.size(); ++i) {
      if (texts.elements[i].size() > most || pattern.size() > most)
        fail("matches a text or pattern of more than " + std::to_string(most) + " bytes");
      out.values[i] = std::regex_match(texts.elements[i], expression);
    }
  } catch (const std::regex_error &) {
    fail("has the pattern '" + pattern + "', which Cleave does not understand");
  }
  return {n.constant(out)};
}

constexpr OpEntry kOps[] = {
    {"RegexFullMatch", 20, importMatch},
    {"StringConcat", 20, importConcat},
    {"StringNormalizer", 10, importNormalizer},
    {"StringSplit", 20, importSplit},
};

} // namespace

llvm::ArrayRef<OpEntry> textOps() { return kOps; }

} // namespace cleave::onnx
