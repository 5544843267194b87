// Spans of readers, and the last part in which a value is read.
#include "compiler/planner/network/CopyMemory.h"

namespace cleave::planner {

CopyMemory::CopyMemory(const StepModel &model, int64_t leastBytes)
    : reads_(model.values.size()), homeEnds_(model.values.size(), model.instants),
      storeEnds_(model.values.size(), 0), instants_(model.instants) {
  for (const Store &store : model.stores)
    if (store.value >= 0 && store.op < 0) // of several, which is rare, none can be replaced
      storeEnds_[store.value] = storeEnds_[store.value] ? model.instants : store.span.end;
  for (int value = static_cast<int>(model.values.size()) - 1; value >= 0; --value)
    setReads(model, value); // results of views come before their operands
  for (const Output &output : model.outputs)
    storeEnds_[output.value] = model.instants;
  for (size_t value = 0; value < model.values.size(); ++value)
    if (model.values[value].producer >= 0 && model.values[value].bytes() >= leastBytes)
      setHomeEnd(model, static_cast<int>(value));
  isSmall_.resize(model.values.size());
  for (size_t value = 0; value < model.values.size(); ++value)
    isSmall_[value] = model.values[value].bytes() < leastBytes;
}

// A reader that makes a view reads as long as the view is read.
int64_t CopyMemory::endOf(const StepModel &model, const Use &use) const {
  const Op &op = model.ops[use.op];
  int64_t end = op.runs.end;
  if (op.isView && storeEnds_[op.results[0]] == 0)
    for (const Span &viewed : reads_[op.results[0]])
      end = std::max(end, viewed.end);
  return end;
}

void CopyMemory::setReads(const StepModel &model, int value) {
  for (const Use &use : model.values[value].uses) {
    const Op &op = model.ops[use.op];
    Span &span = reads_[value][static_cast<size_t>(op.part)];
    const int64_t end = endOf(model, use);
    span = span.end == 0 ? Span{op.runs.begin, end}
                         : Span{std::min(span.begin, op.runs.begin), std::max(span.end, end)};
  }
}

Span CopyMemory::ofUse(const StepModel &model, const Use &use) const {
  return {model.ops[use.op].runs.begin - 1, endOf(model, use)};
}

void CopyMemory::setHomeEnd(const StepModel &model, int value) {
  const std::array<Span, kParts> &parts = reads_[value];
  size_t last = kParts;
  while (last > 0 && parts[last - 1].end == 0)
    --last;
  if (last-- == 0)
    return;
  const int64_t begin = parts[last].begin;
  bool isLast = model.ops[model.values[value].producer].runs.end < begin &&
                begin < storeEnds_[value] && storeEnds_[value] < model.instants;
  for (size_t part = 0; part < last; ++part)
    isLast &= parts[part].end <= begin;
  if (isLast)
    homeEnds_[value] = begin;
}

std::optional<CopySpan> CopyMemory::of(int value, Part part) const {
  const Span &reads = reads_[value][static_cast<size_t>(part)];
  if (reads.end == 0 || isSmall_[value])
    return std::nullopt;
  if (reads.begin == homeEnds_[value])
    return CopySpan{{reads.begin, storeEnds_[value]}, true};
  return CopySpan{{reads.begin - 1, reads.end}, false};
}

} // namespace cleave::planner
