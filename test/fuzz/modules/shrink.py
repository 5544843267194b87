"""Makes a failing case smaller while it fails in the same way."""

import re

from case import NAME, Region


class Shrinker:
    """`fails(case)` tells whether a case still fails in the same way; at most `limit` are asked."""

    def __init__(self, fails, limit):
        self.fails, self.left, self.asked = fails, limit, set()

    def shrink(self, case):
        best = case
        self.asked.add(case.text())
        while self.left > 0:
            for candidate in candidates(best):
                text = candidate.text()
                if text in self.asked:
                    continue
                self.asked.add(text)
                if self.left <= 0:
                    return best
                self.left -= 1
                if self.fails(candidate):
                    best = candidate
                    break
            else:
                return best
        return best


def candidates(case):
    """Smaller cases, those that drop most first."""
    yield from simpler_runs(case)
    yield from fewer_results(case)
    many = len(list(case.nodes()))
    size = many // 2
    while size >= 1:
        for at in range(many - size, -1, -size):
            yield without(case, range(at, at + size))
        size //= 2
    for at in range(many):
        yield from simpler_nodes(case, at)
    for index in range(len(case.declarations)):
        candidate = case.copy()
        del candidate.declarations[index]
        yield candidate
    yield from simpler_texts(case)


def simpler_runs(case):
    """Fewer options of the run: none first, then one less."""
    run = case.run
    simpler = {"lives": [(1, "all")], "resume": 0, "eval": False, "dynamic": False, "micro": 1, "last": None, "optimizer": "sgd:lr=0.5", "form": "pt2", "dtype": None}
    for steps in (1, run["steps"]):
        for kept in ({}, {key: run[key] for key in ("lives", "form") if key in run}, {key: run[key] for key in ("micro", "last", "eval", "resume") if key in run}):
            plain = with_run(case, simpler | {"steps": max(steps, kept.get("resume", 0) + 1)} | kept)
            if plain.run != run:
                yield plain
    for key, value in simpler.items():
        if run.get(key) is not None and run.get(key) != value and not (key == "lives" and run["lives"] == [(1, "all")]):
            yield with_run(case, {key: value})
    for life in run["lives"]:
        if run["lives"] != [life] or run["resume"]:
            yield with_run(case, {"lives": [life], "resume": 0})
    for steps in range(1, run["steps"]):
        if run["resume"] < steps:
            yield with_run(case, {"steps": steps})
    for index, spec in enumerate(run["losses"]):
        for option in spec["options"]:
            candidate = case.copy()
            del candidate.run["losses"][index]["options"][option]
            yield candidate
    if not case.double:
        candidate = case.copy()
        candidate.double = True
        yield candidate


def with_run(case, changes):
    candidate = case.copy()
    candidate.run |= changes
    candidate.run = {key: value for key, value in candidate.run.items() if value is not None}
    return candidate


def fewer_results(case):
    """Without one term of the loss, or one output with its loss."""
    for index in range(len(case.terms)):
        if len(case.terms) > 1:
            candidate = case.copy()
            del candidate.terms[index]
            yield candidate
    for index in range(len(case.outputs)):
        if len(case.outputs) > 1:
            candidate = case.copy()
            del candidate.outputs[index], candidate.run["losses"][index]
            labels = [text for i, text in enumerate(candidate.labels.values()) if i != index]
            candidate.labels = {f"label{i}": text for i, text in enumerate(labels)}
            yield candidate


def without(case, indices):
    """The case without some nodes; a value that others read becomes a constant."""
    candidate, indices = case.copy(), set(indices)
    counter = iter(range(10**6))
    used = read_names(candidate)

    def prune(body):
        kept = []
        for node in body:
            isDropped = next(counter) in indices
            if isinstance(node, Region):
                node.body = prune(node.body)
            if not isDropped:
                kept.append(node)
            elif node.gives in used and node.stand_in:
                stand_in(node)
                kept.append(node)
            elif isinstance(node, Region) and not node.gives and not node.header.startswith("for"):
                kept.extend(node.body)
        return kept

    candidate.body = prune(candidate.body)
    return candidate


def stand_in(node):
    """Makes of a node the constant that stands in for it."""
    text = f"{node.gives} = {node.stand_in}"
    if isinstance(node, Region):
        node.header, node.body, node.ending, node.footer = "if True:", [], [text], []
    else:
        node.text = text
    node.features = frozenset()


def read_names(case):
    """Names that are read: all but the first mention of each."""
    mentions = NAME.findall("\n".join(case.forward_lines() + [case.result()]))
    return {name for name in mentions if mentions.count(name) > 1}


def simpler_nodes(case, at):
    """One value replaced by another that the same statement reads."""
    node = list(case.nodes())[at]
    if isinstance(node, Region) or not node.gives:
        return
    for name in dict.fromkeys(NAME.findall(node.text.partition(" = ")[2]) + [n for n in case.inputs if re.search(rf"\b{n}\b", node.text)]):
        candidate = case.copy()
        replaced = list(candidate.nodes())[at]
        replaced.text = f"{node.gives} = {name}"
        replaced.features = frozenset()
        if len(replaced.text) < len(node.text):
            yield candidate


SIMPLER = [(r"torch\.randn\(([^()]*(?:\([^()]*\))?), generator=g\)", r"torch.ones(\1)"), (r"\.mul\(2\)\.round\(\)\.div\(2\)", ""), (r"\* 1$", ""),
           (r"torch\.where\(torch\.rand\(([^()]*\([^()]*\)), generator=g\) < [\d.]+, -?\d+, (.*)\)$", r"\2"), (r"\.(square|sin|abs)\(\)\.mean", ".mean")]


def simpler_texts(case):
    """Simpler data and terms."""
    for field in ("inputs", "labels"):
        for name, text in getattr(case, field).items():
            for pattern, replacement in SIMPLER:
                if (shorter := re.sub(pattern, replacement, text)) != text:
                    candidate = case.copy()
                    getattr(candidate, field)[name] = shorter
                    yield candidate
    for index, text in enumerate(case.terms):
        for pattern, replacement in SIMPLER:
            if (shorter := re.sub(pattern, replacement, text)) != text:
                candidate = case.copy()
                candidate.terms[index] = shorter
                yield candidate
