// Decodes and resizes image files on one core, for comparison with PIL (images.py):
//   bench-images HEIGHT WIDTH RESIZE SECONDS PIXELS FILE…
// writes the pixels of all files, resized to a short side of RESIZE and cropped to HEIGHT x WIDTH,
// into PIXELS, then repeats that for SECONDS and prints images per second of processor time.
#include "runtime/base/RegularFile.h"
#include "runtime/image/Decode.h"
#include "runtime/image/Transform.h"

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>

using namespace cleave;

static image::Image load(const std::string &path, const image::Transform &transform) {
  auto file = readRegularFile(path);
  auto decoded = file ? image::decode(*file, 3) : Result<image::Image>(file.status());
  if (decoded)
    return transform.apply(*decoded, 0);
  std::fprintf(stderr, "bench-images: %s: %s\n", path.c_str(), decoded.status().message().c_str());
  std::exit(1);
}

int main(int argc, char **argv) {
  if (argc < 7) {
    std::fprintf(stderr, "usage: bench-images HEIGHT WIDTH RESIZE SECONDS PIXELS FILE…\n");
    return 1;
  }
  image::TransformOptions options;
  options.resize = std::atoll(argv[3]);
  auto transform = image::Transform::create(options, {std::atoll(argv[1]), std::atoll(argv[2])}, 3);
  if (!transform) {
    std::fprintf(stderr, "bench-images: %s\n", transform.status().message().c_str());
    return 1;
  }
  std::ofstream out(argv[5], std::ios::binary);
  for (int i = 6; i < argc; ++i) {
    const image::Image image = load(argv[i], *transform);
    out.write(reinterpret_cast<const char *>(image.pixels.data()), long(image.pixels.size()));
  }
  const double limit = std::atof(argv[4]);
  const std::clock_t begin = std::clock();
  double seconds = 0;
  long count = 0;
  while (seconds < limit) {
    for (int i = 6; i < argc; ++i, ++count)
      load(argv[i], *transform);
    seconds = double(std::clock() - begin) / CLOCKS_PER_SEC;
  }
  if (count)
    std::printf("%.1f\n", double(count) / seconds);
  return 0;
}
