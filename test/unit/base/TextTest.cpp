// Numbers with units, and tables.
#include "runtime/base/Table.h"
#include "runtime/base/Units.h"

#include <catch2/catch.hpp>

#include <limits>

using namespace cleave;

TEST_CASE("bytes have three digits and a binary unit") {
  CHECK(bytesText(0) == "0 B");
  CHECK(bytesText(1023) == "1023 B");
  CHECK(bytesText(1536) == "1.50 KiB");
  CHECK(bytesText(13 << 20) == "13.0 MiB");
  CHECK(bytesText((1 << 20) - 1) == "1.00 MiB");
  CHECK(bytesText(std::numeric_limits<uint64_t>::max()) == "16.0 EiB");
}

TEST_CASE("seconds are printed in a suitable unit") {
  CHECK(secondsText(0) == "0 s");
  CHECK(secondsText(8.5e-7) == "850 ns");
  CHECK(secondsText(1.234e-5) == "12.3 us");
  CHECK(secondsText(0.00099996) == "1.00 ms");
  CHECK(secondsText(-0.004) == "-4.00 ms");
  CHECK(secondsText(125) == "2 min 05 s");
  CHECK(secondsText(std::numeric_limits<double>::infinity()) == "infinite");
}

TEST_CASE("counts and fractions are readable") {
  CHECK(countText(4.7e10, "FLOP") == "47.0 GFLOP");
  CHECK(countText(12, "FLOP") == "12 FLOP");
  CHECK(countText(12500, "samples/s") == "12.5k samples/s");
  CHECK(countText(12, "tokens/s") == "12 tokens/s");
  CHECK(percentText(0.0312) == "3.1 %");
  CHECK(percentText(0) == "0 %");
  CHECK(percentText(0.0001) == "<0.1 %");
  CHECK(percentText(-0.0001) == ">-0.1 %");
}

TEST_CASE("a table aligns its columns and leaves no blanks at line ends") {
  Table table({"name", ">bytes", "why"});
  CHECK(table.isEmpty());
  table.add({"β", "12 B"});
  table.add({"weight", "1024 B", "it fits"});
  CHECK(table.str(1) == " name     bytes  why\n"
                        " β         12 B\n"
                        " weight  1024 B  it fits\n");
}

TEST_CASE("long lines are clipped between characters") {
  Table table({"", ""});
  table.add({"ab", "äöüß"});
  CHECK(table.str(0, 7) == "ab  äö…\n");
  CHECK(table.str(0, 8) == "ab  äöüß\n");
}

TEST_CASE("a table that is too wide goes on below, and a cell keeps every word") {
  Table table({"name", ">bytes", "why"});
  table.add({"blocks.0.attention", "12 B", "it is read by the next layer and by the one behind"});
  CHECK(table.str(0, 40) == "name              bytes  why\n"
                            "blocks.0.          12 B  it is read by\n"
                            "attention                the next layer\n"
                            "                         and by the one\n"
                            "                         behind\n");
  CHECK(wrapped("one two", 3) == std::vector<std::string>{"one", "two"});
  CHECK(wrapped("abcdef", 4) == std::vector<std::string>{"abcd", "ef"});
  CHECK(wrapped("", 4) == std::vector<std::string>{""});
}

TEST_CASE("names are not broken as long as sentences can give way, and then between their parts") {
  Table table({"name", "empty", "why"});
  table.add({"blocks.0.attn.qkv.weight", "", "it is read by the next layer and by the one behind"});
  CHECK(table.str(0, 60) == "name                      why\n"
                            "blocks.0.attn.qkv.weight  it is read by the next layer and\n"
                            "                          by the one behind\n");
  CHECK(wrapped("blocks.0.attn.qkv.weight", 16) ==
        std::vector<std::string>{"blocks.0.attn.", "qkv.weight"});
}

TEST_CASE("styles take no columns") {
  const std::string bold = "\x1b[1mdp\x1b[0m";
  CHECK(displayWidth(bold) == 2);
  CHECK(clipped(bold, 2) == bold);
  Table table({"mesh", "time"});
  table.add({bold, "1 s"});
  CHECK(table.str(0, 80) == "mesh  time\n" + bold + "    1 s\n");
}

TEST_CASE("amounts of bytes are read with the units of GNU's tools, and other text is rejected") {
  CHECK(*parseBytes("2GiB") == uint64_t(2) << 30);
  CHECK(*parseBytes("1.5 MiB") == 3 << 19);
  CHECK(*parseBytes("800MB") == 800'000'000);
  CHECK(*parseBytes("4096") == 4096);
  CHECK(*parseBytes("10M") == 10 << 20);
  CHECK(*parseBytes("10g") == uint64_t(10) << 30);
  CHECK(*parseBytes("10 gb") == 10'000'000'000);
  CHECK(*parseBytes("7 B") == 7);
  for (const char *text : {"", "GiB", "-1", "2 pints", "2GiBs", "2i", "2x", "nan", "1e30"})
    CHECK(parseBytes(text).status().kind() == StatusKind::UserError);
}

TEST_CASE("an amount below the least one is rejected with both") {
  CHECK(*parseBytes("1k", 1024) == 1024);
  CHECK(parseBytes("10", 1024).status().message() ==
        "found '10', which is 10 B, expected at least 1.00 KiB, such as 2GiB or 800MB");
}
