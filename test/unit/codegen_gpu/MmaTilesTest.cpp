// Attention of 16-bit floats, whose products are of matrix instructions.
#include "test/unit/codegen_gpu/AttentionForm.h"

#include <catch2/catch.hpp>

using namespace cleave::test;

TEST_CASE("attention by matrix instructions, of rows in 16 bytes and others") {
  for (const char *type : {"bf16", "f16"}) {
    check({.heads = 2, .queries = 67, .keys = 101, .width = 24, .depth = 16, .type = type});
    check(
        {.queries = 33, .keys = 66, .width = 21, .depth = 40, .type = type, .attributes = kPlain});
  }
  // Too wide to be kept in shared memory.
  check({.queries = 3, .keys = 40, .width = 144, .depth = 136, .type = "bf16"});
  // Hidden keys that have weights, and dropped ones.
  check({.queries = 66,
         .keys = 130,
         .width = 2,
         .depth = 2,
         .type = "bf16",
         .attributes = kCausal + ", fill = -3.0 : f64"});
  check({.queries = 34,
         .keys = 70,
         .type = "bf16",
         .hasSeed = true,
         .attributes = kCausal + ", dropout = 0.3 : f64"});
}
