/* describe.c - one verb for each kind of step and one name for each thing, so that all reports agree. */
#include "describe.h"
#include "../../model/label.h"
#include "../../model/moment.h"
#include "../../model/racing.h"

char *describe_agent(const Program *program, const Place *place)
{
    char *core = program_describe_core(program, place->core);
    if (place->copy == NONE)
        return core;
    char *copy = label_describe_copy(program, core, place->copy, place->label);
    g_free(core);
    return copy;
}

char *describe_object(const Program *program, const Place *place)
{
    if (place->object == NONE)
        return NULL;
    if (step_on_counter(place->kind))
        return program_describe_semaphore(program, place->object);
    if (step_has_region(place->kind))
        return program_describe_region(program, place->object, place->region == NONE ? 0 : place->region);
    return NULL;
}

char *describe_action(const Program *program, const Place *place)
{
    g_assert(place->kind < STEP_KIND_COUNT);
    char *agent = describe_agent(program, place), *object = describe_object(program, place);
    if (!object && (place->kind == STEP_ENTER || place->kind == STEP_EXIT))
        object = describe_launch(program, place->launch);
    bool bare = !object && (step_has_region(place->kind) || step_on_counter(place->kind));
    char *action = bare ? g_strdup_printf("%s, step: %s", agent, step_kind_name(place->kind))
                        : g_strdup_printf("%s %s%s%s", agent, step_kind_verb(place->kind), object ? " " : "", object ? object : "");
    g_free(object);
    g_free(agent);
    return action;
}

char *describe_call(const Program *program, uint32_t site)
{
    g_autofree char *where = program_describe_site(program, site);
    return g_strdup_printf("%s at %s", program_text(program, program_get_site(program, site)->function), where);
}

char *describe_launch(const Program *program, uint32_t launch)
{
    const char *name = launch < program->launches.count ? program_text(program, program_launch(program, launch)->name) : "";
    return *name ? g_strdup_printf("launch %u (%s)", launch, name) : g_strdup_printf("launch %u", launch);
}

static const struct { const char *name, *values; } knob_words[KNOB_COUNT] = {
    [KNOB_DMA_ORDER] = {"dma-order", CHOICES_DMA_ORDER},
    [KNOB_DMA_PROGRESS] = {"dma-progress", CHOICES_DMA_PROGRESS},
    [KNOB_BOUNDS] = {"bounds", CHOICES_BOUNDS},
    [KNOB_SCOPES] = {"scopes", CHOICES_SCOPES},
    [KNOB_WINDOWS] = {"windows", CHOICES_WINDOWS},
    [KNOB_DATA] = {"data", CHOICES_DATA},
};

const char *describe_knob_name(Knob knob)
{
    return knob_words[knob].name;
}

const char *describe_knob_values(Knob knob)
{
    return knob_words[knob].values;
}

char *describe_knob_value(const Knobs *knobs, Knob knob)
{
    const unsigned value[KNOB_COUNT] = {knobs->dma_order, knobs->dma_progress, knobs->bounds, knobs->scopes, knobs->windows,
                                        knobs->data};
    char **values = g_strsplit(knob_words[knob].values, "|", -1);
    g_assert(value[knob] < g_strv_length(values));
    char *text = g_strdup(values[value[knob]]);
    g_strfreev(values);
    return text;
}

static gint compare_reaches(gconstpointer left, gconstpointer right, gpointer program)
{
    const Reach *a = *(const Reach *const *)left, *b = *(const Reach *const *)right;
    g_autofree char *x = a->site == NONE ? g_strdup("") : program_describe_site(program, a->site);
    g_autofree char *y = b->site == NONE ? g_strdup("") : program_describe_site(program, b->site);
    int order = (int)a->kind - (int)b->kind;
    if (!order)
        order = strcmp(x, y);
    return order ? order : (a->unit > b->unit) - (a->unit < b->unit);
}

static char *word_reach(const Program *program, const Reach *reach)
{
    g_autofree char *where = reach->site == NONE ? NULL : program_describe_site(program, reach->site);
    if (where == NULL)
        return g_strdup("results that only some orders leave open");
    if (reach->kind == REACH_EXPECTATION)
        return g_strdup_printf("the result expected at %s", where);
    if (reach->kind == REACH_RESULT)
        return g_strdup_printf("what ends in the array of %s", where);
    g_autofree char *core = program_describe_core(program, reach->unit);
    return g_strdup_printf("what %s does after it looks at %s", core, where);
}

/* What values of exempted races have reached, in order of the source. */
static char *describe_reached(const Program *program, const char *lead)
{
    enum { SHOWN = 4 };
    g_autoptr(GPtrArray) reaches = g_ptr_array_new();
    for (uint32_t i = 0; i < intern_count(&program->racing.reached); i++) {
        const Reach *reach = intern_get(&program->racing.reached, i, NULL);
        if (reach->marks & ELEMENT_EXEMPT)
            g_ptr_array_add(reaches, (gpointer)reach);
    }
    g_ptr_array_sort_with_data(reaches, compare_reaches, (gpointer)program);
    GString *text = g_string_new(lead);
    for (guint i = 0; i < MIN(reaches->len, SHOWN); i++) {
        g_autofree char *one = word_reach(program, reaches->pdata[i]);
        g_string_append_printf(text, "%s %s", i ? "," : ":", one);
    }
    if (reaches->len > SHOWN)
        g_string_append_printf(text, ", and %u more", reaches->len - SHOWN);
    return g_string_free(text, FALSE);
}

char *describe_limit(const Program *program, const char *limit)
{
    static const char *const WORDS[][2] = {
        { "conflicts", "other orders of the conflicting steps than those that were run" },
        { "runs", "further runs (--runs N makes more)" },
        { "states", "further states (--states N visits more)" },
        { "hash-compact", "states whose hash is that of another one, if there are any" },
        { "time", "what there was no time for (--time)" },
        { "memory", "what there was no memory for (--memory)" },
        { "interrupt", "what was to come when it was interrupted" },
        { "unanswered", "all of it: the search did not live to tell what it had found" },
        { "unrun", "all of it: the first run did not end" },
        { "steps", "what comes after so many steps of one run" },
        { "determinism", "where cores go when a racing value steers them" },
        { "exempted-race", "what hangs on the outcome of an exempted race" },
        { "fluid-look", "each single byte count that a look may meet (--dma-progress whole has none between)" },
        { "scopes", "what comes after a scope of which a core of its device has no part in some runs" },
        { "polls", "polls that go on for longer" },
        { "inputs", "other inputs (--inputs all tries all of them)" },
    };
    for (size_t i = 0; i < G_N_ELEMENTS(WORDS); i++)
        if (strcmp(WORDS[i][0], limit) == 0)
            return strcmp(limit, "exempted-race") == 0 ? describe_reached(program, WORDS[i][1]) : g_strdup(WORDS[i][1]);
    return g_strdup(limit);
}

char *describe_bounded(const Outcome *outcome)
{
    if (outcome->stopped)
        return g_strdup_printf("bounded: %s", outcome->stopped);
    g_autoptr(GString) by = g_string_new(NULL);
    for (guint i = 0; i < outcome->limits->len; i++)
        g_string_append_printf(by, "%s%s", i ? ", " : "", (char *)outcome->limits->pdata[i]);
    return g_strdup_printf("bounded: stopped by %s before everything was covered", by->len ? by->str : "a limit");
}

const char *describe_mode(unsigned bit)
{
    static const char *const NAME[] = {"sweep", "merge-local", "hash-compact", "symmetry"};
    return bit < G_N_ELEMENTS(NAME) ? NAME[bit] : NULL;
}

static char *knobs_text(const Knobs *knobs, const Knobs *without)
{
    GString *text = g_string_new(NULL);
    for (Knob knob = 0; knob < KNOB_COUNT; knob++) {
        g_autofree char *value = describe_knob_value(knobs, knob), *other = without ? describe_knob_value(without, knob) : NULL;
        if (g_strcmp0(value, other) != 0)
            g_string_append_printf(text, "%s%s %s", text->len ? ", " : "", describe_knob_name(knob), value);
    }
    return g_string_free(text, FALSE);
}

char *describe_knobs(const Knobs *knobs)
{
    return knobs_text(knobs, NULL);
}

char *describe_chosen_knobs(const Knobs *knobs)
{
    return knobs_text(knobs, &(Knobs){ 0 });
}
