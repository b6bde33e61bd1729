# tidy.awk - style as a test: layers, include order, reserved names, lengths. Called by `make tidy` with all sources; LAYERS, the list of
# who may include whom, comes from the Makefile through the environment.

BEGIN {
    line_max = 140; function_max = 70; source_max = 600; header_max = 120
    longer["model/program.h"] = 168             # a ratchet: may only go down
    count = split(ENVIRON["LAYERS"], row, "\n")
    for (i = 1; i <= count; i++) {
        split(row[i], half, ":")
        gsub(/ +/, "", half[1])
        allowed[half[1]] = half[2]
    }
}

function complain(line, text) { printf "%s:%d: %s\n", FILENAME, line, text; bad++ }

# The folder of a path, and that path without "x/../".
function folder(path) { sub(/\/?[^\/]*$/, "", path); return path }
function simplify(path) { while (sub(/[^\/.]+\/\.\.\//, "", path)) ; return path }

# The longest entry of the layers that covers a path: the file itself, its folder, or a folder above.
function layer_of(path) { while (path != "" && !(path in allowed)) path = folder(path); return path }

function may_include(from, to,    word, words, i, best) {
    words = split(allowed[layer_of(from)], word, " ")
    for (i = 1; i <= words; i++)
        if (to == word[i] || index(to, word[i] "/") == 1)
            best = 1
    return best
}

# The own header first; a run of lines of one kind, <> or "", in alphabetical order. Headers order as they need.
function check_include(name,    target, own, kind) {
    kind = substr(name, 1, 1)
    own = FILENAME; sub(/.*\//, "", own); sub(/\.c$/, ".h", own)
    if (kind != run_kind || FNR != run_line + 1) run_name = ""
    if (is_source && name == "\"" own "\"" && includes) complain(FNR, "the own header comes first")
    if (is_source && name != "\"" own "\"") {
        if (name < run_name) complain(FNR, "includes in alphabetical order")
        run_name = name
    }
    run_kind = kind; run_line = FNR; includes++
    if (kind == "<" && name !~ /^<heddle\//) return
    gsub(/["<>]/, "", name)
    target = simplify((name ~ /^heddle\// ? "kernels" : folder(FILENAME)) "/" name)
    if (!may_include(FILENAME, target)) complain(FNR, "layers: " layer_of(FILENAME) " must not include " target)
    note_use(module(FILENAME), module(target))
}

# A module is a file with its header (x_inside.h is what its parts share). Modules that use each other in a circle have no order.
function module(path) { sub(/(_inside)?\.[ch]$/, "", path); return path }
function note_use(from, to) { if (from != to && from !~ /^tests/ && !((from, to) in used)) { used[from, to]; uses[from] = uses[from] " " to } }

# Depth first; path: the modules on the way. State 1: on the way, 2: done with.
function find_circle(at, path,    next_one, count, i) {
    state[at] = 1
    count = split(uses[at], next_one, " ")
    for (i = 1; i <= count; i++)
        if (next_one[i] in state && state[next_one[i]] == 1)
            printf "%s: modules use each other in a circle:%s %s\n", at, path, next_one[i], bad++
        else if (!(next_one[i] in state))
            find_circle(next_one[i], path " " next_one[i])
    state[at] = 2
}

function find_circles(    at) { for (at in uses) if (!(at in state)) find_circle(at, " " at) }

function finish_file() {
    if (last_file == "") return
    limit = last_file in longer ? longer[last_file] : last_file ~ /\.h$/ ? header_max : source_max
    if (lines > limit)
        printf "%s:%d: too long a file, split it by topic\n", last_file, lines, bad++
}

FNR == 1 {
    finish_file()
    last_file = FILENAME; is_source = FILENAME ~ /\.c$/
    includes = start = run_line = 0; run_kind = run_name = ""
    base = FILENAME; sub(/.*\//, "", base)
    if (index($0, "/* " base " - ") != 1 && index($0, "/* heddle/" base " - ") != 1)
        complain(1, "begins with /* " base " - what it is")
}
{ lines = FNR }
length($0) > line_max { complain(FNR, "longer than " line_max " characters") }
/\t/ { complain(FNR, "a tab") }
/[ ]$/ { complain(FNR, "space at the end") }
/TODO|FIXME|XXX/ && !/XXXXXX/ { complain(FNR, "unfinished business") }
/^#include/ { check_include($2) }
/^typedef .*[^A-Za-z0-9_][a-z0-9_]+_t;/ || /^} [a-z0-9_]+_t;/ { complain(FNR, "_t belongs to POSIX") }
/^[a-z].*[ *](sem|sched|clock|time)_[a-z_]+\(/ { complain(FNR, "this prefix belongs to POSIX") }
/^\{/ { start = FNR }
/^}/ && start { if (FNR - start + 2 > function_max) complain(start, "a function of " FNR - start + 2 " lines"); start = 0 }

END { finish_file(); find_circles(); if (bad) { printf "tidy: %d complaint%s\n", bad, bad == 1 ? "" : "s"; exit 1 } print "tidy: nothing to complain about" }
