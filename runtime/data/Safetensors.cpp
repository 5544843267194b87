// The safetensors format: the length of a JSON header, the header (name → type, shape, range of
// bytes), the bytes.
#include "runtime/base/FileWriter.h"
#include "runtime/data/ArrayFileBuilder.h"
#include "runtime/data/Block.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <tuple>
#include <unordered_set>

namespace cleave::data {
namespace {

using Json = nlohmann::json; // the order of keys has no meaning

struct SafetensorsType {
  const char *name;
  DType dtype;
};
constexpr SafetensorsType kSafetensorsTypes[] = {
    {"F32", DType::F32},  {"F64", DType::F64}, {"F16", DType::F16}, {"BF16", DType::BF16},
    {"I8", DType::I8},    {"I16", DType::I16}, {"I32", DType::I32}, {"I64", DType::I64},
    {"U8", DType::U8},    {"U16", DType::U16}, {"U32", DType::U32}, {"U64", DType::U64},
    {"BOOL", DType::Bool}};

const char *nameOf(DType dtype) {
  for (const SafetensorsType &type : kSafetensorsTypes)
    if (type.dtype == dtype)
      return type.name;
  return "F32";
}

std::optional<std::vector<int64_t>> integers(const Json &json, const char *key) {
  std::vector<int64_t> values;
  if (!json.contains(key) || !json[key].is_array())
    return std::nullopt;
  for (const Json &value : json[key]) {
    if (!value.is_number_integer() || value.get<int64_t>() < 0)
      return std::nullopt;
    values.push_back(value.get<int64_t>());
  }
  return values;
}

// Finds a key that an object has twice. Of two entries for one name, readers would take different
// ones.
class DuplicateKeys final : public nlohmann::json_sax<Json> {
public:
  bool start_object(size_t) override {
    keys_.emplace_back();
    return true;
  }
  bool end_object() override {
    keys_.pop_back();
    return true;
  }
  bool key(std::string &name) override {
    if (!keys_.back().insert(name).second)
      found = name;
    return !found;
  }
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(int64_t) override { return true; }
  bool number_unsigned(uint64_t) override { return true; }
  bool number_float(double, const std::string &) override { return true; }
  bool string(std::string &) override { return true; }
  bool binary(Json::binary_t &) override { return true; }
  bool start_array(size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(size_t, const std::string &, const Json::exception &) override { return false; }

  std::optional<std::string> found;

private:
  std::vector<std::unordered_set<std::string>> keys_; // of the objects that are open
};

Result<Json> parseHeader(std::string_view text) {
  DuplicateKeys duplicates;
  bool isJson = Json::sax_parse(text, &duplicates);
  if (duplicates.found)
    return Status::userError("the safetensors header has `", *duplicates.found, "` twice");
  Json header = isJson ? Json::parse(text, nullptr, /*allow_exceptions=*/false) : Json();
  if (!header.is_object())
    return Status::userError("the safetensors header is damaged");
  return header;
}

// Where a tensor's bytes lie.
struct Range {
  uint64_t begin, end;
  const std::string *name;
};

// The rules of the format: the tensors' bytes follow each other without gaps up to the end of the
// file, so that none belong to two tensors or to none.
Status checkRanges(std::vector<Range> ranges, uint64_t dataBytes) {
  std::sort(ranges.begin(), ranges.end(), [](const Range &a, const Range &b) {
    return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
  });
  uint64_t at = 0;
  for (const Range &range : ranges) {
    if (range.begin != at)
      return Status::userError("tensor `", *range.name, "` begins at byte ", range.begin,
                               " of the data, expected ", at, ", where the one before it ends");
    at = range.end;
  }
  if (at != dataBytes)
    return Status::userError("the tensors end at byte ", at, " of the data, but the file has ",
                             dataBytes, "; copy it again");
  return Status::ok();
}

Status addTensor(ArrayFileBuilder &builder, const std::string &name, const Json &entry,
                 const unsigned char *data, uint64_t dataBytes, Range &range) {
  auto shape = integers(entry, "shape"), offsets = integers(entry, "data_offsets");
  if (!shape || !offsets || offsets->size() != 2 || !entry.contains("dtype") ||
      !entry["dtype"].is_string())
    return Status::userError("the header's entry of tensor `", name, "` is damaged");
  std::string type = entry["dtype"];
  uint64_t begin = range.begin = (*offsets)[0], end = range.end = (*offsets)[1];
  if (begin > end || end > dataBytes)
    return Status::userError("tensor `", name, "` ends at byte ", end,
                             " of the data, but the file has ", dataBytes, ": it is truncated");
  for (const SafetensorsType &known : kSafetensorsTypes)
    if (type == known.name) {
      uint64_t bytes = byteSize(known.dtype);
      for (int64_t size : *shape)
        if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(size), &bytes))
          bytes = ~uint64_t(0);
      if (bytes != end - begin)
        return Status::userError("tensor `", name, "` has ", end - begin,
                                 " bytes, which does not agree with its type and shape");
      builder.add({name, known.dtype, *shape, data + begin});
      return Status::ok();
    }
  builder.addUnreadable(name, "elements of type " + type + " are not supported");
  return Status::ok();
}

} // namespace

Status readSafetensors(ArrayFileBuilder &builder, const unsigned char *data, size_t size) {
  uint64_t headerBytes = 0;
  if (size >= sizeof headerBytes)
    std::memcpy(&headerBytes, data, sizeof headerBytes);
  if (headerBytes < 2 || size < 8 || headerBytes > size - 8)
    return Status::userError("is truncated or not a safetensors file (", size, " bytes)");
  if (headerBytes > kMostSafetensorsHeader)
    return Status::userError("its header has ", headerBytes, " bytes, expected at most ",
                             kMostSafetensorsHeader);
  std::string_view text(reinterpret_cast<const char *>(data) + 8, headerBytes);
  CLEAVE_TRY_ASSIGN(const Json header, parseHeader(text));
  uint64_t dataBytes = size - 8 - headerBytes;
  std::vector<Range> ranges;
  for (const auto &[name, entry] : header.get_ref<const Json::object_t &>()) {
    if (name != "__metadata__") {
      Range range{0, 0, &name};
      CLEAVE_TRY(addTensor(builder, name, entry, data + 8 + headerBytes, dataBytes, range));
      ranges.push_back(range);
      continue;
    }
    for (auto &[key, value] : entry.items())
      if (value.is_string())
        builder.addMetadata(key, value);
  }
  return checkRanges(std::move(ranges), dataBytes);
}

Result<uint64_t> safetensorsBytes(std::string_view begin) {
  CLEAVE_TRY_ASSIGN(const Json header, parseHeader(begin.substr(8)));
  uint64_t end = 0;
  for (const auto &[name, entry] : header.get_ref<const Json::object_t &>()) {
    auto offsets = name == "__metadata__" ? std::nullopt : integers(entry, "data_offsets");
    if (offsets && offsets->size() == 2)
      end = std::max(end, uint64_t((*offsets)[1]));
  }
  return begin.size() + end;
}

// The length of the header and the header of a file with these arrays.
template <typename Array>
static std::string headerOf(const std::vector<Array> &arrays,
                            const std::vector<std::pair<std::string, std::string>> &metadata) {
  Json header = Json::object();
  for (const auto &[key, value] : metadata)
    header["__metadata__"][key] = value;
  uint64_t at = 0;
  for (const Array &array : arrays) {
    uint64_t end = at + uint64_t(elements(array.shape) * byteSize(array.dtype));
    header[array.name] = {
        {"dtype", nameOf(array.dtype)}, {"shape", array.shape}, {"data_offsets", {at, end}}};
    at = end;
  }
  std::string text = header.dump(-1, ' ', false, Json::error_handler_t::replace);
  text.append((8 - text.size() % 8) % 8, ' ');
  uint64_t length = text.size();
  text.insert(0, reinterpret_cast<const char *>(&length), sizeof length);
  return text;
}

Status writeSafetensors(const std::string &path, const std::vector<ArrayView> &arrays,
                        const std::vector<std::pair<std::string, std::string>> &metadata) {
  std::string header = headerOf(arrays, metadata);
  std::vector<std::pair<const void *, size_t>> parts{{header.data(), header.size()}};
  for (const ArrayView &array : arrays)
    parts.push_back({array.data, array.bytes()});
  return writeParts(path, parts);
}

Status writeSafetensors(const std::string &path, const std::vector<ArrayOnDemand> &arrays,
                        const std::vector<std::pair<std::string, std::string>> &metadata) {
  FileWriter file(path);
  CLEAVE_TRY(file.write(headerOf(arrays, metadata)));
  for (const ArrayOnDemand &array : arrays) {
    std::vector<char> memory(size_t(elements(array.shape) * byteSize(array.dtype)));
    CLEAVE_TRY(array.read(memory.data()));
    CLEAVE_TRY(file.write(memory.data(), memory.size()));
  }
  return file.publish();
}

} // namespace cleave::data
