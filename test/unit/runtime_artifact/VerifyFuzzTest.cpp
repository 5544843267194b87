// The verifier on plans with arbitrary changes.
#include "runtime/artifact/Verify.h"
#include "test/unit/runtime_artifact/ValidPlan.h"

#include <catch2/catch.hpp>
#include <google/protobuf/message.h>
#include <random>

using namespace cleave;

// Changes one random scalar field of the message.
static void changeAnything(google::protobuf::Message &message, std::mt19937 &draw) {
  const google::protobuf::Reflection &fields = *message.GetReflection();
  std::vector<const google::protobuf::FieldDescriptor *> present;
  fields.ListFields(message, &present);
  if (present.empty())
    return;
  const google::protobuf::FieldDescriptor *field = present[draw() % present.size()];
  int index = field->is_repeated() ? int(draw() % uint32_t(fields.FieldSize(message, field))) : -1;
  const int64_t values[] = {0, 1, -1, 2, 7, 64, 1 << 20, int64_t(1) << 40, INT64_MAX, INT64_MIN};
  int64_t value = values[draw() % std::size(values)];
  using Type = google::protobuf::FieldDescriptor;
  switch (field->cpp_type()) {
  case Type::CPPTYPE_MESSAGE:
    return changeAnything(index < 0 ? *fields.MutableMessage(&message, field)
                                    : *fields.MutableRepeatedMessage(&message, field, index),
                          draw);
  case Type::CPPTYPE_INT32:
    return fields.SetInt32(&message, field, int32_t(value));
  case Type::CPPTYPE_INT64:
    return index < 0 ? fields.SetInt64(&message, field, value)
                     : fields.SetRepeatedInt64(&message, field, index, value);
  case Type::CPPTYPE_UINT32:
    return index < 0 ? fields.SetUInt32(&message, field, uint32_t(value))
                     : fields.SetRepeatedUInt32(&message, field, index, uint32_t(value));
  case Type::CPPTYPE_UINT64:
    return fields.SetUInt64(&message, field, uint64_t(value));
  case Type::CPPTYPE_ENUM:
    return index < 0 ? fields.SetEnumValue(&message, field, int(value % 12))
                     : fields.SetRepeatedEnumValue(&message, field, index, int(value % 12));
  default:
    return fields.ClearField(&message, field);
  }
}

TEST_CASE("the verifier terminates without a crash on arbitrarily changed plans") {
  std::mt19937 draw(1);
  int accepted = 0;
  for (int i = 0; i < 3000; ++i) {
    plan::Plan plan = i % 2 ? twoPrograms() : exchange(true);
    for (uint32_t changes = 1 + draw() % 3; changes > 0; --changes)
      changeAnything(plan, draw);
    accepted += artifact::verifyPlan(plan).isOk();
  }
  CHECK(accepted > 0);    // changes of names are valid
  CHECK(accepted < 2000); // most changes are not
}
