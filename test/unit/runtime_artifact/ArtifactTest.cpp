// Plan files are read back unchanged, and every kind of damage has its own message.
#include "runtime/artifact/Artifact.h"

#include <catch2/catch.hpp>
#include <cstdio>
#include <fstream>
#include <unistd.h>

using namespace cleave;
using namespace cleave::artifact;
using Catch::Matchers::Contains;

static plan::Plan smallPlan() {
  plan::Plan plan;
  plan.set_producer("cleave 0.1.0");
  plan.add_mesh()->set_size(1);
  plan.add_programs()->add_arenas()->set_bytes(64);
  plan.mutable_programs(0)->add_ranks(0);
  plan.add_modules()->set_code(std::string(1000, '\x7f'));
  return plan;
}

TEST_CASE("a plan is read back as it was written") {
  std::string path = "artifact-test." + std::to_string(getpid()) + ".plan";
  REQUIRE(writePlan(smallPlan(), path));
  Result<plan::Plan> plan = readPlan(path);
  std::remove(path.c_str());
  REQUIRE(plan);
  CHECK(plan->producer() == "cleave 0.1.0");
  CHECK(plan->format_version() == kFormatVersion);
  CHECK(plan->content_hash() == contentHash(*plan));
}

TEST_CASE("equal plans give equal bytes") {
  CHECK(*serializePlan(smallPlan()) == *serializePlan(smallPlan()));
}

TEST_CASE("missing files, other files and empty files are distinguished from plans") {
  CHECK_THAT(readPlan("no/such.plan").status().message(),
             Contains("plan file: cannot read 'no/such.plan'"));
  CHECK_THAT(parsePlan("", "x").status().message(), Contains("is not a plan file"));
  CHECK_THAT(parsePlan("\x08\x07pytorch model", "x").status().message(),
             Contains("is not a plan file"));
}

TEST_CASE("a plan of another version is rejected with both numbers") {
  std::string bytes = *serializePlan(smallPlan());
  bytes[8] = char(kFormatVersion + 1);
  std::string message = parsePlan(bytes, "x").status().message();
  CHECK_THAT(message, Contains("format version " + std::to_string(kFormatVersion + 1)) &&
                          Contains("reads version " + std::to_string(kFormatVersion)));
}

TEST_CASE("every truncation of a plan is reported as truncation") {
  std::string bytes = *serializePlan(smallPlan());
  for (size_t size = 6; size < bytes.size(); size += 13)
    CHECK_THAT(parsePlan(bytes.substr(0, size), "x").status().message(), Contains("is truncated"));
  CHECK_THAT(parsePlan(bytes + "x", "x").status().message(), Contains("1 bytes follow"));
}

TEST_CASE("every flipped bit of the payload is detected") {
  const std::string bytes = *serializePlan(smallPlan());
  for (size_t at = 20; at < bytes.size(); at += 7) {
    std::string flipped = bytes;
    flipped[at] ^= char(1 << (at % 8));
    Result<plan::Plan> plan = parsePlan(flipped, "x");
    INFO("byte " << at);
    REQUIRE_FALSE(plan);
    CHECK_THAT(plan.status().message(), Contains("is damaged"));
    CHECK(plan.status().exitCode() == 1);
  }
}

TEST_CASE("a path that cannot be written is a user error that names it") {
  Status status = writePlan(smallPlan(), "/no/such/folder/x.plan");
  CHECK(status.exitCode() == 1);
  CHECK_THAT(status.message(), Contains("/no/such/folder/x.plan"));
}
