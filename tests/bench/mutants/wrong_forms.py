"""A table of the wrong forms that come with the checker: is the cause named, the repair offered, and how long is the report?

make wrong-forms                                        a table, and every judgement, build/wrong-forms.json
python3 tests/bench/mutants/wrong_forms.py build/heddle --compare build/wrong-forms.before.json

What is expected stands with the program, in the comment before PROGRAM(name, or else in the file's header:

    Cause:  recv_sem, "pl_copy_wait_recv(pass)"         must all be named by one fault (headline, source lines and why): names of
                                                        semaphores or buffers, and lines, quoted; first "..." or last "..." of several
    Repair: semaphore recv_sem or barrier               one of these must be offered: a kind (REPAIRS below) of a name or a line.
            semaphore recv_sem else barrier             what stands before `else` is the fix of the right twin, or orders the same steps

Cause is `yes` if the first fault names it, `later` if another one does, else `no`. Repair is `yes`, `other` (none of those that are
expected), `mask` (a further barrier, a guarantee of the hardware) or `none`. Fix is told of what was reported in public and has a right
twin: is the public fix, which the twin has, offered, or its equal? Lines are counted at 80 columns.
"""

import argparse
import collections
import json
import re
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True

from checker import SIZES, TREE, Checker  # noqa: E402
from judge import names_semaphore, parts  # noqa: E402
from source import Source  # noqa: E402

GROUPS = ("cases", "patterns", "windows", "jax", "twins")
COLUMNS = 80
INPUTS = "100"                  # tried where the input that a check takes by itself is right
# {name} is the semaphore or buffer; {line} the numbers of the quoted lines.
REPAIRS = {
    "semaphore": r"one {name}\S* for each|a {name} of its own|`{name}\S*` -> `",
    "wait": r"\ba wait (?:for|on) (?!.*instead).*{name}|the wait on {name}\b.* moved up|wait_(?:send|recv)(?! \(in).* right after|"
            r"waits on {name} elsewhere\).* right after",
    "count": r"instead of \d+\b.* at \S+:(?:{line})\b",
    "without": r"\b(?:without|dropped|left out|removed)\b.*(?::(?:{line})\b|{name})",
    "signal": r"\ba (?:signal|store)\b.*{name}",
    "down": r"the signal on {name}\b.* moved down",
    "up": r"\b(?:signal|start)\b.*(?:{name}|:(?:{line})).* moved up",
    "start": r"\bstart(?:ed|s)?\b.*:(?:{line})\b|:(?:{line}) started\b",
    "barrier": r"\ba (?:second )?barrier\b(?! semaphore)",
    "capacity": r"\bcapacity\b",
    "clamp": r"\b(?:guard|clamp)\w*\b.*:(?:{line})\b",
    "handshake": r"semaphore (?:of its own )?that each core signals .*\b{name}\b",
    "index": r"\b(?:index|slot|element|row|guard|clamp)\w*\b.*:(?:{line})\b",
    "slot": r"\bslot\w*\b.*{name}|{name}.*\bslot",
    "device": r"\bdevice\b.*:(?:{line})\b|:(?:{line}) sent to\b",
    "epoch": r"\bepoch\b.*{name}|{name}.*\bepoch",
    "at-least": r"\b(?:PL_GE|at least)\b.*(?:{name}|:(?:{line}))",
    "store": r"\bstore\b.*{name}",
    "order": r"\bin (?:the same|one) order\b",
    "knob": r"--{name}",
}


class Expectation:
    """What the comment of a wrong program says about its report."""

    def __init__(self, source, program):
        self.source, self.program, self.reached = source, program, source.reached(program)
        self.cause, self.repair = self.said("Cause"), self.said("Repair")

    def said(self, word):
        declared = re.search(rf"(/\*(?:(?!\*/).)*\*/)\s*PROGRAM\({self.program},", self.source.text, re.S)
        header = self.source.text[:self.source.text.index("*/") + 2]
        for comment in ([declared[1]] if declared else []) + [header]:
            found = re.search(rf"\b{word}:\s*(.*?)\s*(?:\*/)?$", comment, re.M)
            if found:
                return found[1]
        return None

    def lines(self, item):
        """Numbers of the lines that a quotation is of, among the functions that the program runs."""
        quoted = re.search(r'"(.*)"', item)[1]
        found = [at for f in self.reached if f.kind != "macro" for at in self.positions(quoted, f)]
        numbers = sorted({self.source.line_of(at) for at in found})
        if not numbers:
            sys.exit(f"{self.program}: no line reads {quoted!r}")
        return numbers[:1] if item.startswith("first") else numbers[-1:] if item.startswith("last") else numbers

    def positions(self, quoted, function):
        at = self.source.text.find(quoted, function.begin, function.end)
        while at >= 0:
            yield at
            at = self.source.text.find(quoted, at + 1, function.end)

    def is_named(self, item, text):
        if '"' not in item:
            return names_semaphore(text, item) or re.search(rf"\b(?:reads|writes|of|from|into|to) {item}\b", text) is not None
        return any(re.search(rf"(?:\.c:|\bline |(?<![\w\]]):){line}\b", text) for line in self.lines(item))

    def names_cause(self, text):
        return all(self.is_named(item, text) for item in items(self.cause, ","))

    def is_public(self):
        return re.search(r"\* Reported:", self.source.text) is not None and "_repaired, " in self.source.text

    def offers(self, repair, fix=False):
        fixes, _, others = self.repair.partition(" else ")
        for option in items(fixes, " or ") + ([] if fix else items(others, " or ")):
            kind, _, of = option.partition(" ")
            lines = "|".join(map(str, self.lines(of))) if '"' in of else "0"
            if re.search(REPAIRS[kind].format(name=re.escape(of) if '"' not in of else "0", line=lines), repair):
                return True
        return False


def items(text, separator):
    """Parts of an expectation; a separator within a quotation does not count."""
    return [part.strip() for part in re.split(re.escape(separator) + r'(?=(?:[^"]*"[^"]*")*[^"]*$)', text) if part.strip()]


def lines_of(text):
    return sum(max(1, -(-len(line) // COLUMNS)) for line in text.splitlines())


def judge_repairs(expectation, repairs):
    if expectation.repair and any(expectation.offers(repair.words) for repair in repairs):
        return "yes"
    return "none" if not repairs else "mask" if all(repair.is_mask for repair in repairs) else "other"


def judge_fix(expectation, repairs):
    if not expectation.repair or not expectation.is_public():
        return "-"
    return "yes" if any(expectation.offers(repair.words, fix=True) for repair in repairs) else "no"


def report_of(checker, program, folder):
    """At the smallest size that is said to be wrong, else at the first that is."""
    for inputs in ([], ["--inputs", INPUTS]):
        for size in (["-n", str(program["expected"]["from"])], *SIZES):
            report, printed = checker.report(program["name"], size, folder, *inputs)
            if report and report["checks"][0]["verdict"] == "faulty":
                return report, printed, " ".join(size + inputs)
    sys.exit(f"{program['name']} is not faulty at any size")


def measure(checker, program):
    expectation = Expectation(Source(TREE / program["source"]), program["name"])
    with tempfile.TemporaryDirectory(prefix="wrong") as folder:
        report, printed, size = report_of(checker, program, folder)
    whys, sites, repairs = parts(report)
    named = [bool(expectation.cause) and expectation.names_cause(f"{why} {site}") for why, site in zip(whys, sites)]
    cause = "-" if not expectation.cause else "yes" if named[0] else "later" if any(named) else "no"
    return {"group": program["group"], "size": size, "faults": len(whys), "cause": cause, "repair": judge_repairs(expectation, repairs),
            "fix": judge_fix(expectation, repairs), "offered": len(repairs), "lines": lines_of(printed)}


HEADINGS = ("program", "size", "faults", "cause", "repair", "fix", "lines")


def show_table(results, markdown):
    rows = [(name, e["size"], str(e["faults"]), e["cause"], e["repair"], e["fix"], str(e["lines"])) for name, e in results.items()]
    if markdown:
        print("\n".join("| " + " | ".join(row) + " |" for row in (HEADINGS, ("---",) * len(HEADINGS), *rows)))
    else:
        print("\n".join(f"{row[0]:<48}{row[1]:<16}{row[2]:>7}{row[3]:>8}{row[4]:>8}{row[5]:>8}{row[6]:>8}" for row in (HEADINGS, *rows)))
    print()
    for group in ("all", *GROUPS):
        print(f"{group:<10}{summary([e for e in results.values() if group in ('all', e['group'])])}")


def summary(entries):
    judged = [e for e in entries if e["cause"] != "-"]
    cause, repair = (collections.Counter(e[what] for e in judged) for what in ("cause", "repair"))
    public = [e["fix"] for e in entries if e.get("fix", "-") != "-"]
    single = sorted(e["lines"] for e in entries if e["faults"] == 1)
    return (f"{len(entries)} wrong forms, {len(judged)} judged: cause named by the first fault {cause['yes']}, by another "
            f"{cause['later']}, not {cause['no']}; repair as expected {repair['yes']}, other {repair['other']}, mask only "
            f"{repair['mask']}, none {repair['none']}; public fix or its equal {public.count('yes')} of {len(public)}; "
            f"lines of a single fault: median {single[len(single) // 2] if single else '-'}, "
            f"most {single[-1] if single else '-'}")


def compare(before, now):
    for name in now:
        if name in before and before[name] != now[name]:
            print(f"{name}: " + ", ".join(f"{what} {before[name][what]} -> {value}" for what, value in now[name].items()
                                          if before[name].get(what) != value))
    for side, results in (("before", before), ("now", now)):
        print(f"{side:<8}{summary(list(results.values()))}")


def main():
    parser = argparse.ArgumentParser(prog="wrong_forms", description=__doc__.split("\n")[0])
    parser.add_argument("heddle")
    parser.add_argument("--program", help="one program only: also prints its report and what is expected of it")
    parser.add_argument("--compare", metavar="FILE", help="says what changed since that measurement, from --output, without measuring")
    parser.add_argument("--output", default="build/wrong-forms.json", metavar="FILE", help="judgements (default: %(default)s)")
    parser.add_argument("--markdown", action="store_true")
    given = parser.parse_args()
    checker = Checker(given.heddle)
    if given.compare:
        return compare(json.loads(Path(given.compare).read_text()), json.loads(Path(given.output).read_text()))
    programs = checker.programs(GROUPS, right=False)
    if given.program:
        return show(checker, next(p for p in programs if p["name"] == given.program))
    results = {program["name"]: measure(checker, program) for program in programs}
    Path(given.output).write_text(json.dumps(results, indent=1))
    show_table(results, given.markdown)


def show(checker, program):
    with tempfile.TemporaryDirectory(prefix="wrong") as folder:
        print(report_of(checker, program, folder)[1])
    expectation = Expectation(Source(TREE / program["source"]), program["name"])
    print(f"Cause: {expectation.cause}\nRepair: {expectation.repair}\n{json.dumps(measure(checker, program))}")


if __name__ == "__main__":
    main()
