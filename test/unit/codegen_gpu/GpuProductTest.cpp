// Products with long sums, as kernels of grouped products have them.
#include "test/unit/codegen_gpu/GroupedForm.h"

#include <catch2/catch.hpp>

using namespace cleave::test;

TEST_CASE("rows and columns come in several tiles and sums in several chunks, in all types") {
  for (const char *type : {"bf16", "f16", "f32"})
    checkGrouped({.rows = 140, .inputs = 40, .outputs = 136, .ends = {130, 139}, .type = type});
  checkGrouped({.rows = 130, .inputs = 136, .outputs = 24, .ends = {129}, .type = "bf16"});
  checkGrouped({.rows = 140,
                .inputs = 72,
                .outputs = 130,
                .ends = {5, 140},
                .type = "bf16",
                .result = "f32"});
}

TEST_CASE("sizes that 16 bytes do not divide are right") {
  checkGrouped({.rows = 37, .inputs = 19, .outputs = 131, .ends = {2, 37}, .type = "bf16"});
  checkGrouped({.rows = 37, .inputs = 131, .outputs = 19, .ends = {2, 37}, .type = "bf16"});
  checkGrouped({.rows = 3, .inputs = 1, .outputs = 1, .ends = {1, 3}, .type = "f16"});
  checkGrouped({.rows = 37, .inputs = 17, .outputs = 5, .ends = {2, 37}});
}

TEST_CASE("each matrix may lie transposed in memory") {
  for (const char *type : {"bf16", "f32"})
    for (int number : {0, 1, 3})
      checkGrouped({.rows = 48,
                    .inputs = 40,
                    .outputs = 56,
                    .ends = {9, 44},
                    .type = type,
                    .transposed = {number}});
}
