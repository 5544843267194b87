// Images in a folder with a subfolder per class. See ImageFiles.h.
#include "runtime/base/RegularFile.h"
#include "runtime/base/Sha256.h"
#include "runtime/data/ImageFiles.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <set>

namespace cleave::data {
namespace {

namespace fs = std::filesystem;

std::string loweredEnding(std::string_view name) {
  const size_t dot = name.rfind('.');
  std::string ending(dot == std::string_view::npos ? "" : name.substr(dot));
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return char(std::tolower(c)); });
  return ending;
}

// Images that torchvision would read.
bool isOtherImage(std::string_view name) {
  constexpr std::array kEndings{".bmp", ".pgm", ".ppm", ".tif", ".tiff", ".webp"};
  return std::find(kEndings.begin(), kEndings.end(), loweredEnding(name)) != kEndings.end();
}

class ImageFolder final : public ImageFiles {
public:
  explicit ImageFolder(std::string path) : root_(std::move(path)) {}

  Status readAll() {
    std::error_code failure;
    for (fs::directory_iterator entry(root_, failure), end; !failure && entry != end;
         entry.increment(failure))
      if (std::error_code ignored; entry->is_directory(ignored))
        classes_.push_back(entry->path().filename().string());
    if (failure)
      return Status::userError("cannot read the folder '", root_, "': ", failure.message());
    if (classes_.empty())
      return Status::userError("found no folders in '", root_,
                               "', expected one for each class, with the images of the class; or "
                               "files, for example '",
                               (fs::path(root_) / "*.npz").string(), "' in quotes");
    std::sort(classes_.begin(), classes_.end());
    for (const std::string &name : classes_)
      CLEAVE_TRY(readClass(name));
    return Status::ok();
  }

  int64_t count() const override { return int64_t(ends_.size()); }
  int64_t label(int64_t sample) const override {
    return std::upper_bound(firsts_.begin(), firsts_.end(), sample) - firsts_.begin() - 1;
  }
  Result<FileBytes> bytes(int64_t sample) const override {
    CLEAVE_TRY_ASSIGN(std::string content, readRegularFile(place(sample)));
    return FileBytes{std::move(content), {}, {}};
  }
  std::string place(int64_t sample) const override {
    const size_t begin = sample ? ends_[size_t(sample - 1)] : 0;
    return root_ + "/" + names_.substr(begin, ends_[size_t(sample)] - begin - 1);
  }
  const std::vector<std::string> &classes() const override { return classes_; }
  std::string digest() const override { return sha256(names_); }
  std::string description() const override {
    std::string text = concat(count(), " images of ", classes_.size(),
                              classes_.size() == 1 ? " class" : " classes", " in ", root_);
    if (others_)
      text += concat(" (left out: ", others_, others_ == 1 ? " image" : " images",
                     " of other formats than JPEG and PNG)");
    return text;
  }

private:
  // One folder of a class: its place below the root, and its images.
  struct Listing {
    std::string folder;
    std::vector<std::string> images;
  };

  Status readClass(const std::string &name) {
    std::vector<Listing> listings;
    std::vector<std::string> pending{name};
    std::set<fs::path> seen; // links may lead in circles
    while (!pending.empty()) {
      std::string folder = std::move(pending.back());
      pending.pop_back();
      std::error_code failure;
      if (fs::path real = fs::canonical(fs::path(root_) / folder, failure);
          !failure && !seen.insert(real).second)
        continue;
      listings.push_back({folder, {}});
      CLEAVE_TRY(readFolder(listings.back(), pending));
    }
    std::sort(listings.begin(), listings.end(),
              [](const Listing &a, const Listing &b) { return a.folder < b.folder; });
    firsts_.push_back(count());
    for (Listing &listing : listings) {
      std::sort(listing.images.begin(), listing.images.end());
      for (const std::string &image : listing.images) {
        names_ += concat(listing.folder, '/', image, '\0');
        ends_.push_back(names_.size());
      }
    }
    if (count() == firsts_.back())
      return Status::userError("the folder '", (fs::path(root_) / name).string(),
                               "' is a class, but has no .jpg, .jpeg or .png file: add images, or "
                               "move it out of '",
                               root_, "'");
    return Status::ok();
  }

  // Adds the images of a folder to its listing, and the folders in it to those that are pending.
  Status readFolder(Listing &listing, std::vector<std::string> &pending) {
    const fs::path path = fs::path(root_) / listing.folder;
    std::error_code failure;
    for (fs::directory_iterator entry(path, failure), end; !failure && entry != end;
         entry.increment(failure)) {
      const std::string name = entry->path().filename().string();
      if (std::error_code ignored; entry->is_directory(ignored))
        pending.push_back(concat(listing.folder, '/', name));
      else if (isImageName(name))
        listing.images.push_back(name);
      else if (isOtherImage(name))
        ++others_;
    }
    return failure ? Status::userError("cannot read the folder '", path.string(),
                                       "': ", failure.message())
                   : Status::ok();
  }

  std::string root_;
  std::vector<std::string> classes_;
  std::vector<int64_t> firsts_; // the first sample of each class
  std::string names_;           // of all samples below the root, each with a zero behind it
  std::vector<size_t> ends_;    // of each name, behind its zero
  int64_t others_ = 0;
};

} // namespace

bool isImageName(std::string_view name) {
  const std::string ending = loweredEnding(name);
  return ending == ".jpg" || ending == ".jpeg" || ending == ".png";
}

Result<std::unique_ptr<ImageFiles>> openImageFolder(const std::string &path) {
  std::string root = path;
  while (root.size() > 1 && root.back() == '/')
    root.pop_back();
  auto folder = std::make_unique<ImageFolder>(root);
  CLEAVE_TRY(folder->readAll());
  return std::unique_ptr<ImageFiles>(std::move(folder));
}

} // namespace cleave::data
