// Images in tar files, as WebDataset writes them. See ImageFiles.h.
#include "runtime/base/MappedFile.h"
#include "runtime/base/Parallel.h"
#include "runtime/data/ImageFiles.h"
#include "runtime/data/Sources.h"
#include "runtime/data/Tar.h"

#include <algorithm>
#include <charconv>

namespace cleave::data {
namespace {

struct Sample {
  uint64_t at = 0, bytes = 0; // of the image in the archive
  int64_t label = 0;
};

struct Shard {
  std::string path;
  std::shared_ptr<const MappedFile> file;
  std::vector<Sample> samples;
};

// A member's sample and what of it the member is: `0007` and `cls` of `0007.cls`.
struct Key {
  std::string sample, part;
};
std::optional<Key> keyOf(const std::string &name) {
  const size_t base = name.rfind('/') + 1; // 0 without a slash
  const size_t dot = name.find('.', base);
  if (dot == std::string::npos || dot == base)
    return std::nullopt;
  return Key{name.substr(0, dot), name.substr(dot)};
}

// Puts the members of one archive together to samples.
class Grouping {
public:
  Grouping(Shard &shard, const InputDescription *label) : shard_(shard), label_(label) {}

  Status add(const TarMember &member) {
    const std::optional<Key> key = keyOf(member.name);
    if (!key)
      return Status::ok();
    if (key->sample != sample_) {
      CLEAVE_TRY(finish());
      sample_ = key->sample;
    }
    const bool isImage = isImageName(key->part) && key->part.find('.', 1) == std::string::npos;
    const bool isClass = key->part == ".cls" && label_;
    if ((isImage && image_) || (isClass && class_))
      return Status::userError("found two ", isImage ? "images" : "classes", " for the sample `",
                               sample_, "`, expected one");
    if (isImage)
      image_ = member;
    if (isClass) {
      CLEAVE_TRY_ASSIGN(class_, readClass(member));
    }
    return Status::ok();
  }

  // The sample is complete. One without image and class is none.
  Status finish() {
    const std::optional<TarMember> image = std::exchange(image_, std::nullopt);
    const std::optional<int64_t> label = std::exchange(class_, std::nullopt);
    if (!image && !label)
      return Status::ok();
    if (!image)
      return Status::userError("the sample `", sample_,
                               "` has a class, but no image; expected .jpg, .jpeg or .png");
    if (label_ && !label)
      return Status::userError("the sample `", sample_, "` has no class; expected `", sample_,
                               ".cls` beside its image, with the number as text");
    shard_.samples.push_back({image->at, image->bytes, label.value_or(0)});
    return Status::ok();
  }

private:
  Result<int64_t> readClass(const TarMember &member) const {
    std::string_view text = shard_.file->text().substr(member.at, member.bytes);
    const char *blank = " \t\r\n";
    text = text.substr(0, text.find_last_not_of(blank) + 1);
    text.remove_prefix(std::min(text.find_first_not_of(blank), text.size()));
    int64_t value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
      return Status::userError("found '", text.substr(0, 40), "' in `", member.name,
                               "`, expected the number of a class");
    if (!isAllowed(*label_, value))
      return refuse(*label_, value, concat("`", member.name, "`"));
    return value;
  }

  Shard &shard_;
  const InputDescription *label_;
  std::string sample_; // of the members that follow each other
  std::optional<TarMember> image_;
  std::optional<int64_t> class_;
};

Status index(Shard &shard, const InputDescription *label) {
  if (shard.path.ends_with(".gz") || shard.path.ends_with(".tgz"))
    return Status::userError("found the compressed archive '", shard.path,
                             "', in which no sample can be found without inflating all before it; "
                             "expected .tar: unpack it with gunzip");
  CLEAVE_TRY_ASSIGN(shard.file, MappedFile::open(shard.path));
  Grouping grouping(shard, label);
  const std::string_view text = shard.file->text();
  constexpr uint64_t kMostResident = 64 << 20;
  uint64_t released = 0; // bytes
  Status status = readTar(text, [&](const TarMember &member) {
    if (member.at - released > kMostResident) {
      releasePages(&text[released], member.at - released);
      released = member.at;
    }
    return grouping.add(member);
  });
  if (status)
    status = grouping.finish();
  releasePages(text.data(), text.size());
  return status.withContext(shard.path);
}

class ImageShards final : public ImageFiles {
public:
  // With samples in at least one shard.
  explicit ImageShards(std::vector<Shard> shards) : shards_(std::move(shards)) {
    for (const Shard &shard : shards_)
      firsts_.push_back(firsts_.back() + int64_t(shard.samples.size()));
  }

  int64_t count() const override { return firsts_.back(); }
  int64_t label(int64_t sample) const override { return find(sample).second.label; }
  Result<FileBytes> bytes(int64_t sample) const override {
    auto [shard, found] = find(sample);
    // With a page, Linux maps those around it that it has in its cache.
    constexpr uint64_t kAround = 64 << 10;
    const std::string_view text = shard.file->text();
    const uint64_t begin = found.at - std::min(found.at, kAround);
    return FileBytes{"", text.substr(found.at, found.bytes),
                     text.substr(begin, found.at - begin + found.bytes + kAround)};
  }
  std::string place(int64_t sample) const override {
    auto [shard, found] = find(sample);
    return concat(shard.path, ", `", tarNameBefore(shard.file->text(), found.at), "`");
  }
  const std::vector<std::string> &classes() const override { return classes_; }
  std::string digest() const override { return ""; }
  std::string description() const override {
    return concat(count(), " images in ", shards_.size(),
                  shards_.size() == 1 ? " archive" : " archives");
  }

private:
  std::pair<const Shard &, const Sample &> find(int64_t sample) const {
    const size_t shard =
        size_t(std::upper_bound(firsts_.begin(), firsts_.end(), sample) - firsts_.begin() - 1);
    return {shards_[shard], shards_[shard].samples[size_t(sample - firsts_[shard])]};
  }

  std::vector<Shard> shards_;
  std::vector<int64_t> firsts_{0}; // the first sample of each shard, and the number of all
  std::vector<std::string> classes_;
};

} // namespace

Result<std::unique_ptr<ImageFiles>> openImageShards(const std::vector<std::string> &paths,
                                                    const InputDescription *label) {
  std::vector<Shard> shards(paths.size());
  std::vector<Status> statuses(paths.size());
  for (size_t i = 0; i < paths.size(); ++i)
    shards[i].path = paths[i];
  inParallel(paths.size(), [&](size_t i) { statuses[i] = index(shards[i], label); });
  for (const Status &status : statuses)
    CLEAVE_TRY(status);
  auto files = std::make_unique<ImageShards>(std::move(shards));
  if (files->count() == 0)
    return Status::userError("found no image in ", paths[0],
                             paths.size() > 1 ? " and the other archives" : "",
                             ", expected members such as `0007.jpg` and `0007.cls`");
  return std::unique_ptr<ImageFiles>(std::move(files));
}

} // namespace cleave::data
