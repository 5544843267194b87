// The reader of the wire format: values, packed numbers, and messages on damage.
#include "compiler/frontend/onnx/file/Wire.h"
#include "compiler/frontend/onnx/file/Failure.h"
#include "compiler/frontend/onnx/file/Model.h"

#include <catch2/catch.hpp>

namespace cleave::onnx {
namespace {

using namespace std::string_literals;

std::string failureOf(const std::string &bytes) {
  try {
    readModel(bytes, "m.onnx");
  } catch (const Failure &failure) {
    return failure.status.message();
  }
  return "";
}

TEST_CASE("fields come in the file's order, unread ones are skipped") {
  std::string bytes = "\x08\x96\x01\x12\x03"s + "abc" + "\x1d\x00\x00\x80\x3f\x22\x02\x05\x06"s;
  WireReader in(bytes, 100);
  REQUIRE(in.next());
  CHECK(in.field() == 1);
  CHECK(in.varint() == 150);
  REQUIRE(in.next()); // the text is skipped
  REQUIRE(in.next());
  CHECK(in.float32() == 1.0f);
  REQUIRE(in.next());
  std::vector<int64_t> packed;
  in.integers(packed);
  CHECK(packed == std::vector<int64_t>{5, 6});
  CHECK_FALSE(in.next());
}

TEST_CASE("ranges of bytes are relative to the file") {
  std::string bytes = "\x12\x03"s + "abc";
  WireReader in(bytes, 100);
  REQUIRE(in.next());
  ByteRange range = in.range();
  CHECK(range.offset == 102);
  CHECK(range.size == 3);
}

TEST_CASE("negative numbers are 64-bit varints") {
  std::string bytes = "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"s;
  WireReader in(bytes);
  REQUIRE(in.next());
  CHECK(in.integer() == -1);
}

TEST_CASE("damage names the byte") {
  CHECK_THAT(failureOf("\x3a\x7f"s),
             Catch::Contains("127 bytes but only 0 are left") && Catch::Contains("byte 2"));
  CHECK_THAT(failureOf("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"s),
             Catch::Contains("longer than 64 bits"));
  CHECK_THAT(failureOf("\x08\x80"s), Catch::Contains("ends too early"));
  CHECK_THAT(failureOf("\x08\x08\x3d\x01\x02"s), Catch::Contains("wire type"));
  CHECK_THAT(failureOf("\x08\x08\x3b"s), Catch::Contains("wire type 3"));
}

TEST_CASE("subgraphs that are nested too deeply are errors") {
  std::string graph = "\x0a\x00"s; // one node
  auto wrapped = [](char tag, const std::string &inner) {
    std::string size;
    for (size_t left = inner.size(); left || size.empty(); left >>= 7)
      size += static_cast<char>((left & 0x7f) | (left >= 0x80 ? 0x80 : 0));
    return tag + size + inner;
  };
  for (int depth = 0; depth < 40; ++depth) // graph { node { attribute { g: graph } } }
    graph = wrapped('\x0a', wrapped('\x2a', wrapped('\x32', graph)));
  CHECK_THAT(failureOf(wrapped('\x3a', graph)), Catch::Contains("nested"));
}

} // namespace
} // namespace cleave::onnx
