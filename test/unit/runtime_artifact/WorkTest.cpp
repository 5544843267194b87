// The FLOPs of attention: those of the rank that computes the most.
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
