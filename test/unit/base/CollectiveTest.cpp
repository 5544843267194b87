// The table of collectives: sizes and bytes of each kind.
#include "runtime/base/Collective.h"

#include <catch2/catch.hpp>

#include <string>

using namespace cleave;

TEST_CASE("every kind of collective is found by its number and its name") {
  for (const CollectiveFacts &facts : kCollectives) {
    CHECK(factsOf(facts.kind).name == facts.name);
    CHECK(collectiveFromNumber(static_cast<int>(facts.kind)) == facts.kind);
    CHECK(collectiveNamed(facts.name) == facts.kind);
    std::string title(facts.name);
    for (char &c : title)
      c = c == '_' ? '-' : c;
    CHECK(facts.title == title);
  }
  CHECK_FALSE(collectiveFromNumber(4)); // the number of a kind of older formats
  CHECK_FALSE(collectiveFromNumber(8));
  CHECK_FALSE(collectiveNamed("all-reduce"));
}

TEST_CASE("a rank of 4 that sends 12 elements receives as many as the collective says") {
  auto received = [](CollectiveKind kind) { return elementsReceived(kind, 12, 4); };
  CHECK(received(CollectiveKind::AllReduce) == 12);
  CHECK(received(CollectiveKind::AllGather) == 48);
  CHECK(received(CollectiveKind::ReduceScatter) == 3);
  CHECK(received(CollectiveKind::AllToAll) == 12);
  CHECK(received(CollectiveKind::Permute) == 12);
}

TEST_CASE("only all_reduce and reduce_scatter reduce") {
  for (const CollectiveFacts &facts : kCollectives)
    CHECK(reduces(facts.kind) ==
          (facts.kind == CollectiveKind::AllReduce || facts.kind == CollectiveKind::ReduceScatter));
}

TEST_CASE("a ring of 4 moves 3/4 of the bytes per lap, a message all of them") {
  CHECK(shareSent(CollectiveKind::AllReduce, 4) == 1.5);
  CHECK(shareSent(CollectiveKind::AllGather, 4) == 0.75);
  CHECK(shareSent(CollectiveKind::ReduceScatter, 4) == 0.75);
  CHECK(shareSent(CollectiveKind::AllToAll, 4) == 0.75);
  for (CollectiveKind message :
       {CollectiveKind::Send, CollectiveKind::Recv, CollectiveKind::Permute})
    CHECK(shareSent(message, 4) == 1);
}

TEST_CASE("send and recv are the messages between two ranks that name each other") {
  for (const CollectiveFacts &facts : kCollectives)
    CHECK(isPointToPoint(facts.kind) ==
          (facts.kind == CollectiveKind::Send || facts.kind == CollectiveKind::Recv));
}
