/* schema.h - the JSON schema of heddle-report (format JSON of output.h), with the words of the tables in it. */
#pragma once
#include <glib.h>

void schema_append_to(GString *out);
