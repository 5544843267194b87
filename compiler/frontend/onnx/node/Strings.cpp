// See Strings.h.
#include "compiler/frontend/onnx/node/Strings.h"

#include "compiler/frontend/onnx/node/NodeImport.h"

namespace cleave::onnx {

// -- the pool -------------------------------------------------------------------------------------

int64_t StringPool::numberOf(const std::string &string) {
  auto [found, isNew] = numbers_.emplace(string, static_cast<int64_t>(strings_.size()));
  if (isNew) {
    constexpr size_t kMaxCharacters = size_t(1) << 28;
    strings_.push_back(&found->first);
    if ((characters_ += string.size()) > kMaxCharacters)
      fail("makes strings of more than ", kMaxCharacters, " characters in all");
  }
  return found->second;
}

const std::string *StringPool::find(int64_t number) const {
  bool isKnown = number >= 0 && number < static_cast<int64_t>(strings_.size());
  return isKnown ? strings_[number] : nullptr;
}

StringSupport stringSupportOf(const std::string &domain, const std::string &op) {
  static const std::set<std::string> moves = {"Compress",
                                              "Concat",
                                              "ConcatFromSequence",
                                              "Expand",
                                              "Flatten",
                                              "Gather",
                                              "GatherElements",
                                              "GatherND",
                                              "Identity",
                                              "Optional",
                                              "OptionalGetElement",
                                              "Reshape",
                                              "Scatter",
                                              "ScatterElements",
                                              "ScatterND",
                                              "SequenceAt",
                                              "SequenceConstruct",
                                              "SequenceErase",
                                              "SequenceInsert",
                                              "Slice",
                                              "Split",
                                              "SplitToSequence",
                                              "Squeeze",
                                              "Tile",
                                              "Transpose",
                                              "Unsqueeze",
                                              "Where"};
  static const std::set<std::string> inspects = {"Equal", "OptionalHasElement", "SequenceLength",
                                                 "Shape", "Size"};
  static const std::set<std::string> handles = {
      "Cast",         "CastLike",         "If",          "Loop",           "RegexFullMatch",
      "StringConcat", "StringNormalizer", "StringSplit", "TfIdfVectorizer"};
  if (domain == "ai.onnx.ml" && op == "LabelEncoder")
    return StringSupport::Handles;
  if (!domain.empty())
    return StringSupport::None;
  return moves.contains(op)      ? StringSupport::Moves
         : inspects.contains(op) ? StringSupport::Inspects
         : handles.contains(op)  ? StringSupport::Handles
                                 : StringSupport::None;
}

// Bytes of all strings of one tensor.
constexpr size_t kMaxBytes = size_t(1) << 22;

static void checkBytes(size_t bytes) {
  if (bytes > kMaxBytes)
    fail("has strings of more than ", kMaxBytes, " bytes in all");
}

StringTensor knownStrings(Evaluator &evaluator, const StringPool &pool, Value numbers) {
  std::optional<Tensor> known = evaluator.evaluate(numbers);
  if (!known)
    fail("has strings that ", evaluator.whyUnknown(numbers),
         "; strings exist while importing only");
  StringTensor strings{known->shape, {}};
  size_t bytes = 0;
  for (double number : known->values) {
    const std::string *string = pool.find(emit::truncated(number));
    if (!string)
      fail("has numbers where strings are expected");
    checkBytes(bytes += string->size());
    strings.elements.push_back(*string);
  }
  return strings;
}

StringTensor NodeImport::stringsInput(size_t i) const {
  if (!isString(i))
    fail("input ", i, " has numbers, expected strings");
  return knownStrings(evaluator, services.strings(), input(i));
}

Binding NodeImport::stringBinding(const StringTensor &strings) const {
  Tensor numbers(ElementType::I64, strings.shape);
  size_t bytes = 0;
  for (const std::string &string : strings.elements)
    checkBytes(bytes += string.size());
  for (size_t i = 0; i < strings.elements.size(); ++i)
    numbers.values[i] = static_cast<double>(services.strings().numberOf(strings.elements[i]));
  Binding binding{{constant(numbers)}};
  binding.isString = true;
  return binding;
}

} // namespace cleave::onnx
