"""A kernel's C file as mutants and judges see it: its functions, who reaches whom, calls, and which semaphores an expression names.

No parser of C: the sources keep to one style, and what is not understood is left alone.
"""

import re
from dataclasses import dataclass
from functools import cached_property

OPEN, CLOSE = "([{", ")]}"
CALL = re.compile(r"\b(pl_\w+)\(")
DESCRIBES = re.compile(r"\bpl_(?:make_)?async_(remote_)?copy\(")


def blank(text):
    """Comments, strings and directives as spaces: positions stay."""
    pattern = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.S)
    return pattern.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)


def end_of(text, begin):
    """Behind the bracket that closes the one at `begin`."""
    depth = 0
    for at in range(begin, len(text)):
        depth += (text[at] in OPEN) - (text[at] in CLOSE)
        if depth == 0:
            return at + 1
    return len(text)


def split(text):
    """Arguments: parts between the commas outside of brackets."""
    parts, depth, begin = [], 0, 0
    for at, letter in enumerate(text):
        depth += (letter in OPEN) - (letter in CLOSE)
        if letter == "," and depth == 0:
            parts.append(text[begin:at].strip())
            begin = at + 1
    return parts + [text[begin:].strip()]


@dataclass(frozen=True)
class Call:
    name: str
    begin: int
    open: int                   # of its bracket
    end: int
    arguments: tuple
    is_statement: bool

    def argument_span(self, text, index):
        """Where an argument stands in the file."""
        begin = self.open + 1
        for part in range(index):
            begin = self._comma(text, begin) + 1
        begin += len(text[begin:]) - len(text[begin:].lstrip())
        return begin, begin + len(self.arguments[index])

    @staticmethod
    def _comma(text, begin):
        depth = 0
        for at in range(begin, len(text)):
            depth += (text[at] in OPEN) - (text[at] in CLOSE)
            if text[at] == "," and depth == 0:
                return at
        return begin


@dataclass(frozen=True)
class Function:
    kind: str                   # KERNEL, PROGRAM, macro or function
    name: str
    parameters: tuple
    header: str
    begin: int                  # of its body
    end: int


class Source:
    def __init__(self, path):
        self.path = path
        self.text = path.read_text()
        self.code = blank(self.text)
        self.functions = list(self._macros()) + list(self._bodies())

    @cached_property
    def line_begins(self):
        return [0] + [found.end() for found in re.finditer("\n", self.text)]

    @cached_property
    def code_lines(self):
        return self.code.split("\n")

    def line_of(self, at):
        return self.code.count("\n", 0, at) + 1

    def _macros(self):
        for found in re.finditer(r"^#define (\w+)(?:\(([^)]*)\))?((?:.*\\\n)*.*)", self.code, re.M):
            yield Function("macro", found[1], tuple(split(found[2] or "")), found[0], found.start(3), found.end(3))

    def _bodies(self):
        code = re.sub(r"^#(?:.*\\\n)*.*", lambda found: re.sub(r"[^\n]", " ", found.group()), self.code, flags=re.M)
        at, begin = 0, 0
        while at < len(code):
            if code[at] == "(":
                at = end_of(code, at)
                rest = code[at:].lstrip()
                if not rest.startswith("{"):            # a declaration, or a macro that makes a kernel
                    yield from self._made(code[begin:at], begin, at)
                    begin = at
            elif code[at] == "{":
                end = end_of(code, at)
                yield from self._function(code[begin:at].strip(), at, end)
                at = begin = end
            elif code[at] == ";":
                at += 1
                begin = at
            else:
                at += 1

    @staticmethod
    def _made(text, begin, end):
        found = re.match(r"\s*([A-Z_]+)\((\w+)", text)
        if found:
            yield Function("KERNEL", found[2], (), "", begin, end)

    @staticmethod
    def _function(header, begin, end):
        found = re.search(r"(\w+)\s*\(", header)
        if not found:
            return
        arguments = split(header[found.end():header.rindex(")")])
        if found[1] in ("KERNEL", "PROGRAM"):
            yield Function(found[1], arguments[0], tuple(arguments[1:]), header, begin, end)
        else:
            names = tuple(re.findall(r"\w+", argument)[-1] if re.findall(r"\w+", argument) else "" for argument in arguments)
            yield Function("function", found[1], names, header, begin, end)

    def named(self, name, programs=False):
        return [f for f in self.functions if f.name == name and (f.kind == "PROGRAM") == programs]

    def reached(self, program):
        """The kernels and helpers that a program runs, in the order of the file."""
        waiting, seen = self.named(program, programs=True), []
        while waiting:
            function = waiting.pop()
            if function in seen:
                continue
            seen.append(function)
            for word in sorted(set(re.findall(r"\w+", self.code[function.begin:function.end]))):
                waiting += self.named(word)
        return sorted((f for f in seen if f.kind != "PROGRAM"), key=lambda f: f.begin)

    def calls(self, begin, end):
        for found in CALL.finditer(self.code, begin, end):
            close = end_of(self.code, found.end() - 1)
            before, after = self.code[:found.start()].rstrip(), self.code[close:].lstrip()
            alone = after.startswith(";") and (before[-1:] in "{};)" or before.endswith("else"))
            yield Call(found[1], found.start(), found.end() - 1, close, tuple(split(self.code[found.end():close - 1])), alone)

    def semaphores(self, call, function, reached):
        """Names of the semaphores or flags that a call counts on, as reports know them."""
        if call.name.startswith(("pl_semaphore_", "pl_flag_", "pl_expect_count")):
            found = self._base(call.arguments[0], function, reached, 4)
        else:
            part = {"pl_copy_wait_send": "send", "pl_copy_wait_recv": "recv"}.get(call.name, "both")
            text = self.code[call.begin:call.end] if DESCRIBES.match(self.code, call.begin) else call.arguments[0]
            found = self._of_copy(text, part, function, reached, 4)
        return found

    def _of_copy(self, text, part, function, reached, depth):
        names = set()
        for made in DESCRIBES.finditer(text):
            arguments = split(text[made.end():end_of(text, made.end() - 1) - 1])
            chosen = arguments[2:4] if made[1] else arguments[2:3]
            if made[1] and part != "both":
                chosen = chosen[:1] if part == "send" else chosen[1:]
            for argument in chosen:
                names |= self._base(argument, function, reached, depth)
        if names or depth == 0:
            return names
        for word in re.findall(r"\w+", text):
            for value in self._assigned(word, function):
                names |= self._of_copy(value, part, function, reached, depth - 1)
            for helper in (f for f in reached if f.name == word and f.kind == "function"):
                names |= self._of_copy(self.code[helper.begin:helper.end], part, helper, reached, 0)
        return names

    def _assigned(self, word, function):
        return re.findall(rf"\b{word}(?:\[[^]]*\])*\s*=\s*([^;=][^;]*)", self.code[function.begin:function.end]) if word != "pl_at" else []

    def base(self, text, function, reached):
        return self._base(text, function, reached, 4)

    def _base(self, text, function, reached, depth):
        """The declared name behind pl_at(ring.recv_sems, step), a variable, or a helper's parameter."""
        text = text.strip()
        if "pl_get_barrier_semaphore" in text:
            return {"barrier semaphore"}
        called = re.match(r"(\w+)\(", text)
        if called and called[1].startswith("pl_"):
            return self._base(split(text[called.end():-1])[0], function, reached, depth)
        if called and depth:
            return set().union(*(self._base(value, f, reached, depth - 1) for f in reached if f.name == called[1]
                                 for value in re.findall(r"\breturn\s+([^;]*)", self.code[f.begin:f.end])))
        name = re.sub(r"\[[^]]*\]", "", text).split(".")[-1].strip()
        if not re.fullmatch(r"\w+", name):
            return set()
        if "." in text:
            return self._members(name, reached) or {name}
        values = [v for v in self._assigned(name, function) if v.startswith("pl_")]
        if values and depth:
            return set().union(*(self._base(value, function, reached, depth - 1) for value in values))
        if function.kind == "function" and name in function.parameters and depth:
            given = self._given(function, function.parameters.index(name), reached, depth)
            return given or {name}
        return {name}

    def _members(self, name, reached):
        """What a member of a struct is initialised with, by its name or by its place."""
        code = "".join(self.code[f.begin:f.end] for f in reached)
        names = set(re.findall(rf"\.{name} = (\w+)\b(?!\()", code)) - {"true", "false"}
        for declared in re.finditer(r"struct \w+ \{([^{}]*)\}", self.code):
            members = re.findall(r"(\w+)\s*(?:\[[^]]*\])?\s*[,;]", declared[1])
            if name in members:
                for given in re.findall(r"\{((?:\s*\w+\s*,)*\s*\w+\s*)\}", code):
                    values = split(given)
                    names |= {values[members.index(name)]} if len(values) == len(members) else set()
        return names

    def _given(self, function, index, reached, depth):
        names = set()
        for caller in reached:
            for found in re.finditer(rf"\b{function.name}\(", self.code[caller.begin:caller.end]):
                begin = caller.begin + found.end()
                arguments = split(self.code[begin:end_of(self.code, begin - 1) - 1])
                if index < len(arguments):
                    names |= self._base(arguments[index], caller, reached, depth - 1)
        return names
