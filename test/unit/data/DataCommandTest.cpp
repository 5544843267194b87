// Micro-batches that a command writes: their format, and commands that fail.
#include "Files.h"
#include "NpyFile.h"

#include "runtime/data/ArrayFile.h"
#include "runtime/data/BatchSource.h"
#include "runtime/data/DataCommand.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::data;

static const std::vector<InputDescription> kFed{{"x", DType::F32, {2, 3}},
                                                {"y", DType::I64, {2}, 10, true, 0, -100}};

// One batch of the two inputs, in the format of the file's ending.
static std::string batch(const Folder &folder, const std::string &ending, std::vector<int32_t> y,
                         std::vector<int64_t> shape = {2, 3}) {
  std::vector<float> x{0, 1, 2, 3, 4, 5};
  ArrayView first{"x", DType::F32, shape, x.data()}, second{"y", DType::I32, {2}, y.data()};
  if (ending == ".safetensors") {
    REQUIRE(writeSafetensors(folder / "b.safetensors", {second, first}));
    return contentOf(folder / "b.safetensors");
  }
  REQUIRE(writeNpy(folder / "x.npy", first));
  REQUIRE(writeNpy(folder / "y.npy", second));
  return contentOf(folder / "x.npy") + contentOf(folder / "y.npy");
}

// Runs a command on a file with `content` as its first argument; returns the batches, and the
// message with which they end.
static std::pair<std::vector<std::string>, std::string>
readAll(const Folder &folder, const std::string &content,
        const std::string &command = "cat $FILE") {
  CommandOptions options;
  options.command = command;
  options.environment = {{"FILE", folder.write("stream", content)}};
  options.arrays = 2;
  options.patience = std::chrono::milliseconds(2000);
  auto started = DataCommand::start(options);
  REQUIRE(started);
  std::vector<std::string> batches;
  while (true) {
    auto next = (*started)->next();
    if (!next || next->empty())
      return {batches, next.status().message()};
    batches.push_back(*next);
  }
}

TEST_CASE("a command writes batches as .npy arrays or as safetensors, until it ends") {
  Folder folder;
  for (const char *ending : {".npy", ".safetensors"}) {
    std::string first = batch(folder, ending, {1, 2}), second = batch(folder, ending, {3, -100});
    auto [batches, message] = readAll(folder, first + second + first + second);
    CHECK(message == "");
    REQUIRE(batches == std::vector<std::string>{first, second, first, second});
    BatchSource source(kFed, "the data command 'cat'");
    REQUIRE(source.set(7, {batches[0], batches[1]}));
    std::vector<int64_t> y(2);
    std::vector<float> x(2);
    REQUIRE(source.fill(1, 7, 1, {0}, {2}, y.data()));
    CHECK(y == std::vector<int64_t>{3, -100});
    REQUIRE(source.fill(0, 7, 0, {1, 1}, {1, 2}, x.data()));
    CHECK(x == std::vector<float>{4, 5});
    CHECK(!source.fill(0, 8, 0, {1, 1}, {1, 2}, x.data()));
    CHECK(source.samplesPerMicroBatch() == 2);
  }
}

TEST_CASE("a command that fails, or writes something else, is named with what it did") {
  Folder folder;
  std::string good = batch(folder, ".npy", {1, 2});
  auto messageOf = [&](const std::string &content, const std::string &command = "cat $FILE") {
    return readAll(folder, content, command).second;
  };
  CHECK(messageOf(good, "cat $FILE; exit 3") ==
        "the data command 'cat $FILE; exit 3' ended with exit code 3 after 1 batch");
  CHECK(messageOf(good, "cat $FILE; kill -9 $$") ==
        "the data command 'cat $FILE; kill -9 $$' was ended by signal 9 after 1 batch");
  CHECK(messageOf(good + good.substr(0, good.size() - 3)) ==
        "the data command 'cat $FILE' ended inside of a batch, 3 bytes before the end of an array");
  CHECK(messageOf(good + good.substr(0, good.size() - 3), "cat $FILE; exit 1") ==
        "the data command 'cat $FILE; exit 1' ended with exit code 1 after 1 batch");
  CHECK_THAT(messageOf("loading the data\n" + good),
             Catch::Contains("wrote the text 'loading ' where a batch should begin") &&
                 Catch::Contains("print messages to standard error"));
  CHECK_THAT(messageOf(good + "\1"), Catch::Contains("wrote bytes where a batch should begin"));
  CHECK(messageOf(good, "cat $FILE; sleep 60") ==
        "the data command 'cat $FILE; sleep 60' wrote no whole batch for 2.00 s; --timeout waits "
        "longer");
  CHECK_THAT(messageOf("", "/no/such/program"), Catch::Contains("ended with exit code 127"));
  std::string strings = good;
  strings.replace(strings.find("<f4"), 3, "<U4");
  CHECK_THAT(messageOf(strings), Catch::Contains("an array of elements of type <U4"));
}

TEST_CASE("arrays that do not fit the inputs are refused with the step") {
  Folder folder;
  BatchSource source(kFed, "the data command 'cat'");
  CHECK(
      source.set(4, {batch(folder, ".npy", {1, 2}, {3, 2})}).message() ==
      "the data command 'cat' wrote `x` as f32[3, 2], expected f32[2, 3], in the batch of step 4");
  CHECK(source.set(4, {contentOf(folder / "x.npy") + contentOf(folder / "x.npy")})
            .message()
            .find("wrote `x` as f32[3, 2]") != std::string::npos);
  std::vector<float> values(6);
  REQUIRE(writeSafetensors(folder / "x.safetensors", {{"x", DType::F32, {2, 3}, values.data()}}));
  CHECK(source.set(4, {contentOf(folder / "x.safetensors")}).message() ==
        "the data command 'cat' wrote no array `y`; it wrote `x`, in the batch of step 4");
  REQUIRE(source.set(4, {batch(folder, ".npy", {1, 10})}));
  std::vector<int64_t> y(2);
  CHECK(source.fill(1, 4, 0, {0}, {2}, y.data()).message() ==
        "found label 10 for input `y` in step 4 of the data command 'cat', expected 0 to 9, or "
        "-100 to ignore it");
}
