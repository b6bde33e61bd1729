/* entry.c - findings are joined pair by pair: those of one cause, those about one semaphore, those that one repair removes.
 */
#include "entry.h"

static void entry_free(gpointer data)
{
    Entry *entry = data;
    g_array_unref(entry->findings);
    g_free(entry);
}

const Finding *entry_finding(const CheckResult *result, const Entry *entry, guint i)
{
    return result->outcome->findings->pdata[g_array_index(entry->findings, guint, i)];
}

static uint32_t decl_of(const Program *program, uint32_t semaphore)
{
    return semaphore == NONE ? NONE : program_semaphore_decl(program, semaphore);
}

/* The same step is to blame. A copy that nobody waits for has two semaphores. */
static bool share_cause(const Program *program, const Cause *a, const Cause *b)
{
    bool known = a->kind != CAUSE_UNKNOWN && a->site != NONE && b->site != NONE;
    if (!known || a->kind != b->kind || !program_same_line(program, a->site, b->site))
        return false;
    return a->kind == CAUSE_UNAWAITED || decl_of(program, a->semaphore) == decl_of(program, b->semaphore);
}

static uint32_t semaphore_of(const Program *program, const Finding *finding)
{
    return decl_of(program, finding->object_is_semaphore ? finding->object : finding->cause.semaphore);
}

/* A count that is left over, or missing, belongs to what else goes wrong with that semaphore. */
static bool share_semaphore(const Program *program, const Finding *a, const Finding *b)
{
    uint32_t semaphore = semaphore_of(program, a);
    bool counts = a->object_is_semaphore || b->object_is_semaphore || a->id == FAULT_DEADLOCK || b->id == FAULT_DEADLOCK;
    return counts && semaphore != NONE && semaphore == semaphore_of(program, b);
}

static bool removes(const Repair *repair, const Program *program, const Finding *finding)
{
    g_autofree char *key = finding_key(program, finding);
    return g_ptr_array_find_with_equal_func(repair->keys, key, g_str_equal, NULL);
}

static bool share_repair(const CheckResult *result, const Finding *a, const Finding *b)
{
    for (guint i = 0; result->tried && i < result->tried->len; i++) {
        const Repair *repair = result->tried->pdata[i];
        if (repair->kind == REPAIR_MENDS && removes(repair, result->program, a) && removes(repair, result->program, b))
            return true;
    }
    return false;
}

static bool belong_together(const CheckResult *result, const Finding *a, const Finding *b)
{
    return share_cause(result->program, &a->cause, &b->cause) || share_semaphore(result->program, a, b) || share_repair(result, a, b);
}

/* What may explain others comes first: a wrong device or shape, then orders, then counts, then values. */
static unsigned rank_of(const Finding *finding)
{
    switch ((unsigned)finding->id) {
    case FAULT_RACE:
        return 1;
    case FAULT_DEADLOCK:
        return 2;
    case FAULT_LIFETIME:
        return 3;
    case FAULT_IN_FLIGHT:
        return 4;
    case FAULT_LEFTOVER:
    case FAULT_OVERFLOW:
    case FAULT_MISMATCH:
        return 5;
    case FAULT_UNINITIALISED:
    case FAULT_ASSERT:
    case FAULT_NO_PROGRESS:
    case FAULT_DIVERGENCE:
        return 6;
    default:
        return 0;
    }
}

static gint compare_findings(gconstpointer left, gconstpointer right, gpointer data)
{
    const CheckResult *result = data;
    guint a = *(const guint *)left, b = *(const guint *)right;
    unsigned x = rank_of(result->outcome->findings->pdata[a]), y = rank_of(result->outcome->findings->pdata[b]);
    return x != y ? (x > y) - (x < y) : (a > b) - (a < b);
}

static gint compare_entries(gconstpointer left, gconstpointer right, gpointer data)
{
    const Entry *a = *(Entry *const *)left, *b = *(Entry *const *)right;
    return compare_findings(a->findings->data, b->findings->data, data);
}

static guint root_of(const guint *parent, guint i)
{
    while (parent[i] != i)
        i = parent[i];
    return i;
}

/* For each finding the first one of its entry. */
static guint *join_findings(const CheckResult *result)
{
    const GPtrArray *findings = result->outcome->findings;
    guint *parent = g_new(guint, findings->len + 1);
    for (guint b = 0; b < findings->len; b++) {
        parent[b] = b;
        for (guint a = 0; a < b; a++) {
            guint x = root_of(parent, a), y = root_of(parent, b);
            if (x != y && !finding_exemption(result->program, findings->pdata[a]) && !finding_exemption(result->program, findings->pdata[b])
                && belong_together(result, findings->pdata[a], findings->pdata[b]))
                parent[MAX(x, y)] = MIN(x, y);
        }
    }
    return parent;
}

static void gather(const CheckResult *result, GPtrArray *entries)
{
    const GPtrArray *findings = result->outcome->findings;
    g_autofree guint *parent = join_findings(result);
    g_autofree Entry **entry = g_new0(Entry *, findings->len + 1);
    for (guint i = 0; i < findings->len; i++) {
        guint root = root_of(parent, i);
        if (finding_exemption(result->program, findings->pdata[i]))
            continue;
        if (!entry[root]) {
            entry[root] = g_new0(Entry, 1);
            entry[root]->findings = g_array_new(FALSE, FALSE, sizeof(guint));
            g_ptr_array_add(entries, entry[root]);
        }
        g_array_append_val(entry[root]->findings, i);
    }
}

GPtrArray *entries_new(const CheckResult *result)
{
    GPtrArray *entries = g_ptr_array_new_with_free_func(entry_free);
    if (result->outcome && result->program)
        gather(result, entries);
    for (guint e = 0; e < entries->len; e++)
        g_array_sort_with_data(((Entry *)entries->pdata[e])->findings, compare_findings, (gpointer)result);
    g_ptr_array_sort_with_data(entries, compare_entries, (gpointer)result);
    return entries;
}
