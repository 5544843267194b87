// Kernels of attention and its gradient, compared with the ops' evaluation.
#include "test/unit/codegen_gpu/AttentionForm.h"

#include <catch2/catch.hpp>

using namespace cleave::test;

TEST_CASE("attention of one tile in all types, and of several") {
  for (const char *type : {"f32", "bf16", "f16"})
    check({.queries = 5, .keys = 7, .width = 3, .depth = 5, .type = type, .attributes = kCausal});
  check({.batch = 2, .queries = 5, .keys = 7, .attributes = kPlain});
  check({.queries = 67, .keys = 70, .width = 3, .depth = 5});
  checkForward({.queries = 64, .keys = 64, .width = 64, .depth = 16, .type = "bf16"});
}

TEST_CASE("heads of attention share keys and values, and columns come in several chunks") {
  check({.batch = 2, .heads = 4, .groups = 2, .queries = 3, .keys = 4, .width = 3, .depth = 2});
  check({.queries = 4, .keys = 5, .width = 40, .depth = 35});
}
