# heddle.gdb - what `heddle replay FILE --gdb` tells gdb: stop where the schedule has led to the fault; list the cores; show the stack of one.
set pagination off
set breakpoint pending on
python
import gdb

def pool():
    frame = gdb.newest_frame()
    while frame is not None and frame.name() != "execution_stands_at_fault":
        frame = frame.older()
    if frame is None:
        raise gdb.GdbError("only where the run has stopped at the fault")
    return frame.read_var("execution")["pool"]

class Cores(gdb.Command):
    """heddle-cores: every core, and whether it has ended."""
    def __init__(self):
        super().__init__("heddle-cores", gdb.COMMAND_STACK)
    def invoke(self, argument, from_terminal):
        cores = pool()
        for i in range(int(cores["slots"])):
            print("core %d: %s" % (i, "has ended" if cores["coro"][i]["done"] else "heddle-core %d shows its stack" % i))

class Core(gdb.Command):
    """heddle-core N: the stack of core N, from its next operation down to its entry."""
    def __init__(self):
        super().__init__("heddle-core", gdb.COMMAND_STACK)
    def invoke(self, argument, from_terminal):
        cores = pool()
        n = int(argument or 0)
        if not 0 <= n < int(cores["slots"]) or cores["coro"][n]["done"]:
            raise gdb.GdbError("no core %d, or it has ended" % n)
        word = gdb.lookup_type("unsigned long").pointer()
        saved = cores["coro"][n]["stack_pointer"].cast(word)
        # As coro_switch left it on x86-64: control words, r15, r14, r13, r12, rbx, rbp, return address.
        names = ["r15", "r14", "r13", "r12", "rbx", "rbp", "rip"]
        values = {name: int(saved[i + 1]) for i, name in enumerate(names)}
        values["rsp"] = int(saved) + 8 * 8
        before = {name: int(gdb.parse_and_eval("(unsigned long)$" + name)) for name in values}
        gdb.newest_frame().select()
        try:
            for name, value in values.items():
                gdb.execute("set $%s = %d" % (name, value), to_string=True)
            gdb.execute("backtrace")
        finally:
            for name, value in before.items():
                gdb.execute("set $%s = %d" % (name, value), to_string=True)

Cores()
Core()
end
break execution_stands_at_fault
run
