"""Images from folders by class and from tar files: training, evaluation, resuming, and what is said about damaged ones."""

import io
import pathlib
import random
import shutil
import struct
import tarfile
import unittest
import zlib

import cleave
import fixture

CLASSES, SIDE = 4, 16


def png(width, height, pixels, channels=3):
    """A PNG file of bytes, row by row."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    row = width * channels
    rows = b"".join(b"\0" + bytes(pixels[y * row : (y + 1) * row]) for y in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, {1: 0, 3: 2}[channels], 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def write_folder(folder, count, seed=0, sizes=((SIDE, SIDE),)):
    """`count` images of noise around a brightness that is the class; returns (class, path, pixels, size) of each in the order of ImageFolder."""
    numbers, written = random.Random(seed), []
    for index in range(count):
        label, (width, height) = index % CLASSES, sizes[index % len(sizes)]
        pixels = [min(255, max(0, int(numbers.gauss(40 + 50 * label, 20)))) for _ in range(width * height * 3)]
        place = folder / f"class{label}" / ("more/" if index % 3 == 2 else "") / f"{index:04}.png"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(png(width, height, pixels))
        written.append((label, place, pixels, (width, height)))
    return sorted(written, key=lambda one: (one[0], str(one[1].parent), one[1].name))


class Images(fixture.InFolder):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.images = write_folder(cls.folder / "train", 40)
        cls.held_out = write_folder(cls.folder / "held-out", 20, seed=1)
        cls.plans = {}
        for ranks in (1, 2):
            cls.plans[ranks] = cls.folder / f"{ranks}.plan"
            cleave.must("cleave-compile", cleave.MODELS / "resnet.dynamo-noopt.onnx", "--train", "--eval", "--loss",
                        "softmax-cross-entropy:logits", "--optimizer", "sgd:lr=0.05", "--set", "batch=8", "--ranks", ranks, "-o",
                        cls.plans[ranks])

    def train(self, name, data, *options, ranks=1, evaluates=None):
        """The losses by step, the evaluations, and what the run printed."""
        log = self.folder / f"{name}.jsonl"
        more = ["--eval", evaluates] if evaluates else []
        answer = cleave.must("cleave-run", self.plans[ranks], "--data", data, "--threads", 1, "--log", log, *more, *options)
        return cleave.losses(cleave.read_log(log)[0]), cleave.evaluations(log), answer

    def as_arrays(self, name, images, mean=0.0, deviation=1.0):
        """The images as an .npz file that a run reads without a transform."""
        values = []
        for _, _, pixels, _ in images:
            values += [(pixels[i * 3 + c] / 255 - mean) / deviation for c in range(3) for i in range(SIDE * SIDE)]
        path = self.folder / f"{name}.npz"
        cleave.write_npz(path, {"image": ((len(images), 3, SIDE, SIDE), values), "logits.label": ((len(images),), [one[0] for one in images])})
        return path

    def test_a_folder_trains_as_its_pixels_do(self):
        wanted, evaluated, _ = self.train("arrays", self.as_arrays("a", self.images, 0.5, 0.25), "--epochs", 2, "--shuffle", 3,
                                          evaluates=self.as_arrays("b", self.held_out, 0.5, 0.25))
        scaled = ["--image-mean", 0.5, "--image-std", "0.25,0.25,0.25"]
        found, again, answer = self.train("folder", self.folder / "train", "--epochs", 2, "--shuffle", 3, *scaled,
                                          evaluates=self.folder / "held-out")
        self.assertIn(f"data: 40 images of 4 classes in {self.folder}/train, 16 x 16 pixels, centre crop of 16 x 16, shuffled with seed 3; "
                      "5 steps of 8 an epoch", answer.out)
        self.assertLess(cleave.apart(list(found.values()), list(wanted.values())), 1e-6)
        self.assertAlmostEqual(again[-1]["eval_loss"], evaluated[-1]["eval_loss"], places=5)
        self.assertEqual(again[-1]["eval_accuracy"], evaluated[-1]["eval_accuracy"])
        two, _, _ = self.train("two", self.folder / "train", "--epochs", 2, "--shuffle", 3, *scaled, ranks=2)
        self.assertLess(cleave.apart(list(two.values()), list(wanted.values())), 1e-5)

    def refuse(self, words, data, *options):
        answer = cleave.tool("cleave-run", self.plans[1], "--data", data, *options)
        self.assertEqual(answer.code, 1, answer)
        self.assertEqual(len(answer.errors()), 1, answer)
        self.assertIn(words, answer.err)

    def test_what_is_wrong_with_a_folder_is_said_with_the_file(self):
        bad = self.folder / "bad"
        shutil.copytree(self.folder / "train", bad)
        (bad / "empty").mkdir()
        self.refuse(f"the folder '{bad}/empty' is a class, but has no .jpg, .jpeg or .png file", bad)
        (bad / "empty").rmdir()
        self.refuse(f"--eval: found 'class1' as class 0, expected 'class0', which it is in --data", self.folder / "train", "--eval",
                    self.part("part", "class1"))
        one = bad / "class2/0006.png"
        content = bytearray(one.read_bytes())
        one.write_bytes(content[: len(content) // 2])
        self.refuse(f"{one}: found a damaged PNG image (it ends too early)", bad)
        one.write_bytes(b"GIF89a")
        self.refuse(f"{one}: found other content, expected a JPEG or PNG image", bad)
        for label in range(4, 11):
            shutil.copytree(bad / "class1", bad / f"class{label:02}")
        self.refuse(f"found 11 classes in {bad}, but the model has 10", bad)
        self.refuse("found options for images, but --data with", cleave.GOLDEN / "image.npz", "--image-flip")
        self.refuse("found --image-resize 8, but the model reads images of 16 x 16 pixels", self.folder / "train", "--image-resize", 8)
        self.refuse("expected center, random", self.folder / "train", "--image-crop", "random:padding=x")
        (self.folder / "flat").mkdir()
        self.refuse("found no folders in", self.folder / "flat")

    def shards(self, name, images, count, form=tarfile.USTAR_FORMAT):
        """The images in archives, with their classes, and a pattern for the archives."""
        for number in range(count):
            with tarfile.open(self.folder / f"{name}-{number:03}.tar", "w", format=form) as archive:
                for index in range(number * len(images) // count, (number + 1) * len(images) // count):
                    label, path, *_ = images[index]
                    key = f"{'deep/' * (30 if form != tarfile.USTAR_FORMAT else 1)}{index:05}"
                    for ending, content in (("json", b"{}"), ("png", path.read_bytes()), ("cls", f"{label}\n".encode())):
                        member = tarfile.TarInfo(f"{key}.{ending}")
                        member.size = len(content)
                        archive.addfile(member, io.BytesIO(content))
        return self.folder / f"{name}-{{000..{count - 1:03}}}.tar"

    def test_archives_train_as_folders_do_with_any_number_of_ranks_and_resumed(self):
        more = ["--shuffle", 3, "--image-crop", "random:padding=2", "--image-flip", "--image-mean", 0.5]
        wanted, evaluated, _ = self.train("whole", self.folder / "train", "--epochs", 3, *more, evaluates=self.folder / "held-out")
        plain, _, _ = self.train("plain", self.folder / "train", "--epochs", 3, "--shuffle", 3, "--image-mean", 0.5)
        self.assertGreater(cleave.apart(list(plain.values()), list(wanted.values())), 1e-3, "crops and mirrors change nothing")
        for form in (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
            data, held_out = (self.shards(f"{name}{form}", images, 3, form) for name, images in (("t", self.images), ("e", self.held_out)))
            found, again, answer = self.train("tars", data, "--epochs", 3, *more, evaluates=held_out)
            self.assertIn("data: 40 images in 3 archives, 16 x 16 pixels, random crop of 16 x 16, mirrored at random, shuffled", answer.out)
            self.assertEqual(found, wanted)
            self.assertEqual(again, evaluated)
        saved = self.folder / "saved"
        first, _, _ = self.train("first", data, "--steps", 7, *more, "--save", saved, ranks=2)
        second, _, answer = self.train("second", self.folder / "train", "--epochs", 3, *more, "--resume", saved)
        self.assertEqual(answer.err, "")
        self.assertEqual(list({**first, **second}), list(wanted))
        self.assertLess(cleave.apart(list({**first, **second}.values()), list(wanted.values())), 1e-5)

    def test_random_parts_depend_on_the_seed_and_the_epoch_alone(self):
        photos = self.folder / "photos"
        write_folder(photos, 8, sizes=[(40, 30), (20, 33), (90, 17)])
        more = ["--image-crop", "random-resized:area=0.3", "--image-flip", "--epochs", 3]
        one, _, answer = self.train("one", photos, *more, "--lr", 0)
        self.assertIn("20 x 17 to 90 x 33 pixels, random parts resized to 16 x 16, mirrored at random", answer.out)
        self.assertEqual(len(set(one.values())), 3, "every epoch sees other parts")
        self.assertEqual(self.train("again", photos, *more, "--lr", 0)[0], one)
        self.assertNotEqual(self.train("other", photos, *more, "--lr", 0, "--seed", 1)[0], one)
        fixed, _, answer = self.train("fixed", photos, "--image-resize", 18, "--epochs", 3, "--lr", 0)
        self.assertIn("resized to 18, centre crop of 16 x 16", answer.out)
        self.assertEqual(len(set(fixed.values())), 1)

    def test_inference_takes_images_without_labels_in_their_order_and_without_chance(self):
        plan, outs = self.folder / "infer.plan", []
        cleave.must("cleave-compile", cleave.MODELS / "resnet.dynamo-noopt.onnx", "--batch-norm", "frozen", "--set", "batch=8", "-o", plan)
        unlabelled = self.folder / "unlabelled.tar"
        with tarfile.open(unlabelled, "w") as archive:
            for index, (_, path, *_) in enumerate(self.images):
                archive.add(path, f"{index}.png")
        for data in (self.as_arrays("i", self.images), self.folder / "train", unlabelled):
            outs.append(self.folder / f"out{len(outs)}.npz")
            more = ["--image-flip", "--image-crop", "random-resized"] if len(outs) > 1 else []
            cleave.must("cleave-run", plan, "--data", data, "--threads", 1, "--out", outs[-1], *more)
        wanted, *found = [cleave.read_npz(out)["logits"] for out in outs]
        for shape, values in found:
            self.assertEqual(shape, wanted[0])
            self.assertLess(cleave.apart(values, wanted[1]), 1e-6)

    def test_what_is_wrong_with_an_archive_is_said_with_its_place(self):
        archive = pathlib.Path(str(self.shards("x", self.images[:8], 1)).replace("{000..000}", "000"))
        whole = archive.read_bytes()
        def write(name, members):
            with tarfile.open(self.folder / name, "w") as new:
                for member, content in members:
                    info = tarfile.TarInfo(member)
                    info.size = len(content)
                    new.addfile(info, io.BytesIO(content))
            return self.folder / name

        image = self.images[0][1].read_bytes()
        for members, words in [([("a.png", image)], "the sample `a` has no class; expected `a.cls` beside its image"),
                               ([("a.cls", b"1")], "the sample `a` has a class, but no image"),
                               ([("a.png", image), ("a.cls", b"cat")], "found 'cat' in `a.cls`, expected the number of a class"),
                               ([("a.png", image), ("a.cls", b"10")], "found label 10 for input `logits.label` in `a.cls`, expected 0 to 9"),
                               ([("a.png", image), ("a.jpg", image), ("a.cls", b"1")], "found two images for the sample `a`"),
                               ([("a.json", b"{}"), ("._b.png", image)], "found no image in"),
                               ([("a.png", image[:99]), ("a.cls", b"1")], "wrong.tar, `a.png`: found a damaged PNG image")]:
            self.refuse(words, write("wrong.tar", members), "--steps", 1)
        cut = self.folder / "cut.tar"
        cut.write_bytes(whole[:2100])
        self.refuse(f"{cut}: byte 1024: the archive ends in `deep/00000.png`, of which 564 of ", cut)
        cut.write_bytes(whole[:1300])
        self.refuse(f"{cut}: byte 1024: the archive ends in a header; it was cut, so copy it again", cut)
        cut.write_bytes(b"no archive" * 100)
        self.refuse(f"{cut}: byte 0: found no header of a tar archive", cut)
        zipped = self.folder / "x.tar.gz"
        zipped.write_bytes(zlib.compress(whole))
        self.refuse(f"found the compressed archive '{zipped}'", zipped)
        self.refuse("expected one kind of data", archive, "--data", cleave.GOLDEN / "image.npz")
        self.refuse("expected one folder of images, or .tar files", archive, "--data", self.folder / "train")

    def part(self, name, label):
        shutil.copytree(self.folder / "train" / label, self.folder / name / label)
        return self.folder / name


if __name__ == "__main__":
    unittest.main(verbosity=2)
