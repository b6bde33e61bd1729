/* pool_inside.h - jobs and workers, for pool.c and the test of its invariants. */
#pragma once
#include <glib.h>
#include "../../model/store.h"
#include "pool.h"

typedef struct Job {
    uint64_t number;
    GBytes *request;
    bool answered;
    PoolAnswer answer;
} Job;

typedef struct PoolWorker {
    pid_t pid;
    int socket;                                 /* -1: no process */
    Job *job;                                   /* that it works on; NULL: idle */
} PoolWorker;

struct Pool {
    PoolWork work;
    unsigned workers;
    PoolWorker *worker;
    Store controls;                             /* ChildControl, one a worker */
    GQueue order, waiting;                      /* of Job: all that are not taken; those that no worker has yet */
    uint64_t given;
};

void pool_assert_sane(const Pool *pool);
