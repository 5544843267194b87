// Learning rates from files.
#include "runtime/hyperparameters/RateFile.h"
#include "runtime/hyperparameters/LrSchedule.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace cleave;
using hyperparameters::LrSchedule;
using hyperparameters::RateFile;

namespace {

// A file that is removed at the end of the test.
class TemporaryFile {
public:
  explicit TemporaryFile(const std::string &content) {
    std::string name = (std::filesystem::temp_directory_path() / "cleave-rates-XXXXXX").string();
    int descriptor = ::mkstemp(name.data());
    REQUIRE(descriptor >= 0);
    ::close(descriptor);
    path_ = name;
    std::ofstream(path_) << content;
  }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  const std::string &path() const { return path_; }

private:
  std::string path_;
};

std::string refusalOfFile(const std::string &content) {
  TemporaryFile file(content);
  std::string message = RateFile::read(file.path()).status().message();
  size_t at = message.find(file.path());
  return at == std::string::npos ? message : message.replace(at, file.path().size(), "FILE");
}

} // namespace

TEST_CASE("a file with a rate per line gives that of each step, and then the last one") {
  TemporaryFile file("# warm\n0.1\n\n0.2\n0.05\n");
  auto rates = RateFile::read(file.path());
  REQUIRE(rates.isOk());
  CHECK(rates->at(0) == 0.1);
  CHECK(rates->at(1) == 0.2);
  CHECK(rates->at(2) == 0.05);
  CHECK(rates->at(9) == 0.05);
}

TEST_CASE("a file with steps and rates gives the points of a curve, which may jump") {
  TemporaryFile file("10 0\n20 1\n30 1\n30 0.1");
  auto rates = RateFile::read(file.path());
  REQUIRE(rates.isOk());
  CHECK(rates->at(0) == 0);
  CHECK(rates->at(13) == Approx(0.3));
  CHECK(rates->at(20) == 1);
  CHECK(rates->at(29) == 1);
  CHECK(rates->at(30) == 0.1);
  CHECK(rates->at(99) == 0.1);
}

TEST_CASE("the rates of a file are those of the optimizer, and groups keep their ratio to it") {
  TemporaryFile file("0.2\n0.1\n");
  auto rates = LrSchedule::parse(file.path()),
       factors = LrSchedule::parse(file.path() + ":factors");
  REQUIRE((rates.isOk() && factors.isOk()));
  CHECK(rates->at(0, {2}, 0.5, 0.5) == 0.2);
  CHECK(rates->at(1, {2}, 0.25, 0.5) == 0.05);
  CHECK(factors->at(0, {2}, 0.5, 0.5) == 0.1);
  CHECK(factors->at(1, {2}, 0.25, 0.5) == 0.025);
  CHECK(rates->text({2}) != factors->text({2}));
  TemporaryFile other("0.2\n0.3\n");
  CHECK(rates->text({2}) != LrSchedule::parse(other.path())->text({2}));
}

TEST_CASE("a file that cannot be read names the line") {
  CHECK(refusalOfFile("0.1\nfast\n") ==
        "line 2 of 'FILE' is `fast`, expected a learning rate in every line, or a step and a "
        "learning rate in every line");
  CHECK(refusalOfFile("0.1\n2 0.1\n").starts_with("line 2 of 'FILE' is `2 0.1`, expected"));
  CHECK(refusalOfFile("-0.1\n").starts_with("line 1 of 'FILE' is `-0.1`, expected"));
  CHECK(refusalOfFile("nan\n").starts_with("line 1 of 'FILE' is `nan`, expected"));
  CHECK(refusalOfFile("5 0.1\n4 0.1\n") ==
        "line 2 of 'FILE' is of step 4, expected one of at least 5");
  CHECK(refusalOfFile("# nothing\n") == "'FILE' has no learning rate, expected one in every line");
}
