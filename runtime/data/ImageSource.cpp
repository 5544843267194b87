// Data source of image files: decodes each image, and transforms it for the model. See
// DataSource.h.
#include "runtime/base/CounterRandom.h"
#include "runtime/base/MappedFile.h"
#include "runtime/data/Block.h"
#include "runtime/data/ImageFiles.h"
#include "runtime/data/ParallelRows.h"
#include "runtime/data/ReadAhead.h"
#include "runtime/data/SampleOrder.h"
#include "runtime/data/Sources.h"
#include "runtime/image/Decode.h"
#include "runtime/image/Transform.h"

#include <algorithm>

namespace cleave::data {
namespace {

// How the model reads images: the place of the channels in the shape, and the sizes.
struct ImageLayout {
  bool hasChannelsLast = false;
  int64_t channels = 0;
  image::Size size;
};

bool isChannels(int64_t size) { return size == 1 || size == 3; }

// Mapped bytes that were read count as memory of this process no longer.
void release(const FileBytes &bytes) {
  if (!bytes.resident.empty())
    releasePages(bytes.resident.data(), bytes.resident.size());
}

// Nothing if the shape is not that of images, or may be both.
std::optional<ImageLayout> layoutOf(const std::vector<int64_t> &shape) {
  if (shape.size() != 4 || isChannels(shape[1]) == isChannels(shape[3]))
    return std::nullopt;
  return isChannels(shape[1]) ? ImageLayout{false, shape[1], {shape[2], shape[3]}}
                              : ImageLayout{true, shape[3], {shape[1], shape[2]}};
}

class ImageSource final : public DataSource {
public:
  ImageSource(const std::vector<InputDescription> &inputs, size_t images, ImageLayout layout,
              std::unique_ptr<ImageFiles> files, image::Transform transform,
              const DataOptions &options)
      : inputs_(inputs), images_(images), layout_(layout), files_(std::move(files)),
        transform_(std::move(transform)), seed_(options.seed), slots_(options.slots),
        perSlot_(inputs_[images].shape[0]),
        epochs_(files_->count(), perSlot_ * options.slots, options.lastBatch),
        order_(files_->count(), options.shuffleSeed), isEvaluation_(options.isEvaluation),
        ahead_([this](int64_t batch, int64_t row) { return load(batch, row); }, options.threads) {}

  int64_t samples() const override { return files_->count(); }
  int64_t samplesPerMicroBatch() const override { return perSlot_; }
  Epochs *epochs() override { return &epochs_; }
  std::string contents() const override { return files_->digest(); }
  std::vector<std::string> classes() const override { return files_->classes(); }
  std::string description() const override {
    return concat(files_->description(), sizes_, ", ", transform_.description());
  }

  // Reads the headers of some images, evenly spread. A user error if one cannot be decoded.
  Status lookAtSizes() {
    constexpr int64_t kMostLooks = 100;
    const int64_t looks = std::min(kMostLooks, files_->count());
    image::Size least{INT64_MAX, INT64_MAX}, most;
    for (int64_t i = 0; i < looks; ++i) {
      const int64_t sample = i * files_->count() / looks;
      CLEAVE_TRY_ASSIGN(FileBytes bytes, files_->bytes(sample));
      CLEAVE_TRY_ASSIGN(image::Size size,
                        image::sizeOf(bytes.view()).withContext(files_->place(sample)));
      release(bytes);
      least = {std::min(least.height, size.height), std::min(least.width, size.width)};
      most = {std::max(most.height, size.height), std::max(most.width, size.width)};
    }
    sizes_ = concat(", ", least.width, " x ", least.height);
    if (least != most)
      sizes_ += concat(" to ", most.width, " x ", most.height);
    sizes_ += looks < files_->count() ? concat(" pixels (of ", looks, ")") : " pixels";
    return Status::ok();
  }

  Status fill(size_t index, int64_t step, int64_t slot, const std::vector<int64_t> &offset,
              const std::vector<int64_t> &shape, void *destination) const override {
    const InputDescription &input = inputs_[index];
    Block block{offset, shape}, whole{std::vector<int64_t>(input.shape.size(), 0), input.shape};
    Block part = intersection(block, whole);
    clearUnlessAll(part, block, input.dtype, destination);
    if (elements(part.shape) == 0)
      return Status::ok();
    const int64_t batch = step * slots_ + slot;
    return index == images_ ? fillImages(batch, part, block, destination)
                            : fillLabels(input, batch, part, block, destination);
  }

private:
  // The sample at a row of a micro-batch, and the epoch in which it is taken.
  struct Taken {
    int64_t sample, epoch;
    bool isPadding;
  };
  Taken takenAt(int64_t batch, int64_t row) const {
    const TakenSample taken = epochs_.sampleAt(batch / slots_, batch % slots_ * perSlot_ + row);
    return {order_.at(taken.epoch * samples() + taken.index), taken.epoch, taken.isPadding};
  }

  // Decodes and transforms the image at a row. Random choices depend on seed, epoch and sample.
  Result<image::Image> load(int64_t batch, int64_t row) const {
    const Taken taken = takenAt(batch, row);
    CLEAVE_TRY_ASSIGN(FileBytes bytes, files_->bytes(taken.sample));
    CLEAVE_TRY_ASSIGN(
        image::Image decoded,
        image::decode(bytes.view(), layout_.channels).withContext(files_->place(taken.sample)));
    release(bytes);
    const uint64_t epochKey = hashedKey(hashedKey(seed_) ^ uint64_t(taken.epoch));
    return transform_.apply(decoded, hashedKey(epochKey ^ uint64_t(taken.sample)));
  }

  Status fillImages(int64_t batch, const Block &part, const Block &block, void *to) const {
    CLEAVE_TRY_ASSIGN(auto images, ahead_.take({batch, part.offset[0], part.shape[0]}));
    const InputDescription &input = inputs_[images_];
    const Block stored{std::vector<int64_t>(4, 0),
                       {1, input.shape[1], input.shape[2], input.shape[3]}};
    const int64_t rowBytes = elements(stored.shape) * byteSize(input.dtype);
    return fillInParallel(part.shape[0], rowBytes, [&](int64_t begin, int64_t count) {
      std::vector<float> values(size_t(elements(stored.shape)));
      Block row = part, from = stored;
      row.shape[0] = 1;
      for (int64_t i = begin; i < begin + count; ++i) {
        row.offset[0] = from.offset[0] = part.offset[0] + i;
        toValues((*images)[size_t(i)], values.data());
        CLEAVE_TRY(copyPart(row, from, DType::F32, values.data(), block, input.dtype, to));
      }
      return Status::ok();
    });
  }

  // The values of an image in the order of the model's input.
  void toValues(const image::Image &image, float *to) const {
    const int64_t channels = layout_.channels, pixels = image.size.height * image.size.width;
    const int64_t nextChannel = layout_.hasChannelsLast ? 1 : pixels;
    const int64_t nextPixel = layout_.hasChannelsLast ? channels : 1;
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t i = 0; i < pixels; ++i)
        to[c * nextChannel + i * nextPixel] =
            transform_.value(c, image.pixels[size_t(i * channels + c)]);
  }

  Status fillLabels(const InputDescription &input, int64_t batch, const Block &part,
                    const Block &block, void *to) const {
    for (int64_t i = 0; i < part.shape[0]; ++i) {
      const Taken taken = takenAt(batch, part.offset[0] + i);
      const int64_t label =
          taken.isPadding ? paddingOf(isEvaluation_, input) : files_->label(taken.sample);
      char *element =
          static_cast<char *>(to) + (part.offset[0] + i - block.offset[0]) * byteSize(input.dtype);
      CLEAVE_TRY(convert(&label, DType::I64, element, input.dtype, 1));
    }
    return Status::ok();
  }

  std::vector<InputDescription> inputs_;
  size_t images_; // the index of the input of images; another input has the labels
  ImageLayout layout_;
  std::unique_ptr<ImageFiles> files_;
  image::Transform transform_;
  std::string sizes_;
  uint64_t seed_;
  int64_t slots_, perSlot_;
  Epochs epochs_;
  SampleOrder order_;
  bool isEvaluation_;
  mutable ReadAhead ahead_; // destroyed first: its threads use the rest
};

// What the model reads, as indices of its inputs.
struct ChosenInputs {
  size_t images = 0;
  std::optional<size_t> label;
};

Result<ChosenInputs> chooseInputs(const std::vector<InputDescription> &inputs,
                                  const std::string &path) {
  ChosenInputs chosen;
  std::optional<size_t> images;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const InputDescription &input = inputs[i];
    if (isFloat(input.dtype) && layoutOf(input.shape) && !isLabel(input) && !images)
      images = i;
    else if (isInteger(input.dtype) && input.shape.size() == 1 && !chosen.label)
      chosen.label = i;
    else
      return Status::userError(
          "found the images of ", path, ", but input `", input.name, "` is ", name(input.dtype),
          toString(input.shape),
          "; expected one input of floats of the shape [N, C, H, W] or [N, H, W, C] with 1 or 3 "
          "channels C, and at most one of integer labels [N]; give FILE.npz, FILE.safetensors or "
          "NAME=FILE.npy");
  }
  if (!images)
    return Status::userError("found the images of ", path, ", but the model reads no images");
  chosen.images = *images;
  return chosen;
}

} // namespace

Result<std::unique_ptr<DataSource>> openImages(const DataOptions &options,
                                               const std::vector<InputDescription> &inputs,
                                               const std::vector<std::string> &folders,
                                               const std::vector<std::string> &archives) {
  const std::string &first = folders.empty() ? archives[0] : folders[0];
  if (folders.size() + !archives.empty() > 1)
    return Status::userError("found the folder ", folders[0], " and ",
                             folders.size() > 1 ? folders[1] : archives[0],
                             ", expected one folder of images, or .tar files");
  CLEAVE_TRY_ASSIGN(ChosenInputs chosen, chooseInputs(inputs, first));
  const InputDescription *label = chosen.label ? &inputs[*chosen.label] : nullptr;
  const ImageLayout layout = *layoutOf(inputs[chosen.images].shape);
  CLEAVE_TRY_ASSIGN(image::Transform transform,
                    image::Transform::create(options.images, layout.size, layout.channels));
  CLEAVE_TRY_ASSIGN(auto files,
                    folders.empty() ? openImageShards(archives, label) : openImageFolder(first));
  if (const int64_t classes = int64_t(files->classes().size());
      label && label->vocabulary && classes > *label->vocabulary)
    return Status::userError("found ", classes, " classes in ", first, ", but the model has ",
                             *label->vocabulary, "; expected a folder for each class at most");
  CLEAVE_TRY(checkLastBatch(options, inputs, files->count(),
                            inputs[chosen.images].shape[0] * options.slots));
  auto source = std::make_unique<ImageSource>(inputs, chosen.images, layout, std::move(files),
                                              std::move(transform), options);
  CLEAVE_TRY(source->lookAtSizes());
  return std::unique_ptr<DataSource>(std::move(source));
}

} // namespace cleave::data
