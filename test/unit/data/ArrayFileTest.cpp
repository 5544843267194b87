// Writing and reading of the three array formats, and damaged files.
#include "Files.h"

#include "runtime/data/ArrayFile.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <zlib.h>

using namespace cleave;
using namespace cleave::data;

static const std::vector<float> kFloats{1.5f, -2, 3, 4, 5, 6};
static const std::vector<int64_t> kIntegers{7, -8, 1'000'000'000'000};
static const std::vector<uint16_t> kHalves{0x3f80, 0xc000}; // bf16 1, -2

static std::vector<ArrayView> threeArrays() {
  return {{"x", DType::F32, {2, 3}, kFloats.data()},
          {"layer.0/label", DType::I64, {3}, kIntegers.data()},
          {"scalar", DType::F32, {}, kFloats.data()}};
}

static void checkThree(const ArrayFile &file) {
  REQUIRE(file.arrays().size() == 3);
  for (const ArrayView &right : threeArrays()) {
    const ArrayView *found = file.find(right.name);
    REQUIRE(found);
    CHECK(found->dtype == right.dtype);
    CHECK(found->shape == right.shape);
    CHECK(std::memcmp(found->data, right.data, right.bytes()) == 0);
  }
  CHECK(file.find("y") == nullptr);
}

TEST_CASE("arrays written to .npz and .safetensors are read back") {
  Folder folder;
  REQUIRE(writeNpz(folder / "a.npz", threeArrays()));
  REQUIRE(writeSafetensors(folder / "a.safetensors", threeArrays(), {{"step", "7"}}));
  auto npz = ArrayFile::open(folder / "a.npz"),
       safetensors = ArrayFile::open(folder / "a.safetensors");
  REQUIRE(npz);
  REQUIRE(safetensors);
  checkThree(**npz);
  checkThree(**safetensors);
  CHECK((*safetensors)->metadata() ==
        std::vector<std::pair<std::string, std::string>>{{"step", "7"}});
}

TEST_CASE(
    "an .npy is named by its file, its elements begin at a multiple of 64 and bf16 becomes f32") {
  Folder folder;
  REQUIRE(writeNpy(folder / "w.npy", {"any", DType::BF16, {2}, kHalves.data()}));
  auto file = ArrayFile::open(folder / "w.npy");
  REQUIRE(file);
  const ArrayView *array = (*file)->find("w");
  REQUIRE(array);
  CHECK(array->dtype == DType::F32);
  CHECK(static_cast<const float *>(array->data)[1] == -2.0f);
  std::string content = contentOf(folder / "w.npy");
  CHECK(content.size() == 128 + 2 * sizeof(float));
  CHECK(content.find("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }") == 10);
}

TEST_CASE("bf16 stays bf16 in safetensors") {
  Folder folder;
  REQUIRE(writeSafetensors(folder / "b.safetensors", {{"w", DType::BF16, {2}, kHalves.data()}}));
  auto file = ArrayFile::open(folder / "b.safetensors");
  REQUIRE(file);
  CHECK((*file)->find("w")->dtype == DType::BF16);
}

// The .npy bytes of a header and elements, as NumPy writes them.
static std::string npy(const std::string &descr, const std::string &shape,
                       const std::string &elements, bool fortran = false) {
  std::string dict = "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") +
                     ", 'shape': " + shape + ", }\n";
  std::string out("\x93NUMPY\x01\x00", 8);
  out += static_cast<char>(dict.size());
  out += '\0';
  return out + dict + elements;
}

// A zip archive with one deflated entry.
static std::string deflated(const std::string &name, const std::string &content) {
  std::string body(compressBound(content.size()), '\0');
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(content.data()));
  stream.avail_in = content.size();
  stream.next_out = reinterpret_cast<Bytef *>(body.data());
  stream.avail_out = body.size();
  deflate(&stream, Z_FINISH);
  body.resize(stream.total_out);
  deflateEnd(&stream);
  auto put = [](std::string &out, uint64_t value, int width) {
    out.append(reinterpret_cast<char *>(&value), width);
  };
  uint32_t crc = crc32(0, reinterpret_cast<const Bytef *>(content.data()), content.size());
  std::string common;
  put(common, 20, 2), put(common, 0, 2), put(common, 8, 2), put(common, 0, 4), put(common, crc, 4);
  put(common, body.size(), 4), put(common, content.size(), 4), put(common, name.size(), 2),
      put(common, 0, 2);
  std::string out = "PK\x03\x04" + common + name + body;
  std::string directory =
      std::string("PK\x01\x02") + std::string("\x14\0", 2) + common + std::string(14, '\0') + name;
  std::string end = "PK\x05\x06";
  put(end, 0, 4), put(end, 1, 2), put(end, 1, 2), put(end, directory.size(), 4),
      put(end, out.size(), 4), put(end, 0, 2);
  return out + directory + end;
}

TEST_CASE("a compressed .npz is inflated, and a damaged one is rejected") {
  Folder folder;
  std::string elements(4000, '\x01');
  std::string archive = deflated("x.npy", npy("|u1", "(4000,)", elements));
  auto file = ArrayFile::open(folder.write("c.npz", archive));
  INFO(file.status().message());
  REQUIRE(file);
  const ArrayView *array = (*file)->find("x");
  REQUIRE(array);
  CHECK(array->shape == std::vector<int64_t>{4000});
  CHECK(std::memcmp(array->data, elements.data(), 4000) == 0);
  archive[60] ^= 0x40;
  auto damaged = ArrayFile::open(folder.write("d.npz", archive));
  CHECK(damaged.status().message().find("the compressed data of entry `x` are damaged") !=
        std::string::npos);
}

TEST_CASE(
    "unsigned integers are read, and unsupported types are named when their array is needed") {
  Folder folder;
  auto words = ArrayFile::open(
      folder.write("u.npy", npy("<u2", "(2,)", std::string("\xff\xff\x01\x00", 4))));
  REQUIRE(words);
  CHECK((*words)->arrays()[0].dtype == DType::U16);
  CHECK(static_cast<const uint16_t *>((*words)->arrays()[0].data)[0] == 65535);
  auto text = ArrayFile::open(folder.write("t.npy", npy("<U3", "(1,)", std::string(12, 'a'))));
  REQUIRE(text);
  CHECK((*text)->arrays().empty());
  CHECK((*text)->unreadable()[0].second == "elements of type <U3 are not supported");
  auto fortran =
      ArrayFile::open(folder.write("f.npy", npy("<f4", "(2, 2)", std::string(16, '\0'), true)));
  CHECK((*fortran)->unreadable()[0].second.find("ascontiguousarray") != std::string::npos);
}

TEST_CASE("a truncated file is rejected or read whole, never beyond its end") {
  Folder folder;
  REQUIRE(writeNpz(folder / "a.npz", threeArrays()));
  REQUIRE(writeSafetensors(folder / "a.safetensors", threeArrays()));
  REQUIRE(writeNpy(folder / "a.npy", threeArrays()[0]));
  for (std::string ending : {".npz", ".safetensors", ".npy"}) {
    std::string whole = contentOf(folder / ("a" + ending));
    for (size_t size = 0; size < whole.size(); ++size) {
      auto file = ArrayFile::open(folder.write("cut" + ending, whole.substr(0, size)));
      CHECK_FALSE(file);
      CHECK(file.status().kind() == StatusKind::UserError);
    }
  }
}

TEST_CASE("a flipped bit in a header does not crash the reader") {
  Folder folder;
  REQUIRE(writeNpz(folder / "a.npz", threeArrays()));
  REQUIRE(writeSafetensors(folder / "a.safetensors", threeArrays()));
  for (std::string ending : {".npz", ".safetensors"}) {
    std::string whole = contentOf(folder / ("a" + ending));
    for (size_t bit = 0; bit < whole.size() * 8; bit += 3) {
      std::string flipped = whole;
      flipped[bit / 8] ^= 1 << (bit % 8);
      auto file = ArrayFile::open(folder.write("flip" + ending, flipped));
      for (size_t i = 0; file && i < (*file)->arrays().size();
           ++i) { // the listed arrays can be read
        const ArrayView &array = (*file)->arrays()[i];
        std::string copy(static_cast<const char *>(array.data), array.bytes());
        CHECK(copy.size() == static_cast<size_t>(array.bytes()));
      }
    }
  }
}

TEST_CASE("conversions keep values or name one that does not fit") {
  std::vector<int64_t> big{1, 5'000'000'000};
  std::vector<int32_t> small(2);
  Status status = convert(big.data(), DType::I64, small.data(), DType::I32, 2);
  CHECK(status.message() == "i32 cannot hold 5000000000");
  REQUIRE(convert(big.data(), DType::I64, small.data(), DType::I32, 1));
  CHECK(small[0] == 1);
  std::vector<float> floats(2);
  REQUIRE(convert(big.data(), DType::I64, floats.data(), DType::F32, 2));
  CHECK(floats[1] == 5e9f);
  std::vector<uint16_t> halves(2);
  REQUIRE(convert(floats.data(), DType::F32, halves.data(), DType::BF16, 2));
  REQUIRE(convert(halves.data(), DType::BF16, floats.data(), DType::F32, 2));
  CHECK(floats[0] == 1.0f);
  CHECK(convert(floats.data(), DType::F32, small.data(), DType::I32, 1).message() ==
        "found f32 values, expected i32; round them in the file");
}

TEST_CASE("a failed write leaves the old file unchanged and no temporary file") {
  Folder folder;
  CHECK(writeNpz(folder / "none/a.npz", threeArrays()).message().find("cannot write") == 0);
  REQUIRE(writeNpy(folder / "a.npy", threeArrays()[0]));
  for (const auto &entry : std::filesystem::directory_iterator(folder / ""))
    CHECK(entry.path().filename().string().find(".partial.") == std::string::npos);
}
