// Samples from arrays: selection, order, division into blocks, and error messages.
#include "Files.h"
#include "NpyFile.h"

#include "runtime/data/ArrayFile.h"
#include "runtime/data/DataSource.h"
#include "runtime/data/SampleOrder.h"

#include <catch2/catch.hpp>
#include <numeric>
#include <set>

using namespace cleave;
using namespace cleave::data;

// `x`: 10 samples of [2, 3], sample n holding n*100 … n*100+5; `y`: 10 labels n.
static std::string writeTen(const Folder &folder, DType labels = DType::I64) {
  std::vector<float> x;
  std::vector<int64_t> y;
  for (int n = 0; n < 10; ++n) {
    for (int i = 0; i < 6; ++i)
      x.push_back(n * 100 + i);
    y.push_back(n);
  }
  std::vector<int32_t> y32(y.begin(), y.end());
  const void *data = labels == DType::I64 ? static_cast<const void *>(y.data()) : y32.data();
  REQUIRE(writeNpz(folder / "d.npz",
                   {{"x", DType::F32, {10, 2, 3}, x.data()}, {"y", labels, {10}, data}}));
  return folder / "d.npz";
}

static const std::vector<InputDescription> kInputs{{"x", DType::F32, {4, 2, 3}},
                                                   {"y", DType::I32, {4}}};

static std::vector<int32_t> labelsOf(const DataSource &source, int64_t step, int64_t slot) {
  std::vector<int32_t> labels(4);
  REQUIRE(source.fill(1, step, slot, {0}, {4}, labels.data()));
  return labels;
}

TEST_CASE("samples are read in order, slot by slot and step by step, and wrap around") {
  Folder folder;
  auto source = DataSource::open({{writeTen(folder)}, {}, 2}, kInputs);
  INFO(source.status().message());
  REQUIRE(source);
  CHECK((*source)->samples() == 10);
  CHECK(labelsOf(**source, 0, 0) == std::vector<int32_t>{0, 1, 2, 3});
  CHECK(labelsOf(**source, 0, 1) == std::vector<int32_t>{4, 5, 6, 7});
  CHECK(labelsOf(**source, 1, 0) == std::vector<int32_t>{8, 9, 0, 1});
  CHECK(labelsOf(**source, 5, 1) == std::vector<int32_t>{4, 5, 6, 7});
}

TEST_CASE("without inputs no file is opened, and there are no samples") {
  auto source = DataSource::open({{"nowhere.npz"}}, {});
  REQUIRE(source);
  CHECK((*source)->samples() == 0);
  CHECK((*source)->samplesPerMicroBatch() == 0);
}

TEST_CASE("a rank gets its block, with zeros beyond the tensor") {
  Folder folder;
  auto source = DataSource::open({{writeTen(folder)}}, kInputs);
  REQUIRE(source);
  std::vector<float> block(2 * 1 * 2);
  REQUIRE((*source)->fill(0, 0, 0, {2, 1, 1}, {2, 1, 2}, block.data()));
  CHECK(block == std::vector<float>{204, 205, 304, 305});
  std::vector<float> padded(3 * 2 * 2, -1);
  REQUIRE((*source)->fill(0, 0, 0, {2, 0, 2}, {3, 2, 2}, padded.data()));
  CHECK(padded == std::vector<float>{202, 0, 205, 0, 302, 0, 305, 0, 0, 0, 0, 0});
  std::vector<float> outside(2, -1);
  REQUIRE((*source)->fill(0, 0, 0, {4, 0, 0}, {1, 1, 2}, outside.data()));
  CHECK(outside == std::vector<float>{0, 0});
}

TEST_CASE("shuffling reads every sample once per pass, with one order for all inputs and ranks") {
  Folder folder;
  std::string path = writeTen(folder);
  auto source = DataSource::open({{path}, 7}, kInputs),
       again = DataSource::open({{path}, 7}, kInputs),
       other = DataSource::open({{path}, 8}, kInputs);
  REQUIRE(source);
  std::vector<int32_t> order, orderAgain, orderOther;
  for (int step = 0; step < 5; ++step) { // two passes of ten
    auto append = [&](std::vector<int32_t> &to, const DataSource &from) {
      auto labels = labelsOf(from, step, 0);
      to.insert(to.end(), labels.begin(), labels.end());
      std::vector<float> x(24);
      REQUIRE(from.fill(0, step, 0, {0, 0, 0}, {4, 2, 3}, x.data()));
      for (int i = 0; i < 4; ++i)
        CHECK(x[i * 6] == labels[i] * 100);
    };
    append(order, **source);
    append(orderAgain, **again);
    append(orderOther, **other);
  }
  CHECK(order == orderAgain);
  CHECK(order != orderOther);
  CHECK(std::set<int32_t>(order.begin(), order.begin() + 10).size() == 10);
  CHECK(std::set<int32_t>(order.begin() + 10, order.end()).size() == 10);
  CHECK(std::vector<int32_t>(order.begin(), order.begin() + 10) !=
        std::vector<int32_t>(order.begin() + 10, order.end()));
}

TEST_CASE("a permutation contains every sample once, for any number of samples") {
  for (int64_t samples : {1, 2, 3, 5, 16, 17, 1000}) {
    SampleOrder order(samples, 3);
    std::set<int64_t> seen;
    for (int64_t i = 0; i < samples; ++i)
      seen.insert(order.at(samples * 4 + i));
    CHECK(seen.size() == static_cast<size_t>(samples));
    CHECK(*seen.rbegin() == samples - 1);
  }
}

TEST_CASE("inputs come from several files, by name or NAME=FILE") {
  Folder folder;
  std::vector<float> x(12);
  std::iota(x.begin(), x.end(), 0.0f);
  std::vector<uint8_t> y{3, 4};
  REQUIRE(writeNpy(folder / "images.npy", {"", DType::F32, {2, 2, 3}, x.data()}));
  REQUIRE(writeSafetensors(folder / "l.safetensors", {{"y", DType::U8, {2}, y.data()}}));
  auto source =
      DataSource::open({{"x=" + (folder / "images.npy"), folder / "l.safetensors"}}, kInputs);
  INFO(source.status().message());
  REQUIRE(source);
  CHECK(labelsOf(**source, 0, 0) == std::vector<int32_t>{3, 4, 3, 4});
}

TEST_CASE("an input without samples, such as a mask, is the same in every micro-batch") {
  Folder folder;
  std::vector<float> x(60), mask{0, 1, 2, 3};
  REQUIRE(writeNpz(folder / "d.npz", {{"x", DType::F32, {10, 6}, x.data()},
                                      {"mask", DType::F32, {2, 2}, mask.data()}}));
  auto source = DataSource::open({{folder / "d.npz"}, 5},
                                 {{"x", DType::F32, {4, 6}}, {"mask", DType::F32, {2, 2}}});
  INFO(source.status().message());
  REQUIRE(source);
  std::vector<float> found(4);
  REQUIRE((*source)->fill(1, 3, 0, {0, 0}, {2, 2}, found.data()));
  CHECK(found == mask);
  auto other = DataSource::open({{folder / "d.npz"}, 5},
                                {{"mask", DType::F32, {2, 2}}, {"x", DType::F32, {4, 6}}});
  REQUIRE(other);
  for (const auto &one : {&*source, &*other}) { // in both orders of the inputs
    CHECK((*one)->samples() == 10);
    CHECK((*one)->samplesPerMicroBatch() == 4);
  }
}

static std::string problem(const DataOptions &options,
                           const std::vector<InputDescription> &inputs) {
  return DataSource::open(options, inputs).status().message();
}

TEST_CASE("the only labels may be called label, whatever the output of their loss is called") {
  Folder folder;
  const std::vector<float> x(6);
  const std::vector<int64_t> y = {3, 1, 2};
  REQUIRE(writeNpz(folder / "d.npz",
                   {{"x", DType::F32, {3, 2}, x.data()}, {"label", DType::I64, {3}, y.data()}}));
  const InputDescription input{"x", DType::F32, {3, 2}}, labels{"0.label", DType::I32, {3}},
      others{"1.label", DType::I32, {3}};
  const DataOptions options{{folder / "d.npz"}};
  Result<std::unique_ptr<DataSource>> source = DataSource::open(options, {input, labels});
  REQUIRE(source);
  std::vector<int32_t> found(3);
  REQUIRE((*source)->fill(1, 0, 0, {0}, {3}, found.data()));
  CHECK(found == std::vector<int32_t>{3, 1, 2});
  CHECK_THAT(problem(options, {input, labels, others}), Catch::Contains("no data for input"));
}

TEST_CASE("messages state what was found and what was expected") {
  Folder folder;
  std::string path = writeTen(folder);
  CHECK(problem({}, kInputs) ==
        "the model reads `x`, `y`: give --data FILE.npz, FILE.safetensors, "
        "NAME=FILE.npy; for tokens a text file; for images a folder or FILE.tar");
  CHECK(problem({{path}}, {{"z", DType::F32, {4, 2}}}) ==
        "no data for input `z` f32[4, 2]; " + path + " has `x`, `y`");
  CHECK_THAT(
      problem({{path}}, {{"x", DType::F32, {4, 2, 3}}, {"x.label", DType::I64, {4}}}),
      Catch::Contains("; rename the array to `x.label`, or name the labels `y` with cleave-compile "
                      "--loss KIND:OUTPUT,y"));
  CHECK(problem({{path}}, {{"x", DType::F32, {4, 3, 3}}}) ==
        "found array `x` in " + path +
            " of shape [10, 2, 3], expected samples of shape [3, 3] along its first dim");
  CHECK(problem({{path}}, {{"x", DType::I32, {4, 2, 3}}}) ==
        "found array `x` in " + path + " of type f32, expected i32");
  CHECK(problem({{folder / "none.npz"}}, kInputs) ==
        "cannot read '" + (folder / "none.npz") + "': No such file or directory");
  CHECK(problem({{"q=" + path}}, kInputs) ==
        "found --data q=" + path + ", but the model has no input `q`: expected x or y");
  std::vector<float> y(9);
  REQUIRE(writeNpz(folder / "y.npz", {{"y", DType::F32, {9}, y.data()}}));
  CHECK(problem({{"x=" + path, folder / "y.npz"}},
                {{"x", DType::F32, {4, 2, 3}}, {"y", DType::F32, {4}}}) ==
        "found 10 samples of `x` but 9 of `y`, expected equal numbers");
}

TEST_CASE("values that do not fit the input or its vocabulary are named") {
  Folder folder;
  std::vector<int64_t> tokens{1, 2, 300, 4}, huge{5'000'000'000, 0, 0, 0}, labels{1, -100, 2, 3};
  REQUIRE(writeNpz(folder / "t.npz", {{"t", DType::I64, {2, 2}, tokens.data()},
                                      {"h", DType::I64, {2, 2}, huge.data()},
                                      {"t.label", DType::I64, {2, 2}, labels.data()}}));
  std::vector<int32_t> block(2);
  auto fill = [&](const InputDescription &input) {
    auto source = DataSource::open({{folder / "t.npz"}}, {input});
    REQUIRE(source);
    Status first = (*source)->fill(0, 0, 0, {0, 0}, {1, 2}, block.data());
    return first ? (*source)->fill(0, 1, 0, {0, 0}, {1, 2}, block.data()) : first;
  };
  CHECK(fill({"t", DType::I32, {1, 2}, 256}).message() ==
        "found token 300 for input `t` in sample 1 of " + (folder / "t.npz") +
            ", expected 0 to 255");
  CHECK(fill({"t", DType::I32, {1, 2}, 256, true, 0, -100}).message() ==
        "found label 300 for input `t` in sample 1 of " + (folder / "t.npz") +
            ", expected 0 to 255, or -100 to ignore it");
  CHECK(fill({"h", DType::I32, {1, 2}}).message() ==
        (folder / "t.npz") + ", input `h`: i32 cannot hold 5000000000");
  CHECK(fill({"t.label", DType::I32, {1, 2}, 256, true, 0, -100}));
}

// Several threads copy large batches.
TEST_CASE("large batches are read like small ones, and the first bad row is named") {
  Folder folder;
  constexpr int64_t kRows = 7, kWidth = 3 << 19; // 6 MiB of i32 per row
  std::vector<int32_t> values(kRows * kWidth);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = int32_t(i % 1000);
  const std::string file = folder / "large.npz";
  auto fill = [&](int32_t vocabulary, std::vector<int32_t> &block) {
    REQUIRE(writeNpz(file, {{"t", DType::I32, {kRows, kWidth}, values.data()}}));
    auto source = DataSource::open({{file}}, {{"t", DType::I32, {kRows, kWidth}, vocabulary}});
    REQUIRE(source);
    return (*source)->fill(0, 0, 0, {1, 0}, {kRows, kWidth}, block.data());
  };
  std::vector<int32_t> block(values.size(),
                             -1); // from the second row on; its last row is beyond the tensor
  REQUIRE(fill(1000, block));
  CHECK(std::equal(block.begin(), block.end() - kWidth, values.begin() + kWidth));
  CHECK(std::all_of(block.end() - kWidth, block.end(), [](int32_t value) { return value == 0; }));

  values[5 * kWidth + 7] = 2000, values[3 * kWidth + 1] = 3000;
  CHECK(fill(1000, block).message() ==
        "found token 3000 for input `t` in sample 3 of " + file + ", expected 0 to 999");
}

TEST_CASE("only the value that the losses ignore is permitted beside the vocabulary") {
  Folder folder;
  std::vector<int64_t> values{1, 255, -100, -3};
  REQUIRE(writeNpz(folder / "y.npz", {{"y", DType::I64, {4}, values.data()}}));
  auto problemAt = [&](int64_t sample, InputDescription input) {
    auto source = DataSource::open({{folder / "y.npz"}}, {std::move(input)});
    REQUIRE(source);
    int64_t value = 0;
    return (*source)->fill(0, sample, 0, {0}, {1}, &value).message();
  };
  const InputDescription label{"y", DType::I64, {1}, 4, true, 0, 255},
      index{"y", DType::I64, {1}, 4, false, -4};
  CHECK(problemAt(1, label).empty());
  CHECK(problemAt(2, label) == "found label -100 for input `y` in sample 2 of " +
                                   (folder / "y.npz") + ", expected 0 to 3, or 255 to ignore it");
  CHECK(problemAt(3, index).empty());
  CHECK(problemAt(2, index) == "found token -100 for input `y` in sample 2 of " +
                                   (folder / "y.npz") + ", expected -4 to 3");
  CHECK_THAT(problemAt(2, {"y", DType::I64, {1}, 4, true}), Catch::EndsWith("expected 0 to 3"));
}

// Files s0.npz and s1.npz with three and seven of the samples of writeTen(), and a mask.
static void writeShards(const Folder &folder) {
  std::vector<float> x, mask{0, 1, 2, 3};
  std::vector<int64_t> y;
  for (int n = 0; n < 10; ++n) {
    x.insert(x.end(), 6, float(n * 100));
    y.push_back(n);
  }
  REQUIRE(writeNpz(folder / "s0.npz", {{"x", DType::F32, {3, 2, 3}, x.data()},
                                       {"y", DType::I64, {3}, y.data()},
                                       {"mask", DType::F32, {2, 2}, mask.data()}}));
  REQUIRE(writeNpz(folder / "s1.npz", {{"x", DType::F32, {7, 2, 3}, x.data() + 18},
                                       {"y", DType::I64, {7}, y.data() + 3},
                                       {"mask", DType::F32, {2, 2}, mask.data()}}));
}

TEST_CASE("the samples of several files are those of one, also shuffled") {
  Folder folder;
  writeShards(folder);
  auto inputs = kInputs;
  inputs.push_back({"mask", DType::F32, {2, 2}});
  for (std::optional<uint64_t> seed : {std::optional<uint64_t>(), std::optional<uint64_t>(7)}) {
    auto one = DataSource::open({{writeTen(folder)}, seed}, kInputs);
    auto parts = DataSource::open({{folder / "s*.npz"}, seed}, inputs);
    INFO(parts.status().message());
    REQUIRE(one);
    REQUIRE(parts);
    CHECK((*parts)->description() == "10 samples in 2 files");
    for (int step = 0; step < 5; ++step) {
      std::vector<int32_t> labels = labelsOf(**parts, step, 0);
      CHECK(labels == labelsOf(**one, step, 0));
      std::vector<float> x(24), mask(4);
      REQUIRE((*parts)->fill(0, step, 0, {0, 0, 0}, {4, 2, 3}, x.data()));
      for (int i = 0; i < 4; ++i)
        CHECK(x[i * 6] == labels[i] * 100);
      REQUIRE((*parts)->fill(2, step, 0, {0, 0}, {2, 2}, mask.data()));
      CHECK(mask == std::vector<float>{0, 1, 2, 3});
    }
  }
}

TEST_CASE("files of one batch with equal labels are samples, not constants") {
  Folder folder;
  std::vector<float> x(48);
  std::iota(x.begin(), x.end(), 0.0f);
  std::vector<int64_t> y{0, 1, 2, 3};
  for (int i = 0; i < 2; ++i)
    REQUIRE(writeNpz(
        folder / ("s" + std::to_string(i) + ".npz"),
        {{"x", DType::F32, {4, 2, 3}, x.data() + 24 * i}, {"y", DType::I64, {4}, y.data()}}));
  auto source = DataSource::open({{folder / "s?.npz"}, 3}, kInputs);
  REQUIRE(source);
  CHECK((*source)->samples() == 8);
  for (int step = 0; step < 4; ++step) {
    std::vector<float> found(24);
    REQUIRE((*source)->fill(0, step, 0, {0, 0, 0}, {4, 2, 3}, found.data()));
    std::vector<int32_t> labels = labelsOf(**source, step, 0);
    for (int i = 0; i < 4; ++i)
      CHECK(int(found[i * 6]) / 6 % 4 == labels[i]);
  }
}

TEST_CASE("an input with several rows per sample keeps them together when samples are shuffled") {
  Folder folder;
  std::vector<float> x(60);
  std::vector<int64_t> y(20);
  for (int n = 0; n < 10; ++n) {
    std::fill_n(x.begin() + n * 6, 6, float(n));
    y[n * 2] = n, y[n * 2 + 1] = n + 100;
  }
  REQUIRE(writeNpz(folder / "d.npz",
                   {{"x", DType::F32, {10, 6}, x.data()}, {"y", DType::I64, {20}, y.data()}}));
  auto source = DataSource::open({{folder / "d.npz"}, 5},
                                 {{"x", DType::F32, {4, 6}}, {"y", DType::I64, {8}}});
  INFO(source.status().message());
  REQUIRE(source);
  std::vector<float> found(24);
  std::vector<int64_t> labels(8);
  REQUIRE((*source)->fill(0, 1, 0, {0, 0}, {4, 6}, found.data()));
  REQUIRE((*source)->fill(1, 1, 0, {0}, {8}, labels.data()));
  for (int i = 0; i < 4; ++i) {
    CHECK(labels[i * 2] == int64_t(found[i * 6]));
    CHECK(labels[i * 2 + 1] == int64_t(found[i * 6]) + 100);
  }
}

TEST_CASE("what is wrong with several files is said with the file") {
  Folder folder;
  writeShards(folder);
  std::vector<float> x(12);
  REQUIRE(writeNpz(folder / "s2.npz", {{"x", DType::F32, {2, 2, 3}, x.data()}}));
  CHECK(problem({{folder / "s*.npz"}}, kInputs) ==
        "found 12 samples of `x` but 10 of `y`, expected equal numbers; " + (folder / "s2.npz") +
            " has 2 and 0");
  CHECK(problem({{folder / "t*.npz"}}, kInputs) ==
        "--data: no file matches '" + (folder / "t*.npz") + "'");
  CHECK_THAT(problem({{folder / ""}}, kInputs),
             Catch::Contains("expected one input of floats of the shape [N, C, H, W]"));
  CHECK_THAT(problem({{folder / "s0.npz", folder.write("t.txt", "text")}}, kInputs),
             Catch::Contains("expected one kind of data"));
}

TEST_CASE("the last batch is padded, dropped, or goes on with the next epoch") {
  Folder folder;
  auto inputs = kInputs;
  inputs[1].vocabulary = 10;
  inputs[1].label = true;
  inputs[1].ignored = 255;
  auto open = [&](LastBatch lastBatch) {
    DataOptions options{{writeTen(folder)}};
    options.lastBatch = lastBatch;
    auto source = DataSource::open(options, inputs);
    INFO(source.status().message());
    REQUIRE(source);
    return std::move(*source);
  };
  CHECK(labelsOf(*open(LastBatch::Wrap), 2, 0) == std::vector<int32_t>{8, 9, 0, 1});
  CHECK(labelsOf(*open(LastBatch::Drop), 2, 0) == std::vector<int32_t>{0, 1, 2, 3});
  auto padded = open(LastBatch::Pad);
  CHECK(labelsOf(*padded, 2, 0) == std::vector<int32_t>{8, 9, 255, 255});
  CHECK(labelsOf(*padded, 3, 0) == std::vector<int32_t>{0, 1, 2, 3});
  std::vector<float> x(24);
  REQUIRE(padded->fill(0, 2, 0, {0, 0, 0}, {4, 2, 3}, x.data()));
  CHECK(x[12] == 0); // some sample
}

TEST_CASE("a last batch that cannot be padded or dropped is refused") {
  Folder folder;
  std::string path = writeTen(folder);
  auto refused = [&](LastBatch lastBatch, std::vector<InputDescription> inputs, int64_t slots) {
    DataOptions options{{path}, {}, slots};
    options.lastBatch = lastBatch;
    return problem(options, inputs);
  };
  CHECK(
      refused(LastBatch::Drop, {{"x", DType::F32, {16, 2, 3}}}, 1) ==
      "found 10 samples, but a step takes 16, and --last-batch drop leaves out what does not fill "
      "a step; give more data, compile with a smaller batch, or use pad or wrap");
  CHECK_THAT(refused(LastBatch::Pad, kInputs, 1),
             Catch::Contains("no labels that a loss could ignore"));
  CHECK_THAT(refused(LastBatch::Pad, {{"x", DType::F32, {4, 2, 3}, {}, true}}, 1),
             Catch::Contains("cannot ignore values of the label `x`, which is f32[4, 2, 3]"));
  auto labelled = kInputs;
  labelled[1].vocabulary = 10;
  labelled[1].label = true;
  CHECK_THAT(refused(LastBatch::Pad, labelled, 1), Catch::Contains("with one ignore-index"));
  DataOptions options{{path}};
  options.lastBatch = LastBatch::Pad;
  options.noPadding = "batch norms count every sample";
  CHECK(problem(options, labelled) ==
        "--last-batch pad: batch norms count every sample; use --last-batch drop or wrap");
}
