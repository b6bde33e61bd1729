/* search.h - the searches that run user code: classes, enumeration, sampling. In the child of a check. */
#pragma once
#include "worker_shared.h"

/* After the recorded run. Leaves shared->outcome and sets shared->searched, or does neither: then the proof of the record decides. */
void search_run(WorkerShared *shared);
/* An enumeration beside the search that was asked for: the same, and sets shared->enumerated, if it comes to its end, or to a fault. */
void search_states(WorkerShared *shared);
