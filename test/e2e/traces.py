"""`cleave-run --profile` on 4 ranks: the trace is what the Trace Event Format allows and what it should show. Standard library only."""

import collections
import json
import unittest

import cleave
import fixture

RANKS, STEPS, TRACED = 4, 6, 3
# Fields that each kind of event has beside its name, process and arguments.
FIELDS = {"X": {"cat", "ts", "dur", "tid"}, "C": {"ts"}, "M": {"tid"}, "s": {"cat", "ts", "tid", "id"}, "f": {"cat", "ts", "tid", "id", "bp"}}
OVER = 1e-3  # microseconds: rounding of sums of times


def slices_of(events):
    """The slices of every track, (process, thread), in the order of the file."""
    tracks = collections.defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            tracks[event["pid"], event["tid"]].append(event)
    return tracks


def complaints(events):
    """What is wrong with a trace, as sentences."""
    said = []
    tracks, flows, counters = slices_of(events), collections.defaultdict(list), collections.defaultdict(list)
    for event in events:
        kind = event.get("ph")
        if kind not in FIELDS:
            said.append(f"an event of the kind {kind}")
            continue
        expected = FIELDS[kind] | {"ph", "name", "pid"} | (set() if kind in "sf" else {"args"})
        if set(event) != expected:
            said.append(f"an event {kind} with the fields {sorted(event)}")
        for field in ("ts", "dur"):
            if not 0 <= event.get(field, 0) < float("inf"):
                said.append(f"{event['name']} has {field} {event[field]}")
        if kind in "sf":
            flows[event["id"]].append(event)
        if kind == "C":
            counters[event["pid"], event["name"]].append(event)
    for track, slices in tracks.items():
        for one, next_one in zip(slices, slices[1:]):
            if next_one["ts"] < one["ts"] + one["dur"] - OVER:
                said.append(f"on track {track} {next_one['name']} begins before the end of {one['name']}")
    for counter, values in counters.items():
        times = [value["ts"] for value in values]
        if times != sorted(times):
            said.append(f"counter {counter} goes back in time")
        if any(set(value["args"]) != {"value"} or not 0 <= value["args"]["value"] < float("inf") for value in values):
            said.append(f"counter {counter} has values that are none")
    for number, ends in flows.items():
        if [end["ph"] for end in ends] != ["s", "f"] or ends[0]["ts"] > ends[1]["ts"] or ends[1].get("bp") != "e":
            said.append(f"arrow {number} does not lead from one begin to one later end")
        for end in ends:
            if not any(one["ts"] - OVER <= end["ts"] <= one["ts"] + one["dur"] + OVER for one in tracks[end["pid"], end["tid"]]):
                said.append(f"arrow {number} has no slice at its {end['ph']}")
    return said


class Trace(fixture.InFolder):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.plan, cls.file = cls.folder / "gpt.plan", cls.folder / "trace.json"
        cleave.compile_model(cleave.GPT["model"], cls.plan, "--mesh", "dp=2,tp=2", ranks=RANKS)
        cleave.must("cleave-run", cls.plan, "--data", cleave.GPT["data"], "--steps", STEPS, "--threads", 1, "-q", "--profile", cls.file,
                    "--profile-steps", TRACED)
        cls.events = json.loads(cls.file.read_text())["traceEvents"]

    def test_it_is_well_formed(self):
        self.assertEqual(complaints(self.events), [])

    def test_damage_is_found(self):
        first = {kind: next(i for i, event in enumerate(self.events) if event["ph"] == kind) for kind in FIELDS}
        slices = [i for i, event in enumerate(self.events) if event["ph"] == "X" and (event["pid"], event["tid"]) == (0, 0)]
        for at, change in ((first["X"], {"ts": -1}), (first["s"], {"ts": 0}), (first["f"], {"id": 10**9}), (first["C"], {"args": {"value": -1}}),
                           (first["C"], {"ts": 1e18}), (slices[0], {"dur": 1e9}), (first["M"], {"ph": "Q"})):
            damaged = [{**event, **change} if i == at else event for i, event in enumerate(self.events)]
            self.assertNotEqual(complaints(damaged), [], f"{self.events[at]} with {change}")

    def test_every_rank_has_its_tracks_steps_and_counters(self):
        program = json.loads(cleave.must("cleave-dump", self.plan, "--json").out)["programs"][0]
        names = {(event["pid"], event["tid"]): event["args"]["name"] for event in self.events if event["name"] == "thread_name"}
        tracks = slices_of(self.events)
        for rank in range(RANKS):
            found = {names[track]: slices for track, slices in tracks.items() if track[0] == rank}
            self.assertEqual(set(found), {"computes", "communicates", "predicted"})
            self.assertEqual(len(found["communicates"]), TRACED * len(program["collectives"]))
            for slices in found.values():
                self.assertEqual({one["args"]["step"] for one in slices}, set(range(STEPS - TRACED, STEPS)))
            counted = {event["name"] for event in self.events if event["ph"] == "C" and event["pid"] == rank}
            self.assertEqual(counted, {"memory that holds values, bytes", "computing, FLOP/s", "computing, B/s of memory",
                                       "communicating, B/s sent"})
            memory = [event["args"]["value"] for event in self.events if event["ph"] == "C" and event["pid"] == rank and "memory that" in event["name"]]
            peak = program["arenas"][0]["peak_bytes"]  # of places, which are multiples of 64 bytes
            self.assertLessEqual(max(memory), peak)
            self.assertGreater(max(memory), 0.99 * peak)

    def test_arrows_lead_between_ranks_that_meet(self):
        meetings = collections.defaultdict(list)
        for track, slices in slices_of(self.events).items():
            for one in slices:
                if "meeting" in one["args"]:
                    meetings[one["args"]["meeting"]].append(one)
        self.assertTrue(all(len({one["pid"] for one in ranks}) == len(ranks) > 1 for ranks in meetings.values()))
        flows = collections.defaultdict(list)
        for event in self.events:
            if event["ph"] in "sf":
                flows[event["id"]].append(event)
        self.assertGreater(len(flows), 0)
        self.assertLessEqual(len(flows), sum(len(ranks) - 1 for ranks in meetings.values()))
        lasts = {(max(ranks, key=lambda one: one["ts"])["pid"], max(one["ts"] for one in ranks)) for ranks in meetings.values()}
        for begin, end in flows.values():
            self.assertNotEqual(begin["pid"], end["pid"])
            self.assertIn((begin["pid"], begin["ts"]), lasts, "an arrow begins where the last rank came")


if __name__ == "__main__":
    unittest.main(verbosity=2)
