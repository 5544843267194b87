"""Which values of the data the inputs of a plan get: by name or by position. Labels of causal models are shifted by one token, as
Transformers does it."""

from __future__ import annotations

import itertools
from typing import Any, Dict, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from .arrays import Raw, raw

LABELS = ("labels", "label")  # columns for the only label of a plan, whatever its name
IGNORED = -100  # the label that losses ignore, PyTorch's and Transformers' default
CODES = {"|i1": "b", "<i2": "h", "<i4": "i", "<i8": "q"}  # type in a .npy header -> code of the buffer protocol, of signed integers


class Input(NamedTuple):
    """An input of a plan, or a label of its loss: name, element type, shape of one micro-batch."""

    name: str
    dtype: str
    shape: Tuple[int, ...]
    is_label: bool = False


class Columns:
    """The columns for the inputs of a plan.

    names: columns by input, where they differ from the names of the inputs. The only label has `labels` or `label`, too.
    shifts_labels: whether a label is that of the next token: labels move one place to the front, and the last is ignored. None: they do
        not, and a column `labels` with the tokens of an input is refused.
    """

    def __init__(self, inputs: Sequence[Input], names: Optional[Mapping[str, str]] = None, shifts_labels: Optional[bool] = None):
        self.inputs = list(inputs)
        self._names = dict(names or {})
        self._shifts_labels = shifts_labels
        self._is_checked = shifts_labels is not None
        unknown = [name for name in self._names if name not in [described.name for described in inputs]]
        if unknown:
            raise ValueError(f"found columns for {listed(unknown)}, expected inputs of the plan: {listed(i.name for i in inputs)}")
        if shifts_labels and not any(described.is_label for described in inputs):
            raise ValueError("found shift_labels for a plan without labels of a loss; a loss inside of the model shifts them itself")

    @property
    def is_default(self) -> bool:
        """Whether inputs get the values of their names or positions as they are."""
        return not self._names and not self._shifts_labels

    def column(self, described: Input, item: Mapping[str, Any]) -> str:
        """The column of an input in a dictionary."""
        name = self._names.get(described.name, described.name)
        is_only_label = described.is_label and sum(other.is_label for other in self.inputs) == 1
        others = LABELS if is_only_label and described.name not in self._names else ()
        return next((column for column in (name, *others) if column in item), name)

    def of(self, item: Mapping[str, Any]) -> Dict[str, str]:
        """The columns of a dictionary by input. A missing one is a ValueError."""
        found = {described.name: self.column(described, item) for described in self.inputs}
        missing = [column for column in found.values() if column not in item]
        if missing:
            raise ValueError(f"found {listed(item)} in the data, expected {listed(found.values())}: {listed(missing)} missing")
        return found

    def parts(self, item: Any) -> List[Raw]:
        """The elements of a sample or batch in the order of the inputs."""
        if not isinstance(item, Mapping):
            return [self.ready(described, raw(value)) for described, value in zip(self.inputs, self._by_position(item))]
        columns = self.of(item)
        values = {name: raw(item[column]) for name, column in columns.items()}
        self.check_shift(columns, values)
        return [self.ready(described, values[described.name]) for described in self.inputs]

    def ready(self, described: Input, part: Raw) -> Raw:
        """The elements of an input; of a label, shifted if that is wanted."""
        return shifted(part) if self._shifts_labels and described.is_label else part

    def _by_position(self, item: Any) -> Sequence[Any]:
        if len(self.inputs) == 1 and not (isinstance(item, (list, tuple)) and len(item) == 1):
            return [item]
        if not isinstance(item, (list, tuple)) or len(item) != len(self.inputs):
            found = f"{len(item)} values" if isinstance(item, (list, tuple)) else type(item).__name__
            raise ValueError(f"found {found} per sample in the data, expected {len(self.inputs)}: {listed(i.name for i in self.inputs)}")
        return item

    def check_shift(self, columns: Mapping[str, str], values: Mapping[str, Raw]) -> None:
        """Refuses a column `labels` with the tokens of an input, with which a causal model would learn to repeat them. Looks at the first
        samples only."""
        if self._is_checked:
            return
        self._is_checked = True
        labels = [i.name for i in self.inputs if i.name in values and i.is_label and columns[i.name] == "labels"]
        for name, other in itertools.product(labels, [i.name for i in self.inputs if i.name in values and not i.is_label]):
            if are_tokens_of(values[name], values[other]):
                raise ValueError(f"found `labels` that equal `{columns[other]}`, as Transformers' causal models expect them; give shift_labels=True "
                                 "for a model that predicts the next token, or shift_labels=False")


def are_tokens_of(labels: Raw, tokens: Raw) -> bool:
    """Whether labels are tokens at the same places, as far as they are not ignored."""
    if (labels.dtype, labels.shape) != (tokens.dtype, tokens.shape) or labels.shape[-1:] < (2,) or labels.dtype not in CODES:
        return False
    pairs = list(zip(*(memoryview(part.data).cast(CODES[part.dtype]) for part in (labels, tokens))))
    return all(label in (token, IGNORED) for label, token in pairs) and any(label == token for label, token in pairs)


def shifted(labels: Raw) -> Raw:
    """Labels of the next tokens: moved one place to the front along the last dim, with an ignored label at the end."""
    if labels.dtype not in CODES or not labels.shape:
        raise TypeError(f"found labels of type {labels.dtype} and shape {list(labels.shape)}, expected signed integers for each token to shift them")
    size = int(labels.dtype[2:])
    row = labels.shape[-1] * size
    last = IGNORED.to_bytes(size, "little", signed=True)
    return Raw(labels.dtype, labels.shape, b"".join(labels.data[i + size : i + row] + last for i in range(0, len(labels.data), row or 1)))


def listed(names: Iterable[str]) -> str:
    """`a`, `b`"""
    return ", ".join(f"`{name}`" for name in names) or "nothing"
