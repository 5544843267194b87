#include "compiler/planner/network/Buckets.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace cleave::planner {

namespace {

// The reduction of one result of an op.
struct Member {
  int op = 0;
  size_t result = 0;
};

struct Bucket {
  std::vector<Member> members; // in program order
  double bytes = 0;
  int deadline = 0; // the first op that reads a member
};

class BucketAssignment {
public:
  BucketAssignment(Costs &costs, Decisions &decisions)
      : costs_(costs), model_(costs.model()), decisions_(decisions) {}

  void run() {
    for (size_t i = 0; i < model_.ops.size(); ++i) {
      const OpChoice choice = choiceOf(model_.ops[i], decisions_.ops[i]);
      decisions_.ops[i].buckets.clear();
      for (size_t k = 0; k < choice.results.size(); ++k)
        if (auto step =
                costs_.joinable(model_.ops[i].results[k], choice.natural[k], choice.results[k]))
          enter({static_cast<int>(i), k}, *step);
    }
    for (auto &[key, bucket] : open_)
      close(bucket);
    number();
  }

private:
  // The properties that the members of a bucket share.
  using Key = std::tuple<std::vector<int>, ReduceKind, ElementType, int64_t, int>;

  void enter(const Member &member, const cost::ReshardStep &step) {
    const Op &op = model_.ops[member.op];
    const Value &value = model_.values[op.results[member.result]];
    Bucket &bucket = open_[{step.axes, step.reduce, value.element, op.completions(), op.stagePart}];
    const bool isFull = bucket.bytes + step.bytes > static_cast<double>(kBucketBytes);
    if (!bucket.members.empty() && (isFull || member.op >= bucket.deadline))
      close(bucket);
    const int reader = firstReader(model_, value);
    bucket.deadline = bucket.members.empty() ? reader : std::min(bucket.deadline, reader);
    bucket.members.push_back(member);
    bucket.bytes += step.bytes;
  }

  void close(Bucket &bucket) {
    if (bucket.members.size() > 1)
      closed_.push_back(std::move(bucket.members));
    bucket = {};
  }

  void number() {
    std::sort(closed_.begin(), closed_.end(), [](const auto &a, const auto &b) {
      return std::tie(a[0].op, a[0].result) < std::tie(b[0].op, b[0].result);
    });
    for (size_t i = 0; i < closed_.size(); ++i)
      for (const Member &member : closed_[i]) {
        std::vector<int> &buckets = decisions_.ops[member.op].buckets;
        buckets.resize(model_.ops[member.op].results.size(), -1);
        buckets[member.result] = static_cast<int>(i);
      }
  }

  Costs &costs_;
  const StepModel &model_;
  Decisions &decisions_;
  std::map<Key, Bucket> open_;
  std::vector<std::vector<Member>> closed_;
};

} // namespace

void assignBuckets(Costs &costs, Decisions &decisions) { BucketAssignment(costs, decisions).run(); }

double savedByBuckets(Costs &costs, const Decisions &decisions) {
  struct Call {
    std::vector<int> axes;
    double bytes = 0, apart = 0; // of all members; their seconds one by one
    int64_t times = 1;
  };
  const StepModel &model = costs.model();
  std::map<int, Call> calls;
  for (size_t i = 0; i < model.ops.size(); ++i) {
    const Op &op = model.ops[i];
    const OpDecision &decision = decisions.ops[i];
    const OpChoice choice = choiceOf(op, decision);
    for (size_t k = 0; k < decision.buckets.size(); ++k) {
      if (decision.buckets[k] < 0)
        continue;
      auto step = costs.joinable(op.results[k], choice.natural[k], choice.results[k]);
      if (!step)
        continue;
      Call &call = calls[decision.buckets[k]];
      call.axes = step->axes;
      call.bytes += step->bytes;
      call.apart += step->seconds;
      call.times = op.completions();
    }
  }
  double saved = 0;
  for (const auto &[bucket, call] : calls)
    saved +=
        static_cast<double>(call.times) * (call.apart - costs.allReduce(call.axes, call.bytes));
  return saved;
}

} // namespace cleave::planner
