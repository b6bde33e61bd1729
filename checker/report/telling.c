/* telling.c - see telling.h. Repairs that were kept remove every fault of a check, so its entry is the only one. */
#include "telling.h"
#include "help.h"
#include "message.h"
#include "places.h"

typedef struct Telling {
    const Teller *teller;
    void *to;
    const Told *told;
} Telling;

static bool begin(const Telling *t, TellingPart part, guint items)
{
    bool due = items > 0 && (t->teller->parts & 1u << part);
    if (due && t->teller->begin)
        t->teller->begin(t->to, part, items);
    return due;
}

static void end(const Telling *t, TellingPart part)
{
    if (t->teller->end)
        t->teller->end(t->to, part);
}

static void tell_words(const Telling *t, TellingPart part, const char *words)
{
    if (!begin(t, part, words != NULL))
        return;
    t->teller->words(t->to, part, words);
    end(t, part);
}

static void tell_headline(const Telling *t)
{
    g_autofree char *message = message_text(t->told->result, t->told->finding), *count = message_count(t->told->finding);
    g_autofree char *words = g_strconcat(message, count, NULL);
    tell_words(t, TELLING_HEADLINE, words);
}

static void tell_places(const Telling *t)
{
    g_autoptr(GArray) places = places_shown(t->told->result, t->told->finding, G_MAXUINT);
    if (!begin(t, TELLING_PLACES, places->len))
        return;
    for (guint i = 0; i < places->len; i++)
        t->teller->place(t->to, &g_array_index(places, Place, i));
    end(t, TELLING_PLACES);
}

static void tell_cause(const Telling *t)
{
    g_autofree char *why = message_why(t->told->result, t->told->finding);
    tell_words(t, TELLING_CAUSE, why);
}

static void tell_holds(const Telling *t)
{
    g_autofree char *holds = message_holds(t->told->result, t->told->finding);
    tell_words(t, TELLING_HOLDS, holds);
}

/* What it was tried for is said with the first of them. */
static void tell_repairs(const Telling *t, TellingPart part, const GPtrArray *repairs)
{
    if (!begin(t, part, repairs->len))
        return;
    for (guint i = 0; i < repairs->len; i++) {
        const Repair *repair = repairs->pdata[i];
        g_autofree char *words = i == 0 ? repair_text(repair) : g_strdup(repair->words);
        t->teller->repair(t->to, part, repair, words);
    }
    end(t, part);
}

bool telling_is_repair(const Repair *repair, bool alone)
{
    return alone && repair->kind == REPAIR_MENDS;
}

static GPtrArray *repairs_of(const Told *told, bool mend)
{
    GPtrArray *repairs = g_ptr_array_new();
    for (guint i = 0; told->result->tried && i < told->result->tried->len; i++)
        if (telling_is_repair(told->result->tried->pdata[i], told->alone) == mend)
            g_ptr_array_add(repairs, told->result->tried->pdata[i]);
    return repairs;
}

static void tell_delays(const Telling *t)
{
    g_autoptr(GPtrArray) delays = message_delays(t->told->result->program, t->told->finding);
    if (!delays || !begin(t, TELLING_DELAYS, delays->len))
        return;
    for (guint i = 0; i < delays->len; i++)
        t->teller->words(t->to, TELLING_DELAYS, delays->pdata[i]);
    end(t, TELLING_DELAYS);
}

static void tell_symptoms(const Telling *t)
{
    const Entry *entry = t->told->entry;
    if (!entry || !begin(t, TELLING_SYMPTOMS, entry->findings->len - 1))
        return;
    for (guint i = 1; i < entry->findings->len; i++)
        t->teller->symptom(t->to, entry_finding(t->told->result, entry, i));
    end(t, TELLING_SYMPTOMS);
}

static void tell_story(const Telling *t)
{
    bool due = t->teller->parts & 1u << TELLING_STORY;
    g_autoptr(GArray) steps = due ? narrative_steps(t->told->result, t->told->finding) : NULL;
    if (!steps || !begin(t, TELLING_STORY, steps->len))
        return;
    for (guint i = 0; i < steps->len; i++)
        t->teller->step(t->to, &g_array_index(steps, NarrativeStep, i));
    end(t, TELLING_STORY);
}

static void tell_finding(const Telling *t, const GPtrArray *repairs)
{
    char *command = t->told->schedule ? g_strdup_printf("heddle replay %s", t->told->schedule) : NULL;
    tell_headline(t);
    tell_places(t);
    tell_cause(t);
    tell_holds(t);
    tell_repairs(t, TELLING_REPAIRS, repairs);
    tell_words(t, TELLING_COMMAND, command);
    tell_delays(t);
    tell_symptoms(t);
    g_free(command);
}

void telling(const Teller *teller, void *to, const Told *told)
{
    const Telling t = { teller, to, told };
    g_autoptr(GPtrArray) repairs = repairs_of(told, true), tried = repairs_of(told, false);
    if (told->finding)
        tell_finding(&t, repairs);
    if (told->first)
        tell_repairs(&t, TELLING_TRIED, tried);
    g_autofree char *help = told->finding && repairs->len == 0 ? help_words(told->result->program, told->finding) : NULL;
    tell_words(&t, TELLING_HELPS, help);
    if (told->finding)
        tell_story(&t);
}
