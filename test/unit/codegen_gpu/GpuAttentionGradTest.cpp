// The kernel of attention's gradient, compared with the op's evaluation.
#include "test/unit/codegen_gpu/AttentionForm.h"

#include <catch2/catch.hpp>

using namespace cleave::test;

TEST_CASE("the gradient of keys sums the queries of all heads that share them") {
  for (const char *type : {"f32", "bf16"})
    for (int groups : {1, 2, 4})
      checkGradient({.batch = 2,
                     .heads = 4,
                     .groups = groups,
                     .queries = 3,
                     .keys = 4,
                     .width = 4,
                     .depth = 2,
                     .type = type});
}

TEST_CASE("gradients of several tiles of queries and of keys are added") {
  for (const char *attributes : {kPlain.c_str(), kCausal.c_str()}) {
    checkGradient({.queries = 130, .keys = 5, .width = 2, .depth = 2, .attributes = attributes});
    checkGradient({.queries = 5, .keys = 130, .width = 2, .depth = 2, .attributes = attributes});
    checkGradient({.queries = 66,
                   .keys = 67,
                   .width = 8,
                   .depth = 8,
                   .type = "bf16",
                   .attributes = attributes});
  }
}

TEST_CASE("keys that no query sees have no gradient") {
  checkGradient({.queries = 3, .keys = 9, .width = 2, .depth = 2});
}
