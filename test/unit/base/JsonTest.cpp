// Checked conversion of JSON integers.
#include "runtime/base/Json.h"

#include <catch2/catch.hpp>

#include <map>

using cleave::Json;

static int64_t wide(const char *text) { return Json::parse(text).get<int64_t>(); }

TEST_CASE("an integer is read in every notation") {
  CHECK(wide("-3") == -3);
  CHECK(wide("1e9") == 1000000000);
  CHECK(wide("9223372036854775807") == INT64_MAX);
  CHECK(Json::parse("4294967295").get<uint32_t>() == 4294967295u);
  CHECK(Json::parse("[1, 2.0]").get<std::vector<int64_t>>() == std::vector<int64_t>{1, 2});
}

TEST_CASE(
    "a number that is not an integer or does not fit is an error, also in lists and objects") {
  for (const char *text : {"1.5", "1e300", "18446744073709551615", "true", "null", "\"1\""})
    CHECK_THROWS_AS(wide(text), Json::exception);
  CHECK_THROWS_AS(Json::parse("-1").get<uint32_t>(), Json::exception);
  CHECK_THROWS_AS(Json::parse("2147483648").get<int>(), Json::exception);
  CHECK_THROWS_AS(Json::parse("[1, 2.5]").get<std::vector<int64_t>>(), Json::exception);
  CHECK_THROWS_AS((Json::parse(R"({"a": 1e19})").get<std::map<std::string, int64_t>>()),
                  Json::exception);
}

TEST_CASE("error messages do not contain the library's error numbers") {
  auto reasonOf = [](const char *text) {
    try {
      return std::to_string(wide(text));
    } catch (const Json::exception &error) {
      return cleave::jsonReason(error);
    }
  };
  CHECK_THAT(reasonOf("{\"a\" 1}"), Catch::StartsWith("parse error at line 1, column 6"));
  CHECK(reasonOf("1.5") == "found 1.5, expected a whole number of 64 bits");
}
