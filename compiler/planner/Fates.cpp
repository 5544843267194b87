// What the backward part reads, and the two recipes.
#include "compiler/planner/Fates.h"

#include <numeric>

namespace cleave::planner {

Fates keepAll(const StepModel &model) { return {std::vector<bool>(model.ops.size(), false)}; }

// The value that a view shows, or the value itself.
static int sourceOf(const StepModel &model, int value) {
  while (model.values[value].producer >= 0 && model.ops[model.values[value].producer].isView)
    value = model.ops[model.values[value].producer].operands[0];
  return value;
}

ForwardReads readsOf(const StepModel &model) {
  ForwardReads reads;
  reads.first.assign(model.ops.size(), ForwardReads::kNever);
  reads.bytes.assign(model.ops.size(), 0);
  reads.inputs.resize(model.ops.size());
  std::vector<bool> isCounted(model.values.size(), false);
  for (size_t i = 0; i < model.ops.size(); ++i)
    for (int operand : model.ops[i].operands) {
      const int value = sourceOf(model, operand), maker = model.values[value].producer;
      if (maker < 0 || model.ops[maker].operands.empty() ||
          model.ops[maker].part != Part::Forward || model.ops[i].isView)
        continue;
      std::vector<int> &inputs = reads.inputs[i];
      if (std::find(inputs.begin(), inputs.end(), maker) == inputs.end())
        inputs.push_back(maker);
      if (model.ops[i].part == Part::Forward)
        continue;
      reads.first[maker] = std::min(reads.first[maker], static_cast<int>(i));
      if (!isCounted[value])
        reads.bytes[maker] += model.values[value].bytes();
      isCounted[value] = true;
    }
  for (std::vector<int> &inputs : reads.inputs)
    std::sort(inputs.begin(), inputs.end());
  return reads;
}

bool isRecomputable(const StepModel &model, int index) {
  const Op &op = model.ops[index];
  if (op.part != Part::Forward || op.operands.empty() || op.results.empty() || op.isView)
    return false;
  for (int value : op.results) {
    auto isIt = [&](const Output &output) { return sourceOf(model, output.value) == value; };
    if (std::any_of(model.outputs.begin(), model.outputs.end(), isIt))
      return false;
    for (const Use &use : model.values[value].uses)
      if (model.ops[use.op].repeats != op.repeats)
        return false;
  }
  return true;
}

void normalise(const StepModel &model, Fates &fates) {
  for (size_t i = 0; i < model.ops.size(); ++i) {
    const Op &op = model.ops[i];
    const int source = op.isView ? model.values[sourceOf(model, op.operands[0])].producer : -1;
    fates.again[i] = op.isView ? source >= 0 && fates.again[source] && op.part == Part::Forward
                               : fates.again[i] && isRecomputable(model, static_cast<int>(i));
  }
}

namespace {

// The choice of places for fullRecompute(). Positions count the ops of the forward part that are no
// views; place k lies before position k.
class Places {
public:
  explicit Places(const StepModel &model) : model_(model), reads_(readsOf(model)) {
    for (size_t i = 0; i < model.ops.size(); ++i)
      if (const Op &op = model.ops[i];
          op.part == Part::Forward && !op.isView && !op.operands.empty())
        ops_.push_back(static_cast<int>(i));
    findCrossings();
  }

  Fates choose() {
    const int64_t all = saved_.back();
    int64_t least = std::numeric_limits<int64_t>::max();
    std::vector<int> places;
    for (int64_t limit = all; limit > 0 && limit >= all / 256; limit = limit * 7 / 8)
      if (auto [bytes, found] = placesWithin(limit); bytes >= 0 && bytes + limit < least) {
        least = bytes + limit;
        places = std::move(found);
      }
    return fatesOf(places);
  }

private:
  int64_t bytesOf(int op) const {
    int64_t bytes = 0;
    for (int value : model_.ops[op].results)
      bytes += model_.values[value].bytes();
    return bytes;
  }

  void findCrossings() {
    const size_t count = ops_.size();
    std::vector<int> position(model_.ops.size(), -1);
    for (size_t k = 0; k < count; ++k)
      position[ops_[k]] = static_cast<int>(k);
    last_.assign(count, -1);
    for (size_t k = 0; k < count; ++k)
      for (int input : reads_.inputs[ops_[k]])
        last_[position[input]] = static_cast<int>(k);
    saved_.assign(count + 1, 0);
    crossing_.assign(count + 1, 0);
    for (size_t k = 0; k < count; ++k) {
      saved_[k + 1] = saved_[k] + reads_.bytes[ops_[k]];
      for (int place = static_cast<int>(k) + 1; place <= last_[k]; ++place)
        crossing_[place] += bytesOf(ops_[k]);
    }
  }

  // The places with the fewest bytes crossing them such that at most `limit` bytes are saved
  // between two of them; -1 bytes if there are none.
  std::pair<int64_t, std::vector<int>> placesWithin(int64_t limit) const {
    const int count = static_cast<int>(ops_.size());
    std::vector<int64_t> least(count + 1, -1);
    std::vector<int> before(count + 1, 0);
    least[0] = 0;
    for (int k = 1; k <= count; ++k)
      for (int j = k - 1; j >= 0 && saved_[k] - saved_[j] <= limit; --j) {
        const int64_t bytes = least[j] < 0 ? -1 : least[j] + (k < count ? crossing_[k] : 0);
        if (bytes >= 0 && (least[k] < 0 || bytes < least[k])) {
          least[k] = bytes;
          before[k] = j;
        }
      }
    std::vector<int> places;
    for (int k = before[count]; k > 0; k = before[k])
      places.push_back(k);
    return {least[count], std::vector<int>(places.rbegin(), places.rend())};
  }

  Fates fatesOf(const std::vector<int> &places) const {
    Fates fates = keepAll(model_);
    const int end = places.empty() ? 0 : places.back();
    for (int k = 0; k < end; ++k) {
      auto next = std::upper_bound(places.begin(), places.end(), k);
      fates.again[ops_[k]] = last_[k] < *next;
    }
    normalise(model_, fates);
    return fates;
  }

  const StepModel &model_;
  ForwardReads reads_;
  std::vector<int> ops_;          // by position
  std::vector<int> last_;         // per position that of the last reader in the forward part, or -1
  std::vector<int64_t> saved_;    // per place the bytes that the backward part reads of all before
  std::vector<int64_t> crossing_; // per place the bytes that are made before and read behind it
};

} // namespace

Fates fullRecompute(const StepModel &model) { return Places(model).choose(); }

Fates selectiveRecompute(const StepModel &model) {
  constexpr double kCheapFlopsPerByte = 32;
  const ForwardReads reads = readsOf(model);
  Fates fates = keepAll(model);
  for (int i = 0; i < static_cast<int>(model.ops.size()); ++i) {
    const Op &op = model.ops[i];
    double bytes = 0;
    for (int value : op.results)
      bytes += static_cast<double>(model.values[value].bytes());
    auto isThere = [&](int input) {
      return fates.again[input] ? reads.first[input] == ForwardReads::kNever ||
                                      reads.first[input] <= reads.first[i]
                                : reads.first[input] != ForwardReads::kNever;
    };
    fates.again[i] = !op.isProduct && isRecomputable(model, i) &&
                     op.flops <= kCheapFlopsPerByte * bytes &&
                     std::all_of(reads.inputs[i].begin(), reads.inputs[i].end(), isThere);
  }
  normalise(model, fates);
  return fates;
}

} // namespace cleave::planner
