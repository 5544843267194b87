// Writing and reading of the three array formats, and damaged files.
#include "Files.h"
#include "NpyFile.h"

#include "runtime/data/ArrayFile.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <ctime>
#include <sys/stat.h>
#include <zlib.h>

using namespace cleave;
using namespace cleave::data;
using Catch::Matchers::Contains;

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

TEST_CASE("an .npy is named by its file") {
  Folder folder;
  REQUIRE(writeNpy(folder / "w.npy", {"any", DType::I64, {3}, kIntegers.data()}));
  auto file = ArrayFile::open(folder / "w.npy");
  REQUIRE(file);
  const ArrayView *array = (*file)->find("w");
  REQUIRE(array);
  CHECK(array->dtype == DType::I64);
  CHECK(array->shape == std::vector<int64_t>{3});
  CHECK(std::memcmp(array->data, kIntegers.data(), array->bytes()) == 0);
}

TEST_CASE("in an .npz elements begin at a multiple of 64 in their member, and bf16 becomes f32") {
  Folder folder;
  REQUIRE(writeNpz(folder / "w.npz", {{"w", DType::BF16, {2}, kHalves.data()}}));
  auto file = ArrayFile::open(folder / "w.npz");
  REQUIRE(file);
  const ArrayView *array = (*file)->find("w");
  REQUIRE(array);
  CHECK(array->dtype == DType::F32);
  CHECK(array->at<float>(1) == -2.0f);
  const std::string content = contentOf(folder / "w.npz");
  const size_t member = content.find("\x93NUMPY"), elements = content.find("PK\x01\x02") - 8;
  CHECK(elements - member == 128);
  CHECK(content.find("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }") == member + 10);
}

TEST_CASE("bf16 stays bf16 in safetensors") {
  Folder folder;
  REQUIRE(writeSafetensors(folder / "b.safetensors", {{"w", DType::BF16, {2}, kHalves.data()}}));
  auto file = ArrayFile::open(folder / "b.safetensors");
  REQUIRE(file);
  CHECK((*file)->find("w")->dtype == DType::BF16);
}

// A deflated stream.
static std::string deflate(const std::string &content) {
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
  return body;
}

// Writes zip archives of deflated entries.
class Zip {
public:
  // Adds an entry; returns where it begins.
  size_t add(const std::string &name, const std::string &content) {
    std::string body = deflate(content);
    uint32_t crc = crc32(0, reinterpret_cast<const Bytef *>(content.data()), content.size());
    size_t at = bytes_.size();
    bytes_ += "PK\x03\x04" + common(name, crc, body.size(), content.size()) + name + body;
    list(name, crc, body.size(), content.size(), at);
    return at;
  }
  // Adds an entry of the directory only.
  void list(const std::string &name, uint32_t crc, uint64_t stored, uint64_t size, size_t at) {
    directory_ += "PK\x01\x02" + std::string("\x14\0", 2) + common(name, crc, stored, size) +
                  std::string(10, '\0');
    put(directory_, at, 4);
    directory_ += name;
    ++count_;
  }
  std::string finish() const {
    std::string end = "PK\x05\x06";
    put(end, 0, 4), put(end, count_, 2), put(end, count_, 2), put(end, directory_.size(), 4),
        put(end, bytes_.size(), 4), put(end, 0, 2);
    return bytes_ + directory_ + end;
  }

private:
  static void put(std::string &out, uint64_t value, int width) {
    out.append(reinterpret_cast<char *>(&value), width);
  }
  static std::string common(const std::string &name, uint32_t crc, uint64_t stored, uint64_t size) {
    std::string out;
    put(out, 20, 2), put(out, 0, 2), put(out, 8, 2), put(out, 0, 4), put(out, crc, 4);
    put(out, stored, 4), put(out, size, 4), put(out, name.size(), 2), put(out, 0, 2);
    return out;
  }
  std::string bytes_, directory_;
  uint64_t count_ = 0;
};

static std::string deflated(const std::string &name, const std::string &content) {
  Zip zip;
  zip.add(name, content);
  return zip.finish();
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

static std::string zeros(size_t count) {
  return npy("|u1", "(" + std::to_string(count) + ",)", std::string(count, '\0'));
}

TEST_CASE("entries of an .npz that share bytes are refused") {
  Folder folder;
  Zip zip;
  std::string content = zeros(1000);
  size_t at = zip.add("a.npy", content);
  std::string body = deflate(content);
  uint32_t crc = crc32(0, reinterpret_cast<const Bytef *>(content.data()), content.size());
  for (int i = 0; i < 20; ++i) // each 1000 bytes more, from the same bytes of the file
    zip.list("a" + std::to_string(i) + ".npy", crc, body.size(), content.size(), at);
  Status status = ArrayFile::open(folder.write("o.npz", zip.finish())).status();
  CHECK(status.kind() == StatusKind::UserError);
  CHECK_THAT(status.message(), Contains("overlap"));
}

TEST_CASE("two arrays of one name in an .npz are refused") {
  Folder folder;
  Zip zip;
  zip.add("a.npy", zeros(10));
  zip.add("a", zeros(20));
  CHECK_THAT(ArrayFile::open(folder.write("d.npz", zip.finish())).status().message(),
             Contains("two entries `a`"));
}

TEST_CASE("an .npz entry cannot claim more bytes than deflate can make") {
  Folder folder;
  Zip zip;
  zip.add("a.npy", zeros(100));
  std::string archive = zip.finish();
  uint32_t claimed = 3'000'000'000;
  archive.replace(archive.find("PK\x01\x02") + 24, 4, reinterpret_cast<char *>(&claimed), 4);
  CHECK_THAT(ArrayFile::open(folder.write("r.npz", archive)).status().message(),
             Contains("cannot be inflated to 3000000000"));
}

TEST_CASE("compressed arrays that are not wanted are listed but not inflated") {
  Folder folder;
  Zip zip;
  zip.add("wanted.npy", zeros(10));
  zip.add("other.npy", zeros(5000));
  std::string archive = zip.finish();
  archive[archive.find("other.npy") + 20] ^= 0x20; // damage that inflating would detect
  std::string path = folder.write("w.npz", archive);
  REQUIRE_FALSE(ArrayFile::open(path));
  ReadOptions options;
  options.isWanted = [](const std::string &name) { return name == "wanted"; };
  auto file = ArrayFile::open(path, options);
  REQUIRE(file);
  CHECK((*file)->find("wanted"));
  CHECK((*file)->find("other") == nullptr);
  CHECK((*file)->names() == std::vector<std::string>{"wanted", "other"});
}

TEST_CASE("compressed arrays together take no more memory than allowed") {
  Folder folder;
  Zip zip;
  zip.add("a.npy", zeros(100'000));
  zip.add("b.npy", zeros(100'000));
  std::string path = folder.write("t.npz", zip.finish());
  ReadOptions options;
  options.mostInflated = 150'000;
  CHECK_THAT(ArrayFile::open(path, options).status().message(),
             Contains("take more than the 150000 bytes of memory that are left") &&
                 Contains("numpy.savez"));
  options.mostInflated = 250'000;
  CHECK(ArrayFile::open(path, options));
}

// A safetensors file with this header and number of data bytes.
static std::string safetensors(const std::string &header, size_t dataBytes) {
  uint64_t size = header.size();
  return std::string(reinterpret_cast<char *>(&size), 8) + header + std::string(dataBytes, '\1');
}

static std::string entry(const std::string &name, int begin, int end) {
  return "\"" + name + R"(":{"dtype":"U8","shape":[)" + std::to_string(end - begin) +
         R"(],"data_offsets":[)" + std::to_string(begin) + "," + std::to_string(end) + "]}";
}

TEST_CASE("safetensors whose tensors overlap, leave holes or have one name twice are refused") {
  Folder folder;
  auto messageOf = [&](const std::string &header, size_t dataBytes) {
    return ArrayFile::open(folder.write("x.safetensors", safetensors(header, dataBytes)))
        .status()
        .message();
  };
  CHECK(messageOf("{" + entry("b", 4, 8) + "," + entry("a", 0, 4) + "}", 8).empty());
  CHECK(messageOf("{" + entry("e", 0, 0) + "," + entry("a", 0, 4) + "}  ", 4).empty());
  CHECK_THAT(messageOf("{" + entry("a", 0, 4) + "," + entry("b", 2, 6) + "}", 6),
             Contains("tensor `b` begins at byte 2 of the data, expected 4"));
  CHECK_THAT(messageOf("{" + entry("a", 0, 4) + "," + entry("b", 6, 8) + "}", 8),
             Contains("tensor `b` begins at byte 6 of the data, expected 4"));
  CHECK_THAT(messageOf("{" + entry("a", 0, 4) + "}", 8), Contains("end at byte 4"));
  CHECK_THAT(messageOf("{" + entry("a", 0, 4) + "," + entry("a", 0, 4) + "}", 4),
             Contains("has `a` twice"));
  CHECK_THAT(messageOf(R"({"a":{"dtype":"U8","dtype":"I8","shape":[4],"data_offsets":[0,4]}})", 4),
             Contains("has `dtype` twice"));
}

TEST_CASE("the time to read a safetensors header grows with its length, not with its square") {
  Folder folder;
  auto secondsFor = [&](int names) {
    std::string header = "{";
    for (int i = 0; i < names; ++i)
      header += (i ? "," : "") + entry("tensor." + std::to_string(i), i, i + 1);
    std::string path = folder.write("n.safetensors", safetensors(header + "}", names));
    double best = 1e9;
    for (int round = 0; round < 3; ++round) {
      std::clock_t begin = std::clock();
      REQUIRE(ArrayFile::open(path));
      best = std::min(best, double(std::clock() - begin) / CLOCKS_PER_SEC);
    }
    return best;
  };
  CHECK(secondsFor(40'000) < 60 * secondsFor(4000)); // a quadratic reader takes 100 times as long
}

TEST_CASE("pipes and devices are no data files, and nothing waits for them") {
  Folder folder;
  REQUIRE(::mkfifo((folder / "pipe.npz").c_str(), 0600) == 0);
  CHECK_THAT(ArrayFile::open(folder / "pipe.npz").status().message(),
             Contains("it is a pipe, expected a regular file"));
  std::filesystem::create_symlink("/dev/zero", folder / "zero.npy");
  CHECK_THAT(ArrayFile::open(folder / "zero.npy").status().message(), Contains("it is a device"));
  CHECK_THAT(ArrayFile::open(folder / "").status().message(), Contains("it is a folder"));
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
  REQUIRE(writeNpz(folder / "a.npz", threeArrays()));
  for (const auto &entry : std::filesystem::directory_iterator(folder / ""))
    CHECK(entry.path().filename().string().find(".partial.") == std::string::npos);
}
