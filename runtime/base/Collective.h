// The kinds of collectives and messages between ranks, with the numbers of
// runtime/artifact/program.proto, and the table of what each does. All layers read it: layout
// changes and prices of the planner, the program dialect, the verifier and the communicators.
//
// In a group of p ranks, a rank's sent (received) buffer is one piece of data, or p chunks, one per
// member. The message Collective of program.proto says which data arrive where.
#pragma once

#include <cassert>
#include <cstdint>
#include <optional>
#include <string_view>

namespace cleave {

// The number of a kind in the file.
enum class CollectiveKind : int {
  AllReduce = 0,
  AllGather = 1,
  ReduceScatter = 2,
  AllToAll = 3,
  Send = 5,
  Recv = 6,
  Permute = 7,
};

// How the data travel, which decides the formula of the seconds (compiler/cost/Collective.h).
enum class CollectiveRoute {
  Ring,     // from neighbour to neighbour
  Pairwise, // every rank exchanges a chunk with every other
  Message,  // from one rank to one other
};

// The properties of a kind.
struct CollectiveFacts {
  CollectiveKind kind;
  std::string_view name;  // in IR, logs and cluster files: `all_reduce`
  std::string_view title; // for people: `all-reduce`
  bool sendsChunks;       // the sent buffer has a chunk per member
  bool receivesChunks;    // the received buffer has a chunk per member
  bool reduces;           // data of the members are combined by the call's reduction
  CollectiveRoute route;
  int laps; // Ring: how often (p - 1)/p of the data pass every rank
};

// All kinds, in the order of their numbers.
inline constexpr CollectiveFacts kCollectives[] = {
    {CollectiveKind::AllReduce, "all_reduce", "all-reduce", false, false, true,
     CollectiveRoute::Ring, 2},
    {CollectiveKind::AllGather, "all_gather", "all-gather", false, true, false,
     CollectiveRoute::Ring, 1},
    {CollectiveKind::ReduceScatter, "reduce_scatter", "reduce-scatter", true, false, true,
     CollectiveRoute::Ring, 1},
    {CollectiveKind::AllToAll, "all_to_all", "all-to-all", true, true, false,
     CollectiveRoute::Pairwise, 1},
    {CollectiveKind::Send, "send", "send", false, false, false, CollectiveRoute::Message, 0},
    {CollectiveKind::Recv, "recv", "recv", false, false, false, CollectiveRoute::Message, 0},
    {CollectiveKind::Permute, "permute", "permute", false, false, false, CollectiveRoute::Message,
     0},
};

// The properties of a kind.
constexpr const CollectiveFacts &factsOf(CollectiveKind kind) {
  for (const CollectiveFacts &facts : kCollectives)
    if (facts.kind == kind)
      return facts;
  assert(false && "the number of the collective is not that of a kind");
  return kCollectives[0];
}

// The kind with this number in program.proto, or with this name; none if there is no such kind.
constexpr std::optional<CollectiveKind> collectiveFromNumber(int number) {
  for (const CollectiveFacts &facts : kCollectives)
    if (static_cast<int>(facts.kind) == number)
      return facts.kind;
  return std::nullopt;
}
constexpr std::optional<CollectiveKind> collectiveNamed(std::string_view name) {
  for (const CollectiveFacts &facts : kCollectives)
    if (facts.name == name)
      return facts.kind;
  return std::nullopt;
}

// Columns of the table.
constexpr std::string_view name(CollectiveKind kind) { return factsOf(kind).name; }
constexpr std::string_view title(CollectiveKind kind) { return factsOf(kind).title; }
constexpr bool reduces(CollectiveKind kind) { return factsOf(kind).reduces; }

// Whether the call passes a message between two ranks that both name each other.
constexpr bool isPointToPoint(CollectiveKind kind) {
  return kind == CollectiveKind::Send || kind == CollectiveKind::Recv;
}

// The number of chunks in the sent and in the received buffer of a rank in a group of `ranks`.
constexpr int64_t chunksSent(CollectiveKind kind, int64_t ranks) {
  return factsOf(kind).sendsChunks ? ranks : 1;
}
constexpr int64_t chunksReceived(CollectiveKind kind, int64_t ranks) {
  return factsOf(kind).receivesChunks ? ranks : 1;
}

// The elements that a rank receives if it sends `sent` elements, a multiple of chunksSent().
constexpr int64_t elementsReceived(CollectiveKind kind, int64_t sent, int64_t ranks) {
  return sent / chunksSent(kind, ranks) * chunksReceived(kind, ranks);
}

// Bytes sent by every rank, as a share of the larger of its two buffers: by the bandwidth-optimal
// algorithms, which move laps * (p - 1)/p; a message moves as a whole.
constexpr double shareSent(CollectiveKind kind, double ranks) {
  const CollectiveFacts &facts = factsOf(kind);
  return facts.route == CollectiveRoute::Message ? 1 : facts.laps * (ranks - 1) / ranks;
}

} // namespace cleave
