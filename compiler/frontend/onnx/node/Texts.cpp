#include "compiler/frontend/onnx/node/Texts.h"

#include "compiler/frontend/onnx/node/NodeImport.h"

namespace cleave::onnx {

// -- the pool -------------------------------------------------------------------------------------

int64_t TextPool::numberOf(const std::string &text) {
  auto [found, isNew] = numbers_.emplace(text, static_cast<int64_t>(texts_.size()));
  if (isNew) {
    constexpr size_t most = size_t(1) << 28;
    texts_.push_back(&found->first);
    if ((characters_ += text.size()) > most)
      fail("makes texts of more than " + std::to_string(most) + " characters in all");
  }
  return found->second;
}

const std::string *TextPool::find(int64_t number) const {
  bool isKnown = number >= 0 && number < static_cast<int64_t>(texts_.size());
  return isKnown ? texts_[number] : nullptr;
}

TextUse textUseOf(const std::string &domain, const std::string &op) {
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
  static const std::set<std::string> looks = {"Equal", "OptionalHasElement", "SequenceLength",
                                              "Shape", "Size"};
  static const std::set<std::string> knows = {
      "Cast",         "CastLike",         "If",          "Loop",           "RegexFullMatch",
      "StringConcat", "StringNormalizer", "StringSplit", "TfIdfVectorizer"};
  if (domain == "ai.onnx.ml" && op == "LabelEncoder")
    return TextUse::Knows;
  if (!domain.empty())
    return TextUse::None;
  return moves.contains(op)   ? TextUse::Moves
         : looks.contains(op) ? TextUse::Looks
         : knows.contains(op) ? TextUse::Knows
                              : TextUse::None;
}

// Bytes of all texts of one tensor.
constexpr size_t kMostBytes = size_t(1) << 22;

static void checkBytes(size_t bytes) {
  if (bytes > kMostBytes)
    fail("has texts of more than " + std::to_string(kMostBytes) + " bytes in all");
}

Texts knownTexts(Evaluator &evaluator, const TextPool &pool, Value numbers) {
  std::optional<Tensor> known = evaluator.evaluate(numbers);
  if (!known)
    fail("has texts that " + evaluator.whyUnknown(numbers) + "; texts exist while importing only");
  Texts texts{known->shape, {}};
  size_t bytes = 0;
  for (double number : known->values) {
    const std::string *text = pool.find(emit::truncated(number));
    if (!text)
      fail("has numbers where texts are expected");
    checkBytes(bytes += text->size());
    texts.elements.push_back(*text);
  }
  return texts;
}

Texts NodeImport::textsInput(size_t i) const {
  if (!isText(i))
    fail("input " + std::to_string(i) + " has numbers, expected texts");
  return knownTexts(evaluator, services.texts, input(i));
}

Binding NodeImport::textBinding(const Texts &texts) const {
  Tensor numbers(ElementType::I64, texts.shape);
  size_t bytes = 0;
  for (const std::string &text : texts.elements)
    checkBytes(bytes += text.size());
  for (size_t i = 0; i < texts.elements.size(); ++i)
    numbers.values[i] = static_cast<double>(services.texts.numberOf(texts.elements[i]));
  Binding binding{{constant(numbers)}};
  binding.isText = true;
  return binding;
}

} // namespace cleave::onnx
