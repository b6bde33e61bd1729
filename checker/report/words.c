/* words.c - one verb a kind of step, one way to name each thing, used by every report so that they cannot disagree. */
#include "words.h"
#include "../../model/label.h"
#include "../../model/moment.h"

bool words_on_memory(uint8_t kind)
{
    return step_on_memory(kind) || moment_is(kind);
}

char *words_core(const Program *program, uint32_t core)
{
    uint32_t device = core / program->cores_per_device;
    if (program->cores_per_device == 1)
        return g_strdup_printf("device %u", device);
    return g_strdup_printf("core %u of device %u", core % program->cores_per_device, device);
}

char *words_agent(const Program *program, const Place *place)
{
    char *core = words_core(program, place->core);
    if (place->copy == NONE)
        return core;
    char *copy = label_describe_copy(program, core, place->copy, place->label);
    g_free(core);
    return copy;
}

char *words_object(const Program *program, const Place *place)
{
    if (place->object == NONE)
        return NULL;
    if (step_on_counter(place->kind))
        return program_describe_semaphore(program, place->object);
    if (words_on_memory(place->kind))
        return program_describe_region(program, place->object, place->region == NONE ? 0 : place->region);
    return NULL;
}

char *words_action(const Program *program, const Place *place)
{
    g_assert(place->kind < STEP_KIND_COUNT);
    char *agent = words_agent(program, place), *object = words_object(program, place);
    if (!object && (place->kind == STEP_ENTER || place->kind == STEP_EXIT))
        object = words_launch(program, place->launch);
    bool bare = !object && (words_on_memory(place->kind) || step_on_counter(place->kind));
    char *action = bare ? g_strdup_printf("%s, step: %s", agent, step_kind_name(place->kind))
                        : g_strdup_printf("%s %s%s%s", agent, step_kind_verb(place->kind), object ? " " : "", object ? object : "");
    g_free(object);
    g_free(agent);
    return action;
}

char *words_call(const Program *program, uint32_t site)
{
    g_autofree char *where = program_describe_site(program, site);
    return g_strdup_printf("%s at %s", program_text(program, program_get_site(program, site)->function), where);
}

char *words_launch(const Program *program, uint32_t launch)
{
    const char *name = launch < program->launches.count ? program_text(program, program_launch(program, launch)->name) : "";
    return *name ? g_strdup_printf("launch %u (%s)", launch, name) : g_strdup_printf("launch %u", launch);
}

static const struct { const char *name, *values; } knob_words[KNOB_COUNT] = {
    [KNOB_DMA_ORDER] = {"dma-order", WORDS_DMA_ORDER},
    [KNOB_DMA_PROGRESS] = {"dma-progress", WORDS_DMA_PROGRESS},
    [KNOB_BOUNDS] = {"bounds", WORDS_BOUNDS},
    [KNOB_SCOPES] = {"scopes", WORDS_SCOPES},
    [KNOB_WINDOWS] = {"windows", WORDS_WINDOWS},
    [KNOB_DATA] = {"data", WORDS_DATA},
};

const char *words_knob_name(Knob knob)
{
    return knob_words[knob].name;
}

char *words_knob_value(const Knobs *knobs, Knob knob)
{
    const unsigned value[KNOB_COUNT] = {knobs->dma_order, knobs->dma_progress, knobs->bounds, knobs->scopes, knobs->windows,
                                        knobs->data};
    char **values = g_strsplit(knob_words[knob].values, "|", -1);
    g_assert(value[knob] < g_strv_length(values));
    char *text = g_strdup(values[value[knob]]);
    g_strfreev(values);
    return text;
}

const char *words_limit(const char *limit)
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
        { "steps", "what comes after so many steps of one run" },
        { "determinism", "where cores go when a racing value steers them" },
        { "exempted-race", "what the value of an exempted race leads to" },
        { "fluid-look", "each single byte count that a look may meet (--dma-progress whole has none between)" },
        { "scopes", "what comes after a scope of which a core of its device has no part in some runs" },
        { "polls", "polls that go on for longer" },
    };
    for (size_t i = 0; i < G_N_ELEMENTS(WORDS); i++)
        if (strcmp(WORDS[i][0], limit) == 0)
            return WORDS[i][1];
    return limit;
}

const char *words_mode(unsigned bit)
{
    static const char *const NAME[] = {"sweep", "merge-local", "hash-compact", "symmetry"};
    return bit < G_N_ELEMENTS(NAME) ? NAME[bit] : NULL;
}

char *words_knobs(const Knobs *knobs)
{
    GString *text = g_string_new(NULL);
    for (Knob knob = 0; knob < KNOB_COUNT; knob++) {
        char *value = words_knob_value(knobs, knob);
        g_string_append_printf(text, "%s%s %s", knob ? ", " : "", words_knob_name(knob), value);
        g_free(value);
    }
    return g_string_free(text, FALSE);
}
