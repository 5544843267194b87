// Tickets of shared memory: only memory of this job is opened.
#include "runtime/comm/shm/SharedMemory.h"

#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace cleave;
using namespace cleave::comm;

static std::string refusal(const std::string &ticket, size_t bytes) {
  auto memory = SharedMemory::open(ticket, bytes);
  CHECK_FALSE(memory);
  CHECK(memory.status().kind() == StatusKind::Lost);
  return memory.status().message();
}

// A ticket for a descriptor of this process, as a stranger would forge it.
static std::string ticketOf(int descriptor, size_t bytes) {
  struct stat info{};
  fstat(descriptor, &info);
  return concat(getpid(), "/", descriptor, "/", info.st_ino, "/", bytes);
}

TEST_CASE("memory is shared by its ticket") {
  auto made = SharedMemory::create(10000);
  REQUIRE(made);
  auto opened = SharedMemory::open((*made)->ticket(), 10000);
  INFO(opened.status().message());
  REQUIRE(opened);
  (*opened)->data()[9999] = 42;
  CHECK((*made)->data()[9999] == 42);
  CHECK((*opened)->bytes() == 10000);
}

TEST_CASE("a ticket is four numbers and nothing else") {
  auto made = SharedMemory::create(100);
  std::string good = (*made)->ticket(), rest = good.substr(good.find('/'));
  for (const std::string &ticket :
       {std::string(), std::string("1"), std::string("self/../../../tmp/file"), "self" + rest,
        "../proc/1" + rest, good + " ", " " + good, good + "/1", good + "x", "-" + good, "+" + good,
        good.substr(0, good.rfind('/')), std::string("1//2/3"),
        std::string("99999999999999999999999/1/2/100"), std::string("1/2/3/100\0", 10)}) {
    INFO(ticket);
    CHECK(refusal(ticket, 100).find("expected PROCESS/DESCRIPTOR/INODE/BYTES in digits") !=
          std::string::npos);
  }
}

TEST_CASE("a ticket must name the right memory, in the right size") {
  auto made = SharedMemory::create(100), other = SharedMemory::create(100);
  std::string inode = (*other)->ticket();
  std::string mixed = (*made)->ticket();
  auto part = [](const std::string &ticket, int number) {
    size_t at = 0;
    for (int i = 0; i < number; ++i)
      at = ticket.find('/', at) + 1;
    return ticket.substr(at, ticket.find('/', at) - at);
  };
  mixed = concat(part(mixed, 0), "/", part(mixed, 1), "/", part(inode, 2), "/100");
  CHECK(refusal(mixed, 100).find("there is something else") != std::string::npos);
  CHECK(refusal((*made)->ticket(), 101).find("its size is not that of the group") !=
        std::string::npos);
  std::string larger = (*made)->ticket();
  larger = larger.substr(0, larger.rfind('/')) + "/200";
  CHECK(refusal(larger, 200).find("it has another size") != std::string::npos);
}

TEST_CASE("a file of the user is neither opened nor changed") {
  auto path = std::filesystem::temp_directory_path() / concat("cleave-victim-", getpid());
  std::string content(4096, 'v');
  std::ofstream(path) << content;
  int descriptor = open(path.c_str(), O_RDWR | O_CLOEXEC);
  CHECK(refusal(ticketOf(descriptor, 4096), 4096).find("there is something else") !=
        std::string::npos);
  close(descriptor);
  std::string found;
  std::getline(std::ifstream(path), found);
  CHECK(found == content);
  std::filesystem::remove(path);
}

TEST_CASE("memory whose size may change is refused") {
  int descriptor = memfd_create("other", MFD_CLOEXEC);
  REQUIRE(ftruncate(descriptor, 4096) == 0);
  CHECK(refusal(ticketOf(descriptor, 4096), 4096).find("its size may change") != std::string::npos);
  close(descriptor);
  auto made = SharedMemory::create(4096);
  std::string ticket = (*made)->ticket();
  int own = std::atoi(ticket.c_str() + ticket.find('/') + 1);
  CHECK(ftruncate(own, 0) != 0);
}

TEST_CASE("a terminal, a pipe or a directory is not opened") {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  int folder = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int descriptor : {ends[0], ends[1], folder, null}) {
    CHECK(refusal(ticketOf(descriptor, 1), 1).find("there is something else") != std::string::npos);
    close(descriptor);
  }
  CHECK(refusal(concat(getpid(), "/1000000/1/1"), 1).find("could not open shared memory") !=
        std::string::npos);
}
