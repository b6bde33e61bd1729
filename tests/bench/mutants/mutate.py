"""One-line mistakes made in right kernels, each with its true repair: the line as it was.

A mutant is made in the kernels and helpers that a right program runs, not in what declares it or says what it should compute. Lines keep
their numbers.
"""

import re
from dataclasses import dataclass

from source import DESCRIBES, end_of

WAITS = ("pl_copy_wait", "pl_copy_wait_send", "pl_copy_wait_recv", "pl_semaphore_wait", "pl_flag_wait")
SIGNALS = ("pl_semaphore_signal", "pl_flag_store", "pl_flag_add")
STARTS = ("pl_copy_start", "pl_async_copy", "pl_async_remote_copy")
EFFECTS = WAITS + SIGNALS + STARTS + ("pl_load", "pl_store", "pl_load_int", "pl_core_barrier")
KINDS = ("drop-wait", "double-wait", "drop-signal", "drop-start", "swap-lines", "wrong-slot", "wrong-device", "swapped-semaphores",
         "wrong-count", "off-by-one")
OTHER_SIDE = {"left": "right", "right": "left", "up": "down", "down": "up", "next": "previous", "previous": "next"}
OTHER_BOUND = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}


@dataclass(frozen=True)
class Mutant:
    id: str
    program: str
    path: object
    kind: str
    line: int
    first: int                  # of the mutated statement
    last: int
    begin: int                  # text[begin:end] was `old` and becomes `new`
    end: int
    new: str
    old: str
    semaphores: tuple
    descriptor: tuple           # lines where the copy of a wait or start is described or started
    before: int                 # lines of the statements around it
    behind: int

    def text(self, source):
        return source.text[:self.begin] + self.new + source.text[self.end:]


class Mutator:
    """All mutants of one right program."""

    def __init__(self, source, program):
        self.source, self.program, self.found, self.reached = source, program, [], source.reached(program)

    def mutants(self):
        for function in self.reached:
            if function.kind == "macro" or re.match(r"(?:static )?double\b", function.header):
                continue
            self.function = function
            for call in self.source.calls(function.begin, function.end):
                for kind in (self.drop, self.double, self.slot, self.device, self.semaphores, self.count):
                    kind(call)
            self.bounds()
            self.swaps()
        return self.numbered()

    def numbered(self):
        """IDs stay when other functions change: they count lines from the function's first."""
        seen, out = {}, []
        for kind, begin, end, new, call in sorted(self.found, key=lambda m: (m[1], KINDS.index(m[0]), m[3])):
            line = self.source.line_of(begin)
            within = next(f for f in self.reached if f.begin <= begin < f.end)
            name = f"{self.program}:{within.name}+{line - self.source.line_of(within.begin)}:{kind}"
            seen[name] = seen.get(name, 0) + 1
            first, last = self.statement(begin, end)
            names, lines = self.about(kind, call, begin, end)
            number = f".{seen[name]}" if seen[name] > 1 else ""
            out.append(Mutant(name + number, self.program, self.source.path, kind, line, first, last, begin, end, new,
                              self.source.text[begin:end], names, lines, *self.around(first, last)))
        return out

    def around(self, first, last):
        does = [self.source.line_of(call.begin) for f in self.reached for call in self.source.calls(f.begin, f.end) if call.name in EFFECTS]
        return max((line for line in does if line < first), default=0), min((line for line in does if line > last), default=0)

    def statement(self, begin, end):
        code = self.source.code
        last, before = code.find(";", end - 1), max(code.rfind(mark, 0, begin) for mark in ";{}")
        first = before + 1 + len(code[before + 1:]) - len(code[before + 1:].lstrip())
        last = last if last >= 0 and "{" not in code[end:last] else 0
        return self.source.line_of(min(first, begin)), self.source.line_of(max(end - 1, last))

    def about(self, kind, call, begin, end):
        """Semaphores of what is mutated, and the lines where its copies are described. A wrong slot of data is not about a semaphore."""
        function = next(f for f in self.reached if f.begin <= begin < f.end and f.kind != "macro")
        first, last = self.statement(begin, end)
        calls = [call] if call else list(self.source.calls(self.source.line_begins[first - 1], self.source.line_begins[last]))
        names, lines = set(), set()
        for one in calls:
            if one.name in WAITS + SIGNALS + ("pl_copy_start",) or DESCRIBES.match(self.source.code, one.begin):
                names |= self.source.semaphores(one, function, self.reached)
                lines |= self.described(one, function)
        if kind == "wrong-slot":
            names &= self.source.base(self.indexed(begin), function, self.reached)
        return (() if kind == "off-by-one" else tuple(sorted(names))), tuple(sorted(lines))

    def indexed(self, at):
        """What the pl_at around a position is of; a pl_ds is of data."""
        around = [call for call in self.source.calls(0, at) if call.end > at and call.name in ("pl_at", "pl_ds")]
        return around[-1].arguments[0] if around and around[-1].name == "pl_at" else ""

    def described(self, call, function):
        """Of a variable, where it is described, started and waited for; of a descriptor that only waits, all copies on its semaphores."""
        code, assigned = self.source.code, None
        if DESCRIBES.match(code, call.begin):
            line = code[code.rindex("\n", 0, call.begin) + 1:call.begin]
            assigned = re.search(r"(\w+)(?:\[[^]]*\])*\s*=[^=]*$", line)
        word = assigned or re.match(r"(\w+)(?:\[[^]]*\])*$", call.arguments[0])
        if not word:
            names = self.source.semaphores(call, function, self.reached)
            made = [(one, f) for f in self.reached if f.kind != "macro" for one in self.source.calls(f.begin, f.end)
                    if DESCRIBES.match(self.source.code, one.begin) or one.name == "pl_copy_start"]
            return {self.source.line_of(one.begin) for one, f in made if self.source.semaphores(one, f, self.reached) & names}
        pattern = rf"\b{word[1]}(?:\[[^]]*\])*\s*=[^;]*?\bpl_(?:make_)?async_|\bpl_copy_(?:start|wait\w*)\({word[1]}\b"
        body = self.source.code[function.begin:function.end]
        return {self.source.line_of(function.begin + found.end()) for found in re.finditer(pattern, body)}

    def add(self, kind, begin, end, new, call):
        new += "\n" * (self.source.text.count("\n", begin, end) - new.count("\n"))
        self.found.append((kind, begin, end, new, call))

    def change(self, kind, call, index, new):
        self.add(kind, *call.argument_span(self.source.code, index), new, self.owner(call))

    def owner(self, call):
        """The statement's call around an argument such as pl_at(sems, i): None, all of the line."""
        return call if call.name in WAITS + SIGNALS else None

    def drop(self, call):
        kind = "drop-wait" if call.name in WAITS else "drop-signal" if call.name in SIGNALS else "drop-start"
        if call.is_statement and call.name in WAITS + SIGNALS + ("pl_copy_start",):
            starts = re.match(r"pl_async_", call.arguments[0])
            self.add(kind, call.begin, call.end, call.arguments[0] if starts else "", call)
        elif call.name in ("pl_async_copy", "pl_async_remote_copy"):
            self.add(kind, call.begin, call.open, call.name.replace("pl_async", "pl_make_async"), call)

    def double(self, call):
        if call.is_statement and call.name in WAITS and not re.match(r"pl_async_", call.arguments[0]):
            whole = self.source.text[call.begin:call.end]
            self.add("double-wait", call.begin, call.end, f"{{ {whole}; {whole}; }}", call)

    def slot(self, call):
        if call.name == "pl_at":
            index = next((i for i, part in enumerate(call.arguments) if i and not part.startswith("pl_ds")), None)
            if index:
                part = call.arguments[index]
                self.change("wrong-slot", call, index, f"({part}) + 1")
                if part != "0":
                    self.change("wrong-slot", call, index, f"({part}) - 1")
        if call.name == "pl_ds":
            self.change("wrong-slot", call, 0, f"({call.arguments[0]}) + 1")

    def device(self, call):
        if call.name == "pl_device":
            part = call.arguments[0]
            if part in OTHER_SIDE and re.search(rf"\b{OTHER_SIDE[part]}\s*=", self.source.code[self.function.begin:self.function.end]):
                self.change("wrong-device", call, 0, OTHER_SIDE[part])
            else:
                self.change("wrong-device", call, 0, f"({part} + 1) % pl_num_devices()")
            self.change("wrong-device", call, 0, "pl_device_id()")
        last = len(call.arguments) - 1
        if call.name in SIGNALS and last == 2 and re.fullmatch(r"\w+", call.arguments[last]) and call.arguments[last] != "PL_OWN":
            self.change("wrong-device", call, last, "PL_OWN")

    def semaphores(self, call):
        if DESCRIBES.match(self.source.code, call.begin) and len(call.arguments) >= 5:
            begin, _ = call.argument_span(self.source.code, 2)
            _, end = call.argument_span(self.source.code, 3)
            self.add("swapped-semaphores", begin, end, f"{call.arguments[3]}, {call.arguments[2]}", call)
        if call.name in ("pl_semaphore_wait", "pl_semaphore_signal", "pl_flag_wait", "pl_flag_store"):
            family = call.name.rsplit("_", 1)[0]
            others = {c.arguments[0] for c in self.source.calls(self.function.begin, self.function.end) if c.name.startswith(family)}
            others = sorted(name for name in others - {call.arguments[0]} if re.fullmatch(r"[\w.]+", name))
            if others:
                self.change("swapped-semaphores", call, 0, others[0])

    def count(self, call):
        if call.name in ("pl_semaphore_wait", "pl_semaphore_signal", "pl_flag_store", "pl_flag_wait"):
            index = 2 if call.name == "pl_flag_wait" else 1
            part = call.arguments[index]
            self.change("wrong-count", call, index, f"{part} + 1")
            if part not in ("0", "1"):
                self.change("wrong-count", call, index, f"{part} - 1")

    def bounds(self):
        code = self.source.code
        for head in re.finditer(r"\b(?:for|if|while) \(", code[self.function.begin:self.function.end]):
            begin = self.function.begin + head.end() - 1
            for found in re.finditer(r" (<=|>=|<|>) ", code[begin:end_of(code, begin)]):
                at = begin + found.start(1)
                self.add("off-by-one", at, at + len(found[1]), OTHER_BOUND[found[1]], None)

    def swaps(self):
        """Adjacent lines, each one statement that does something; declarations in a wrong order do not compile."""
        first, last = self.source.line_of(self.function.begin), self.source.line_of(self.function.end)
        for number in range(first, last):
            here, there = self.source.code_lines[number - 1:number + 1]
            declared = re.match(r"\s*\w+ (\w+)(?:\[.*\])? =", here)
            if declared and re.search(rf"\b{declared[1]}\b", there):
                continue
            alone = self.stands_alone(here) and self.stands_alone(there) and self.indent(here) == self.indent(there)
            if alone and here.strip() != there.strip():
                begin = self.source.line_begins[number - 1]
                middle, end = self.source.line_begins[number], self.source.line_begins[number + 1] - 1
                self.add("swap-lines", begin, end, self.source.text[middle:end] + "\n" + self.source.text[begin:middle - 1], None)

    @staticmethod
    def indent(line):
        return len(line) - len(line.lstrip())

    @staticmethod
    def stands_alone(line):
        text = line.strip()
        return text.endswith(";") and text.count("(") == text.count(")") and any(f"{name}(" in text for name in EFFECTS) \
            and not re.match(r"(for|if|while|else|return)\b", text)
