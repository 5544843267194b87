// The scores of attention: bias, masks, what is hidden, and dropout.
#include "test/unit/codegen_gpu/AttentionForm.h"

#include <catch2/catch.hpp>

using namespace cleave::test;

static const std::string kFinite = kCausal + ", fill = -1.0e9 : f64";

TEST_CASE("attention with a bias and a mask, also of repeated dims") {
  check({.heads = 2,
         .groups = 2,
         .queries = 5,
         .keys = 67,
         .width = 2,
         .depth = 2,
         .bias = "tensor<1x2x5x67xf32>",
         .attributes = kPlain});
  check({.batch = 2,
         .queries = 5,
         .keys = 7,
         .width = 2,
         .depth = 2,
         .type = "bf16",
         .bias = "tensor<1x1x5x7xbf16>",
         .mask = "tensor<2x1x1x7xi1>",
         .attributes = kFinite});
}

TEST_CASE("attention of queries that see no key") {
  for (const char *attributes :
       {"scale = 0.35 : f64", "safe, scale = 0.35 : f64", "scale = 0.35 : f64, fill = -30.0 : f64"})
    checkForward(
        {.queries = 29, .keys = 2, .mask = "tensor<1x1x29x2xi1>", .attributes = attributes});
}

TEST_CASE("keys that a causal attention hides have the weight of its fill") {
  // Beside the other scores it counts, or not.
  for (const char *fill : {"-3.0", "-1.0e9"})
    check({.queries = 66,
           .keys = 130,
           .width = 2,
           .depth = 2,
           .attributes = kCausal + ", fill = " + fill + " : f64"});
}

TEST_CASE("attention drops weights by their positions in the scores of all ranks") {
  AttentionForm block{.heads = 2,
                      .groups = 2,
                      .queries = 3,
                      .keys = 5,
                      .width = 2,
                      .depth = 2,
                      .hasSeed = true,
                      .attributes = kCausal + ", dropout = 0.3 : f64"};
  check(block);
  for (const char *dims : {"0,1,2", "2"}) {
    block.offsets = dims;
    checkForward(block, 0, 3);
    checkGradient(block, 0, 3);
  }
}
