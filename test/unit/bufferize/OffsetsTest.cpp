// Buffers that live at the same time never share bytes, and little is lost to placement.
#include "passes/bufferize/Offsets.h"

#include <catch2/catch.hpp>

#include <random>

using namespace cleave::bufferize;

TEST_CASE("buffers that follow each other in time share memory") {
  Placement placement = placeBuffers({{100, 0, 1}, {100, 2, 3}, {64, 1, 2}});
  CHECK(placement.offsets[0] == placement.offsets[1]);
  CHECK(placement.peak == 164);
  CHECK(placement.bytes == 192);
}

TEST_CASE("no two buffers overlap in space and time, whatever their lifetimes") {
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    std::vector<Lifetime> lives;
    for (int i = 0; i < 60; ++i) {
      int64_t first = random() % 50;
      lives.push_back({static_cast<int64_t>(random() % 5000), first,
                       first + static_cast<int64_t>(random() % 20)});
    }
    Placement placement = placeBuffers(lives);
    CHECK(placement.peak <= placement.bytes);
    for (size_t a = 0; a < lives.size(); ++a) {
      CHECK(placement.offsets[a] % kAlignment == 0);
      CHECK(placement.offsets[a] + lives[a].bytes <= placement.bytes);
      for (size_t b = 0; b < a; ++b) {
        bool together = lives[a].first <= lives[b].last && lives[b].first <= lives[a].last;
        bool apart = placement.offsets[a] + lives[a].bytes <= placement.offsets[b] ||
                     placement.offsets[b] + lives[b].bytes <= placement.offsets[a];
        CHECK((!together || apart));
      }
    }
  }
}
