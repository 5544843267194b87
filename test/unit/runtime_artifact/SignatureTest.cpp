// Keys, signatures of plan files, and refusals. The keys and the signature were made by OpenSSL.
#include "runtime/artifact/Artifact.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

using namespace cleave;
using namespace cleave::artifact;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

const char *const kPrivate = "-----BEGIN PRIVATE KEY-----\n"
                             "MC4CAQAwBQYDK2VwBCIEIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f\n"
                             "-----END PRIVATE KEY-----\n";
const char *const kPublic = "-----BEGIN PUBLIC KEY-----\n"
                            "MCowBQYDK2VwAyEAA6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=\n"
                            "-----END PUBLIC KEY-----\n";
const char *const kOther = "-----BEGIN PUBLIC KEY-----\n"
                           "MCowBQYDK2VwAyEAGdRa4GqKnkTlWjlXbuT1cERRF/4frqm50m4uVeCKUVA=\n"
                           "-----END PUBLIC KEY-----\n";

// A folder with key files, removed at the end.
class Folder {
public:
  Folder() : path_(fs::temp_directory_path() / ("signature-test." + std::to_string(::getpid()))) {
    fs::create_directories(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  std::string write(const char *name, const std::string &text, mode_t mode = 0600) const {
    std::string path = path_ / name;
    std::ofstream(path, std::ios::binary) << text;
    ::chmod(path.c_str(), mode);
    return path;
  }
  std::string operator/(const char *name) const { return path_ / name; }

private:
  fs::path path_;
};

plan::Plan signedPlan() {
  plan::Plan plan;
  plan.set_producer("test");
  return plan;
}

// Writes a signed plan; returns its path.
std::string writeSigned(const Folder &folder) {
  Result<SigningKey> key = SigningKey::read(folder.write("key.pem", kPrivate));
  REQUIRE(key);
  REQUIRE(writePlan(signedPlan(), folder / "p.plan", &*key));
  return folder / "p.plan";
}

std::vector<PublicKey> keysOf(const Folder &folder, const std::string &text) {
  Result<std::vector<PublicKey>> keys = readPublicKeys(folder.write("public.pem", text, 0644));
  INFO(keys.status().message());
  REQUIRE(keys);
  return *keys;
}

} // namespace

TEST_CASE("a signed plan is read under its key, alone or among others") {
  Folder folder;
  std::string plan = writeSigned(folder);
  CHECK(fs::file_size(plan + ".sig") == 64);
  CHECK(readPlan(plan, keysOf(folder, kPublic)));
  std::vector<PublicKey> two = keysOf(folder, std::string(kOther) + kPublic);
  CHECK(two.size() == 2);
  CHECK(readPlan(plan, two));
}

TEST_CASE("a plan with another key's signature, a changed plan and an unsigned one are refused") {
  Folder folder;
  std::string plan = writeSigned(folder);
  std::vector<PublicKey> keys = keysOf(folder, kPublic);
  SECTION("another key") {
    Status status = readPlan(plan, keysOf(folder, kOther)).status();
    CHECK(status.exitCode() == 1);
    CHECK_THAT(status.message(), Contains("none of the 1 trusted keys"));
  }
  SECTION("a changed plan, whose content hash is correct") {
    plan::Plan changed = signedPlan();
    changed.set_trains(true);
    REQUIRE(writePlan(changed, plan));
    REQUIRE(readPlan(plan));
    CHECK_THAT(readPlan(plan, keys).status().message(), Contains("or the plan has changed"));
  }
  SECTION("no signature") {
    fs::remove(plan + ".sig");
    Status status = readPlan(plan, keys).status();
    CHECK(status.exitCode() == 1);
    CHECK_THAT(status.message(), Contains("is not signed") && Contains("--sign"));
  }
  SECTION("a short signature") {
    fs::resize_file(plan + ".sig", 63);
    CHECK_THAT(readPlan(plan, keys).status().message(), Contains("has 63 bytes, expected 64"));
  }
}

TEST_CASE("a private key that others can read is refused") {
  Folder folder;
  for (mode_t mode : {0640, 0604, 0622}) {
    Status status = SigningKey::read(folder.write("key.pem", kPrivate, mode)).status();
    CHECK(status.exitCode() == 1);
    CHECK_THAT(status.message(), Contains("open to other users") && Contains("chmod 600"));
  }
}

TEST_CASE("files without an Ed25519 key are refused") {
  Folder folder;
  auto refusal = [&](const std::string &text) {
    Status status = SigningKey::read(folder.write("key.pem", text)).status();
    CHECK(status.exitCode() == 1);
    return status.message();
  };
  CHECK_THAT(refusal(kPublic), Contains("no block 'PRIVATE KEY'"));
  CHECK_THAT(refusal("-----BEGIN PRIVATE KEY-----\nMC4C"), Contains("is damaged"));
  CHECK_THAT(refusal("-----BEGIN PRIVATE KEY-----\nMC4C\n-----END PRIVATE KEY-----\n"),
             Contains("not an Ed25519 key"));
  CHECK_THAT(readPublicKeys(folder.write("key.pem", kPrivate)).status().message(),
             Contains("no block 'PUBLIC KEY'"));
  CHECK_THAT(readPublicKeys(folder / "nowhere.pem").status().message(), Contains("nowhere.pem"));
}
