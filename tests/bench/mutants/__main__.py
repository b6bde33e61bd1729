"""Measures reports: makes one-line mistakes in right kernels, checks each, and compares the report with the undo, which is known.

make mutants [SAMPLE=200] [SEED=1]                     a table, and a file with every judgement, build/mutants.json
python3 tests/bench/mutants build/heddle --show ID     one mutant: what was changed, the report, how it was judged
python3 tests/bench/mutants build/heddle --read build/mutants.json --failing repair
python3 tests/bench/mutants build/heddle --read build/mutants.json --compare build/mutants.before.json

How a report is judged stands in judge.py, what is changed in mutate.py. A sample stays the same mutants while their kernels do.
"""

import argparse
import collections
import concurrent.futures
import difflib
import hashlib
import json
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True

from checker import TREE, Checker  # noqa: E402
from judge import GRADES, judge, parts  # noqa: E402
from mutate import KINDS, Mutator  # noqa: E402
from source import Source  # noqa: E402

GROUPS = ("collectives", "cases", "patterns")


def all_mutants(checker):
    sources = {}
    for program in checker.programs(GROUPS, right=True):
        path = TREE / program["source"]
        source = sources.setdefault(path, Source(path))
        for mutant in Mutator(source, program["name"]).mutants():
            yield mutant, source


def check(checker, mutant, source, folder, *options):
    path = Path(folder) / mutant.path.name
    path.write_text(mutant.text(source))
    size = checker.size(mutant.program)
    return checker.report(f"{path.name}:{mutant.program}", size, folder, *options) if size else (None, "")


def measure(checker, mutant, source):
    with tempfile.TemporaryDirectory(prefix="mutant") as folder:
        report, _ = check(checker, mutant, source, folder, "-q")
    entry = {"kind": mutant.kind, "verdict": "not compiled"}
    if report:
        entry["verdict"] = report["checks"][0]["verdict"]
        if entry["verdict"] == "faulty":
            entry |= judge(report, mutant, source)
    return entry


def measure_all(checker, chosen, workers):
    results = {}
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        for count, ((mutant, _), entry) in enumerate(zip(chosen, pool.map(lambda one: measure(checker, *one), chosen)), 1):
            results[mutant.id] = entry
            if sys.stderr.isatty():
                print(f"\r{count} of {len(chosen)}", end="", file=sys.stderr)
    return results


def percent(part, whole):
    return f"{100 * part / whole:.0f} %" if whole else "-"


HEADINGS = ("", "mutants", "faulty", "why", "or sites", "or any", "undo", "equal", "first", "other", "mask only", "none")


def row(name, entries):
    faulty = [e for e in entries if e["verdict"] == "faulty"]
    count = collections.Counter(e["repair"] for e in faulty)
    first = sum(e["repair"] in ("undo", "equal") and e["rank"] == 1 for e in faulty)
    named = [sum(e[where] for e in faulty) for where in ("why", "sites", "any")]
    shares = named + [count["undo"], count["equal"], first, count["other"], count["mask"], count["none"]]
    return [name, str(len(entries)), str(len(faulty))] + [percent(share, len(faulty)) for share in shares]


def table(results):
    """Rows by what was changed, then by the first fault that is reported."""
    entries = list(results.values())
    rows = [row("all", entries)] + [row(kind, [e for e in entries if e["kind"] == kind]) for kind in KINDS]
    faults = collections.Counter(e["faults"][0] for e in entries if e.get("faults"))
    return rows, [row(fault, [e for e in entries if e.get("faults", [""])[0] == fault]) for fault, _ in faults.most_common()]


def show_table(results, markdown):
    for title, rows in zip(("change", "first fault"), table(results)):
        lines = [[title, *HEADINGS[1:]], *rows]
        if markdown:
            lines.insert(1, ["---"] + ["---:"] * (len(HEADINGS) - 1))
            print("\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n")
        else:
            print("\n".join(f"{line[0]:<20}" + "".join(f"{cell:>11}" for cell in line[1:]) for line in lines) + "\n")
    verdicts = collections.Counter(e["verdict"] for e in results.values())
    print(", ".join(f"{count} {verdict}" for verdict, count in verdicts.most_common()))


def compare(before, now):
    """What a report gained and lost since another measurement, of the mutants that both have."""
    both = [name for name in now if name in before]
    for title, good in (("why", lambda e: e.get("why", False)), ("cause anywhere", lambda e: e.get("any", False)),
                        ("undo or equal", lambda e: e.get("repair") in ("undo", "equal")), ("faulty", lambda e: e["verdict"] == "faulty")):
        was, is_now = ({name for name in both if good(side[name])} for side in (before, now))
        print(f"{title}: {len(was)} -> {len(is_now)} of {len(both)}")
        for sign, names in (("+", is_now - was), ("-", was - is_now)):
            print("".join(f"  {sign} {name}\n" for name in sorted(names)), end="")


def show(checker, mutant, source, options):
    print("".join(difflib.unified_diff(source.text.splitlines(True), mutant.text(source).splitlines(True), "right", "mutant", n=3)))
    with tempfile.TemporaryDirectory(prefix="mutant") as folder:
        report, printed = check(checker, mutant, source, folder, *options)
    print(printed)
    if report and report["checks"][0]["faults"]:
        print("judged:", json.dumps(judge(report, mutant, source)), "by the semaphores", ", ".join(mutant.semaphores) or "none")


def arguments():
    parser = argparse.ArgumentParser(prog="mutants", description=__doc__.split("\n")[0])
    parser.add_argument("heddle")
    parser.add_argument("--sample", type=int, default=0, metavar="N", help="so many of all mutants, picked by the seed (default: all)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", choices=KINDS, help="of one kind of change only")
    parser.add_argument("--program", help="of one program only")
    parser.add_argument("--list", action="store_true", help="lists the mutants")
    parser.add_argument("--show", metavar="ID", help="one mutant and its report; options behind -- are for heddle check")
    parser.add_argument("--read", metavar="FILE", help="takes a measurement from that file in place of measuring")
    parser.add_argument("--compare", metavar="FILE", help="says what changed since that measurement")
    parser.add_argument("--failing", choices=("why", "repair"), help="lists the mutants without it")
    parser.add_argument("--output", default="build/mutants.json", metavar="FILE", help="judgements (default: %(default)s)")
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("-j", type=int, default=1, choices=(1, 2), help="checks at once")
    parser.add_argument("options", nargs="*", help=argparse.SUPPRESS)
    return parser.parse_args()


def chosen_mutants(given, checker):
    found = [one for one in all_mutants(checker) if given.kind in (None, one[0].kind) and given.program in (None, one[0].program)]
    if given.sample:
        picked = sorted(found, key=lambda one: hashlib.sha256(f"{given.seed} {one[0].id}".encode()).digest())[:given.sample]
        found = [one for one in found if one in picked]
    return found


def failing(results, what):
    bad = {"why": lambda e: not e["why"], "repair": lambda e: e["repair"] not in ("undo", "equal")}[what]
    for name, entry in results.items():
        if entry["verdict"] == "faulty" and bad(entry):
            print(f"{name:<70} {entry['faults'][0]:<14} {entry['repair']}")


def main():
    given = arguments()
    checker = Checker(given.heddle)
    if given.show:
        found = [one for one in all_mutants(checker) if one[0].id == given.show]
        return show(checker, *found[0], given.options) if found else sys.exit(f"no mutant is called {given.show}")
    if given.read:
        return tell(given, json.loads(Path(given.read).read_text())["mutants"])
    chosen = chosen_mutants(given, checker)
    if given.list:
        return print("\n".join(f"{m.id:<70} {m.path.name}:{m.line}: {m.old!r} -> {m.new!r}" for m, _ in chosen))
    results = measure_all(checker, chosen, given.j)
    Path(given.output).write_text(json.dumps({"sample": given.sample, "seed": given.seed, "mutants": results}, indent=1))
    tell(given, results)


def tell(given, results):
    if given.failing:
        failing(results, given.failing)
    elif given.compare:
        compare(json.loads(Path(given.compare).read_text())["mutants"], results)
    else:
        show_table(results, given.markdown)


if __name__ == "__main__":
    main()
