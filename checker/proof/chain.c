/* chain.c - releases where the DMA order chains copies.
 *
 * A write that is not done holds back all later writes of its chain, with their early bytes. So a wait needs it as soon as the wait cannot
 * do without the sum of all that the chain gives from there on. On one semaphore, with P the running sum of the chain's signals there, the
 * wait w needs copy i iff slack(w) - P(w) < part(i) - P(i): one list of waits serves the whole chain. A later copy on another semaphore
 * hands its own release, computed with all of its bytes, to the copies before it. Reads are chained under issue-order only, and hold back
 * no early bytes.
 */
#include "release_inside.h"

#include <glib.h>

typedef struct Chains {
    uint32_t *chain;                            /* copy -> first copy of its chain */
    uint32_t *whole;                            /* copy * 2 + end: as Releases.at, for earlier copies of the chain */
    uint32_t *order;                            /* scratch: indices of given, by chain */
    size_t orders;
} Chains;

void chain_begin(Releaser *r, Arena *arena, Arena *scratch)
{
    const Index *index = r->index;
    size_t ends = (size_t)index->copies * 2 + 1, signals = 0;
    Chains *chains = ARENA_NEW(Chains, scratch, 1);
    r->chains = chains;
    chains->chain = ARENA_NEW(uint32_t, scratch, index->copies + 1);
    chains->whole = ARENA_NEW(uint32_t, scratch, ends);
    for (uint32_t s = 0; s < index->semaphores; s++)
        signals = MAX(signals, index->signal_first[s + 1] - index->signal_first[s]);
    chains->order = ARENA_NEW(uint32_t, scratch, signals + 1);
    r->releases->by = ARENA_NEW(uint32_t, arena, ends);
    r->releases->alone = ARENA_NEW(uint8_t, arena, ends);
    for (uint32_t copy = 0; copy < index->copies; copy++) {
        uint32_t before = index->copy_before[copy];
        chains->chain[copy] = before == NONE ? copy : chains->chain[before];
        for (unsigned end = 0; end < 2; end++) {
            const Copy *c = index_copy(index, copy);
            uint32_t semaphore = end ? c->receive_semaphore : c->send_semaphore;
            chains->whole[copy * 2 + end] = NONE;
            r->releases->by[copy * 2 + end] = semaphore == NONE ? NONE : r->releases->waiter[semaphore];
        }
    }
}

/* The key of a signal's chain: the writes of a chain share one, and so do its reads where reads are chained. */
static uint64_t chain_of(const Releaser *r, const SignalGiven *given)
{
    uint32_t copy = given->copy_end / 2, end = given->copy_end & 1;
    bool reads = moment_chained(r->index->program->knobs.dma_order, STEP_READ);
    return ((uint64_t)(end || reads ? r->chains->chain[copy] : copy) << 1) | end;
}

static gint compare_chains(gconstpointer left, gconstpointer right, gpointer data)
{
    const Releaser *r = data;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    const SignalGiven *one = &PILE(SignalGiven, &r->given, a), *other = &PILE(SignalGiven, &r->given, b);
    uint64_t chain = chain_of(r, one), other_chain = chain_of(r, other);
    if (chain != other_chain)
        return chain < other_chain ? -1 : 1;
    return (one->copy_end > other->copy_end) - (one->copy_end < other->copy_end);
}

static uint32_t whole_part(const Releaser *r, const SignalGiven *given)
{
    return given->copy_end & 1 ? given->inc : release_last_part(r->index, given->inc);
}

/* One chain on one semaphore; `order` lists its signals in chain order. */
static void release_chain(Releaser *r, const Wait *wait, size_t waits, const int64_t *slack, const uint32_t *order, size_t count)
{
    int64_t *key = pile_base(&r->slack), given_in_all = 0, after = 0;
    size_t g = 0;
    for (size_t w = 0; w < waits; w++) {
        for (; g < count && PILE(SignalGiven, &r->given, order[g]).after <= wait[w].position; g++)
            given_in_all += whole_part(r, &PILE(SignalGiven, &r->given, order[g]));
        key[w] = slack[w] == INT64_MAX ? INT64_MAX : slack[w] - given_in_all;
    }
    for (; g < count; g++)
        given_in_all += whole_part(r, &PILE(SignalGiven, &r->given, order[g]));
    uint32_t left = (uint32_t)waits;
    r->stack.count = 0;
    for (size_t i = count; i-- > 0;) {
        const SignalGiven given = PILE(SignalGiven, &r->given, order[i]);
        int64_t upto = given_in_all - after;    /* the running sum, this one included */
        after += whole_part(r, &given);
        while (left > 0 && wait[left - 1].position >= given.after)
            release_push_wait(r, --left);
        uint32_t last = release_nearest_short(r, release_last_part(r->index, given.inc) - upto);
        uint32_t whole = release_nearest_short(r, whole_part(r, &given) - upto);
        if (last != NONE)
            r->releases->at[given.copy_end] = wait[last].position + 1;
        if (whole != NONE)
            r->chains->whole[given.copy_end] = wait[whole].position + 1;
    }
}

void chain_release(Releaser *r, uint32_t semaphore)
{
    const Index *index = r->index;
    Chains *chains = r->chains;
    const Wait *wait = &index->wait[index->wait_first[semaphore]];
    size_t waits = r->slack.count;
    chains->orders = 0;
    for (uint32_t g = 0; g < r->given.count; g++)
        if (PILE(SignalGiven, &r->given, g).copy_end != NONE)
            chains->order[chains->orders++] = g;
    g_qsort_with_data(chains->order, (gint)chains->orders, sizeof *chains->order, compare_chains, r);
    int64_t *slack = pile_push(&r->slack, waits);               /* the second half; the first half receives the keys */
    int64_t *key = pile_base(&r->slack);
    for (size_t w = 0; w < waits; w++)
        slack[w] = key[w];
    for (size_t first = 0, next; first < chains->orders; first = next) {
        uint64_t chain = chain_of(r, &PILE(SignalGiven, &r->given, chains->order[first]));
        for (next = first + 1; next < chains->orders && chain_of(r, &PILE(SignalGiven, &r->given, chains->order[next])) == chain;)
            next++;
        release_chain(r, wait, waits, slack, &chains->order[first], next - first);
    }
}

typedef struct Carried { uint32_t at, by; } Carried;

static Carried earlier(Carried a, Carried b)
{
    if (a.at == NONE || (a.by == b.by && b.at < a.at))
        return b;
    return a;                                   /* on two cores: the nearer copy's is enough */
}

/* Carries releases from the last copy of each chain back to the first. */
static void carry_back(Releaser *r, unsigned end, Carried *carried)
{
    const Index *index = r->index;
    Releases *releases = r->releases;
    for (uint32_t copy = 0; copy < index->copies; copy++)
        carried[copy] = (Carried){ NONE, NONE };
    for (uint32_t copy = index->copies; copy-- > 0;) {
        uint32_t before = index->copy_before[copy], at = copy * 2 + end;
        Carried own = { releases->at[at], releases->by[at] }, whole = { r->chains->whole[at], releases->by[at] };
        Carried best = earlier(own, carried[copy]);
        if (before != NONE) {
            bool same_device = index_copy(index, before)->target_device == index_copy(index, copy)->target_device;
            Carried on = earlier(whole, carried[copy]);
            if (!end || same_device)            /* a release on another device is of no use */
                carried[before] = earlier(on, carried[before]);
        }
        releases->at[at] = best.at;
        releases->by[at] = best.by;
    }
}

/* Finds the writes that act through one semaphore only: it and all later writes of its chain signal the same one. */
static void find_alone(Releaser *r)
{
    const Index *index = r->index;
    for (uint32_t copy = 0; copy < index->copies; copy++)
        r->releases->alone[copy * 2 + 1] = 1;
    for (uint32_t copy = index->copies; copy-- > 0;) {
        uint32_t before = index->copy_before[copy], semaphore = index_copy(index, copy)->receive_semaphore;
        if (before != NONE && (!r->releases->alone[copy * 2 + 1] || index_copy(index, before)->receive_semaphore != semaphore))
            r->releases->alone[before * 2 + 1] = 0;
    }
}

void chain_end(Releaser *r)
{
    Carried *carried = ARENA_NEW(Carried, r->given.arena, r->index->copies + 1);
    carry_back(r, 1, carried);
    if (moment_chained(r->index->program->knobs.dma_order, STEP_READ))
        carry_back(r, 0, carried);
    find_alone(r);
}
