// See BatchFormat.h.
#include "runtime/data/BatchFormat.h"

#include "runtime/data/ArrayFileBuilder.h"
#include "runtime/data/Block.h"
#include "runtime/data/Sources.h"

#include <algorithm>
#include <cstring>

namespace cleave::data {
namespace {

// A stream of which parts are appended to a text.
class Appender {
public:
  explicit Appender(const ReadBytes &read) : read_(read) {}

  // Appends `bytes` bytes; fewer if the stream ends. In pieces, so that memory is taken as data
  // come.
  Result<uint64_t> append(uint64_t bytes) {
    constexpr uint64_t kPiece = 64 << 20;
    uint64_t done = 0;
    while (done < bytes) {
      size_t piece = size_t(std::min(kPiece, bytes - done)), before = text.size();
      text.resize(before + piece);
      CLEAVE_TRY_ASSIGN(size_t found, read_(text.data() + before, piece));
      text.resize(before + found);
      done += found;
      if (found < piece)
        break;
    }
    return done;
  }
  Status appendAll(uint64_t bytes) {
    CLEAVE_TRY_ASSIGN(uint64_t found, append(bytes));
    return found == bytes ? Status::ok()
                          : Status::userError("ended inside of a batch, ", bytes - found,
                                              " bytes before the end of an array");
  }
  const unsigned char *at(size_t place) const {
    return reinterpret_cast<const unsigned char *>(text.data()) + place;
  }

  std::string text;

private:
  const ReadBytes &read_;
};

// What was found where a batch should begin: as text if it is some.
Status noBatch(const std::string &found) {
  bool isText = std::all_of(found.begin(), found.end(), [](unsigned char c) {
    return (c >= ' ' && c < 127) || c == '\n' || c == '\t';
  });
  return Status::userError(
      "wrote ", isText ? concat("the text '", found.substr(0, found.find('\n')), "'") : "bytes",
      " where a batch should begin, expected arrays as of numpy.save, or safetensors; print "
      "messages to standard error");
}

constexpr size_t kPrefix = 8; // bytes by which the formats are told apart

// Appends the rest of the .npy array that begins at `begin`, of which the first `kPrefix` bytes are
// there.
Status appendNpy(Appender &stream, size_t begin) {
  uint64_t needed = 12; // of the version and the length of the header
  while (stream.text.size() - begin < needed) {
    CLEAVE_TRY(stream.appendAll(needed - (stream.text.size() - begin)));
    CLEAVE_TRY_ASSIGN(needed, npyBytes(stream.at(begin), stream.text.size() - begin));
  }
  return Status::ok();
}

} // namespace

Result<std::string> readBatch(const ReadBytes &read, size_t arrays) {
  Appender stream(read);
  CLEAVE_TRY_ASSIGN(uint64_t found, stream.append(kPrefix));
  if (found == 0)
    return std::string();
  if (found < kPrefix)
    return noBatch(stream.text);
  if (stream.text.starts_with("\x93NUMPY")) {
    CLEAVE_TRY(appendNpy(stream, 0));
    for (size_t i = 1; i < arrays; ++i) {
      size_t begin = stream.text.size();
      CLEAVE_TRY(stream.appendAll(kPrefix));
      if (std::memcmp(stream.at(begin), "\x93NUMPY", 6) != 0)
        return noBatch(stream.text.substr(begin));
      CLEAVE_TRY(appendNpy(stream, begin));
    }
    return std::move(stream.text);
  }
  uint64_t header = 0;
  std::memcpy(&header, stream.at(0), sizeof header);
  if (header < 2 || header > kMostSafetensorsHeader)
    return noBatch(stream.text);
  CLEAVE_TRY(stream.appendAll(header));
  CLEAVE_TRY_ASSIGN(uint64_t bytes, safetensorsBytes(stream.text));
  CLEAVE_TRY(stream.appendAll(bytes - stream.text.size()));
  return std::move(stream.text);
}

// The array that an input gets; a user error if it does not fit.
static Status checkArray(const ArrayFile &batch, const InputDescription &input) {
  const ArrayView *array = batch.find(input.name);
  for (const auto &[name, reason] : batch.unreadable())
    if (name == input.name)
      return Status::userError("wrote `", name, "`, but ", reason);
  if (!array)
    return Status::userError("wrote no array `", input.name, "`; it wrote ",
                             listNames(batch.names(), [](auto &name) { return name; }));
  bool fits = array->shape == input.shape && canConvert(array->dtype, input.dtype);
  return fits ? Status::ok()
              : Status::userError("wrote `", input.name, "` as ", name(array->dtype),
                                  toString(array->shape), ", expected ", name(input.dtype),
                                  toString(input.shape));
}

Result<std::shared_ptr<const ArrayFile>> parseBatch(std::string bytes,
                                                    const std::vector<InputDescription> &inputs) {
  auto memory = std::make_shared<const std::string>(std::move(bytes));
  const auto *data = reinterpret_cast<const unsigned char *>(memory->data());
  size_t size = memory->size();
  ArrayFileBuilder builder("");
  builder.keep(memory);
  if (memory->starts_with("\x93NUMPY")) {
    size_t at = 0;
    for (const InputDescription &input : inputs) {
      CLEAVE_TRY_ASSIGN(uint64_t length, npyBytes(data + at, size - at));
      CLEAVE_TRY(addNpy(builder, input.name, data + at, size_t(length)));
      at += size_t(length);
    }
  } else {
    CLEAVE_TRY(readSafetensors(builder, data, size));
  }
  std::shared_ptr<const ArrayFile> batch = builder.finish();
  for (const InputDescription &input : inputs)
    CLEAVE_TRY(checkArray(*batch, input));
  return batch;
}

} // namespace cleave::data
