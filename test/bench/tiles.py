#!/usr/bin/env python3
"""Products of a GPU beside the model of tiles of compiler/cost/Roofline.h.

    test/bench/tiles.py [--cluster compiler/cluster/presets/h200-node.json] [--fit]

MEASURED are seconds of bf16 products by cuBLASLt 13.1 on an H200, in training steps of GPT (124M, 350M, 1.3B) and ViT-L. The table shows what the
cluster's shares of tiles predict for them. --fit searches for the shares and the seconds of a tile with the least root mean square of
log(predicted / measured).
"""

import argparse
import json
import math
import pathlib
import random

ROOT = pathlib.Path(__file__).resolve().parents[2]
MEASURED = [  # m, n, k, microseconds
    (768, 768, 16384, 39.3), (768, 3072, 16384, 110.4), (768, 16384, 768, 32.6), (768, 16384, 2304, 78.8), (768, 16384, 3072, 102.0),
    (768, 16384, 50256, 1462.4), (768, 50256, 16384, 1544.8), (1024, 1024, 12608, 42.5), (1024, 1024, 16384, 55.0),
    (1024, 3072, 12608, 102.3), (1024, 4096, 12608, 129.8), (1024, 4096, 16384, 172.6), (1024, 12608, 1024, 38.9),
    (1024, 12608, 3072, 100.3), (1024, 12608, 4096, 128.5), (1024, 16384, 1024, 51.4), (1024, 16384, 3072, 135.6),
    (1024, 16384, 4096, 172.5), (1024, 16384, 50256, 1900.1), (1024, 50256, 16384, 2044.9), (2048, 2048, 8192, 97.5),
    (2048, 8192, 2048, 101.8), (2048, 8192, 6144, 279.0), (2048, 8192, 8192, 365.5), (2048, 8192, 50256, 2089.7),
    (2048, 50256, 8192, 2102.8), (2304, 768, 16384, 88.3), (2304, 16384, 768, 89.9), (3072, 768, 16384, 111.7),
    (3072, 1024, 16384, 134.0), (3072, 12608, 1024, 109.2), (3072, 16384, 768, 113.7), (3072, 16384, 1024, 139.9),
    (4096, 1024, 12608, 131.0), (4096, 1024, 16384, 171.5), (4096, 12608, 1024, 140.7), (4096, 16384, 1024, 194.4),
    (6144, 2048, 8192, 277.6), (6144, 8192, 2048, 286.6), (8192, 2048, 8192, 368.5), (8192, 8192, 2048, 394.2),
    (50256, 8192, 2048, 2185.2), (50256, 16384, 768, 1697.7), (50256, 16384, 1024, 2182.1)]
SHORTEST_SUM = 128  # kShortestSum


def seconds(product, tiles, tile_seconds, cluster):
    """Of a product, by the formula of Roofline.h; `tiles` are rows, columns and share."""
    m, n, k = product
    processors, peak = cluster["processors"], cluster["compute"]["bf16"]["peak_flops"]
    bandwidth = 0.9 * cluster["memory_bandwidth"]["bytes_per_second"]
    least = math.inf
    for rows, columns, share in [*tiles, *((c, r, s) for r, c, s in tiles)]:
        pieces = 1
        while pieces == 1 or k / pieces >= SHORTEST_SUM:
            waves = math.ceil(math.ceil(m / rows) * math.ceil(n / columns) * pieces / processors)
            time = waves * (2 * rows * columns * math.ceil(k / pieces) * processors / (peak * share) + tile_seconds)
            least = min(least, time + (8 * m * n * pieces / bandwidth if pieces > 1 else 0))
            pieces *= 2
    return least + cluster["launch_seconds"]


def distance(tiles, tile_seconds, cluster):
    errors = [math.log(seconds(row[:3], tiles, tile_seconds, cluster) / row[3] * 1e6) for row in MEASURED]
    return math.sqrt(sum(e * e for e in errors) / len(errors))


def fit(tiles, tile_seconds, cluster, tries=4000):
    """Random steps downhill."""
    draw = random.Random(1)
    best = distance(tiles, tile_seconds, cluster)
    for _ in range(tries):
        other = [(r, c, min(0.95, s * math.exp(draw.gauss(0, 0.03)))) for r, c, s in tiles]
        time = tile_seconds * math.exp(draw.gauss(0, 0.03))
        found = distance(other, time, cluster)
        if found < best:
            best, tiles, tile_seconds = found, other, time
    return tiles, tile_seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--cluster", type=pathlib.Path, default=ROOT / "compiler/cluster/presets/h200-node.json")
    parser.add_argument("--fit", action="store_true")
    options = parser.parse_args()
    cluster = json.loads(options.cluster.read_text())
    tiles, tile_seconds = cluster["compute"]["bf16"]["tiles"], cluster["tile_seconds"]
    if options.fit:
        tiles, tile_seconds = fit(tiles, tile_seconds, cluster)
        print("tiles", [[r, c, round(s, 3)] for r, c, s in tiles], f"tile_seconds {tile_seconds:.2g}")
    print(f"{'m x n x k':>22} {'measured':>11} {'predicted':>11} {'ratio':>6}")
    for m, n, k, measured in MEASURED:
        predicted = 1e6 * seconds((m, n, k), tiles, tile_seconds, cluster)
        print(f"{f'{m} x {n} x {k}':>22} {measured:8.1f} us {predicted:8.1f} us {measured / predicted:6.2f}")
    print(f"root mean square of the relative error: {100 * distance(tiles, tile_seconds, cluster):.1f} %")


if __name__ == "__main__":
    main()
