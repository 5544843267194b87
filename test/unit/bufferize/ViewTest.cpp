// Views: what strides can say, and what they cannot.
#include "passes/bufferize/View.h"

#include <catch2/catch.hpp>

using namespace cleave::bufferize;
using Sizes = llvm::SmallVector<int64_t>;

TEST_CASE("a dense view takes every shape of its size") {
  View view = View::dense({}, {4, 6});
  for (Sizes shape :
       {Sizes{24}, Sizes{2, 2, 6}, Sizes{4, 1, 2, 3}, Sizes{8, 3}, Sizes{3, 8}, Sizes{3, 4, 2}}) {
    REQUIRE(view.reshaped(shape));
    CHECK(view.reshaped(shape)->isDense());
  }
}

TEST_CASE("a view without elements takes every shape without elements") {
  View view = View::dense({}, {2, 0, 4}).transposed({2, 0, 1});
  REQUIRE(view.reshaped({0, 3}));
  CHECK(view.reshaped({0, 3})->size() == 0);
}

TEST_CASE("a transposed view can be split but not merged") {
  View view = View::dense({}, {2, 3, 8}).transposed({1, 0, 2});
  CHECK_FALSE(view.isDense());
  CHECK_FALSE(view.reshaped({6, 8}));
  REQUIRE(view.reshaped({3, 2, 2, 4}));
  CHECK(view.reshaped({3, 2, 2, 4})->strides == Sizes{8, 24, 4, 1});
}

TEST_CASE("a slice keeps strides and moves the offset, and heads are split inside it") {
  View view = View::dense({}, {5, 12}).sliced(1, 4, 1, 4);
  CHECK(view.offset == 4);
  CHECK(view.strides == Sizes{12, 1});
  REQUIRE(view.reshaped({5, 2, 2}));
  CHECK(view.reshaped({5, 2, 2})->strides == Sizes{12, 2, 1});
  CHECK_FALSE(view.reshaped({20}));
}

TEST_CASE("a reversed dim has a negative stride") {
  View view = View::dense({}, {4}).sliced(0, 3, -1, 4);
  CHECK(view.offset == 3);
  CHECK(view.strides == Sizes{-1});
}
