"""The files that pages name and do not make: small models, data and plans, by the names on the pages."""

import random
import struct
import sys
import tarfile

from pages import ROOT

sys.path.insert(0, str(ROOT / "test/e2e"))
import cleave  # noqa: E402
import images  # noqa: E402
import onnx_edit  # noqa: E402

MODELS = {
    "gpt.onnx": ROOT / "docs/examples/gpt/gpt.onnx",
    "gpt.pt2": cleave.MODELS / "gpt.pt2",
    "mlp.onnx": cleave.MODELS / "mlp.dynamo.onnx",
    "net.pt2": cleave.MODELS / "resnet.pt2",
    "classifier.pt2": cleave.MODELS / "resnet.pt2",
}
# The models for lines of options that have no command, by a text in them; for others gpt.onnx.
MODELS_OF_OPTIONS = {"class-weights": "three-classes.onnx", ":aux": "two-heads.onnx"}
TRAINING = "--train --loss softmax-cross-entropy:logits --set batch=8"
GPT_PLAN = f"cleave-compile gpt.onnx {TRAINING} --ranks 2 -o gpt.plan"
# Commands that run before those of a page.
BEFORE = {
    "ask-what-if.md": ["cp mlp.onnx gpt.onnx", GPT_PLAN, "cp gpt.plan before.plan", f"cleave-compile gpt.onnx {TRAINING} --ranks 2 --pin zero3 -o after.plan"],
    "feed-data.md": [GPT_PLAN, f"cleave-compile mlp.onnx {TRAINING} -o mlp.plan",
                     "cleave-compile net.pt2 --train --eval --loss softmax-cross-entropy --set batch=8 -o cnn.plan",
                     "cp cnn.plan resnet50.plan", "cp cnn.plan cifar.plan"],
    "choose-a-loss.md": ["cleave-zoo vit_b_16 --classes 3 --image 32 --hidden 32 --heads 2 -o three-classes.onnx"],
    "export-what-was-trained.md": [GPT_PLAN, "mkdir trained"],
    "interface.md": [f"cleave-compile gpt.onnx {TRAINING} --ranks 4 --mesh dp=2,tp=2 -o gpt.plan"],
    "keep-a-run-alive.md": [f"cleave-compile gpt.onnx {TRAINING} --ranks 4 -o gpt.plan"],
    "profile-a-model.md": ["cleave-zoo gpt2 -o gpt2.onnx"],
    "run-under-a-launcher.md": [f"cleave-compile gpt.onnx {TRAINING} --ranks 2 -o gpt.plan"],
    "save-and-resume.md": [GPT_PLAN],
    "use-a-cluster-file.md": ["cleave-calibrate --seconds 0.1 -o mine.json"],
}


# A stand-in for feed.py of a page, without NumPy.
FEED = f"""
import sys
sys.path.insert(0, {str(ROOT / "test/e2e")!r})
import cleave
batch = b"".join(cleave.write_npy((8, *shape[1:]), values[: 8 * len(values) // shape[0]])
                 for shape, values in cleave.read_npz({str(cleave.MLP["data"])!r}).values())
while True:
    sys.stdout.buffer.write(batch)
"""


def numbers(count):
    return [random.random() for _ in range(count)]


def write_images(path, count):
    """Images and labels, as the model of net.pt2 reads them."""
    arrays = {"image": ((count, 3, 16, 16), numbers(count * 3 * 16 * 16)), "label": ((count,), [k % 10 for k in range(count)])}
    cleave.write_npz(path, arrays)


def model_of(options):
    return next((model for text, model in MODELS_OF_OPTIONS.items() if text in options), "gpt.onnx")


def write_two_heads(path):
    """The model of mlp.onnx with its output a second time, as `aux`."""
    def add_head(graph):
        parts = onnx_edit.fields(graph)
        identity = onnx_edit.join([(1, onnx_edit.BYTES, b"logits"), (2, onnx_edit.BYTES, b"aux"), (4, onnx_edit.BYTES, b"Identity")])
        output = onnx_edit.fields(next(value for field, _, value in parts if field == 12))
        named = onnx_edit.join([(field, kind, b"aux" if field == 1 else value) for field, kind, value in output])
        return onnx_edit.join([*parts, (1, onnx_edit.BYTES, identity), (12, onnx_edit.BYTES, named)])

    path.write_bytes(onnx_edit.changed(MODELS["mlp.onnx"].read_bytes(), [7], add_head))


def write_all(folder):
    """Writes the files of all pages."""
    random.seed(0)
    folder.mkdir()
    for name, model in MODELS.items():
        (folder / name).symlink_to(model)
    # Bytes that are tokens of gpt.pt2, too, which knows 64.
    (folder / "text.bin").write_bytes(" ".join(map(str, range(2000))).encode())
    write_images(folder / "train.npz", 256)
    write_images(folder / "test.npz", 64)


def write_for(page, folder):
    """Writes the files of one page, some of which have the names of others."""
    if page == "feed-data.md":
        write_feeds(folder)
    else: # paths from the root of the repository
        (folder / "test").symlink_to(ROOT / "test")
        (folder / "docs").symlink_to(ROOT / "docs")
    if page == "choose-a-loss.md":
        write_two_heads(folder / "two-heads.onnx")
    if page == "interface.md":
        (folder / "build").mkdir()
        (folder / "build/share").symlink_to(cleave.BIN.resolve().parent / "share")


def write_archive(path, label, image):
    with tarfile.open(path, "w") as archive:
        archive.add(image, "0.png")
        (path.with_suffix(".cls")).write_text(str(label))
        archive.add(path.with_suffix(".cls"), "0.cls")


def write_feeds(folder):
    arrays = cleave.read_npz(cleave.MLP["data"])
    cleave.write_npz(folder / "train.npz", arrays)
    for name, array in (("images.npy", "x"), ("labels.npy", "logits.label")):
        (folder / name).write_bytes(cleave.write_npy(*arrays[array]))
    (folder / "shards").mkdir()
    for number in range(2):
        (folder / f"shards/{number}.u16").write_bytes(struct.pack("<4096H", *(k % 64 for k in range(4096))))
    (folder / "feed.py").write_text(FEED)
    for name, count in (("imagenet/train", 64), ("imagenet/val", 16), ("train", 64), ("val", 16), ("test", 16)):
        written = images.write_folder(folder / name, count)
    for number in range(147):
        write_archive(folder / f"train-{number:04}.tar", *written[number % len(written)][:2])
