// The image files of a run, with their labels: a folder with a subfolder per class, or tar files as
// WebDataset writes them. Private to this folder.
#pragma once

#include "runtime/base/Status.h"
#include "runtime/data/DataSource.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace cleave::data {

// The content of one image file.
struct FileBytes {
  std::string owned;         // empty if the bytes are mapped
  std::string_view mapped;   // these
  std::string_view resident; // what of the mapping may be in memory after they were read

  std::string_view view() const { return owned.empty() ? mapped : owned; }
};

class ImageFiles {
public:
  virtual ~ImageFiles() = default;

  // Samples have numbers from 0 on.
  virtual int64_t count() const = 0;
  // The class of a sample; 0 if there are no labels.
  virtual int64_t label(int64_t sample) const = 0;
  // The file of a sample. A user error if it cannot be read. Thread-safe.
  virtual Result<FileBytes> bytes(int64_t sample) const = 0;
  // Where a sample is, for messages: `train/cat/7.jpg`.
  virtual std::string place(int64_t sample) const = 0;

  // The names of the classes, in the order of labels; empty if they have none.
  virtual const std::vector<std::string> &classes() const = 0;
  // A digest of the names of all samples; empty if the files that contain them are compared.
  virtual std::string digest() const = 0;
  // `640 images of 10 classes in train`
  virtual std::string description() const = 0;
};

// A folder with a subfolder per class: sorted by name, they are the labels 0, 1, …. The images of a
// class are the files below its folder with a known ending, sorted by folder and name
// (torchvision's ImageFolder). User errors: there are no classes, or one without images.
Result<std::unique_ptr<ImageFiles>> openImageFolder(const std::string &path);

// Tar files: consecutive members whose names are equal up to the first dot of the last part are a
// sample, with an image (`.jpg`, `.jpeg`, `.png`) and, if `label` is not null, its class as text
// (`.cls`). Other members are left out. User errors: a file is damaged, or a sample is incomplete
// or has a class that the label cannot have.
Result<std::unique_ptr<ImageFiles>> openImageShards(const std::vector<std::string> &paths,
                                                    const InputDescription *label);

// Whether files with this name are images that are read.
bool isImageName(std::string_view name);

} // namespace cleave::data
