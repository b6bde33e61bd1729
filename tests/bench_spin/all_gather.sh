#!/bin/sh
# Writes a Promela model of the ring all-gather for N devices: the same steps as shape_all_gather, one state for one state.
#
# One process, so that SPIN stores no process table to speak of, and one loop whose options are the steps of all devices and copies. Counts
# are derived from what was done, as in our own states, and everything is a bit field: the smallest vector that we found. Per device: its
# position (copy start, wait_send, wait_recv of each step), whether its latest copy was read, and which of its copies were written.
set -eu
devices=$1
steps=$((devices - 1))
bits=1
while [ $((1 << bits)) -le $((3 * steps)) ]; do bits=$((bits + 1)); done

echo "/* ring all-gather of $devices devices */"
d=0
while [ "$d" -lt "$devices" ]; do
    echo "unsigned at$d : $bits;"
    echo "unsigned read$d : 1;"
    echo "unsigned written$d : $steps;"
    d=$((d + 1))
done
echo 'active proctype all()'
echo '{'
echo 'end:'
echo '    do'
d=0
while [ "$d" -lt "$devices" ]; do
    left=$(((d + devices - 1) % devices))
    s=0
    while [ "$s" -lt "$steps" ]; do
        start=$((3 * s))
        bit=$((1 << s))
        echo "    :: d_step { at$d == $start -> at$d = $((start + 1)); read$d = 0 }"
        echo "    :: d_step { at$d == $((start + 1)) && read$d -> at$d = $((start + 2)) }"
        echo "    :: d_step { at$d == $((start + 2)) && (written$left & $bit) -> at$d = $((start + 3)) }"
        echo "    :: d_step { at$d == $((start + 1)) && !read$d -> read$d = 1 }"
        # The write of copy s needs its read: the latest copy may be unread, all before it were waited for.
        echo "    :: d_step { !(written$d & $bit) && (at$d > $((start + 1)) || (at$d == $((start + 1)) && read$d)) -> written$d = written$d | $bit }"
        s=$((s + 1))
    done
    d=$((d + 1))
done
echo '    od'
echo '}'
