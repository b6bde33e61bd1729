/* results.h - the final arrays of a checked run, for tools that compare them with another implementation.
 *
 *     one line of JSON:  { "format": "heddle-results", "version": 1, "program", "devices",
 *                          "arrays": [ { "name", "type", "shape", "input", "units", "opaque" } ] }
 *     then, for each array that is not opaque, for each unit: its elements, little-endian; one byte an element, whether it was written
 *
 * One such block for each check. Arrays are pl_input and pl_output, in order of declaration; a unit is a device, or a core for VMEM and
 * SMEM. Values are those of the first run of a check: a faulty program may compute others.
 */
#pragma once
#include "../../model/machine.h"

void results_gather(Machine *machine, Store *out);              /* of bytes */
