#include "test/unit/schedule/Pipeline.h"

#include "test/unit/schedule/TimelineBuilder.h"

#include <algorithm>
#include <array>

namespace cleave::schedule {
namespace {

enum Name : uint32_t { Forward, Backward, Send, Receive, Reduce, Update };

// The tracks of a rank: messages of both directions to both neighbours never wait for each other.
enum Track : uint32_t { Computes, FromPrevious, ToNext, FromNext, ToPrevious, kTracks };

class PipelineTimeline {
public:
  explicit PipelineTimeline(const PipelineSizes &sizes) : sizes_(sizes) {
    t_.names = {"forward", "backward", "send", "receive", "reduce", "update"};
    // Two messages per boundary, replica and micro-batch, and one all-reduce per stage.
    t_.meetings.resize(2 * sizes.stages * sizes.replicas * sizes.microBatches, {2});
    t_.meetings.resize(t_.meetings.size() + sizes.stages, {sizes.replicas});
    for (uint32_t stage = 0; stage < sizes.stages; ++stage) {
      t_.units.push_back({"stage " + std::to_string(stage), {}});
      for (uint32_t replica = 0; replica < sizes.replicas; ++replica)
        addRank(stage, replica);
    }
  }
  Timeline take() { return std::move(t_); }

private:
  // The meeting of the message over the boundary before `stage`.
  uint32_t message(uint32_t stage, bool isForward, uint32_t slot) const {
    return ((2 * stage + isForward) * sizes_.replicas + replica_) * sizes_.microBatches + slot;
  }

  uint32_t add(Name name, Track track, double seconds, uint32_t slot, uint32_t after = kNone,
               uint32_t meeting = kNone) {
    const auto index = static_cast<uint32_t>(t_.tasks.size());
    t_.tasks.push_back({name, stage_, slot, rank_ * kTracks + track, meeting, seconds});
    if (after != kNone)
      t_.dependencies.push_back({after, index});
    return index;
  }

  void forward(uint32_t slot) {
    uint32_t input = kNone;
    if (stage_ > 0)
      input = add(Receive, FromPrevious, 0.1, slot, kNone, message(stage_, true, slot));
    const uint32_t task = add(Forward, Computes, 1, slot, input);
    if (stage_ + 1 < sizes_.stages)
      add(Send, ToNext, 0.1, slot, task, message(stage_ + 1, true, slot));
    t_.accesses.push_back({task, kept(slot), true});
  }

  void backward(uint32_t slot) {
    uint32_t gradient = kNone;
    if (stage_ + 1 < sizes_.stages)
      gradient = add(Receive, FromNext, 0.1, slot, kNone, message(stage_ + 1, false, slot));
    const uint32_t task = add(Backward, Computes, 2, slot, gradient);
    if (stage_ > 0)
      add(Send, ToPrevious, 0.1, slot, task, message(stage_, false, slot));
    t_.accesses.push_back({task, kept(slot), false});
  }

  uint32_t kept(uint32_t slot) const { return rank_ * sizes_.microBatches + slot; }

  void addRank(uint32_t stage, uint32_t replica) {
    stage_ = stage, replica_ = replica, rank_ = stage * sizes_.replicas + replica;
    t_.units[stage].ranks.push_back(rank_);
    for (uint32_t track = 0; track < kTracks; ++track)
      t_.resources.push_back({track ? ResourceKind::Link : ResourceKind::Compute, rank_});
    t_.spaces.push_back({SpaceKind::Device, rank_});
    t_.buffers.resize(t_.buffers.size() + sizes_.microBatches, {rank_, 1 << 20, false});
    const uint32_t warmUp = std::min(sizes_.microBatches, sizes_.stages - 1 - stage);
    for (uint32_t slot = 0; slot < warmUp; ++slot)
      forward(slot);
    for (uint32_t slot = 0; slot < sizes_.microBatches; ++slot) {
      if (warmUp + slot < sizes_.microBatches)
        forward(warmUp + slot);
      backward(slot);
    }
    const auto last = static_cast<uint32_t>(t_.tasks.size() - (stage > 0 ? 2 : 1));
    const auto meeting = static_cast<uint32_t>(t_.meetings.size() - sizes_.stages + stage);
    add(Update, Computes, 1, 0, add(Reduce, ToNext, 3, 0, last, meeting));
  }

  PipelineSizes sizes_;
  Timeline t_;
  uint32_t stage_ = 0, replica_ = 0, rank_ = 0; // of the tasks being added
};

} // namespace

Timeline pipeline(const PipelineSizes &sizes) { return PipelineTimeline(sizes).take(); }

} // namespace cleave::schedule
