// The attention that a library of GPUs computes.
#include "dialects/graph/Attention.h"
#include "test/unit/graph_text/GraphText.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::test;

TEST_CASE("a library of GPUs computes attention of up to 128 columns and 4096 x 4096 scores") {
  auto refusal = [](int64_t queries, int64_t keys, int64_t columns) {
    auto heads = [&](int64_t rows) { return concat("tensor<2x4x", rows, "x", columns, "xbf16>"); };
    GraphText text(concat(
        "func.func @f(%q: ", heads(queries), ", %k: ", heads(keys), ", %v: ", heads(keys), ") -> ",
        heads(queries), " {\n  %y, %lse = graph.attention %q, %k, %v {scale = 0.35 : f64} : (",
        heads(queries), ", ", heads(keys), ", ", heads(keys), ") -> (", heads(queries),
        ", tensor<2x4x", queries, "xf32>)\n  return %y : ", heads(queries), "\n}"));
    return graph::AttentionScores(
               cast<graph::AttentionOp>(text.function().getBody().front().front()))
        .libraryRefusal();
  };
  CHECK(refusal(4096, 4096, 128) == "");
  CHECK(refusal(4096, 4096, 136) == "it has 136 columns, expected a multiple of 8 up to 128");
  CHECK(refusal(4096, 4104, 64) == "its 4096 x 4104 scores per head take too much memory");
}
