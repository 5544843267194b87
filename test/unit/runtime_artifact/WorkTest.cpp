// The FLOPs of attention: those of the rank that computes the most; and the bytes of collectives.
#include "runtime/artifact/Work.h"

#include <catch2/catch.hpp>

using namespace cleave;

namespace {

// Scores of 4 queries and 16 keys with one column, each of 4 FLOPs of products and 6 others.
plan::Instruction causalBlock() {
  plan::Instruction instruction;
  plan::Attention &attention = *instruction.mutable_attention();
  attention.set_heads(1), attention.set_groups(1), attention.set_queries(4), attention.set_keys(16);
  attention.set_width(1), attention.set_depth(1), attention.set_causal(true);
  return instruction;
}

constexpr double kAll = 4 * 16 * 10;

} // namespace

TEST_CASE("a causal mask hides half of whole scores, and less of the last block of queries") {
  plan::Instruction instruction = causalBlock();
  plan::Attention &attention = *instruction.mutable_attention();
  CHECK(artifact::flopsOf({}, instruction) == kAll / 2);
  CHECK(artifact::slowestShare(attention) == 1);
  attention.add_offset_dims(0); // of the head: its scores are whole
  CHECK(artifact::flopsOf({}, instruction) == kAll / 2);
  attention.add_offset_dims(1); // of 4 ranks, the last one sees 13 to 16 keys
  CHECK(artifact::flopsOf({}, instruction) == kAll * 7 / 8);
  CHECK(artifact::slowestShare(attention) == 7. / 4);
  attention.set_mirrored(true);
  CHECK(artifact::flopsOf({}, instruction) == kAll / 2);
  CHECK(artifact::slowestShare(attention) == 1);
  attention.set_causal(false);
  CHECK(artifact::flopsOf({}, instruction) == kAll);
}

TEST_CASE("a rank sends what the bandwidth-optimal algorithms send") {
  plan::Plan plan;
  plan.add_mesh()->set_size(4);
  plan::Program program;
  program.add_buffers()->set_bytes(100); // a block
  program.add_buffers()->set_bytes(400); // all of them
  auto sent = [&](plan::Collective::Kind kind, uint32_t from, uint32_t to) {
    plan::Instruction instruction;
    plan::Collective &collective = *instruction.mutable_collective();
    collective.set_kind(kind), collective.add_axes(0);
    collective.add_send(from), collective.add_recv(to);
    return artifact::bytesOf(plan, program, instruction);
  };
  CHECK(sent(plan::Collective::ALL_GATHER, 0, 1) == 300);
  CHECK(sent(plan::Collective::REDUCE_SCATTER, 1, 0) == 300);
  CHECK(sent(plan::Collective::ALL_REDUCE, 1, 1) == 600);
  CHECK(sent(plan::Collective::ALL_TO_ALL, 1, 1) == 300);
  CHECK(sent(plan::Collective::SEND, 0, 0) == 100);
  CHECK(sent(plan::Collective::RECV, 0, 0) == 0);
}
