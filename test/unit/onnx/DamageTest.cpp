// Damaged files: every file is read or fails with one message, without crashes, hangs or large
// allocations.
#include "test/unit/onnx/RunModel.h"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

namespace cleave::onnx {
namespace {

std::string contents(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Files whose damage reaches different parts of the importer.
const std::vector<std::string> kModels = {
    "models/mlp.ts-train.onnx",       "models/mlp.dynamo.onnx",
    "models/bad/good.onnx",           "models/ops/Conv-11.onnx",
    "models/ops/AveragePool-11.onnx", "models/ops/Slice-11.onnx",
    "models/ops/Pad-18.onnx",         "models/ops/Reshape-14.onnx",
    "models/ops/Gather-13.onnx",      "models/ops/If-13.onnx",
    "models/ops/Tile-13.onnx",        "models/ops/BatchNormalization-15.onnx",
    "models/ops/Split-18.onnx",       "models/ops/ReduceL2-18.onnx",
    "models/ops/MatMul-13.onnx",
};

class DamagedFile {
public:
  DamagedFile()
      : path_(std::filesystem::temp_directory_path() /
              ("cleave-damage-" + std::to_string(::getpid()) + ".onnx")) {}
  ~DamagedFile() { std::filesystem::remove(path_); }

  // Imports these bytes as a file. Anything but a module or a user's error is a defect.
  void import(const std::string &bytes) {
    std::ofstream(path_, std::ios::binary) << bytes;
    ImportOptions options;
    options.symbols["batch"] = 2;
    Status status = importModel(path_.string(), options).status;
    if (!status.isOk() && status.message().find("--set") != std::string::npos)
      status = importModel(path_.string(), {}).status;
    INFO(status.message());
    if (status.isOk())
      return;
    CHECK(status.kind() == StatusKind::UserError);
    CHECK(status.message().size() > path_.string().size() + 10);
  }

private:
  std::filesystem::path path_;
};

TEST_CASE("files with flipped bits are read or give an error") {
  std::mt19937 random(7);
  DamagedFile file;
  for (const std::string &model : kModels) {
    std::string good = contents(std::string(CLEAVE_SOURCE) + "/test/" + model);
    REQUIRE(!good.empty());
    for (int round = 0; round < 200; ++round) {
      std::string bytes = good;
      for (unsigned flips = 1 + random() % 3; flips > 0; --flips)
        bytes[random() % bytes.size()] ^= static_cast<char>(1 << random() % 8);
      INFO(model << " round " << round);
      file.import(bytes);
    }
  }
}

TEST_CASE("truncated files are errors") {
  std::mt19937 random(8);
  DamagedFile file;
  for (const std::string &model : kModels) {
    std::string good = contents(std::string(CLEAVE_SOURCE) + "/test/" + model);
    for (int round = 0; round < 40; ++round) {
      INFO(model << " round " << round);
      file.import(good.substr(0, random() % good.size()));
    }
  }
}

TEST_CASE("files with exchanged and repeated pieces are read or give an error") {
  std::mt19937 random(9);
  DamagedFile file;
  for (const std::string &model : kModels) {
    std::string good = contents(std::string(CLEAVE_SOURCE) + "/test/" + model);
    for (int round = 0; round < 60; ++round) {
      std::string bytes = good;
      size_t from = random() % bytes.size(), to = random() % bytes.size();
      std::string piece = bytes.substr(from, random() % 40);
      if (random() % 2)
        bytes.insert(to, piece);
      else
        bytes.replace(to, std::min(piece.size(), bytes.size() - to), piece);
      INFO(model << " round " << round);
      file.import(bytes);
    }
  }
}

} // namespace
} // namespace cleave::onnx
