"""Judges a report of a mutant by what is known: the changed line, its semaphores, and the undo.

Cause. Is the changed line, a line of its statement, or a semaphore that the statement counts on named? In turn: by the sentences of the
first fault (headline and why), by its source lines too (`sites`), by any fault or repair. Story and delays do not count.

Repair. The sentences that name a change which was tried, without knobs and sizes. One is graded
  undo     if it says the old text of the line, or makes the same change at that place (for a dropped wait: before the next step)
  equal    if it makes the same change at another place: a wait for all of the statement's semaphores where one was dropped, the same
           signal given elsewhere. Every repair was verified on the whole program, so it does what the dropped line did.
  other    if it changes something else: another semaphore for each copy, another count, a capacity semaphore
  mask     if it is a barrier that the program never had, or a guarantee of the hardware (a knob)
A mutant's grade is its best repair's.
"""

import re

GRADES = ("undo", "equal", "other", "mask", "none")
SILENT = ("story", "delays", "schedule", "fingerprint", "id", "function", "chain", "agent", "step", "region", "timeline")


def texts(value, without=()):
    """All strings of a part of the report, with places as file:line."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [text for part in value for text in texts(part, without)]
    if not isinstance(value, dict):
        return []
    place = [f"{value['file']}:{value['line']}"] if "file" in value and "line" in value else []
    without = (*without, "file", "line")
    return place + [text for key, part in value.items() if key not in without for text in texts(part, without)]


def parts(report):
    """Sentences and source lines of the faults, the first first, and the repairs, of the checks that a report has."""
    whys, sites, repairs = [], [], []
    for check in report["checks"]:
        for fault in check["faults"]:
            whys.append(" ".join(texts(fault, SILENT + ("sites", "repairs"))))
            sites.append(" ".join(texts(fault.get("sites", []), SILENT)))
            repairs += sentences(fault.get("repairs", []))
        repairs += sentences(check.get("repairs", [])) + sentences(check.get("tried", []))
    return whys, sites, [repair for repair in dict.fromkeys(repairs) if not re.match(r"(right with|the smallest wrong size)\b", repair)]


def sentences(value):
    return [" ".join(texts(part)) for part in value]


def names_line(text, mutant):
    return any(re.search(rf"(?:\.c:|\bline |(?<![\w\]]):){line}\b", text) for line in range(mutant.line, mutant.last + 1))


def names_semaphore(text, name):
    """A word of English, such as "done", only where it stands as a semaphore."""
    if "_" in name or " " in name:
        return re.search(rf"\b{re.escape(name)}\b", text) is not None
    return re.search(rf"\b(?:on|own|in) {name}\b|\b{name}\[|\b{name} of (?:device|core)|`{name}\b|\b{name}'s\b", text) is not None


def names_cause(text, mutant):
    return names_line(text, mutant) or any(names_semaphore(text, name) for name in mutant.semaphores)


def is_knob(repair):
    return repair.startswith("right only if")


def is_barrier(repair):
    return "barrier of all devices" in repair or "second barrier" in repair


def says_old(repair, mutant):
    """The line as it was, or the part of it that was changed, as in "`new` -> `old`"."""
    squeezed = re.sub(r"\s+", "", repair)
    part, new = (re.sub(r"\s+", "", text) for text in (mutant.old, mutant.new))
    return len(part) > 12 and part in squeezed or (f"`{part}`" in squeezed and f"`{new}`" in squeezed)


def all_semaphores(repair, mutant):
    return mutant.semaphores and all(names_semaphore(repair, name) for name in mutant.semaphores)


def grade_wait(repair, mutant):
    """A wait put in: at a named place, at the end, or behind the start of the copy that was waited for."""
    behind_start = re.search(r"\bwait(?:_recv|_send)? right after the start of the copy at \S*?:(\d+)", repair)
    if behind_start:
        return "equal" if int(behind_start[1]) in mutant.descriptor else "other"
    if not re.search(r"\ba wait (?:for|on)\b", repair) or "instead of" in repair or not all_semaphores(repair, mutant):
        return "other"
    return "undo" if re.search(rf" before \S*?:{mutant.behind}\b(?!.*except)", repair) else "equal"


def grade_drop(repair, mutant):
    """One of two waits left out."""
    drops = re.search(r"\b(without|dropped|left out|leave out|removed|one of the two)\b", repair)
    if not drops or not re.search(r"\bwait", repair):
        return "other"
    return "undo" if names_line(repair, mutant) else "equal" if all_semaphores(repair, mutant) else "other"


def grade_signal(repair, mutant):
    gives = re.search(r"\b(?:a|one more|the missing) (?:signal|store)\b", repair) and not re.search(r"capacity|moved", repair)
    if not gives or not all_semaphores(repair, mutant):
        return "other"
    return "undo" if re.search(rf":(?:{mutant.line}|{mutant.behind}|{mutant.before})\b", repair) else "equal"


def grade_start(repair, mutant):
    gives = re.search(r"\bstart(?:ed|s|ing)?\b", repair) and "right after the start" not in repair and "after the start of" not in repair
    at = [mutant.line, mutant.behind, *mutant.descriptor]
    return "undo" if gives and re.search(rf":(?:{'|'.join(map(str, at))})\b", repair) else "other"


def grade_moved(repair, mutant):
    return "undo" if "moved" in repair and len(set(re.findall(r":(\d+)\b", repair)) & {str(mutant.line), str(mutant.last)}) == 2 else \
        "equal" if "moved" in repair and names_line(repair, mutant) else "other"


def grade_place(word):
    """The same line is given another index, device, semaphore or count."""
    def grade(repair, mutant):
        right = re.search(word, repair) and names_line(repair, mutant) and not re.search(r"moved|capacity|right after", repair)
        return "undo" if right else "other"
    return grade


def grade_count(repair, mutant):
    """The count as it was, where it is a number; else any other count at that line."""
    found = re.search(r"(?:wait for|signal(?:s)? of|signal|store) (\d+) instead of", repair)
    right = found and (not mutant.old.isdigit() or found[1] == mutant.old)
    return "undo" if right and names_line(repair, mutant) else "other"


GRADE = {
    "drop-wait": grade_wait,
    "double-wait": grade_drop,
    "drop-signal": grade_signal,
    "drop-start": grade_start,
    "swap-lines": grade_moved,
    "wrong-slot": grade_place(r"\b(slot|element|index|row)\b|\["),
    "wrong-device": grade_place(r"\b(to|at|on) (?:the )?(device|left|right|neighbour|partner|own)"),
    "swapped-semaphores": grade_place(r"exchanged|swapped|instead of"),
    "wrong-count": grade_count,
    "off-by-one": grade_place(r"\b(bound|guard|round|iteration|while|condition)"),
}


def grade_repair(repair, mutant):
    if is_knob(repair):
        return "mask"
    if says_old(repair, mutant):
        return "undo"
    grade = GRADE[mutant.kind](repair, mutant)
    return "mask" if grade == "other" and is_barrier(repair) else grade


def judge(report, mutant):
    whys, sites, repairs = parts(report)
    faults = [fault["id"] for check in report["checks"] for fault in check["faults"]]
    grades = [grade_repair(repair, mutant) for repair in repairs]
    best = min(grades, key=GRADES.index, default="none")
    return {
        "faults": faults,
        "why": names_cause(whys[0], mutant),
        "sites": names_cause(whys[0] + " " + sites[0], mutant),
        "any": names_cause(" ".join(whys + sites + repairs), mutant),
        "repair": best,
        "rank": grades.index(best) + 1 if grades else 0,
        "repairs": len(repairs),
    }
