// See Mutate.h.
#include "test/fuzz/mutants/Mutate.h"

#include "runtime/base/Concat.h"

#include <google/protobuf/message.h>
#include <limits>
#include <map>
#include <memory>
#include <vector>

namespace cleave::fuzz {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

constexpr int kWhole = -1; // instead of an index: the field, not an element

// A field of one message, or an element of a repeated field.
struct Site {
  Message *message;
  const FieldDescriptor *field;
  int index;
};

// All sites of a plan, by field. Repeated fields also have a site for the whole list.
using Sites = std::map<std::string, std::vector<Site>>;

void collect(Message &message, Sites &sites) {
  const Reflection &fields = *message.GetReflection();
  for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
    const FieldDescriptor *field = message.GetDescriptor()->field(i);
    if (field->name() == "code" || field->name() == "content_hash")
      continue;
    bool isMessage = field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
    if (!field->is_repeated()) {
      if ((isMessage || field->containing_oneof()) && !fields.HasField(message, field))
        continue;
      sites[field->full_name()].push_back({&message, field, kWhole});
      if (isMessage)
        collect(*fields.MutableMessage(&message, field), sites);
      continue;
    }
    int size = fields.FieldSize(message, field);
    if (size > 0)
      sites[field->full_name() + "[]"].push_back({&message, field, kWhole});
    for (int element = 0; element < size; ++element) {
      sites[field->full_name()].push_back({&message, field, element});
      if (isMessage)
        collect(*fields.MutableRepeatedMessage(&message, field, element), sites);
    }
  }
}

// Reads and writes the scalar at a site.
template <typename T> struct Access;
#define CLEAVE_ACCESS(TYPE, NAME)                                                                  \
  template <> struct Access<TYPE> {                                                                \
    static TYPE get(const Site &s) {                                                               \
      const Reflection &fields = *s.message->GetReflection();                                      \
      return s.field->is_repeated() ? fields.GetRepeated##NAME(*s.message, s.field, s.index)       \
                                    : fields.Get##NAME(*s.message, s.field);                       \
    }                                                                                              \
    static void set(const Site &s, TYPE value) {                                                   \
      const Reflection &fields = *s.message->GetReflection();                                      \
      s.field->is_repeated() ? fields.SetRepeated##NAME(s.message, s.field, s.index, value)        \
                             : fields.Set##NAME(s.message, s.field, value);                        \
    }                                                                                              \
  };
CLEAVE_ACCESS(int32_t, Int32)
CLEAVE_ACCESS(int64_t, Int64)
CLEAVE_ACCESS(uint32_t, UInt32)
CLEAVE_ACCESS(uint64_t, UInt64)
CLEAVE_ACCESS(double, Double)
CLEAVE_ACCESS(bool, Bool)
CLEAVE_ACCESS(std::string, String)
#undef CLEAVE_ACCESS

struct EnumAccess {
  static int get(const Site &s) {
    const Reflection &fields = *s.message->GetReflection();
    return s.field->is_repeated() ? fields.GetRepeatedEnumValue(*s.message, s.field, s.index)
                                  : fields.GetEnumValue(*s.message, s.field);
  }
  static void set(const Site &s, int value) {
    const Reflection &fields = *s.message->GetReflection();
    s.field->is_repeated() ? fields.SetRepeatedEnumValue(s.message, s.field, s.index, value)
                           : fields.SetEnumValue(s.message, s.field, value);
  }
};

template <typename T> T changed(T value, T elsewhere, std::mt19937 &draw) {
  using U = std::make_unsigned_t<T>;
  switch (draw() % 8) {
  case 0:
    return 0;
  case 1:
    return 1;
  case 2:
    return static_cast<T>(-1);
  case 3:
    return std::numeric_limits<T>::max();
  case 4:
    return static_cast<T>(static_cast<U>(value) + 1);
  case 5:
    return static_cast<T>(static_cast<U>(value) - 1);
  case 6:
    return static_cast<T>(static_cast<U>(value) ^ (U(1) << draw() % (8 * sizeof(T))));
  default:
    return elsewhere;
  }
}

double changed(double value, double elsewhere, std::mt19937 &draw) {
  const double values[] = {0,
                           1,
                           -1,
                           std::numeric_limits<double>::max(),
                           std::numeric_limits<double>::infinity(),
                           std::numeric_limits<double>::quiet_NaN(),
                           value * 1e9,
                           elsewhere};
  return values[draw() % std::size(values)];
}

std::string changed(const std::string &value, const std::string &elsewhere, std::mt19937 &draw) {
  std::string flipped = value;
  if (!flipped.empty())
    flipped[draw() % flipped.size()] ^= char(1 << draw() % 8);
  const std::string values[] = {"",      "../x",   value + value, value.substr(value.size() / 2),
                                flipped, elsewhere};
  return values[draw() % std::size(values)];
}

bool changed(bool value, bool, std::mt19937 &) { return !value; }

template <typename Fields>
std::string changeScalar(const Site &s, const Site &other, std::mt19937 &draw) {
  auto before = Fields::get(s);
  auto after = changed(before, Fields::get(other), draw);
  Fields::set(s, after);
  if constexpr (std::is_same_v<decltype(before), std::string>)
    return concat(before.size(), " bytes to ", after.size(), " bytes");
  else if constexpr (std::is_same_v<decltype(before), bool>)
    return after ? "becomes true" : "becomes false";
  else
    return concat(before, " to ", after);
}

std::string replaceMessage(const Site &s, const Site &other) {
  auto at = [](const Site &site) -> Message & {
    const Reflection &fields = *site.message->GetReflection();
    return site.field->is_repeated()
               ? *fields.MutableRepeatedMessage(site.message, site.field, site.index)
               : *fields.MutableMessage(site.message, site.field);
  };
  std::string bytes = at(other).SerializeAsString(); // `other` may contain or be `s`
  at(s).ParseFromString(bytes);
  return "becomes another one";
}

std::string changeElement(const Site &s, const Site &other, std::mt19937 &draw) {
  switch (s.field->cpp_type()) {
  case FieldDescriptor::CPPTYPE_INT32:
    return changeScalar<Access<int32_t>>(s, other, draw);
  case FieldDescriptor::CPPTYPE_INT64:
    return changeScalar<Access<int64_t>>(s, other, draw);
  case FieldDescriptor::CPPTYPE_UINT32:
    return changeScalar<Access<uint32_t>>(s, other, draw);
  case FieldDescriptor::CPPTYPE_UINT64:
    return changeScalar<Access<uint64_t>>(s, other, draw);
  case FieldDescriptor::CPPTYPE_DOUBLE:
    return changeScalar<Access<double>>(s, other, draw);
  case FieldDescriptor::CPPTYPE_BOOL:
    return changeScalar<Access<bool>>(s, other, draw);
  case FieldDescriptor::CPPTYPE_STRING:
    return changeScalar<Access<std::string>>(s, other, draw);
  case FieldDescriptor::CPPTYPE_ENUM:
    return changeScalar<EnumAccess>(s, other, draw);
  default:
    return replaceMessage(s, other);
  }
}

// Appends a copy of element `from`.
void repeatElement(const Site &s, int from) {
  const Reflection &fields = *s.message->GetReflection();
  std::unique_ptr<Message> alone(s.message->New());
  alone->CopyFrom(*s.message);
  fields.SwapElements(alone.get(), s.field, 0, from);
  while (fields.FieldSize(*alone, s.field) > 1)
    fields.RemoveLast(alone.get(), s.field);
  std::vector<const FieldDescriptor *> present;
  fields.ListFields(*alone, &present);
  for (const FieldDescriptor *field : present)
    if (field != s.field)
      fields.ClearField(alone.get(), field);
  s.message->MergeFrom(*alone);
}

std::string changeList(const Site &s, std::mt19937 &draw) {
  const Reflection &fields = *s.message->GetReflection();
  int size = fields.FieldSize(*s.message, s.field);
  int a = int(draw() % uint32_t(size)), b = int(draw() % uint32_t(size));
  switch (draw() % 4) {
  case 0:
    for (int i = a; i + 1 < size; ++i)
      fields.SwapElements(s.message, s.field, i, i + 1);
    fields.RemoveLast(s.message, s.field);
    return concat("loses element ", a);
  case 1:
    repeatElement(s, a);
    return concat("repeats element ", a);
  case 2:
    fields.SwapElements(s.message, s.field, a, b);
    return concat("swaps elements ", a, " and ", b);
  default:
    fields.ClearField(s.message, s.field);
    return "becomes empty";
  }
}

} // namespace

std::string mutate(plan::Plan &plan, std::mt19937 &draw) {
  Sites sites;
  collect(plan, sites);
  auto group = std::next(sites.begin(), int(draw() % uint32_t(sites.size())));
  const std::vector<Site> &same = group->second;
  const Site &site = same[draw() % same.size()], &other = same[draw() % same.size()];
  bool isList = site.field->is_repeated() && site.index == kWhole;
  std::string what = isList ? changeList(site, draw) : changeElement(site, other, draw);
  return concat(group->first, site.index == kWhole ? "" : concat(" ", site.index), ": ", what);
}

} // namespace cleave::fuzz
