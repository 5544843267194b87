// Element types and first values in the terms of the plan file.
#include "compiler/artifact/ExportTensor.h"

#include "dialects/graph/Graph.h"
#include "dialects/graph/RandomOrigin.h"
#include "dialects/graph/Step.h"

#include "mlir/AsmParser/AsmParser.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <bit>

using namespace cleave;
using namespace mlir;

namespace {

struct Exported {
  MLIRContext context;
  plan::TensorSource source;

  explicit Exported(const std::string &text) {
    context.loadDialect<graph::GraphDialect>();
    source = artifact::sourceOf(parseAttribute(text, &context));
  }
};

// The elements that the plan has for a constant.
template <typename T> std::vector<T> elementsOf(const std::string &constant) {
  std::string bytes = Exported("{data = " + constant + "}").source.inline_data();
  std::vector<T> elements(bytes.size() / sizeof(T));
  std::copy_n(bytes.data(), elements.size() * sizeof(T), reinterpret_cast<char *>(elements.data()));
  return elements;
}

} // namespace

TEST_CASE("integers of 64 bits are exported exactly") {
  CHECK(elementsOf<int64_t>("dense<[9007199254740993, -9007199254740995, -1]> : tensor<3xi64>") ==
        std::vector<int64_t>{9007199254740993, -9007199254740995, -1});
  CHECK(elementsOf<int64_t>("dense<9223372036854775806> : tensor<2xi64>") ==
        std::vector<int64_t>(2, 9223372036854775806));
  CHECK(elementsOf<uint64_t>("dense<18446744073709551615> : tensor<1xui64>") ==
        std::vector<uint64_t>{18446744073709551615u});
}

TEST_CASE("truth values take a byte each") {
  using Bytes = std::vector<uint8_t>;
  CHECK(elementsOf<uint8_t>("dense<[true, false, true]> : tensor<3xi1>") == Bytes{1, 0, 1});
  CHECK(elementsOf<uint8_t>("dense<true> : tensor<9xi1>") == Bytes(9, 1));
}

TEST_CASE("floats keep their bits") {
  std::vector<float> zeros = elementsOf<float>("dense<[-0.0, 0.0, 1.5]> : tensor<3xf32>");
  CHECK(zeros == std::vector<float>{0, 0, 1.5});
  CHECK(std::signbit(zeros[0]));
  CHECK(elementsOf<uint32_t>("dense<0x7FC00123> : tensor<1xf32>") ==
        std::vector<uint32_t>{0x7FC00123});
  CHECK(elementsOf<uint16_t>("dense<1.0> : tensor<2xbf16>") == std::vector<uint16_t>(2, 0x3F80));
  CHECK(elementsOf<uint16_t>("dense<-2.0> : tensor<1xf16>") == std::vector<uint16_t>{0xC000});
}

TEST_CASE("a constant without elements has no bytes") {
  CHECK(elementsOf<float>("dense<> : tensor<0xf32>").empty());
}

TEST_CASE("a fill is one number") { CHECK(Exported("{fill = 2.5 : f64}").source.fill() == 2.5); }

TEST_CASE("a slice of a file has its place, type and order of dims") {
  Exported exported("{path = \"w.bin\", offset = 64 : i64, bytes = 24 : i64, element = f16, "
                    "permutation = array<i64: 1, 0>}");
  const plan::FileSlice &file = exported.source.file();
  CHECK(file.path() == "w.bin");
  CHECK(file.offset() == 64);
  CHECK(file.bytes() == 24);
  CHECK(file.dtype() == static_cast<plan::DType>(ElementType::F16));
  CHECK(exported.source.permutation_size() == 2);
  CHECK(exported.source.permutation(0) == 1);
}

TEST_CASE("random values keep their distribution and scale") {
  MLIRContext context;
  for (bool isNormal : {true, false}) {
    plan::TensorSource source =
        artifact::sourceOf(graph::toAttribute(graph::RandomOrigin{isNormal, 0.25}, &context));
    CHECK((source.random().distribution() == plan::RandomValues::NORMAL) == isNormal);
    CHECK(source.random().scale() == 0.25);
  }
}
