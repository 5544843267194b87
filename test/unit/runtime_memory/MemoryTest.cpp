// Arenas have exactly the planned bytes, and the memory report contains them.
#include "runtime/memory/Arenas.h"
#include "runtime/memory/FileSpace.h"
#include "runtime/memory/MemoryReport.h"

#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <functional>
#include <sys/wait.h>
#include <unistd.h>

using namespace cleave;
using namespace cleave::memory;

static std::vector<plan::Arena> arenasOf(std::initializer_list<uint64_t> sizes) {
  std::vector<plan::Arena> arenas(sizes.size());
  for (size_t i = 0; uint64_t bytes : sizes)
    arenas[i++].set_bytes(bytes);
  return arenas;
}

TEST_CASE("arenas have exactly the planned bytes, aligned and zero") {
  Result<Arenas> arenas = Arenas::allocate(arenasOf({100, 0, (9 << 20) + 64}));
  REQUIRE(arenas);
  CHECK(arenas->bytes() == 100 + (9 << 20) + 64);
  plan::Buffer last;
  last.set_arena(2), last.set_offset(9 << 20), last.set_bytes(64);
  char *memory = static_cast<char *>(arenas->address(last));
  CHECK(reinterpret_cast<uintptr_t>(memory) % 64 == 0);
  CHECK(memory[63] == 0);
  memory[63] = 1;
}

// The signal that ends a process that runs `action`; 0 if it survives.
static int signalOf(const std::function<void()> &action) {
  pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGSEGV, SIG_DFL); // instead of the handler of the test framework
    action();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

TEST_CASE("guarded memory ends less than 64 bytes before a guard page") {
  for (uint64_t bytes : {1, 100, 4096, 4097, (5 << 20) + 64}) {
    Result<std::shared_ptr<void>> memory = allocateGuardedPages(bytes);
    REQUIRE(memory);
    auto *begin = static_cast<volatile char *>(memory->get());
    CHECK(reinterpret_cast<uintptr_t>(begin) % 64 == 0);
    CHECK((begin[0] == 0 && begin[bytes - 1] == 0));
    uint64_t end = (bytes + 63) / 64 * 64, before = reinterpret_cast<uintptr_t>(begin) % 4096;
    CHECK(signalOf([&] { begin[0] = 1; }) == 0);
    CHECK(signalOf([&] { begin[end - 1] = 1; }) == 0);
    CHECK(signalOf([&] { begin[end] = 1; }) == SIGSEGV);
    CHECK(signalOf([&] { (void)begin[end]; }) == SIGSEGV);
    CHECK(signalOf([&] { (void)begin[-int64_t(before) - 1]; }) == SIGSEGV);
  }
}

TEST_CASE("arenas come from the allocators of their spaces") {
  std::vector<plan::Arena> planned = arenasOf({64, 128});
  planned[1].set_space(plan::HOST);
  std::vector<uint64_t> device, host;
  auto into = [](std::vector<uint64_t> &list) {
    return [&list](uint64_t bytes) { return list.push_back(bytes), allocateGuardedPages(bytes); };
  };
  REQUIRE(Arenas::allocate(planned, [&](plan::Space space) -> Allocator {
    return space == plan::HOST ? into(host) : into(device);
  }));
  CHECK(device == std::vector<uint64_t>{64});
  CHECK(host == std::vector<uint64_t>{128});
}

TEST_CASE("an arena beyond the address space is rejected with its size") {
  Status status = Arenas::allocate(arenasOf({uint64_t(1) << 60})).status();
  CHECK(status.exitCode() == 1);
  CHECK_THAT(status.message(), Catch::Matchers::Contains("cannot allocate an arena of"));
}

TEST_CASE("an arena that does not fit is named with its place") {
  std::vector<plan::Arena> planned = arenasOf({64});
  planned[0].set_space(plan::FILE);
  auto none = [](plan::Space) -> Allocator {
    return [](uint64_t) { return Result<std::shared_ptr<void>>(Status::userError("it is full")); };
  };
  CHECK_THAT(Arenas::allocate(planned, none).status().message(),
             Catch::Matchers::Contains("64 B in a file") &&
                 Catch::Matchers::Contains("it is full"));
}

TEST_CASE("a file space keeps what is written to any range of it") {
  const uint64_t bytes = (9 << 20) + 100;
  Result<std::shared_ptr<FileSpace>> file = FileSpace::create("/var/tmp", bytes);
  REQUIRE(file);
  char *begin = static_cast<char *>((*file)->begin());
  std::vector<char> expected(bytes, 0), found(bytes, 1);
  CHECK(reinterpret_cast<uintptr_t>(begin) % 4096 == 0);
  auto write = [&](uint64_t at, uint64_t count, char value) {
    const std::vector<char> from(count, value);
    std::fill_n(expected.begin() + long(at), count, value);
    return (*file)->write(begin + at, from.data(), count);
  };
  CHECK(write(0, 4096, 1));
  CHECK(write(100, 1, 2));
  CHECK(write(4096, 8 << 20, 3)); // in several pieces
  CHECK(write(5000, 10000, 4));
  CHECK(write(bytes - 7, 7, 5));
  CHECK((*file)->read(begin, found.data(), bytes));
  CHECK(found == expected);
  found.resize(3);
  CHECK((*file)->read(begin + 99, found.data(), 3));
  CHECK(found == std::vector<char>{1, 2, 1});
}

TEST_CASE("a file space is private, has no name and tells why there is none") {
  const std::string folder = "/var/tmp/cleave-space-" + std::to_string(::getpid());
  REQUIRE(std::filesystem::create_directory(folder));
  CHECK(FileSpace::create(folder, 100));
  CHECK(std::filesystem::is_empty(folder));
  std::filesystem::remove_all(folder);
  const Status status = FileSpace::create(folder, 100).status();
  CHECK(status.exitCode() == 1);
  CHECK_THAT(status.message(), Catch::Matchers::Contains("No such file or directory"));
  CHECK(FileSpace::create("/var/tmp", uint64_t(1) << 55).status().exitCode() == 1);
}

TEST_CASE("the report accounts for an arena, the libraries and everything else") {
  Result<Arenas> arenas = Arenas::allocate(arenasOf({uint64_t(64) << 20}));
  REQUIRE(arenas);
  Arenas::Range range = arenas->ranges()[0];
  Result<MemoryReport> report = memoryReport({{"arenas", range.begin, range.bytes}});
  REQUIRE(report);
  REQUIRE(report->known.size() == 1);
  CHECK(report->known[0].residentBytes == uint64_t(64) << 20);
  bool hasLibc = false;
  uint64_t sum = report->known[0].residentBytes;
  for (const MemoryPart &part : report->libraries) {
    hasLibc |= part.name.starts_with("libc.so");
    sum += part.residentBytes;
  }
  for (const MemoryPart &part : report->other)
    sum += part.residentBytes;
  CHECK(hasLibc);
  CHECK(sum == report->residentBytes);
  CHECK(report->peakBytes >= report->known[0].residentBytes);
  CHECK(report->explained() > 0.9);
}

TEST_CASE("ranges that share a mapping are reported one by one") {
  Result<Arenas> arenas = Arenas::allocate(arenasOf({uint64_t(3) << 20}));
  REQUIRE(arenas);
  char *begin = static_cast<char *>(arenas->ranges()[0].begin);
  Result<MemoryReport> report =
      memoryReport({{"first", begin, 1 << 20}, {"second", begin + (1 << 20), 2 << 20}});
  REQUIRE(report);
  REQUIRE(report->known.size() == 2);
  CHECK(report->known[0].residentBytes == uint64_t(1) << 20);
  CHECK(report->known[1].residentBytes == uint64_t(2) << 20);
}
