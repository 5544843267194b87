"""The results of a GPU session as text: one table per part, failures in their place."""

PEAK = 989e12  # FLOP/s, dense bf16 of H100 and H200, by NVIDIA's data sheet
ROWS = 40  # kinds of instructions in a table


def text(results):
    lines = [f"{results['call']} call, plans for {results['bundle']['cluster']}"]
    for name, entry in results["parts"].items():
        lines += ["", f"== {name} ({entry.get('part_seconds', '?')} s)"]
        if "failure" in entry:
            lines.append(f"failed: {entry['failure']}")
        lines += PRINTERS.get(name, plain)(entry)
    return "\n".join(lines) + "\n"


def plain(entry):
    return [f"{key}: {value}" for key, value in entry.items() if key not in ("failure", "part_seconds", "cluster")]


def losses(entry):
    lines = []
    for name, case in items(entry):
        if "failure" in case:
            lines.append(f"{name:14} {case['failure']}")
        for ranks, found in case.get("ranks", {}).items():
            verdict = "ok  " if found["ok"] else "FAIL"
            lines.append(f"{verdict} {name:14} {ranks} rank{'s' if ranks != '1' else ''}: {outcome(found, case)}")
            if "checked" in found:
                lines.append(f"     {name:14} with CLEAVE_CHECK_KERNELS: {outcome(found['checked'], case)}")
    return lines


def outcome(found, case):
    if "failure" in found:
        return found["failure"]
    return f"losses {found['apart']:.1e} apart, allowed {case['tolerance']:.0e}" + (
        "" if found["memory_ok"] else "; memory is not as planned")


def steps(entry):
    lines = [f"{'model':24} {'step':>10} {'predicted':>10} {'memory':>10} {'TFLOP/s':>8} {'of peak':>8} {'host':>8}  loss"]
    for name, case in items(entry):
        if "failure" in case:
            lines.append(f"{name:24} {case['failure']}")
            continue
        predicted = f"{1e3 * case['predicted_seconds']:7.1f} ms" if "predicted_seconds" in case else ""
        speed = case["flops_per_second"]
        host = f"{1e6 * case['host_seconds']:5.0f} us" if "host_seconds" in case else ""
        first, last = (f"{loss:.3f}" if loss is not None else "nan" for loss in case["losses"])
        lines.append(f"{name:24} {1e3 * case['seconds']:7.1f} ms {predicted:>10} {case['memory_bytes'] / 2**30:6.1f} GiB"
                     f" {speed * 1e-12:8.1f} {100 * speed / PEAK:7.1f}% {host:>8}  {first} to {last}")
    return lines


def pairs(entry):
    rows = {f"{model} {engine}": case for model, pair in items(entry) for engine, case in items(pair)}
    lines = steps(rows)
    for model, pair in items(entry):
        seconds = [case.get("seconds") for _, case in items(pair)]
        if len(seconds) == 2 and all(seconds):
            lines.append(f"{model:24} Cleave takes {seconds[0] / seconds[1]:.2f} times the step of torch.compile")
    return lines


def profile(entry):
    """The kinds of instructions of a step by measured time. Shares are of the step, which also has gaps."""
    lines = []
    for name, case in items(entry):
        if "failure" in case:
            lines.append(f"{name:24} {case['failure']}")
            continue
        kinds = case["kinds"]
        lines += [f"{name}: {1e3 * case['seconds']:.1f} ms a step with profiling, predicted {1e3 * case['predicted_seconds']:.1f} ms",
                  f"{'kind':48} {'count':>6} {'measured':>11} {'predicted':>11} {'ratio':>7} {'share':>7}  example"]
        lines += [row(kind) for kind in kinds[:ROWS]]
        if rest := kinds[ROWS:]:
            lines.append(row(total(f"{len(rest)} other kinds", rest)))
        lines.append(row(total("all", kinds)))
    return lines


def total(name, kinds):
    sums = {key: sum(kind[key] for kind in kinds) for key in ("count", "measured_ms", "predicted_ms", "share")}
    return {"kind": name, "example": "", "ratio": sums["measured_ms"] / (sums["predicted_ms"] or float("inf")), **sums}


def row(kind):
    ratio = f"{kind['ratio']:.2f}" if kind["ratio"] else ""
    return (f"{kind['kind'][:48]:48} {kind['count']:6.0f} {kind['measured_ms']:8.3f} ms {kind['predicted_ms']:8.3f} ms {ratio:>7}"
            f" {100 * kind['share']:6.1f}%  {kind['example'][:48]}").rstrip()


def items(entry):
    return [(name, case) for name, case in entry.items() if isinstance(case, dict)]


PRINTERS = {"smoke": losses, "losses": losses, "speed": steps, "eager": steps, "compiled": steps, "pairs": pairs, "profile": profile}
