// Digests of known messages, of messages in pieces, and of files.
#include "runtime/base/Sha256.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>
#include <fstream>
#include <unistd.h>

using namespace cleave;
using Catch::Matchers::Contains;

TEST_CASE("SHA-256 gives the digests of the standard") {
  CHECK(sha256("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256(std::string(1000000, 'a')) ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("SHA-256 does not depend on the pieces of the message") {
  std::string message(333, 'x');
  Sha256 hash;
  for (size_t at = 0; at < message.size(); at += 37)
    hash.update(message.data() + at, std::min<size_t>(37, message.size() - at));
  CHECK(hash.finish() == sha256(message));
}

TEST_CASE("the SHA-256 of a file is that of its content") {
  std::string path = "sha256-test." + std::to_string(getpid());
  std::string content(3'000'001, 'c'); // longer than one read
  std::ofstream(path) << content;
  CHECK(*sha256OfFile(path) == sha256(content));
  std::remove(path.c_str());
  CHECK_THAT(sha256OfFile(path).status().message(), Contains("cannot read '" + path + "'"));
}
