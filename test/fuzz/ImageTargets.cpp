// Targets: image files, and archives of them.
#include "runtime/data/DataSource.h"
#include "runtime/image/Decode.h"
#include "runtime/image/Transform.h"
#include "test/fuzz/Targets.h"

#include <vector>

namespace cleave::fuzz {

void image(std::string_view bytes) {
  image::TransformOptions options;
  mustBeTheirs(image::readCrop("random-resized", options));
  auto transform = image::Transform::create(options, {8, 8}, 3);
  mustBeTheirs(transform.status());
  mustBeTheirs(image::sizeOf(bytes).status());
  auto decoded = image::decode(bytes, 3);
  mustBeTheirs(decoded.status());
  if (decoded.isOk())
    transform->apply(*decoded, bytes.size());
}

// Reads the first two micro-batches.
void tar(std::string_view bytes) {
  const std::vector<data::InputDescription> inputs{{"image", DType::F32, {2, 3, 4, 4}},
                                                   {"label", DType::I64, {2}, 10, true}};
  auto source = data::DataSource::open({{asFile("x.tar", bytes)}}, inputs);
  mustBeTheirs(source.status());
  if (!source.isOk())
    return;
  std::vector<float> images(2 * 3 * 4 * 4);
  std::vector<int64_t> labels(2);
  for (int64_t step : {0, 1}) {
    mustBeTheirs((*source)->fill(0, step, 0, {0, 0, 0, 0}, {2, 3, 4, 4}, images.data()));
    mustBeTheirs((*source)->fill(1, step, 0, {0}, {2}, labels.data()));
  }
}

} // namespace cleave::fuzz
