"""Windows of tokens from documents of any length, the samples of a causal model."""

from __future__ import annotations

from typing import Any, Iterable, Iterator, List, Mapping, Optional


def windows(documents: Iterable[Any], length: int, *, column: str = "input_ids", separator: Optional[int] = None) -> Iterable[Any]:
    """Samples of a causal model, `length` tokens and the tokens that follow each, from documents of any length, which are joined.

    documents: lists or arrays of tokens, or dictionaries with them in `column`, as a tokenised dataset gives them. An iterator has one pass.
    separator: a token between documents. Tokens behind the last whole window are left out.
    """
    return _cut(documents, length, column, separator) if hasattr(documents, "__next__") else Windows(documents, length, column, separator)


class Windows:
    """The windows of documents that can be read again."""

    def __init__(self, *arguments: Any):
        self._arguments = arguments

    def __iter__(self) -> Iterator[Any]:
        return _cut(*self._arguments)


def _cut(documents: Iterable[Any], length: int, column: str, separator: Optional[int]) -> Iterator[Any]:
    tokens: List[int] = []
    for document in documents:
        found = document[column] if isinstance(document, Mapping) else document
        tokens.extend(found.tolist() if hasattr(found, "tolist") else found)
        tokens.extend([] if separator is None else [separator])
        begin = 0
        while begin + length < len(tokens):
            yield tokens[begin : begin + length], tokens[begin + 1 : begin + length + 1]
            begin += length
        del tokens[:begin]
