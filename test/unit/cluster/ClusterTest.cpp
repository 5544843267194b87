// Cluster files: reading, writing, error messages.
#include "compiler/cluster/Presets.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace cleave;
using namespace cleave::cluster;
using nlohmann::json;

static json goodJson() { return json::parse(toJson(*findCluster("a100-80-node"))); }

static std::string messageOf(const json &root) {
  Result<Cluster> cluster = fromJson(root.dump());
  REQUIRE_FALSE(cluster);
  CHECK(cluster.status().exitCode() == 1);
  return cluster.status().message();
}

TEST_CASE("a cluster is the same after writing and reading") {
  Result<Cluster> cluster = findCluster("h100-node");
  REQUIRE(cluster);
  cluster->vectorFlops = 3e13;
  cluster->attentionFlops = 2e12;
  cluster->columnsPerSecond = 4e8;
  Result<Cluster> read = fromJson(toJson(*cluster));
  REQUIRE(read);
  CHECK(*read == *cluster);
}

TEST_CASE("a bad cluster file is refused with the path of the bad field") {
  json root = goodJson();
  root.erase("launch_seconds");
  CHECK(messageOf(root) == "/launch_seconds: this field is missing");
  root = goodJson();
  root["compute"]["f32"]["peak_flops"] = -1;
  CHECK(messageOf(root) == "/compute/f32/peak_flops: found -1, expected a number above 0.0");
  root = goodJson();
  root["memory"]["device_bytes"] = "80GB";
  CHECK(messageOf(root) == "/memory/device_bytes: found string, expected a number");
  root = goodJson();
  root["memory"]["device_bytes"] = 1.5;
  CHECK(messageOf(root) == "/memory/device_bytes: found 1.5, expected a whole number");
  root = goodJson();
  root["memory"]["reserved_bytes"] = root["memory"]["device_bytes"];
  CHECK(messageOf(root) == "/memory/reserved_bytes: nothing of device_bytes is left");
  root = goodJson();
  root["levels"][1]["links"]["all_gather"][0].erase("bytes_per_second");
  CHECK(messageOf(root) == "/levels/1/links/all_gather/0/bytes_per_second: this field is missing");
  root = goodJson();
  root["levels"][0]["links"]["all_gahter"] = json::array();
  CHECK(messageOf(root) == "/levels/0/links/all_gahter: unknown field; did you mean all_gather?");
  root = goodJson();
  root["levels"] = json::array();
  CHECK(messageOf(root) == "/levels: the list is empty, expected at least one level");
  root = goodJson();
  root["levels"][1]["devices"] = 4;
  CHECK(messageOf(root) ==
        "/levels/1/devices: expected more than the level before spans, or 0 for all");
  root = goodJson();
  root["compute"]["f32"]["efficiency"] = {{10, 0.5}, {5, 0.6}};
  CHECK(messageOf(root) ==
        "/compute/f32/efficiency/1: found the size 5, expected sizes above 0 that rise");
  root = goodJson();
  root["compute"]["f32"]["efficiency"] = {{10, 1.5}};
  CHECK(messageOf(root) ==
        "/compute/f32/efficiency/0: found the share 1.5, expected one above 0 and at most 1");
  root = goodJson();
  root["compute"].erase("f32");
  CHECK(messageOf(root) == "/compute/f32: this field is missing");
  root = goodJson();
  root["compute"]["f32"]["efficiency"] = {{10, 0.5, 3}};
  CHECK(messageOf(root) == "/compute/f32/efficiency/0: found [10,0.5,3], expected [size, share]");
  root = goodJson();
  root["levels"] = 2;
  CHECK(messageOf(root) == "/levels: found number, expected a list");
  root = goodJson();
  root["name"] = 7;
  CHECK(messageOf(root) == "/name: found number, expected a string");
  root = goodJson();
  root["memory"]["device_bytes"] = 1e17;
  CHECK(messageOf(root).find("expected a whole number of at most 2^53") != std::string::npos);
  root = goodJson();
  root["kind"] = "tpu";
  CHECK(messageOf(root) == "/kind: found 'tpu', expected 'cpu' or 'gpu'");
  CHECK(messageOf(json::array()) == "/: found array, expected an object");
  CHECK(fromJson("{").status().message().find("not JSON: ") == 0);
}

TEST_CASE("links to other spaces that would seem to hang are refused") {
  json root = goodJson();
  root["host_link"]["bytes_per_second"] = 1;
  CHECK(messageOf(root) == "/host_link/bytes_per_second: found 1, expected at least 1e+06");
  root["host_link"] = {{"bytes_per_second", 1e9}, {"latency_seconds", 60}};
  CHECK(messageOf(root) == "/host_link/latency_seconds: found 60, expected at most 1");
}

TEST_CASE("tiles and hops that cannot be are refused") {
  json root = goodJson();
  root["compute"]["f32"]["tiles"] = {{128, 0.5}};
  CHECK(messageOf(root) ==
        "/compute/f32/tiles/0: found [128,0.5], expected [rows, columns, share]");
  root = goodJson();
  root["compute"]["f32"]["tiles"] = {{128, 0, 0.5}};
  CHECK(messageOf(root) == "/compute/f32/tiles/0: found [128,0,0.5], expected rows and columns of "
                           "at least 1 and a share above 0 and at most 1");
  root = goodJson();
  root.erase("processors");
  CHECK(messageOf(root).find("tiles: the field /processors is missing") != std::string::npos);
  root = goodJson();
  root["processors"] = 0;
  CHECK(messageOf(root).find("/processors: found 0, expected a number of at least") == 0);
  root = goodJson();
  root["levels"][0]["links"]["all_reduce"][0]["hop_seconds"] = -1;
  CHECK(messageOf(root).find("/levels/0/links/all_reduce/0/hop_seconds: found -1") == 0);
  root = goodJson();
  root["levels"][1]["links"]["all_reduce"][1]["doubling_seconds"] = 0;
  CHECK(messageOf(root).find("/levels/1/links/all_reduce/1/doubling_seconds: found 0") == 0);
  root = goodJson();
  root["library_attention"].erase("gradient");
  CHECK(messageOf(root) == "/library_attention/gradient: this field is missing");
}

TEST_CASE("a curve is interpolated over the logarithm of the size and constant beyond its ends") {
  Curve curve{{{1e3, 0.2}, {1e5, 0.6}}};
  CHECK(curve.at(1) == Approx(0.2));
  CHECK(curve.at(1e4) == Approx(0.4));
  CHECK(curve.at(1e9) == Approx(0.6));
  CHECK(Curve{}.at(7) == 1);
}

TEST_CASE("a link is chosen by the size of the group") {
  Level level{.name = "node", .devices = 8, .links = {}};
  level.links[CollectiveKind::Send] = {{.ranks = 2, .latencySeconds = 1, .bytesPerSecond = 10},
                                       {.ranks = 8, .latencySeconds = 2, .bytesPerSecond = 20}};
  CHECK(level.link(CollectiveKind::Send, 2).latencySeconds == 1);
  CHECK(level.link(CollectiveKind::AllReduce, 4).latencySeconds == 2);
  CHECK(level.link(CollectiveKind::AllReduce, 64).latencySeconds == 2);
}

TEST_CASE("entries for groups of one size are protocols of them") {
  Level level{.name = "node", .devices = 8, .links = {}};
  level.links[CollectiveKind::Send] = {{.ranks = 4, .latencySeconds = 1},
                                       {.ranks = 4, .latencySeconds = 2},
                                       {.ranks = 0, .latencySeconds = 3}};
  CHECK(level.protocols(CollectiveKind::Send, 3).size() == 2);
  CHECK(level.protocols(CollectiveKind::Send, 3)[1].latencySeconds == 2);
  REQUIRE(level.protocols(CollectiveKind::Send, 5).size() == 1);
  CHECK(level.protocols(CollectiveKind::Send, 5)[0].latencySeconds == 3);
}

TEST_CASE("ranks beyond the cores of a CPU share cores and memory") {
  Cluster cpu = *findCluster("a100-80-node");
  cpu.isCpu = true;
  cpu.nodes = 1;
  cpu.devicesPerNode = 2;
  cpu.deviceBytes = 1000;
  cpu.reservedBytes = 0;
  Result<Cluster> four = forRanks(cpu, 4);
  REQUIRE(four);
  CHECK(four->deviceBytes == 500);
  CHECK(four->compute["f32"].peakFlops == cpu.compute["f32"].peakFlops / 2);
  CHECK(*forRanks(*four, 2) == *four); // the ranks of one stage share the machine with the others
  Result<Cluster> one = forRanks(cpu, 1);
  CHECK(one->deviceBytes == 2000);
  CHECK(one->compute["f32"].peakFlops == cpu.compute["f32"].peakFlops);
}

TEST_CASE("more ranks than devices is an error that names both") {
  Cluster cluster = *findCluster("v100-node");
  CHECK(forRanks(cluster, 1024));
  cluster.nodes = 2;
  CHECK(forRanks(cluster, 16));
  CHECK(
      forRanks(cluster, 17).status().message() ==
      "found 17 ranks, but cluster 'v100-node' has 16 devices; use fewer ranks or raise \"nodes\" "
      "in its file");
  CHECK(forRanks(cluster, 0).status().message() == "found 0 ranks, expected at least 1");
  cluster.nodes = 0;
  cluster.levels.back().devices = 16;
  CHECK(forRanks(cluster, 16));
  CHECK(forRanks(cluster, 17).status().message() ==
        "found 17 ranks, but the outermost level of cluster 'v100-node' joins only 16 devices; add "
        "a level with \"devices\": 0");
}
