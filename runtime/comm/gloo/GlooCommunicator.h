// Collectives over point-to-point messages: every member exchanges with every other directly, so a
// member that is missing is known by name and each element crosses the wire as often as in a ring.
#pragma once

#include "runtime/comm/Communicator.h"
#include "runtime/comm/Pieces.h"

#include <gloo/context.h>
#include <memory>
#include <vector>

namespace cleave::comm {

// Memory that belongs together in one message.
struct Fragment {
  unsigned char *data;
  size_t bytes;
};

class GlooCommunicator final : public Communicator {
public:
  // `group` (24 bits) tells this group's messages from those of other groups of the same ranks.
  GlooCommunicator(std::vector<int> members, int index, uint32_t group,
                   std::shared_ptr<gloo::Context> context, const Options &options);
  ~GlooCommunicator() override { stopQueues(); }

protected:
  Status execute(const Call &call) override;
  bool tagsOvertake() const override { return true; } // a send waits for its receive

private:
  using Fragments = std::vector<std::vector<Fragment>>; // per member

  Status executePiece(const Call &call, const std::vector<Segment> &segments);
  Status reducePiece(const Call &call, const std::vector<Segment> &segments);
  Status reduceSmall(const Call &call);
  Status shareParts(const Call &call, const std::vector<Segment> &segments);
  std::pair<int64_t, int64_t> reducedBy(const Call &call, const Segment &segment, int member) const;
  Status passMessage(const Call &call, const BufferPair &pair);
  Status exchange(Kind kind, const Fragments &outgoing, const Fragments &incoming);
  Status missing(int member, Kind kind, bool timedOut, std::chrono::milliseconds waited) const;
  uint64_t slotOf(bool message, uint32_t number) const;

  uint32_t group;
  std::shared_ptr<gloo::Context> context;
  Options options;
  std::chrono::milliseconds patience{0}; // of the collective that is going on
  uint32_t exchanges = 0;
  Status broken;                       // why the group can no longer be used
  std::vector<unsigned char> received; // the other members' parts of a reduction
  std::vector<std::vector<unsigned char>> packedOut, packedIn; // messages of several fragments
};

} // namespace cleave::comm
