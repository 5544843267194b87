// Glob patterns.
#include "runtime/base/Glob.h"

#include <catch2/catch.hpp>

using cleave::matchesGlob;

TEST_CASE("globs match whole names; stars match any characters, dots included") {
  CHECK(matchesGlob("blocks.*.fc?.weight", "blocks.11.fc1.weight"));
  CHECK(matchesGlob("*attn*", "h.0.attn.weight"));
  CHECK(matchesGlob("*", ""));
  CHECK(matchesGlob("a**b", "ab"));
  CHECK(matchesGlob("*ab*ab", "abxabyab"));
  CHECK_FALSE(matchesGlob("blocks.*.bias", "blocks.0.weight"));
  CHECK_FALSE(matchesGlob("attn", "h.0.attn.weight"));
  CHECK_FALSE(matchesGlob("a?", "a"));
}

TEST_CASE("brackets in globs match themselves, because names may contain them") {
  CHECK(matchesGlob("layers[0].*", "layers[0].weight"));
  CHECK_FALSE(matchesGlob("layers[0].*", "layers0.weight"));
}
