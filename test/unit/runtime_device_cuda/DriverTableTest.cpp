// The text and the kind of the driver's failures.
#include "runtime/device/cuda/DriverTable.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::device::driver;

namespace {

// A driver that knows the texts of one error.
DriverTable driverWithTexts() {
  DriverTable table{};
  table.getErrorName = [](int error, const char **name) {
    return *name = error == kErrorIllegalAddress ? "CUDA_ERROR_ILLEGAL_ADDRESS" : nullptr, kSuccess;
  };
  table.getErrorString = [](int error, const char **text) {
    return *text = error == kErrorIllegalAddress ? "an illegal access" : nullptr, kSuccess;
  };
  return table;
}

StatusKind kindOf(int error) { return statusOf(driverWithTexts(), error, "copying").kind(); }

} // namespace

TEST_CASE("an error has the driver's name and text, an unknown one its number") {
  const DriverTable driver = driverWithTexts();
  CHECK(errorText(driver, kErrorIllegalAddress) ==
        "CUDA_ERROR_ILLEGAL_ADDRESS (an illegal access)");
  CHECK(errorText(driver, 12345) == "CUDA error 12345 (unknown)");
  CHECK(statusOf(driver, kErrorIllegalAddress, "copying").message() ==
        "copying: CUDA_ERROR_ILLEGAL_ADDRESS (an illegal access)");
}

TEST_CASE("success is ok, and too little memory is the user's") {
  CHECK(kindOf(kSuccess) == StatusKind::Ok);
  CHECK(kindOf(kErrorOutOfMemory) == StatusKind::UserError);
}

TEST_CASE("a device that cannot be used any more is lost") {
  for (int error : {kErrorNoDevice, kErrorEccUncorrectable, kErrorContained, kErrorHardwareStack,
                    kErrorLaunchTimeout, 800, 899, 909, 999})
    CHECK(kindOf(error) == StatusKind::Lost);
}

TEST_CASE("a wrong call and a wrong access of a kernel are defects") {
  for (int error : {kErrorInvalidValue, kErrorIllegalAddress, kErrorMisalignedAddress, 799,
                    kErrorCaptureUnsupported, 908})
    CHECK(kindOf(error) == StatusKind::Defect);
}
