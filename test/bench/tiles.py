#!/usr/bin/env python3
"""Products of a GPU beside the model of tiles of compiler/cost/Roofline.h.

    test/bench/tiles.py [--cluster compiler/cluster/presets/h200-node.json] [--fit]

MEASURED are seconds of bf16 products by cuBLASLt 13.1 on an H200, in training steps of GPT (124M, 1.3B) and ViT-L. The table shows what the
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
    (3072, 16384, 768, 113), (768, 16384, 3072, 101.7), (2304, 16384, 768, 89), (768, 16384, 2304, 78.7), (3072, 768, 16384, 111.6),
    (768, 3072, 16384, 110.3), (2304, 768, 16384, 89), (768, 16384, 768, 33.2), (768, 768, 16384, 39.8), (50256, 16384, 768, 1738),
    (768, 16384, 50256, 1560), (768, 50256, 16384, 1677), (8192, 8192, 2048, 354.5), (2048, 8192, 8192, 335.7), (8192, 2048, 8192, 349.6),
    (2048, 8192, 2048, 93.3), (2048, 2048, 8192, 90.5), (6144, 8192, 2048, 254), (2048, 8192, 6144, 254.2), (6144, 2048, 8192, 255.3),
    (4096, 12608, 1024, 142.7), (1024, 12608, 4096, 131.8), (4096, 1024, 12608, 133.8), (1024, 4096, 12608, 132.6),
    (3072, 12608, 1024, 111.2), (3072, 1024, 12608, 104.9), (1024, 12608, 3072, 103), (1024, 12608, 1024, 40.8), (1024, 1024, 12608, 44.5)]
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
