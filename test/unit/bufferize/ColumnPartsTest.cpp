// The parts in which kernels of GPUs sum columns.
#include "passes/bufferize/ColumnParts.h"
#include "runtime/base/Concat.h"
#include "test/unit/graph_text/GraphText.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::test;

namespace {

int64_t partsOf(const std::string &body, const std::string &wide, int64_t columns) {
  const std::string sums = concat("tensor<", columns, "xf32>");
  GraphText text(concat("func.func @f(%x: ", wide, ") -> ", sums,
                        " {\n  %0 = graph.fusion (%a = %x : ", wide, ") -> (", sums, ") {\n", body,
                        "    %s = graph.reduce sum %v over [0] : ", wide, " -> ", sums,
                        "\n    graph.yield %s : ", sums, "\n  }\n  return %0 : ", sums, "\n}"));
  auto fusion = cast<graph::FusionOp>(text.function().getBody().front().front());
  const auto parts =
      bufferize::columnPartsOf(fusion, [](const bufferize::ColumnParts &) { return true; });
  return parts ? parts->parts : 1;
}

// The number of parts of sums of exponentials over rows.
int64_t plainParts(int64_t rows, int64_t columns) {
  const std::string wide = concat("tensor<", rows, "x", columns, "xf32>");
  return partsOf(concat("    %v = graph.exp %a : ", wide, "\n"), wide, columns);
}

// The number of parts if the group also sums over columns: a block sweeps over its rows.
int64_t sweptParts(int64_t rows, int64_t columns) {
  const std::string wide = concat("tensor<", rows, "x", columns, "xf32>"),
                    narrow = concat("tensor<", rows, "xf32>");
  return partsOf(concat("    %r = graph.reduce sum %a over [1] : ", wide, " -> ", narrow,
                        "\n    %b = graph.broadcast %r to [0] : ", narrow, " -> ", wide,
                        "\n    %v = graph.sub %a, %b : ", wide, "\n"),
                 wide, columns);
}

} // namespace

TEST_CASE("columns of 4096 rows are summed in parts of 64, until 1024 blocks have work") {
  CHECK(plainParts(4095, 256) == 1);
  CHECK(plainParts(4096, 256) == 64);
  CHECK(plainParts(1 << 20, 256) == 1024);
  CHECK(plainParts(1 << 20, 512) == 512); // two blocks for each part
}

TEST_CASE("rows that are swept have 16 per part, and at most 2^19 elements or 256 rows at a time") {
  CHECK(sweptParts(2048, 1024) == 128);
  CHECK(sweptParts(1 << 20, 1024) == 512);
  CHECK(sweptParts(1 << 20, 8192) == 256);
}
