// Loading of libraries, and what is said of those that are missing or too old.
#include "runtime/device/cuda/SharedLibrary.h"

#include <catch2/catch.hpp>

using namespace cleave;
using device::SharedLibrary;

TEST_CASE("of several names the first library that exists is loaded") {
  Result<SharedLibrary> library = SharedLibrary::open({"libnowhere.so.1", "libm.so.6"});
  REQUIRE(library);
  double (*floorOf)(double) = nullptr;
  library->find("floor", floorOf);
  REQUIRE(floorOf);
  CHECK(floorOf(2.5) == 2);
  CHECK(library->complete());
}

TEST_CASE("a machine without the library is told all names that were tried") {
  Result<SharedLibrary> library = SharedLibrary::open({"libnowhere.so.1", "libnowhere.so.2"});
  REQUIRE_FALSE(library);
  CHECK(library.status().kind() == StatusKind::UserError);
  CHECK(library.status().message().find(
            "no libnowhere.so.1 or libnowhere.so.2 on this machine (") == 0);
}

TEST_CASE("of functions that a library lacks the first one is named") {
  Result<SharedLibrary> library = SharedLibrary::open({"libm.so.6"});
  REQUIRE(library);
  void (*missing)() = nullptr, (*another)() = nullptr;
  library->find("floorOfTheHouse", missing);
  library->find("roofOfTheHouse", another);
  CHECK(missing == nullptr);
  CHECK(library->complete().kind() == StatusKind::UserError);
  CHECK(library->complete().message() ==
        "libm.so.6 has no function floorOfTheHouse; it is too old");
}
