// Collectives over point-to-point messages. Every member exchanges data with every other directly:
// errors name the missing member, and each element crosses the network as often as in a ring.
#pragma once

#include "runtime/comm/Communicator.h"
#include "runtime/comm/Pieces.h"

#include <gloo/context.h>
#include <memory>
#include <vector>

namespace cleave::comm {

// A contiguous part of a message.
struct Fragment {
  unsigned char *data;
  size_t bytes;
};

class GlooCommunicator final : public Communicator {
public:
  // `group` (24 bits) separates this group's messages from those of other groups of the same ranks.
  GlooCommunicator(std::vector<int> members, int index, uint32_t group,
                   std::shared_ptr<gloo::Context> context, const Options &options);
  ~GlooCommunicator() override { stopQueues(); }

protected:
  Status execute(const Call &call) override;

private:
  using Fragments = std::vector<std::vector<Fragment>>; // per member

  Status executePiece(const Call &call, const std::vector<Segment> &segments);
  Status reducePiece(const Call &call, const std::vector<Segment> &segments);
  Status reduceSmall(const Call &call);
  Status shareParts(const Call &call, const std::vector<Segment> &segments);
  std::pair<int64_t, int64_t> reducedBy(const Call &call, const Segment &segment, int member) const;
  Status passMessage(const Call &call, const BufferPair &pair);
  Status exchange(CollectiveKind kind, const Fragments &outgoing, const Fragments &incoming);
  Status missing(int member, CollectiveKind kind, bool timedOut,
                 std::chrono::milliseconds waited) const;
  // Gloo matches sends and receives of two ranks by slot numbers, and in order within one.
  uint64_t messageSlot() const;
  uint64_t nextExchangeSlot();

  uint32_t group_;
  std::shared_ptr<gloo::Context> context_;
  Options options_;
  uint32_t exchanges_ = 0;
  Status broken_;                       // the failure that made the group unusable
  std::vector<unsigned char> received_; // the other members' parts of a reduction
  std::vector<std::vector<unsigned char>> packedOut_, packedIn_; // messages of several fragments
};

} // namespace cleave::comm
