// Images from folders and archives: order, labels, blocks, ranges of files, and tar headers.
#include "Files.h"

#include "runtime/data/DataSource.h"
#include "runtime/data/DataSpec.h"
#include "runtime/data/Tar.h"
#include "test/unit/image/PngFile.h"

#include <catch2/catch.hpp>
#include <map>
#include <png.h>

using namespace cleave;
using namespace cleave::data;

// A grey PNG of 4 x 4 pixels of one brightness.
static std::string png(uint8_t brightness) {
  return test::png(4, 4, PNG_COLOR_TYPE_GRAY, 8, false, std::vector<uint8_t>(16, brightness));
}

// One member of an archive: header, content and padding.
static std::string member(std::string name, const std::string &content, char type = '0') {
  std::string header(512, '\0');
  header.replace(0, std::min<size_t>(100, name.size()), name.substr(0, 100));
  std::snprintf(&header[124], 12, "%011zo", content.size());
  header.replace(148, 8, "        ");
  header[156] = type;
  header.replace(257, 8, std::string("ustar\0", 6) + "00");
  unsigned sum = 0;
  for (unsigned char c : header)
    sum += c;
  std::snprintf(&header[148], 8, "%06o", sum);
  return header + content + std::string((512 - content.size() % 512) % 512, '\0');
}

static std::vector<InputDescription> inputsFor(std::vector<int64_t> shape) {
  return {{"image", DType::F32, std::move(shape)}, {"label", DType::I32, {4}, 5, true}};
}

// 7 images of 3 classes; brightness is the number of the sample in ImageFolder's order.
static void writeFolder(const Folder &folder) {
  const std::pair<const char *, int> files[] = {{"data/a/2.png", 1},    {"data/a/10.PNG", 0},
                                                {"data/a/z/0.png", 3},  {"data/a/y.d/7.png", 2},
                                                {"data/b/0.png", 4},    {"data/c d/x/y/1.png", 6},
                                                {"data/c d/w.v.png", 5}};
  for (auto [name, brightness] : files) {
    std::filesystem::create_directories(std::filesystem::path(folder / name).parent_path());
    folder.write(name, png(uint8_t(brightness)));
  }
  folder.write("data/b/notes.txt", "no image");
  folder.write("data/b/0.webp", "another format");
  folder.write("data/list.txt", "no class");
  std::filesystem::create_directory_symlink(folder / "data/a", folder / "data/a/z/circle");
}

TEST_CASE("a folder has the samples and labels of ImageFolder, also in blocks") {
  Folder folder;
  writeFolder(folder);
  for (bool channelsLast : {false, true}) {
    auto source = DataSource::open({{folder / "data"}},
                                   inputsFor(channelsLast ? std::vector<int64_t>{4, 2, 2, 3}
                                                          : std::vector<int64_t>{4, 3, 2, 2}));
    INFO(source.status().message());
    REQUIRE(source);
    CHECK((*source)->samples() == 7);
    CHECK((*source)->classes() == std::vector<std::string>{"a", "b", "c d"});
    CHECK_THAT((*source)->description(),
               Catch::StartsWith("7 images of 3 classes in ") &&
                   Catch::Contains("(left out: 1 image of other formats") &&
                   Catch::EndsWith(", 4 x 4 pixels, centre crop of 2 x 2"));
    std::vector<int32_t> labels(4);
    std::vector<float> images(4 * 12);
    for (int64_t step : {0, 1, 5, 2}) {
      REQUIRE((*source)->fill(1, step, 0, {0}, {4}, labels.data()));
      REQUIRE((*source)->fill(0, step, 0, {0, 0, 0, 0},
                              channelsLast ? std::vector<int64_t>{4, 2, 2, 3}
                                           : std::vector<int64_t>{4, 3, 2, 2},
                              images.data()));
      for (int64_t i = 0; i < 4; ++i) {
        const int64_t sample = (step * 4 + i) % 7;
        CHECK(labels[size_t(i)] == (sample < 4 ? 0 : sample < 5 ? 1 : 2));
        CHECK(std::all_of(&images[size_t(i * 12)], &images[size_t(i * 12)] + 12,
                          [&](float value) { return value == float(sample) / 255.0f; }));
      }
    }
    std::vector<float> block(3 * 2, -1); // the last row, and two beyond
    REQUIRE((*source)->fill(0, 1, 0, {3, 1, 1, 0}, {3, 1, 1, 2}, block.data()));
    CHECK(block == std::vector<float>{0, 0, 0, 0, 0, 0}); // sample 7 of 7: the first again
  }
}

TEST_CASE("images need an input whose channels are known, and labels that are integers") {
  Folder folder;
  writeFolder(folder);
  auto problem = [&](std::vector<InputDescription> inputs) {
    auto source = DataSource::open({{folder / "data"}}, inputs);
    REQUIRE(!source);
    return source.status().message();
  };
  CHECK_THAT(problem(inputsFor({4, 3, 8, 3})), Catch::Contains("input `image` is f32[4, 3, 8, 3]"));
  CHECK_THAT(problem(inputsFor({4, 4, 8, 8})), Catch::Contains("with 1 or 3 channels C"));
  auto inputs = inputsFor({4, 3, 8, 8});
  inputs[1].dtype = DType::F32;
  CHECK_THAT(problem(inputs), Catch::Contains("input `label` is f32[4]"));
  inputs = inputsFor({4, 3, 8, 8});
  inputs[1].vocabulary = 2;
  CHECK_THAT(problem(inputs), Catch::Contains("found 3 classes in "));
}

TEST_CASE("the same part is read ahead, and the order of demand does not matter") {
  Folder folder;
  writeFolder(folder);
  DataOptions options{{folder / "data"}, 3, 2};
  REQUIRE(image::readCrop("random-resized", options.images));
  for (int threads : {1, 4}) {
    options.threads = threads;
    auto forward = DataSource::open(options, inputsFor({4, 3, 2, 2})),
         backward = DataSource::open(options, inputsFor({4, 3, 2, 2}));
    REQUIRE((forward && backward));
    std::map<std::pair<int64_t, int64_t>, std::vector<float>> images;
    auto read = [&](const DataSource &source, int64_t step, int64_t slot) {
      std::vector<float> values(2 * 12);
      REQUIRE(source.fill(0, step, slot, {2, 0, 0, 0}, {2, 3, 2, 2}, values.data()));
      return values;
    };
    for (int64_t step = 0; step < 9; ++step)
      for (int64_t slot : {0, 1})
        images[{step, slot}] = read(**forward, step, slot);
    for (int64_t step = 9; step-- > 0;)
      for (int64_t slot : {0, 1})
        CHECK(images[{step, slot}] == read(**backward, step, slot));
  }
}

TEST_CASE("samples of archives are members with one base name, of several kinds of headers") {
  Folder folder;
  const std::string longName(150, 'n');
  const std::string name = longName + ".png";
  folder.write("s.tar", member("d/", "", '5') + member("d/0.cls", " 2\n") +
                            member("d/0.PNG", png(10)) + member("1.json", "{}") +
                            member("1.seg.png", "no image") + member("1.jpeg", png(11)) +
                            member("1.cls", "-100\n") + member("././@LongLink", name + '\0', 'L') +
                            member("n", png(12)) + member("././@LongLink", longName + ".cls", 'L') +
                            member("n", "4") + std::string(1024, '\0') + "behind the end");
  auto inputs = inputsFor({4, 1, 4, 4});
  CHECK_THAT(DataSource::open({{folder / "s.tar"}}, inputs).status().message(),
             Catch::Contains("found label -100 for input `label` in `1.cls`, expected 0 to 4"));
  inputs[1].ignored = -100;
  auto source = DataSource::open({{folder / "s.tar"}}, inputs);
  INFO(source.status().message());
  REQUIRE(source);
  CHECK((*source)->samples() == 3);
  std::vector<int32_t> labels(4);
  REQUIRE((*source)->fill(1, 0, 0, {0}, {4}, labels.data()));
  CHECK(labels == std::vector<int32_t>{2, -100, 4, 2});
}

TEST_CASE("an archive that ends early or is changed in a header is refused or read in part") {
  const std::string archive = member("0.cls", "2") + member("x", "20 path=renamed.cls\n", 'x') +
                              member("1.cls", std::string(700, 'c')) + std::string(1024, '\0');
  auto namesOf = [](const std::string &bytes) {
    std::vector<std::string> names;
    Status status = readTar(bytes, [&](const TarMember &found) {
      CHECK(found.at + found.bytes <= bytes.size());
      names.push_back(found.name);
      return Status::ok();
    });
    CHECK((status || status.kind() == StatusKind::UserError));
    return status ? names : std::vector<std::string>{status.message()};
  };
  CHECK(namesOf(archive) == std::vector<std::string>{"0.cls", "renamed.cls"});
  for (size_t bytes = 0; bytes < archive.size(); ++bytes)
    namesOf(archive.substr(0, bytes));
  for (size_t at = 0; at < archive.size(); ++at) {
    std::string changed = archive;
    changed[at] = char(changed[at] ^ (1 << at % 8));
    const bool isHeader = at / 512 == 0 || at / 512 == 2 || at / 512 == 4;
    // A space in front of the sum's digits, or other characters behind them, are the same sum.
    const bool isAroundSum = at % 512 == 148 || at % 512 == 154 || at % 512 == 155;
    if (isHeader && !isAroundSum)
      CHECK_THAT(namesOf(changed)[0], Catch::StartsWith("byte "));
    else
      namesOf(changed);
  }
}

TEST_CASE("a range in braces stands for its numbers") {
  auto filesOf = [](const std::string &pattern) {
    auto spec = readSpec(pattern, {});
    return spec ? spec->files : std::vector<std::string>{spec.status().message()};
  };
  CHECK(filesOf("/t-{08..11}.tar") ==
        std::vector<std::string>{"/t-08.tar", "/t-09.tar", "/t-10.tar", "/t-11.tar"});
  CHECK(filesOf("/{0..1}-{1..2}") == std::vector<std::string>{"/0-1", "/0-2", "/1-1", "/1-2"});
  CHECK(filesOf("/{a..b}{1}{..}") == std::vector<std::string>{"/{a..b}{1}{..}"});
  CHECK_THAT(filesOf("/{5..4}")[0], Catch::Contains("expected a range of at most 1000000 files"));
  CHECK_THAT(filesOf("/{1..999999999}")[0], Catch::Contains("expected a range"));
}
