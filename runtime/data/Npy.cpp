// NumPy's .npy format: a magic number, a Python dict as text (type, order, shape), then the
// elements.
#include "runtime/base/Float16.h"
#include "runtime/data/ArrayFileBuilder.h"

#include <cstring>

namespace cleave::data {
namespace {

struct NpyHeader {
  std::string type;
  bool fortran = false;
  std::vector<int64_t> shape;
  size_t bytes = 0; // of magic number and dict
};

// The text after `'key':` of a Python dict, without leading blanks.
std::string valueOf(const std::string &dict, const std::string &key) {
  size_t at = dict.find("'" + key + "'");
  at = at == std::string::npos ? at : dict.find(':', at);
  at = at == std::string::npos ? at : dict.find_first_not_of(' ', at + 1);
  return at == std::string::npos ? "" : dict.substr(at);
}

bool parseShape(const std::string &text, std::vector<int64_t> &shape) {
  if (text.empty() || text[0] != '(')
    return false;
  const char *at = text.c_str() + 1;
  while (*at && *at != ')') {
    char *end = nullptr;
    int64_t size = std::strtoll(at, &end, 10);
    if (end == at || size < 0)
      return false;
    shape.push_back(size);
    for (at = end; *at == ',' || *at == ' ' || *at == 'L'; ++at) {
    }
  }
  return *at == ')';
}

bool parseHeader(const unsigned char *bytes, size_t size, NpyHeader &header) {
  if (size < 12 || std::memcmp(bytes, "\x93NUMPY", 6) != 0)
    return false;
  uint32_t length = bytes[8] | bytes[9] << 8;
  size_t start = 10;
  if (bytes[6] >= 2) {
    std::memcpy(&length, bytes + 8, sizeof length);
    start = 12;
  }
  if (length > size - start)
    return false;
  std::string dict(reinterpret_cast<const char *>(bytes) + start, length);
  header.bytes = start + length;
  header.fortran = valueOf(dict, "fortran_order").rfind("True", 0) == 0;
  std::string type = valueOf(dict, "descr");
  header.type = type.size() > 1 && type[0] == '\'' ? type.substr(1, type.find('\'', 1) - 1)
                                                   : type.substr(0, 40);
  return parseShape(valueOf(dict, "shape"), header.shape);
}

struct NpyType {
  const char *name;
  DType dtype;
};
constexpr NpyType kNpyTypes[] = {{"<f4", DType::F32}, {"<f8", DType::F64}, {"<f2", DType::F16},
                                 {"|i1", DType::I8},  {"<i2", DType::I16}, {"<i4", DType::I32},
                                 {"<i8", DType::I64}, {"|u1", DType::U8},  {"<u2", DType::U16},
                                 {"<u4", DType::U32}, {"<u8", DType::U64}, {"|b1", DType::Bool}};

// The number of elements, or -1 if it is larger than any file.
int64_t countOf(const std::vector<int64_t> &shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    if (__builtin_mul_overflow(count, size, &count) || count > (int64_t(1) << 56))
      return -1;
  return count;
}

} // namespace

Status addNpy(ArrayFileBuilder &builder, const std::string &name, const unsigned char *bytes,
              size_t size) {
  NpyHeader header;
  if (!parseHeader(bytes, size, header))
    return Status::userError("array `", name, "` has a damaged header, expected the .npy format");
  if (header.fortran && header.shape.size() > 1) {
    builder.addUnreadable(name, "it is stored in Fortran order; write numpy.ascontiguousarray(x)");
    return Status::ok();
  }
  int64_t count = countOf(header.shape);
  auto enough = [&](int64_t elementBytes) {
    return count >= 0 && static_cast<uint64_t>(count) <= (size - header.bytes) / elementBytes;
  };
  const unsigned char *data = bytes + header.bytes;
  Status cutShort = Status::userError("array `", name, "` is truncated: ", size - header.bytes,
                                      " bytes do not hold ", count, " elements of ", header.type);
  for (const NpyType &type : kNpyTypes)
    if (header.type == type.name) {
      if (!enough(byteSize(type.dtype)))
        return cutShort;
      builder.add({name, type.dtype, header.shape, data});
      return Status::ok();
    }
  builder.addUnreadable(name, "elements of type " + header.type + " are not supported");
  return Status::ok();
}

Result<uint64_t> npyBytes(const unsigned char *bytes, size_t size) {
  uint64_t length = bytes[8] | bytes[9] << 8, start = 10;
  if (bytes[6] >= 2) {
    uint32_t wide = 0;
    std::memcpy(&wide, bytes + 8, sizeof wide);
    length = wide, start = 12;
  }
  constexpr uint64_t kMostHeader = 1 << 20;
  if (length > kMostHeader)
    return Status::userError("wrote an .npy header of ", length, " bytes, expected at most ",
                             kMostHeader);
  if (start + length > size)
    return start + length;
  NpyHeader header;
  if (!parseHeader(bytes, size, header))
    return Status::userError("wrote a damaged .npy header");
  int64_t count = countOf(header.shape);
  for (const NpyType &type : kNpyTypes)
    if (header.type == type.name && count >= 0)
      return start + length + uint64_t(count) * uint64_t(byteSize(type.dtype));
  return Status::userError("wrote an array of elements of type ", header.type,
                           ", expected numbers in little-endian order");
}

Status readNpy(ArrayFileBuilder &builder, const MappedFile &file, const std::string &name) {
  return addNpy(builder, name, file.data(), file.size());
}

std::string npyHeader(DType dtype, const std::vector<int64_t> &shape) {
  std::string type = "<f4";
  for (const NpyType &candidate : kNpyTypes)
    if (candidate.dtype == dtype)
      type = candidate.name;
  std::string dict = "{'descr': '" + type + "', 'fortran_order': False, 'shape': (";
  for (size_t i = 0; i < shape.size(); ++i)
    dict += std::to_string(shape[i]) + (i + 1 < shape.size() ? ", " : shape.size() == 1 ? "," : "");
  dict += "), }";
  size_t padding = 63 - (10 + dict.size()) % 64; // aligns the elements to 64 bytes
  dict += std::string(padding, ' ') + "\n";
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(dict.size() & 0xff);
  header += static_cast<char>(dict.size() >> 8);
  return header + dict;
}

ArrayView asNpy(const ArrayView &array, std::vector<float> &widened) {
  if (array.dtype != DType::BF16)
    return array;
  widened.resize(array.elements());
  for (size_t i = 0; i < widened.size(); ++i)
    widened[i] = fromBF16(static_cast<const uint16_t *>(array.data)[i]);
  return {array.name, DType::F32, array.shape, widened.data()};
}

} // namespace cleave::data
