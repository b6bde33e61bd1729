/* leftover.c - why a count is left on a semaphore: what its signals give, what its waits take, and which signal is in excess.
 *
 * Counts are anonymous, so a signal is called the one in excess only where one stands out: the last of a single giver, or those of the one
 * line without which the sums would agree.
 */
#include <glib.h>

#include "prover.h"

typedef struct Account {
    GArray *counted;                            /* of uint32_t: signals that can come before the end of the life */
    GArray *later;                              /* those that cannot */
    int64_t given, given_later;
} Account;

static Account open_account(const Prover *prover, const FaultTally *fault)
{
    const Index *index = prover->index;
    uint32_t owner = program_semaphore_core(prover->program, fault->object);
    Account account = { g_array_new(FALSE, FALSE, sizeof(uint32_t)), g_array_new(FALSE, FALSE, sizeof(uint32_t)), 0, 0 };
    for (uint32_t i = index->signal_first[fault->object]; i < index->signal_first[fault->object + 1]; i++) {
        bool late = fault->places > 0 && clocks_at_signal(prover->clocks, i, owner) > fault->a.position;
        g_array_append_val(late ? account.later : account.counted, i);
        *(late ? &account.given_later : &account.given) += index->signal[i].inc;
    }
    return account;
}

static void close_account(Account *account)
{
    g_array_unref(account->counted);
    g_array_unref(account->later);
}

int64_t leftover_waits(const Prover *prover, GString *text, uint32_t semaphore)
{
    enum { LINES_SHOWN = 3 };
    const Index *index = prover->index;
    int64_t taken = 0;
    unsigned lines = 0;
    for (uint32_t i = index->wait_first[semaphore]; i < index->wait_first[semaphore + 1]; i++) {
        const Wait *wait = &index->wait[i];
        uint32_t site = index_step(index, wait->core, wait->position)->site, times = 0;
        bool told = false;
        taken += wait->taken;
        for (uint32_t j = index->wait_first[semaphore]; j < index->wait_first[semaphore + 1]; j++) {
            bool same = program_same_line(prover->program, index_step(index, index->wait[j].core, index->wait[j].position)->site, site);
            told |= same && j < i;
            times += same;
        }
        if (told || lines++ >= LINES_SHOWN)
            continue;
        g_autofree char *where = program_describe_site(prover->program, site);
        g_string_append_printf(text, lines > 1 ? ", %s" : "%s", where);
        if (times > 1)
            g_string_append_printf(text, " (%u times)", times);
    }
    if (lines > LINES_SHOWN)
        g_string_append_printf(text, " and %u more lines", lines - LINES_SHOWN);
    return taken;
}

static uint32_t site_of(const Prover *prover, const GArray *signals, guint i)
{
    const Signal *signal = index_listed(prover->index, signals, i);
    return index_step(prover->index, signal->core, signal->position)->site;
}

/* The last signal, if one core gives all; or those of the only line that gives exactly what is left. Empty: none stands out. */
static GArray *in_excess(const Prover *prover, const Account *account, int64_t left, bool one_giver)
{
    const GArray *all = account->counted;
    GArray *excess = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    uint32_t lines = 0, found = NONE;
    for (guint i = 0; i < all->len && !one_giver; i++) {
        uint32_t site = site_of(prover, all, i);
        int64_t sum = 0;
        for (guint j = 0; j < all->len; j++)
            sum += site_of(prover, all, j) == site ? index_listed(prover->index, all, j)->inc : 0;
        lines += sum == left && site != found;
        found = sum == left ? site : found;
    }
    for (guint i = 0; i < all->len; i++)
        if (one_giver ? i + 1 == all->len : lines == 1 && site_of(prover, all, i) == found)
            g_array_append_val(excess, g_array_index(all, uint32_t, i));
    return excess;
}

static void append_excess(const Prover *prover, GString *text, const Account *account, int64_t left)
{
    bool one_giver = true;
    for (guint i = 1; i < account->counted->len; i++)
        one_giver &= index_listed(prover->index, account->counted, i)->core == index_listed(prover->index, account->counted, 0)->core;
    g_autoptr(GArray) excess = in_excess(prover, account, left, one_giver);
    if (excess->len == 0 || account->counted->len == 1)
        return;
    g_autofree char *words = givers_words(prover, excess);
    g_string_append_printf(text, " Nobody waits for %s%s.", one_giver ? "the last, " : "", words);
}

char *leftover_why(Prover *prover, const FaultTally *fault)
{
    Account account = open_account(prover, fault);
    GString *text = g_string_new(NULL), *waits = g_string_new(NULL);
    int64_t taken = leftover_waits(prover, waits, fault->object);
    g_autofree char *givers = givers_words(prover, account.counted);
    g_string_append_printf(text, "By then it can receive %" G_GINT64_FORMAT ": from %s. ", account.given, givers);
    bool any = account.counted->len > 0;
    prover_blame(prover, waits->len == 0 ? CAUSE_UNAWAITED : CAUSE_COUNT, any ? site_of(prover, account.counted, 0) : NONE, fault->object);
    if (waits->len == 0)
        g_string_append(text, "Nobody waits for that.");
    else
        g_string_append_printf(text, "Waits take %" G_GINT64_FORMAT " in all, at %s.", taken, waits->str);
    if (account.given > taken && account.later->len == 0)
        append_excess(prover, text, &account, account.given - taken);
    else if (taken > account.given - fault->have)
        g_string_append(text, " Some of these waits come later.");
    close_account(&account);
    g_string_free(waits, TRUE);
    return g_string_free(text, FALSE);
}
