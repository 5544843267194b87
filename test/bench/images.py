#!/usr/bin/env python3
"""Images from files beside PIL: how many pixels differ, and in turns how many images per second of processor time.

    test/bench/images.py BUILD [--seconds S] [--turns N]

Makes JPEGs of the sizes of photographs, and small files of every kind (grey, CMYK, progressive, palettes, transparency, interlaced), resizes
them to a short side of 256 and crops 224 x 224, as evaluations on ImageNet do. Needs PIL and NumPy; torchvision's Resize and CenterCrop of PIL
images are the calls that are made here."""

import argparse
import pathlib
import statistics
import subprocess
import tempfile
import time

import numpy as np
from PIL import Image

SIZES = [(500, 375), (375, 500), (500, 333), (640, 480), (300, 400), (1024, 768), (260, 270)]  # width, height


def photograph(rng, width, height):
    """Smooth shapes with noise: compresses as photographs do."""
    coarse = rng.integers(0, 256, (height // 16 + 2, width // 16 + 2, 3), dtype=np.uint8)
    smooth = np.asarray(Image.fromarray(coarse).resize((width, height), Image.BICUBIC), dtype=np.int16)
    return Image.fromarray(np.clip(smooth + rng.normal(0, 8, smooth.shape), 0, 255).astype(np.uint8))


def write_photographs(folder, rng):
    files = []
    for number, size in enumerate(SIZES * 4):
        files.append(folder / f"photo{number}.jpg")
        photograph(rng, *size).save(files[-1], quality=75 + number % 20, subsampling=number % 3)
    return files


def write_kinds(folder, rng):
    image, files = photograph(rng, 300, 280), {}
    for name, made, options in [("grey.jpg", image.convert("L"), {}), ("cmyk.jpg", image.convert("CMYK"), {}),
                                ("progressive.jpg", image, {"progressive": True}), ("rgb.png", image, {}), ("grey.png", image.convert("L"), {}),
                                ("bits.png", image.convert("1"), {}), ("palette.png", image.convert("P"), {}),
                                ("rgba.png", Image.merge("RGBA", [*image.split(), image.convert("L")]), {}),
                                ("la.png", Image.merge("LA", [image.convert("L"), image.convert("L")]), {})]:
        files[name] = folder / name
        made.save(files[name], **options)
    return list(files.values())


def load(path, resize=256, size=224):
    """What torchvision's ImageFolder, Resize and CenterCrop call."""
    with open(path, "rb") as file:
        image = Image.open(file).convert("RGB")
    width, height = image.size
    short = (resize, int(resize * height / width)) if width <= height else (int(resize * width / height), resize)
    image = image.resize(short, Image.BILINEAR)
    left, top = int(round((image.width - size) / 2)), int(round((image.height - size) / 2))
    return image.crop((left, top, left + size, top + size))


def ours(build, files, pixels, seconds):
    said = subprocess.run([build / "test/bench/bench-images", "224", "224", "256", str(seconds), pixels, *files], check=True, capture_output=True, text=True)
    return float(said.stdout or 0)


def theirs(files, seconds):
    begin, count = time.process_time(), 0
    while time.process_time() - begin < seconds:
        for path in files:
            np.asarray(load(path))
            count += 1
    return count / (time.process_time() - begin)


def compare(build, folder, files):
    ours(build, files, folder / "pixels", 0)
    found = np.fromfile(folder / "pixels", dtype=np.uint8).reshape(len(files), 224, 224, 3)
    for kind in sorted({path.stem.rstrip("0123456789") + path.suffix for path in files}):
        chosen = [i for i, path in enumerate(files) if path.stem.rstrip("0123456789") + path.suffix == kind]
        apart = np.abs(np.stack([np.asarray(load(files[i]), dtype=np.int16) for i in chosen]) - found[chosen])
        print(f"{kind:16} {100 * np.mean(apart == 0):8.4f} % equal, {100 * np.mean(apart <= 1):8.4f} % within 1 of 255, most {apart.max()}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--turns", type=int, default=5)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        photographs = write_photographs(folder, rng)
        compare(options.build, folder, photographs + write_kinds(folder, rng))
        rates = [(ours(options.build, photographs, folder / "pixels", options.seconds), theirs(photographs, options.seconds)) for _ in range(options.turns)]
    if rates:
        a, b = (statistics.median(column) for column in zip(*rates))
        print(f"images per second of one core: Cleave {a:.0f}, PIL {b:.0f}, ratio {a / b:.2f}")


if __name__ == "__main__":
    main()
