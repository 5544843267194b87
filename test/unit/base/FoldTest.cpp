// Names of repeated blocks.
#include "runtime/base/Fold.h"

#include <catch2/catch.hpp>

using namespace cleave;

TEST_CASE("names of repeated blocks fold into one") {
  CHECK(nameShape("h.12.attn.w") == "h.#.attn.w");
  CHECK(foldedName({"h.0.w"}) == "h.0.w");
  CHECK(foldedName({"h.0.w1", "h.1.w1", "h.2.w1"}) == "h.{0-2}.w1");
  CHECK(foldedName({"a.3", "a.10", "a.4", "a.5", "a.8"}) == "a.{3-5,8,10}");
  CHECK(foldedName({"7", "8"}) == "{7,8}");
}
