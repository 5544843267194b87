// The zip reader: contents of archives, and damage that it refuses.
#include "compiler/frontend/torch/Archive.h"
#include "compiler/frontend/emit/Failure.h"
#include "test/unit/torch/ZipWriter.h"

#include <catch2/catch.hpp>

#include <random>

namespace cleave::torch {
namespace {

std::string twoFiles() {
  ZipWriter zip;
  zip.add("model/a.txt", "hello");
  zip.add("model/code/b.py", std::string(5000, 'x'), /*compress=*/true);
  return zip.finish();
}

// The message of the failure when the whole archive is read; empty if it succeeds.
std::string archiveComplaint(const std::string &bytes) {
  try {
    Archive archive(bytes, 0);
    for (const std::string &name : archive.namesWith(""))
      archive.contents(name);
  } catch (const emit::Failure &failure) {
    return failure.status.message();
  }
  return "";
}

TEST_CASE("entries are found without their common folder") {
  std::string bytes = twoFiles();
  Archive archive(bytes, 1000);
  CHECK(archive.namesWith("") == std::vector<std::string>{"a.txt", "code/b.py"});
  CHECK(archive.namesWith("code/") == std::vector<std::string>{"code/b.py"});
  CHECK(archive.contents("a.txt") == "hello");
  CHECK(archive.contents("code/b.py") == std::string(5000, 'x'));
  const Entry *entry = archive.find("a.txt");
  REQUIRE(entry);
  CHECK(archive.mapped(*entry) == "hello");
  CHECK(bytes.substr(entry->offset - 1000, 5) == "hello");
  CHECK_FALSE(archive.find("c"));
}

TEST_CASE("a compressed entry cannot be mapped") {
  std::string bytes = twoFiles();
  Archive archive(bytes, 0);
  CHECK_THROWS_AS(archive.mapped(*archive.find("code/b.py")), emit::Failure);
}

TEST_CASE("a truncated archive is refused") {
  std::string bytes = twoFiles();
  for (size_t size = 0; size < bytes.size(); ++size)
    CHECK(archiveComplaint(bytes.substr(0, size)).find("the archive is damaged") == 0);
}

TEST_CASE("flipped bits are detected or change nothing that is read") {
  std::string good = twoFiles();
  std::mt19937 random(5);
  for (int round = 0; round < 3000; ++round) {
    std::string bytes = good;
    bytes[random() % bytes.size()] ^= static_cast<char>(1 << random() % 8);
    archiveComplaint(bytes); // must not crash, hang, or take memory that the file does not justify
  }
}

TEST_CASE("a wrong checksum, two entries of one name and encryption are refused") {
  std::string bytes = twoFiles();
  std::string wrong = bytes;
  wrong[wrong.find("hello")] = 'j';
  CHECK(archiveComplaint(wrong).find("checksum of 'a.txt'") != std::string::npos);
  ZipWriter twice;
  twice.add("m/a", "1");
  twice.add("m/a", "2");
  CHECK(archiveComplaint(twice.finish()).find("twice") != std::string::npos);
  std::string encrypted = bytes;
  encrypted[encrypted.find("PK\x01\x02") + 8] |= 1;
  CHECK(archiveComplaint(encrypted).find("encrypted") != std::string::npos);
}

TEST_CASE(
    "an entry that claims to be far larger than it can be is refused before memory is taken") {
  std::string bytes = twoFiles();
  size_t second = bytes.rfind("PK\x01\x02");
  for (size_t i = 0; i < 3; ++i)
    bytes[second + 24 + i] = '\xff';
  CHECK(archiveComplaint(bytes).find("claims to have") != std::string::npos);
}

TEST_CASE("entries that share bytes are refused") {
  std::string bytes = twoFiles();
  size_t end = bytes.rfind("PK\x05\x06"), second = bytes.rfind("PK\x01\x02");
  std::string again = bytes.substr(second, end - second);
  again[again.size() - 1] = 'z'; // the same bytes under another name
  std::string shared = bytes.substr(0, end) + again + bytes.substr(end);
  size_t record = end + again.size();
  shared[record + 8] = shared[record + 10] = 3;
  std::string size;
  ZipWriter::put(size, record - bytes.find("PK\x01\x02"), 4);
  shared.replace(record + 12, 4, size);
  CHECK(archiveComplaint(shared).find("overlap") != std::string::npos);
}

TEST_CASE("an archive must not expand to memory out of proportion to its size") {
  ZipWriter zip;
  for (const char *name : {"m/a", "m/b"})
    zip.add(name, std::string(40 << 20, 'x'), /*compress=*/true);
  CHECK(archiveComplaint(zip.finish()).find("stands for more than") != std::string::npos);
}

} // namespace
} // namespace cleave::torch
