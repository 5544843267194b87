// Windows of text and token files.
#include "Files.h"
#include "NpyFile.h"

#include "runtime/data/ArrayFile.h"
#include "runtime/data/DataSource.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::data;

static const std::vector<InputDescription> kTokens{{"tokens", DType::I64, {2, 4}},
                                                   {"logits.label", DType::I64, {2, 4}}};

static std::string text(const DataSource &source, size_t input, int64_t step,
                        std::vector<int64_t> offset, std::vector<int64_t> shape) {
  std::vector<int64_t> block(shape[0] * (shape.size() > 1 ? shape[1] : 1));
  REQUIRE(source.fill(input, step, 0, offset, shape, block.data()));
  return std::string(block.begin(), block.end());
}

TEST_CASE("a text is divided into windows, and the label is the next byte") {
  Folder folder;
  auto source = DataSource::open({{folder.write("t.txt", "abcdefghijklmnopqrs")}}, kTokens);
  INFO(source.status().message());
  REQUIRE(source);
  CHECK((*source)->samples() == 4); // 19 bytes: the last label is the 17th
  CHECK(text(**source, 0, 0, {0, 0}, {2, 4}) == "abcdefgh");
  CHECK(text(**source, 1, 0, {0, 0}, {2, 4}) == "bcdefghi");
  CHECK(text(**source, 0, 1, {0, 0}, {2, 4}) == "ijklmnop");
  CHECK(text(**source, 0, 2, {0, 0}, {2, 4}) == "abcdefgh");
  CHECK(text(**source, 1, 0, {1, 1}, {1, 2}) == "gh");
  CHECK(text(**source, 0, 0, {1, 3}, {2, 2}) == std::string("h\0\0\0", 4));
}

TEST_CASE("labels may be one row of all positions") {
  Folder folder;
  auto source = DataSource::open({{folder.write("t.txt", "abcdefghijklmnopqrs")}, 3},
                                 {{"tokens", DType::I32, {2, 4}}, {"label", DType::I64, {8}}});
  REQUIRE(source);
  std::vector<int32_t> tokens(8);
  REQUIRE((*source)->fill(0, 0, 0, {0, 0}, {2, 4}, tokens.data()));
  std::string labels = text(**source, 1, 0, {0}, {8});
  for (int i = 0; i < 8; ++i)
    CHECK(labels[i] == tokens[i] + 1);
  CHECK(text(**source, 1, 0, {3}, {3}) == labels.substr(3, 3));
}

TEST_CASE("without a label every token is used") {
  Folder folder;
  auto source =
      DataSource::open({{folder.write("t.txt", "abcdefgh")}}, {{"tokens", DType::I64, {1, 4}}});
  REQUIRE(source);
  CHECK((*source)->samples() == 2);
  CHECK(text(**source, 0, 1, {0, 0}, {1, 4}) == "efgh");
}

TEST_CASE("token files of 16 and 32 bits and integer arrays are rows of tokens") {
  Folder folder;
  std::vector<InputDescription> inputs{{"tokens", DType::I64, {1, 2}}};
  auto first = [&](const std::string &path) {
    auto source = DataSource::open({{path}}, inputs);
    INFO(source.status().message());
    REQUIRE(source);
    std::vector<int64_t> block(2);
    REQUIRE((*source)->fill(0, 0, 0, {0, 0}, {1, 2}, block.data()));
    return block;
  };
  CHECK(first(folder.write("a.u16", std::string("\xff\xff\x02\x01", 4))) ==
        std::vector<int64_t>{65535, 258});
  CHECK(first(folder.write("a.u32", std::string("\x01\0\x01\0\x02\0\0\0", 8))) ==
        std::vector<int64_t>{65537, 2});
  for (DType dtype : {DType::I16, DType::I32, DType::I64, DType::U8}) {
    std::vector<int64_t> values{5, 100};
    std::vector<unsigned char> stored(2 * byteSize(dtype));
    REQUIRE(convert(values.data(), DType::I64, stored.data(), dtype, 2));
    REQUIRE(writeNpy(folder / "a.npy", {"", dtype, {2}, stored.data()}));
    CHECK(first(folder / "a.npy") == values);
  }
}

TEST_CASE("token files of llm.c begin with a header") {
  Folder folder;
  std::vector<int32_t> header(256);
  header[0] = 20240520, header[1] = 1, header[2] = 4;
  std::string bytes(reinterpret_cast<char *>(header.data()), 1024);
  std::string path =
      folder.write("train.bin", bytes + std::string("\xff\xff\x02\x01\x05\0\x06\0", 8));
  std::vector<InputDescription> inputs{{"tokens", DType::I64, {1, 2}}};
  auto source = DataSource::open({{path}}, inputs);
  REQUIRE(source);
  CHECK((*source)->samples() == 2);
  std::vector<int64_t> block(2);
  REQUIRE((*source)->fill(0, 0, 0, {0, 0}, {1, 2}, block.data()));
  CHECK(block == std::vector<int64_t>{65535, 258});
  auto plain = DataSource::open({{folder.write("text.bin", "abcd")}}, inputs);
  REQUIRE(plain);
  CHECK(text(**plain, 0, 0, {0, 0}, {1, 2}) == "ab");
}

TEST_CASE("several token files follow each other, and no window has tokens of two") {
  Folder folder;
  folder.write("a.txt", "abcdefghij"); // two windows and their label
  folder.write("b.txt", "xyz");        // too short
  folder.write("c.txt", "ABCDE");
  auto source = DataSource::open({{folder / "?.txt"}}, kTokens);
  INFO(source.status().message());
  REQUIRE(source);
  CHECK((*source)->samples() == 3);
  CHECK((*source)->description() ==
        "3 windows of 4 tokens in 3 files, 1 of which is too short for a window");
  CHECK(text(**source, 0, 0, {0, 0}, {2, 4}) == "abcdefgh");
  CHECK(text(**source, 0, 1, {0, 0}, {2, 4}) == "ABCDabcd");
  CHECK(text(**source, 1, 1, {0, 0}, {2, 4}) == "BCDEbcde");
}

TEST_CASE("a last batch of windows is padded with labels that the loss ignores") {
  Folder folder;
  DataOptions options{{folder.write("t.txt", "abcdefghijklm")}};
  options.lastBatch = LastBatch::Pad;
  auto inputs = kTokens;
  inputs[1].vocabulary = 128;
  inputs[1].ignored = -1;
  auto source = DataSource::open(options, inputs);
  INFO(source.status().message());
  REQUIRE(source);
  CHECK((*source)->samples() == 3);
  std::vector<int64_t> labels(8);
  REQUIRE((*source)->fill(1, 1, 0, {0, 0}, {2, 4}, labels.data()));
  CHECK(labels == std::vector<int64_t>{'j', 'k', 'l', 'm', -1, -1, -1, -1});
  CHECK(text(**source, 0, 2, {0, 0}, {2, 4}) == "abcdefgh"); // the next epoch begins
}

static std::string refusal(const DataOptions &options,
                           const std::vector<InputDescription> &inputs) {
  return DataSource::open(options, inputs).status().message();
}

TEST_CASE("models that do not read tokens, and files that are too short, are rejected") {
  Folder folder;
  std::string path = folder.write("t.txt", "abcd");
  std::string way = "; give FILE.npz, FILE.safetensors or NAME=FILE.npy";
  CHECK(refusal({{path}}, kTokens) ==
        "found 4 tokens in " + path + ", expected at least 5 for one window of 4 tokens");
  CHECK(refusal({{path}}, {{"x", DType::F32, {2, 4}}}) ==
        "found the token file " + path + ", but input `x` is f32[2, 4], not tokens" + way);
  CHECK(refusal({{path}}, {{"a", DType::I64, {2, 4}}, {"b", DType::I64, {2, 3}}}) ==
        "found the token file " + path + ", but `a` [2, 4] and `b` [2, 3] differ in size" + way);
  DataOptions inference{{path}};
  inference.mayHaveLabels = false;
  CHECK(refusal(inference, {{"a", DType::I64, {1, 2}}, {"b", DType::I64, {1, 2}}})
            .find("it is unknown which of `a` and `b` takes the tokens") != std::string::npos);
  std::vector<float> values(4);
  REQUIRE(writeNpy(folder / "f.npy", {"", DType::F32, {4}, values.data()}));
  CHECK(refusal({{folder / "f.npy"}}, kTokens)
            .find("with f32[4], expected a one-dimensional integer array") != std::string::npos);
}

TEST_CASE("a token beyond the vocabulary is named") {
  Folder folder;
  std::string path = folder.write("t.txt", "ab\xc3\xa4zzzzz");
  auto source = DataSource::open({{path}}, {{"tokens", DType::I64, {1, 4}, 128}});
  REQUIRE(source);
  std::vector<int64_t> block(4);
  CHECK((*source)->fill(0, 0, 0, {0, 0}, {1, 4}, block.data()).message() ==
        "found token 195 for input `tokens` in " + path + ", token 2, expected 0 to 127");
}
