// Attention whose products are of multiply-adds: of f32, and of rows that fill no tile.
#include "test/unit/codegen_gpu/AttentionForm.h"

#include <catch2/catch.hpp>

using namespace cleave::test;

TEST_CASE("tiles of multiply-adds begin and end anywhere in matrices of any width") {
  for (int size : {1, 15, 16, 17, 63, 64, 65})
    check({.queries = size, .keys = 66 - size, .width = size, .depth = 3, .attributes = kPlain});
}

TEST_CASE("factors of more columns than a thread has at once come in parts") {
  check({.queries = 18, .keys = 66, .width = 70, .depth = 33, .attributes = kPlain});
}
