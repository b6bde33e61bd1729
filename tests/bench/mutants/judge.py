"""Judges a report of a mutant by what is known: the changed line, its semaphores, and the undo.

Cause. Is the changed line, a line of its statement, or a semaphore that the statement counts on named? In turn: by the sentences of the
first fault (headline and why), by its source lines too (`sites`), by any fault or repair. Story and delays do not count.

Repair. Each that the report offers was verified on the whole program. One is graded
  undo     if its diff gives the original text back, but for blanks and comments; or if its edits make the undone change at that place
           (for a dropped wait: a wait before the next step, or behind the last one)
  equal    if it makes the undone change at another place: waits for all of the statement's semaphores where one was dropped, the same
           signal given elsewhere; or if it gives the same steps another slot, device, semaphore or guard (by a diff: of the same line)
  other    if it changes something else: another semaphore for each copy, another count, a capacity semaphore
  mask     if the report itself calls it a mask: a further barrier, or a guarantee of the hardware (a knob)
A mutant's grade is its best repair's. Edits are read where they tell enough, else the words.
"""

import re

GRADES = ("undo", "equal", "other", "mask", "none")
SILENT = ("story", "delays", "schedule", "fingerprint", "id", "function", "chain", "agent", "step", "region", "timeline")


def texts(value, without=()):
    """All strings of a part of the report, with places as file:line; of a semaphore by itself, that something is on it."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [text for part in value for text in texts(part, without)]
    if not isinstance(value, dict):
        return []
    place = [f"{value['file']}:{value['line']}"] if "file" in value and "line" in value else []
    place += [f"on {value['semaphore']}"] if isinstance(value.get("semaphore"), str) else []
    without = (*without, "file", "line", "semaphore")
    return place + [text for key, part in value.items() if key not in without for text in texts(part, without)]


class Repair:
    """As in the report: what was tried, in words, as edits of steps, and as a diff of the source."""

    def __init__(self, told):
        self.words = told["words"]
        self.is_mask = told["kind"] == "mask"
        self.edits = told["edits"]
        self.diff = told["diff"]

    def text(self):
        return " ".join([self.words, *texts(self.edits), *texts(self.diff)])

    def applied(self, text):
        """The text after the diff; lines have the numbers that they had before."""
        lines = text.split("\n")
        for change in sorted(self.diff, key=lambda change: -change["line"]):
            at = change["line"] - 1
            lines[at:at + (change["old"] is not None)] = [] if change["new"] is None else [change["new"]]
        return "\n".join(lines)


def parts(report):
    """Sentences and source lines of the faults, the first first, and the repairs, of the checks that a report has."""
    whys, sites, repairs = [], [], []
    for check in report["checks"]:
        for fault in check["faults"]:
            whys.append(" ".join(texts(fault, SILENT + ("sites",))))
            sites.append(" ".join(texts(fault.get("sites", []), SILENT)))
        repairs += [Repair(told) for told in check.get("repairs", [])]
    return whys, sites, repairs


def names_line(text, mutant):
    return any(re.search(rf"(?:\.c:|\bline |(?<![\w\]]):){line}\b", text) for line in range(mutant.first, mutant.last + 1))


def names_semaphore(text, name):
    """A word of English, such as "done", only where it stands as a semaphore."""
    if "_" in name or " " in name:
        return re.search(rf"\b{re.escape(name)}\b", text) is not None
    return re.search(rf"\b(?:on|own|in) {name}\b|\b{name}\[|\b{name} of (?:device|core)|`{name}\b|\b{name}'s\b", text) is not None


def names_cause(text, mutant):
    return names_line(text, mutant) or any(names_semaphore(text, name) for name in mutant.semaphores)


def plain(text):
    """Without blanks, comments and empty statements."""
    text = re.sub(r"\s+", "", re.sub(r"/\*.*?\*/", "", text, flags=re.S))
    return re.sub(r"(?<=[;{}]);", "", text)


def all_semaphores(text, mutant):
    return bool(mutant.semaphores) and all(names_semaphore(text, name) for name in mutant.semaphores)


def put_in(repair, step):
    """Lines and semaphores where such steps are put in."""
    return [(edit["edit"], edit["line"], re.sub(r" of collective_id \d+$", "", edit["semaphore"] or "")) for edit in repair.edits
            if edit["edit"] in ("before", "after") and edit.get("step", "").startswith(step)]


def is_next_to(mutant, edit, line):
    return line == (mutant.behind if edit == "before" else mutant.before)


def grade_wait(repair, mutant):
    """A wait put in, by itself or behind the start of the copy that was waited for."""
    put = put_in(repair, "wait")
    behind = any(edit["edit"] in ("wait send", "wait receive") and edit["line"] in mutant.descriptor for edit in repair.edits)
    if behind or not put or not set(mutant.semaphores) <= {semaphore for _, _, semaphore in put} or not mutant.semaphores:
        return "equal" if behind else "other"
    return "undo" if all(is_next_to(mutant, edit, line) for edit, line, _ in put) and "except" not in repair.words else "equal"


def grade_drop(repair, mutant):
    """One of two waits left out."""
    dropped = [edit for edit in repair.edits if edit["edit"] == "drop"]
    if not dropped or len(dropped) < len(repair.edits):
        return "other"
    return "undo" if any(mutant.first <= edit["line"] <= mutant.last for edit in dropped) else \
        "equal" if all_semaphores(repair.words, mutant) else "other"


def grade_signal(repair, mutant):
    put = put_in(repair, "signal") + put_in(repair, "flag")
    moved = any(edit["edit"] == "drop" for edit in repair.edits)
    if moved or not put or {semaphore for _, _, semaphore in put} != set(mutant.semaphores) or put_in(repair, "wait"):
        return "other"
    return "undo" if all(is_next_to(mutant, edit, line) for edit, line, _ in put) else "equal"


def grade_moved(repair, mutant):
    """One of the two lines is moved behind or before the other, or at least elsewhere."""
    lines = {mutant.line, mutant.last}
    moved = any(edit["edit"] == "move down" and edit["line"] in lines for edit in repair.edits)
    dropped = any(edit["edit"] == "drop" and edit["line"] in lines for edit in repair.edits)
    put = {edit["line"] for edit in repair.edits if edit["edit"] in ("before", "after")}
    if not moved and not (dropped and put):
        return "other"
    named = {int(number) for number in re.findall(r":(\d+)\b", repair.words)}
    return "undo" if lines <= named or put and put <= lines else "equal"


def grade_count(repair, mutant):
    """The count as it was, where it is a number; else any other count at that line."""
    counts = [edit for edit in repair.edits if edit["edit"] == "count" and mutant.first <= edit["line"] <= mutant.last]
    found = re.search(r"(\d+) instead of", repair.words)
    right = counts and len(counts) == len(repair.edits) and (not mutant.old.isdigit() or found and found[1] == mutant.old)
    return "undo" if right else "other"


def grade_edited(*kinds):
    """Only such edits, of steps at the changed line or of the copies that are described there; a diff must be of that
    line, or start the copy where it is described."""
    def grade(repair, mutant):
        own = range(mutant.first, mutant.last + 1)
        at = {*own, *mutant.descriptor}
        right = repair.edits and all(edit["edit"] in kinds and edit["line"] in at for edit in repair.edits)
        right = right and all(change["line"] in (at if "start" in kinds else own) for change in repair.diff)
        return "equal" if right else "other"
    return grade


GRADE = {
    "drop-wait": grade_wait,
    "double-wait": grade_drop,
    "drop-signal": grade_signal,
    "drop-start": grade_edited("start"),
    "swap-lines": grade_moved,
    "wrong-slot": grade_edited("slot", "refer"),
    "wrong-device": grade_edited("device"),
    "swapped-semaphores": grade_edited("exchange", "refer"),
    "wrong-count": grade_count,
    "off-by-one": grade_edited("guard"),
}


def grade_repair(repair, mutant, source):
    if repair.diff and plain(repair.applied(mutant.text(source))) == plain(source.text):
        return "undo"
    return "mask" if repair.is_mask else GRADE[mutant.kind](repair, mutant)


def judge(report, mutant, source):
    whys, sites, repairs = parts(report)
    faults = [fault["id"] for check in report["checks"] for fault in check["faults"]]
    grades = [grade_repair(repair, mutant, source) for repair in repairs]
    best = min(grades, key=GRADES.index, default="none")
    return {
        "faults": faults,
        "why": names_cause(whys[0], mutant),
        "sites": names_cause(whys[0] + " " + sites[0], mutant),
        "any": names_cause(" ".join(whys + sites + [repair.text() for repair in repairs]), mutant),
        "repair": best,
        "rank": grades.index(best) + 1 if grades else 0,
        "repairs": len(repairs),
        "diffs": sum(bool(repair.diff) for repair in repairs),
    }
