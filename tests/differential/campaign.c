/* campaign.c - each process takes every n-th seed and reports through a pipe what it counted. */
#include "campaign.h"
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../support/random_rotate.h"

enum { PROCESSES_MAX = 8, SHOWN_MAX = 3 };

typedef struct Share { DifferentialStats stats; uint64_t differ; } Share;

typedef struct Campaign {
    uint64_t first, programs, step;
    double seconds;
    unsigned operations;
    CampaignMix mix;
} Campaign;

uint32_t campaign_features(uint64_t seed, CampaignMix mix)
{
    static const RandomFeature ORDER[] = { 0, 0, RANDOM_LINK_FIFO, RANDOM_ISSUE_ORDER };
    static const uint32_t WILD[] = { RANDOM_DATA, RANDOM_CONFLICTS, RANDOM_STOPS, RANDOM_HOST, RANDOM_FLAGS, RANDOM_STOPS | RANDOM_DATA };
    static const uint32_t CONFLICTS[] = { RANDOM_CONFLICTS, RANDOM_CONFLICTS, RANDOM_FLAGS, RANDOM_CONFLICTS | RANDOM_FLAGS,
                                          RANDOM_CONFLICTS | RANDOM_DATA, RANDOM_CONFLICTS | RANDOM_STOPS, RANDOM_FLAGS | RANDOM_HOST };
    static const RandomFeature PLAIN[] = { RANDOM_CORES, RANDOM_BARRIERS, RANDOM_LAUNCHES, RANDOM_SCOPES, RANDOM_KEEP, RANDOM_ZERO,
                                           RANDOM_REGULAR, RANDOM_MISMATCH, RANDOM_LIMITS, RANDOM_STRICT };
    Rng rng;
    rng_init(&rng, seed ^ 0xfea7);
    uint32_t features = rng_below(&rng, 8) ? RANDOM_TIDY : 0;
    for (size_t i = 0; i < G_N_ELEMENTS(PLAIN); i++)
        if (rng_below(&rng, 3) == 0)
            features |= PLAIN[i];
    features |= ORDER[rng_below(&rng, G_N_ELEMENTS(ORDER))];
    features |= rng_below(&rng, 2) ? RANDOM_FLUID : 0;
    if (mix == CAMPAIGN_WILD)
        features |= WILD[rng_below(&rng, G_N_ELEMENTS(WILD))];
    if (mix == CAMPAIGN_EXEMPT)
        features |= RANDOM_EXEMPT | (rng_below(&rng, 2) ? RANDOM_DATA : rng_below(&rng, 4) == 0 ? RANDOM_CONFLICTS : 0);
    if (mix == CAMPAIGN_CONFLICTS)
        features |= CONFLICTS[rng_below(&rng, G_N_ELEMENTS(CONFLICTS))];
    if (mix == CAMPAIGN_ROTATED)
        features |= rng_below(&rng, 3) ? 0 : RANDOM_CONFLICTS;
    return features;
}

static void add_stats(DifferentialStats *sum, const DifferentialStats *share)
{
    uint64_t *to = (uint64_t *)sum;
    const uint64_t *from = (const uint64_t *)share;
    for (size_t i = 0; i < sizeof *sum / sizeof *to; i++)
        to[i] += from[i];
}

static void work(const Campaign *campaign, uint64_t offset, Share *share)
{
    const DifferentialOptions options = { .states_max = 20000 };
    gint64 end = g_get_monotonic_time() + (gint64)(campaign->seconds * 1e6);
    for (uint64_t i = offset; i < campaign->programs; i += campaign->step) {
        if (campaign->seconds > 0 && g_get_monotonic_time() > end)
            break;
        uint64_t seed = campaign->first + i;
        RandomProgram random;
        random_generate(&random, seed, campaign_features(seed, campaign->mix), campaign->operations);
        if (campaign->mix == CAMPAIGN_ROTATED && !random_rotate(&random))
            continue;
        if (campaign->mix == CAMPAIGN_ROTATED && seed / 2 % 3 == 0)
            random_disturb(&random);
        g_autofree char *difference = differential_compare(&random, &options, &share->stats);
        if (difference == NULL)
            continue;
        if (share->differ++ < SHOWN_MAX) {
            g_autofree char *report = differential_report(&random, &options, difference);
            printf("\n%s\n", report);
            fflush(stdout);
        }
    }
}

static void summarise(const Campaign *campaign, const Share *sum, double seconds)
{
    const DifferentialStats *stats = &sum->stats;
    const struct { uint64_t number; const char *what; } line[] = {
        { stats->programs, "programs" }, { stats->skipped, "too large" }, { sum->differ, "differ" }, { stats->verified, "right" },
        { stats->bounded, "bounded" }, { stats->brute, "by brute force too" },
        { stats->conflicts, "with conflicts" }, { stats->rotated, "with and without symmetry" }, { stats->states, "states" },
        { stats->workers, "by other workers" }, { stats->resumed, "resumed" },
        { stats->marked, "with racing values followed" },
        { stats->ordered, "found again under a stricter order of copies" },
    };
    printf("seeds from %" G_GUINT64_FORMAT ":", campaign->first);
    for (size_t i = 0; i < G_N_ELEMENTS(line); i++)
        printf(" %" G_GUINT64_FORMAT " %s,", line[i].number, line[i].what);
    printf(" %.1f s\n ", seconds);
    for (unsigned f = 0; f < FAULT_COUNT; f++)
        if (stats->found[f] > 0)
            printf(" %s %" G_GUINT64_FORMAT, fault_name(f), stats->found[f]);
    printf("\n");
    fflush(stdout);
}

bool campaign_run(uint64_t first, uint64_t programs, double seconds, unsigned operations, CampaignMix mix, DifferentialStats *stats)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned processes = (unsigned)CLAMP(processors, 1, PROCESSES_MAX);
    const Campaign campaign = { first, programs, processes, seconds, operations, mix };
    gint64 start = g_get_monotonic_time();
    int pipes[PROCESSES_MAX][2];
    pid_t child[PROCESSES_MAX];
    fflush(stdout);
    for (unsigned p = 0; p < processes; p++) {
        g_assert(pipe(pipes[p]) == 0);
        child[p] = fork();
        g_assert(child[p] >= 0);
        if (child[p] == 0) {
            Share share = { 0 };
            work(&campaign, p, &share);
            bool told = write(pipes[p][1], &share, sizeof share) == sizeof share;
            _exit(told ? 0 : 1);
        }
        close(pipes[p][1]);
    }
    Share sum = { 0 };
    bool fine = true;
    for (unsigned p = 0; p < processes; p++) {
        Share share;
        int status;
        fine &= read(pipes[p][0], &share, sizeof share) == sizeof share;
        fine &= waitpid(child[p], &status, 0) == child[p] && WIFEXITED(status) && WEXITSTATUS(status) == 0;
        close(pipes[p][0]);
        if (!fine)
            break;
        add_stats(&sum.stats, &share.stats);
        sum.differ += share.differ;
    }
    if (stats != NULL)
        *stats = sum.stats;
    summarise(&campaign, &sum, (double)(g_get_monotonic_time() - start) / 1e6);
    return fine && sum.differ == 0 && sum.stats.programs > 0;
}
