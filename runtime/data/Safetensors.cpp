// The safetensors format: the length of a JSON header, the header (name → type, shape, range of
// bytes), the bytes.
#include "runtime/data/ArrayFileBuilder.h"

#include <cstring>
#include <nlohmann/json.hpp>

namespace cleave::data {
namespace {

using Json = nlohmann::ordered_json;

struct TypeName {
  const char *name;
  DType dtype;
};
constexpr TypeName kTypes[] = {{"F32", DType::F32},   {"F64", DType::F64}, {"F16", DType::F16},
                               {"BF16", DType::BF16}, {"I8", DType::I8},   {"I16", DType::I16},
                               {"I32", DType::I32},   {"I64", DType::I64}, {"U8", DType::U8},
                               {"U16", DType::U16},   {"U32", DType::U32}, {"U64", DType::U64},
                               {"BOOL", DType::Bool}};

const char *nameOf(DType dtype) {
  for (const TypeName &type : kTypes)
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

Status addTensor(ArrayFileBuilder &builder, const std::string &name, const Json &entry,
                 const unsigned char *data, uint64_t dataBytes) {
  auto shape = integers(entry, "shape"), range = integers(entry, "data_offsets");
  if (!shape || !range || range->size() != 2 || !entry.contains("dtype") ||
      !entry["dtype"].is_string())
    return Status::userError("the header's entry of tensor `", name, "` is damaged");
  std::string type = entry["dtype"];
  uint64_t begin = (*range)[0], end = (*range)[1];
  if (begin > end || end > dataBytes)
    return Status::userError("tensor `", name, "` ends at byte ", end,
                             " of the data, but the file has ", dataBytes, ": it is truncated");
  for (const TypeName &known : kTypes)
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

Status readSafetensors(ArrayFileBuilder &builder, const MappedFile &file) {
  uint64_t headerBytes = 0;
  if (file.size() >= sizeof headerBytes)
    std::memcpy(&headerBytes, file.data(), sizeof headerBytes);
  if (headerBytes < 2 || file.size() < 8 || headerBytes > file.size() - 8)
    return Status::userError("is truncated or not a safetensors file (", file.size(), " bytes)");
  const char *text = reinterpret_cast<const char *>(file.data()) + 8;
  Json header = Json::parse(text, text + headerBytes, nullptr, /*allow_exceptions=*/false);
  if (!header.is_object())
    return Status::userError("the safetensors header is damaged");
  for (auto &[name, entry] : header.items()) {
    if (name != "__metadata__") {
      CLEAVE_TRY(addTensor(builder, name, entry, file.data() + 8 + headerBytes,
                           file.size() - 8 - headerBytes));
      continue;
    }
    for (auto &[key, value] : entry.items())
      if (value.is_string())
        builder.addMetadata(key, value);
  }
  return Status::ok();
}

Status writeSafetensors(const std::string &path, const std::vector<ArrayView> &arrays,
                        const std::vector<std::pair<std::string, std::string>> &metadata) {
  Json header = Json::object();
  for (const auto &[key, value] : metadata)
    header["__metadata__"][key] = value;
  uint64_t at = 0;
  std::vector<std::pair<const void *, size_t>> parts(1);
  for (const ArrayView &array : arrays) {
    uint64_t end = at + array.bytes();
    header[array.name] = {
        {"dtype", nameOf(array.dtype)}, {"shape", array.shape}, {"data_offsets", {at, end}}};
    parts.push_back({array.data, array.bytes()});
    at = end;
  }
  std::string text = header.dump(-1, ' ', false, Json::error_handler_t::replace);
  text.append((8 - text.size() % 8) % 8, ' ');
  uint64_t length = text.size();
  text.insert(0, reinterpret_cast<const char *>(&length), sizeof length);
  parts[0] = {text.data(), text.size()};
  return writeParts(path, parts);
}

} // namespace cleave::data
