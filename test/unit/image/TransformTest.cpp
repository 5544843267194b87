// Which part of an image is taken, how it is scaled, and the options' errors.
#include "runtime/image/Transform.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <set>

using namespace cleave;
using namespace cleave::image;

static Transform transformOf(const TransformOptions &options, Size size = {16, 16},
                             int64_t channels = 3) {
  auto transform = Transform::create(options, size, channels);
  INFO(transform.status().message());
  REQUIRE(transform);
  return *transform;
}

static TransformOptions cropped(const std::string &text) {
  TransformOptions options;
  REQUIRE(readCrop(text, options));
  return options;
}

TEST_CASE("without options the least image that covers the input is cropped in its middle") {
  Geometry wide = transformOf({}).choose({30, 40}, 1);
  CHECK(wide.part == Rect{0, 0, {30, 40}});
  CHECK(wide.to == Size{16, 21});
  CHECK(wide.window == Rect{0, 2, {16, 16}}); // 2.5 rounds to even
  CHECK(!wide.isMirrored);
  CHECK(transformOf({}).choose({40, 30}, 1).to == Size{21, 16});
  CHECK(transformOf({}, {16, 32}).choose({30, 40}, 1).to == Size{24, 32});
  CHECK(transformOf({}, {16, 32}).choose({10, 40}, 1).to == Size{16, 64});
}

TEST_CASE("the shorter side is resized to what --image-resize says") {
  TransformOptions options;
  options.resize = 20;
  Geometry geometry = transformOf(options).choose({30, 40}, 1);
  CHECK(geometry.to == Size{20, 26});
  CHECK(geometry.window == Rect{2, 5, {16, 16}});
}

TEST_CASE("random crops reach every place, padding included, and nothing beyond") {
  const Transform transform = transformOf(cropped("random:padding=2"));
  std::set<int64_t> tops, lefts;
  for (uint64_t key = 0; key < 1000; ++key) {
    Geometry geometry = transform.choose({16, 18}, key);
    CHECK(geometry.to == Size{16, 18});
    tops.insert(geometry.window.top), lefts.insert(geometry.window.left);
  }
  CHECK(tops == std::set<int64_t>{-2, -1, 0, 1, 2});
  CHECK(lefts == std::set<int64_t>{-2, -1, 0, 1, 2, 3, 4});
}

TEST_CASE(
    "random parts lie inside of the image and have the areas and proportions of torchvision") {
  const Transform transform = transformOf(cropped("random-resized:area=0.25"));
  double area = 0;
  const int count = 4000;
  for (uint64_t key = 0; key < count; ++key) {
    const Rect part = transform.choose({300, 400}, key).part;
    CHECK((part.top >= 0 && part.left >= 0));
    CHECK((part.top + part.size.height <= 300 && part.left + part.size.width <= 400));
    const double ratio = double(part.size.width) / double(part.size.height);
    CHECK((ratio > 0.74 && ratio < 1.35));
    const double share = double(part.size.height * part.size.width) / (300 * 400);
    CHECK((share > 0.245 && share < 1.01));
    area += share / count;
  }
  CHECK(std::abs(area - 0.522) < 0.01); // the mean of 20000 parts of torchvision's
  CHECK(transform.choose({1, 1}, 3).part == Rect{0, 0, {1, 1}});
  const Rect strip = transformOf(cropped("random-resized:area=1")).choose({10, 400}, 3).part;
  CHECK(strip == Rect{0, 193, {10, 13}}); // nothing fits: the middle
}

TEST_CASE("half of the images are mirrored, and equal keys choose equally") {
  TransformOptions options = cropped("random-resized");
  options.flips = true;
  const Transform transform = transformOf(options);
  int mirrored = 0;
  for (uint64_t key = 0; key < 1000; ++key) {
    Geometry one = transform.choose({50, 60}, key), again = transform.choose({50, 60}, key);
    CHECK((one.part == again.part && one.isMirrored == again.isMirrored));
    mirrored += one.isMirrored;
  }
  CHECK((mirrored > 430 && mirrored < 570));
  CHECK(transformOf(options.withoutChance()).choose({50, 60}, 1).part == Rect{0, 0, {50, 60}});
}

TEST_CASE("a mirrored image begins with the last pixel of each row") {
  TransformOptions options;
  options.flips = true;
  const Transform transform = transformOf(options, {1, 3}, 3);
  const Image image{{1, 3}, 3, {1, 2, 3, 4, 5, 6, 7, 8, 9}};
  uint64_t key = 0;
  while (!transform.choose(image.size, key).isMirrored)
    ++key;
  CHECK(transform.apply(image, key).pixels == std::vector<uint8_t>{7, 8, 9, 4, 5, 6, 1, 2, 3});
}

TEST_CASE("values are scaled as ToTensor and Normalize do") {
  TransformOptions options;
  CHECK(transformOf(options).value(2, 255) == 1.0f);
  options.mean = {0.485, 0.456, 0.406}, options.deviation = {0.229, 0.224, 0.225};
  CHECK(transformOf(options).value(1, 51) == (51.0f / 255.0f - 0.456f) / 0.224f);
  options.mean = {0.5}, options.deviation = {0.25};
  CHECK(transformOf(options).value(2, 0) == -2.0f);
}

TEST_CASE("options that contradict the model are refused") {
  auto problem = [](TransformOptions options, int64_t channels) {
    auto transform = Transform::create(options, {16, 20}, channels);
    REQUIRE(!transform);
    return transform.status().message();
  };
  TransformOptions options;
  options.resize = 19;
  CHECK(problem(options, 3) == "found --image-resize 19, but the model reads images of 16 x 20 "
                               "pixels; expected at least 20");
  options = {};
  options.deviation = {1, 2, 3};
  CHECK(problem(options, 1) == "found 3 values of --image-std, but the model's images have 1 "
                               "channel; expected one for each, or one for all");
  for (const char *text : {"", "centre", "center:padding=1", "random:", "random:padding=-1",
                           "random:padding=1x", "random-resized:area=0", "random-resized:area=1.5"})
    CHECK_THAT(readCrop(text, options).message(), Catch::Contains("expected center, random, "));
}
