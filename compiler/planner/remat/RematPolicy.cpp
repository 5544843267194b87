// What the backward part reads, and the two recipes.
#include "compiler/planner/remat/RematPolicy.h"

#include <numeric>

namespace cleave::planner {

bool RematPolicy::isRecomputed(int op, int result) const {
  if (!recomputed[op])
    return false;
  auto it = kept.find(op);
  return it == kept.end() ||
         std::find(it->second.begin(), it->second.end(), result) == it->second.end();
}

RematPolicy keepAll(const StepModel &model) {
  return {std::vector<bool>(model.ops.size(), false), {}, {}};
}

int sourceOf(const StepModel &model, int value) {
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

// Whether the results of a group that are not in `kept` can be computed from those that are, from
// arguments of the step and from constants.
static bool suffices(const StepModel &model, const Op &op, const std::vector<int> &kept) {
  const Group &group = *op.group;
  std::vector<bool> isGiven(group.dims.size(), false), isNeeded(group.dims.size(), false);
  for (int result : kept)
    isGiven[group.yielded[result]] = true;
  for (int value : group.yielded)
    isNeeded[value] = !isGiven[value];
  for (size_t i = group.ops.size(); i-- > 0;) {
    const std::vector<int> &results = group.ops[i].results;
    if (std::any_of(results.begin(), results.end(), [&](int value) { return isNeeded[value]; }))
      for (int value : group.ops[i].operands)
        isNeeded[value] = isNeeded[value] || !isGiven[value];
  }
  for (size_t i = 0; i < group.arguments.size(); ++i) {
    const int maker = model.values[sourceOf(model, op.operands[i])].producer;
    if (isNeeded[group.arguments[i]] && maker >= 0 && !model.ops[maker].operands.empty())
      return false;
  }
  return true;
}

std::optional<std::vector<int>> sufficientResults(const StepModel &model, int index) {
  constexpr size_t kMostResults = 6;
  constexpr int64_t kSmall = 16; // times fewer bytes than the largest result
  const Op &op = model.ops[index];
  const size_t count = op.results.size();
  if (!op.group || count < 2 || count > kMostResults)
    return std::nullopt;
  std::vector<int64_t> bytes;
  for (int value : op.results)
    bytes.push_back(model.values[value].bytes());
  const int64_t small = *std::max_element(bytes.begin(), bytes.end()) / kSmall;
  std::optional<std::vector<int>> best;
  int64_t least = std::accumulate(bytes.begin(), bytes.end(), int64_t(0));
  for (unsigned set = 1; set + 1 < (1u << count); ++set) {
    std::vector<int> kept;
    int64_t sum = 0;
    for (size_t i = 0; i < count; ++i)
      if (set >> i & 1 || bytes[i] <= small) {
        kept.push_back(static_cast<int>(i));
        sum += bytes[i];
      }
    if (sum < least && suffices(model, op, kept)) {
      least = sum;
      best = std::move(kept);
    }
  }
  return best;
}

std::optional<std::vector<int>> passedOnResults(const StepModel &model, int index) {
  const Op &op = model.ops[index];
  if (op.group || op.results.size() < 2)
    return std::nullopt;
  std::vector<int> passedOn;
  for (size_t i = 0; i < op.results.size(); ++i) {
    const std::vector<Use> &uses = model.values[op.results[i]].uses;
    if (std::any_of(uses.begin(), uses.end(),
                    [&](const Use &use) { return model.ops[use.op].part == Part::Forward; }))
      passedOn.push_back(static_cast<int>(i));
  }
  if (passedOn.empty() || passedOn.size() == op.results.size())
    return std::nullopt;
  return passedOn;
}

void normalise(const StepModel &model, RematPolicy &policy) {
  for (size_t i = 0; i < model.ops.size(); ++i) {
    const Op &op = model.ops[i];
    if (op.isView) {
      const Value &shown = model.values[sourceOf(model, op.operands[0])];
      policy.recomputed[i] = shown.producer >= 0 && op.part == Part::Forward &&
                             policy.isRecomputed(shown.producer, shown.result);
      if (auto places = policy.places.find(shown.producer); places != policy.places.end())
        policy.places[static_cast<int>(i)] = places->second;
    } else {
      policy.recomputed[i] = policy.recomputed[i] && isRecomputable(model, static_cast<int>(i));
    }
  }
  auto isKept = [&](const auto &entry) { return !policy.recomputed[entry.first]; };
  std::erase_if(policy.kept, isKept);
  std::erase_if(policy.places, isKept);
  if (policy.away.empty())
    return;
  const ForwardReads reads = readsOf(model);
  std::erase_if(policy.away, [&](const auto &entry) {
    return entry.second == Space::Device || policy.recomputed[entry.first] ||
           !mayBeAway(model, reads, entry.first);
  });
}

bool mayBeAway(const StepModel &model, const ForwardReads &reads, int op) {
  return model.ops[op].part == Part::Forward && !model.ops[op].isView &&
         reads.first[op] != ForwardReads::kNever;
}

bool mayBeAway(const StepModel &model, const Argument &argument) {
  const bool isStored = argument.role == Role::Parameter || argument.role == Role::State ||
                        argument.role == Role::Constant;
  return isStored && model.values[argument.value].bytes() >= kLeastAwayBytes;
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

  // `keptShare`: of the bytes that cross the places, this share counts.
  std::vector<int> choose(double keptShare) const {
    const int64_t all = saved_.back();
    double least = std::numeric_limits<double>::infinity();
    std::vector<int> places;
    for (int64_t limit = all; limit > 0 && limit >= all / 256; limit = limit * 7 / 8) {
      auto [bytes, found] = placesWithin(limit);
      const double sum = keptShare * static_cast<double>(bytes) + static_cast<double>(limit);
      if (bytes >= 0 && sum < least) {
        least = sum;
        places = std::move(found);
      }
    }
    return places;
  }

  // The ops behind places.
  std::vector<int> opsBehind(const std::vector<int> &places) const {
    std::vector<int> ops;
    for (int place : places)
      if (place < static_cast<int>(ops_.size()))
        ops.push_back(ops_[place]);
    return ops;
  }

  RematPolicy policyOf(const std::vector<int> &places) const {
    RematPolicy policy = keepAll(model_);
    const int end = places.empty() ? 0 : places.back();
    for (int k = 0; k < end; ++k) {
      auto next = std::upper_bound(places.begin(), places.end(), k);
      policy.recomputed[ops_[k]] = last_[k] < *next;
      if (auto kept = sufficientResults(model_, ops_[k]); kept && !policy.recomputed[ops_[k]]) {
        policy.recomputed[ops_[k]] = true;
        policy.kept[ops_[k]] = std::move(*kept);
      }
    }
    normalise(model_, policy);
    return policy;
  }

private:
  // The kept bytes of an op whose results cross a place.
  int64_t keptBytes(int op) const {
    const std::optional<std::vector<int>> kept = sufficientResults(model_, op);
    int64_t bytes = 0;
    for (int i = 0; i < static_cast<int>(model_.ops[op].results.size()); ++i)
      if (!kept || std::find(kept->begin(), kept->end(), i) != kept->end())
        bytes += model_.values[model_.ops[op].results[i]].bytes();
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
      const int64_t bytes = keptBytes(ops_[k]) * inFlightOf(model_, model_.ops[ops_[k]]);
      for (int place = static_cast<int>(k) + 1; place <= last_[k]; ++place)
        crossing_[place] += bytes;
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
    // Other micro-batches run between the last op and the backward part.
    if (count > 0 && inFlightOf(model_, model_.ops[ops_.back()]) > 1)
      places.push_back(count);
    for (int k = before[count]; k > 0; k = before[k])
      places.push_back(k);
    return {least[count], std::vector<int>(places.rbegin(), places.rend())};
  }

  const StepModel &model_;
  ForwardReads reads_;
  std::vector<int> ops_;       // by position
  std::vector<int> last_;      // per position that of the last reader in the forward part, or -1
  std::vector<int64_t> saved_; // per place the bytes that the backward part reads of all before
  // Per place the bytes that are made before and read after it, of all micro-batches in flight.
  std::vector<int64_t> crossing_;
};

} // namespace

RematPolicy fullRecompute(const StepModel &model) {
  const Places places(model);
  return places.policyOf(places.choose(1));
}

std::vector<int> segmentsOf(const StepModel &model, double keptShare) {
  const Places places(model);
  return places.opsBehind(places.choose(keptShare));
}

RematPolicy selectiveRecompute(const StepModel &model) {
  constexpr double kCheapFlopsPerByte = 32;
  const ForwardReads reads = readsOf(model);
  RematPolicy policy = keepAll(model);
  for (int i = 0; i < static_cast<int>(model.ops.size()); ++i) {
    const Op &op = model.ops[i];
    double bytes = 0;
    for (int value : op.results)
      bytes += static_cast<double>(model.values[value].bytes());
    auto isThere = [&](int input) {
      return policy.recomputed[input] ? reads.first[input] == ForwardReads::kNever ||
                                            reads.first[input] <= reads.first[i]
                                      : reads.first[input] != ForwardReads::kNever;
    };
    policy.recomputed[i] = !op.work.isProduct && isRecomputable(model, i) &&
                           op.work.flops <= kCheapFlopsPerByte * bytes &&
                           std::all_of(reads.inputs[i].begin(), reads.inputs[i].end(), isThere);
  }
  normalise(model, policy);
  return policy;
}

} // namespace cleave::planner
