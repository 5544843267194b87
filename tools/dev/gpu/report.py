"""The results of a GPU session as text: one table per part, failures in their place."""

PEAK = 989e12  # FLOP/s, dense bf16 of H100 and H200, by NVIDIA's data sheet


def text(results):
    lines = [f"plans for {results['bundle']['cluster']}"]
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
            what = found.get("failure") or f"losses {found['apart']:.1e} apart, allowed {case['tolerance']:.0e}"
            if not found.get("memory_ok", True):
                what += "; memory is not as planned"
            lines.append(f"{verdict} {name:14} {ranks} rank{'s' if ranks != '1' else ''}: {what}")
    return lines


def steps(entry):
    lines = [f"{'model':14} {'step':>10} {'predicted':>10} {'memory':>10} {'TFLOP/s':>8} {'of peak':>8} {'host':>8}"]
    for name, case in items(entry):
        if "failure" in case:
            lines.append(f"{name:14} {case['failure']}")
            continue
        predicted = f"{1e3 * case['predicted_seconds']:7.1f} ms" if "predicted_seconds" in case else ""
        speed = case["flops_per_second"]
        host = f"{1e6 * case['host_seconds']:5.0f} us" if "host_seconds" in case else ""
        lines.append(f"{name:14} {1e3 * case['seconds']:7.1f} ms {predicted:>10} {case['memory_bytes'] / 2**30:6.1f} GiB"
                     f" {speed * 1e-12:8.1f} {100 * speed / PEAK:7.1f}% {host:>8}")
    return lines


def items(entry):
    return [(name, case) for name, case in entry.items() if isinstance(case, dict)]


PRINTERS = {"losses": losses, "speed": steps, "eager": steps, "compiled": steps}
