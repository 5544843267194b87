// See TensorReader.h. The elements are in one of seven fields of the message, or in another file.
#include "compiler/frontend/onnx/file/TensorReader.h"

#include "compiler/frontend/onnx/file/Failure.h"
#include "compiler/frontend/onnx/file/NarrowTypes.h"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace cleave::onnx {
namespace {

// A data type of the format, and the element type with which Cleave computes, if it does.
struct OnnxDataType {
  int32_t number;
  const char *name;
  std::optional<ElementType> element;
};

constexpr OnnxDataType kDataTypes[] = {
    {1, "float32", ElementType::F32},  {2, "uint8", ElementType::U8},
    {3, "int8", ElementType::I8},      {4, "uint16", ElementType::U16},
    {5, "int16", ElementType::I16},    {6, "int32", ElementType::I32},
    {7, "int64", ElementType::I64},    {8, "string", std::nullopt},
    {9, "bool", ElementType::Bool},    {10, "float16", ElementType::F16},
    {11, "float64", ElementType::F64}, {12, "uint32", ElementType::U32},
    {13, "uint64", ElementType::U64},  {14, "complex64", std::nullopt},
    {15, "complex128", std::nullopt},  {16, "bfloat16", ElementType::BF16},
};

// The elements as the message holds them, before the element type decides which field is used.
struct Fields {
  std::optional<ByteRange> raw;
  std::string_view rawBytes;
  std::vector<ByteRange> packed; // float_data or double_data, each packed
  std::string singles;           // the same, not packed
  std::vector<int64_t> integers; // int32_data, int64_data or uint64_data
  bool external = false;
  Metadata externalData;
};

void readReals(WireReader &in, Fields &fields) {
  if (in.isBytes()) {
    fields.packed.push_back(in.range());
    return;
  }
  std::vector<float> single;
  in.floats(single);
  fields.singles.append(reinterpret_cast<const char *>(single.data()), sizeof(float));
}

// Reads a non-negative number of an external_data entry.
uint64_t externalNumber(const StoredTensor &tensor, const Metadata &entries, const std::string &key,
                        uint64_t absent) {
  auto found = entries.find(key);
  if (found == entries.end())
    return absent;
  const std::string &text = found->second;
  uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    fail("initializer '", tensor.name, "' has the ", key, " '", text,
         "' in its external data, expected a number of bytes");
  return value;
}

void placeExternal(StoredTensor &tensor, const Metadata &entries) {
  auto location = entries.find("location");
  if (location == entries.end() || location->second.empty())
    fail("initializer '", tensor.name, "' has external data without a location");
  tensor.inFile = true;
  tensor.location = location->second;
  tensor.range.offset = externalNumber(tensor, entries, "offset", 0);
  auto needed = static_cast<uint64_t>(tensor.byteCount());
  tensor.range.size = externalNumber(tensor, entries, "length", needed);
}

// Encodes the integers of a typed field as little-endian elements.
std::string packIntegers(const std::vector<int64_t> &integers, int64_t size) {
  std::string out(integers.size() * size, '\0');
  for (size_t i = 0; i < integers.size(); ++i)
    std::memcpy(out.data() + i * size, &integers[i], size);
  return out;
}

// Decodes narrow elements into the type that holds them; they are copied, as such tensors are
// small.
void placeNarrow(StoredTensor &tensor, const Fields &fields, const NarrowType &type) {
  if (fields.external)
    fail("tensor '", tensor.name, "' has elements of ", type.name,
         " outside the model file, which Cleave does not read; store them inside");
  std::string packed = packIntegers(fields.integers, 1);
  tensor.decoded = unpack(type, fields.raw ? fields.rawBytes : packed, tensor.elementCount());
}

void place(StoredTensor &tensor, const Fields &fields) {
  if (const NarrowType *type = narrowType(tensor.dataType))
    return placeNarrow(tensor, fields, *type);
  if (fields.external)
    return placeExternal(tensor, fields.externalData);
  if (fields.raw) {
    tensor.inFile = true;
    tensor.range = *fields.raw;
  } else if (fields.packed.size() == 1 && fields.singles.empty()) {
    tensor.inFile = true;
    tensor.range = fields.packed[0];
  } else if (!fields.packed.empty()) {
    fail("tensor '", tensor.name, "' has its elements in several pieces; export it again");
  } else if (!fields.singles.empty()) {
    tensor.decoded = fields.singles;
  } else {
    tensor.decoded = packIntegers(fields.integers, byteSize(tensor.element()));
  }
}

void checkDims(const StoredTensor &tensor) {
  if (tensor.dims.size() > kMaxRank)
    fail("tensor '", tensor.name, "' has ", tensor.dims.size(), " dims, expected at most ",
         kMaxRank);
  int64_t count = 1;
  for (int64_t dim : tensor.dims) {
    if (dim < 0)
      fail("tensor '", tensor.name, "' has a dim of size ", dim, ", expected none below 0");
    if (__builtin_mul_overflow(count, std::max<int64_t>(dim, 1), &count) ||
        count > (int64_t(1) << 56))
      fail("tensor '", tensor.name, "' has more elements than fit into memory");
  }
}

void checkBytes(const StoredTensor &tensor) {
  uint64_t found = tensor.inFile ? tensor.range.size : tensor.decoded.size();
  auto expected = static_cast<uint64_t>(tensor.byteCount());
  if (found != expected)
    fail("tensor '", tensor.name, "' has ", found, " bytes of data, its ", tensor.elementCount(),
         " elements of ", dataTypeName(tensor.dataType), " need ", expected);
}

void checkTexts(const StoredTensor &tensor) {
  if (static_cast<int64_t>(tensor.strings.size()) != tensor.elementCount())
    fail("tensor '", tensor.name, "' has ", tensor.strings.size(), " strings, expected ",
         tensor.elementCount());
}

} // namespace

std::optional<ElementType> elementTypeOf(int32_t dataType) {
  if (const NarrowType *narrow = narrowType(dataType))
    dataType = narrow->held;
  for (const OnnxDataType &type : kDataTypes)
    if (type.number == dataType)
      return type.element;
  return std::nullopt;
}

int32_t dataTypeOf(ElementType element) {
  for (const OnnxDataType &type : kDataTypes)
    if (type.element == element)
      return type.number;
  return 0;
}

std::string dataTypeName(int32_t dataType) {
  if (const NarrowType *narrow = narrowType(dataType))
    return narrow->name;
  for (const OnnxDataType &type : kDataTypes)
    if (type.number == dataType)
      return type.name;
  return concat("element type ", dataType);
}

std::string typeName(ElementType element) { return std::string(longName(element)); }

int64_t StoredTensor::elementCount() const {
  int64_t count = 1;
  for (int64_t dim : dims)
    count *= dim;
  return count;
}

ElementType StoredTensor::element() const {
  std::optional<ElementType> type = elementTypeOf(dataType);
  if (!type)
    fail("tensor '", name, "' has elements of ", dataTypeName(dataType),
         ", which Cleave does not compute with");
  return *type;
}

void readMetadata(WireReader in, Metadata &out) {
  std::string key, value;
  while (in.next()) {
    if (in.field() == 1)
      key = in.string();
    else if (in.field() == 2)
      value = in.string();
  }
  out[key] = value;
}

StoredTensor readTensor(WireReader in) {
  StoredTensor out;
  Fields fields;
  while (in.next()) {
    switch (in.field()) {
    case 1:
      in.integers(out.dims);
      break;
    case 2:
      out.dataType = static_cast<int32_t>(in.integer());
      break;
    case 4:
      readReals(in, fields);
      break;
    case 5:
    case 7:
    case 11:
      in.integers(fields.integers);
      break;
    case 6:
      out.strings.push_back(in.string());
      break;
    case 8:
      out.name = in.string();
      break;
    case 9:
      fields.rawBytes = WireReader(in).bytes();
      fields.raw = in.range();
      break;
    case 10:
      fields.packed.push_back(in.range());
      break;
    case 13:
      readMetadata(in.message(), fields.externalData);
      break;
    case 14:
      fields.external = in.integer() == 1;
      break;
    }
  }
  checkDims(out);
  if (out.dataType == kStringType)
    checkTexts(out);
  if (!elementTypeOf(out.dataType))
    return out; // an error only where it is used
  place(out, fields);
  checkBytes(out);
  return out;
}

} // namespace cleave::onnx
