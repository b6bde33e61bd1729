/* words.c - one verb a kind of step, one way to name each thing, used by every report so that they cannot disagree. */
#include "words.h"

static const struct { const char *verb; bool memory, semaphore; } step_words[STEP_KIND_COUNT] = {
    [STEP_LOAD] = {"reads", true, false},
    [STEP_STORE] = {"writes", true, false},
    [STEP_SWAP] = {"swaps", true, false},
    [STEP_SIGNAL] = {"signals", false, true},
    [STEP_WAIT] = {"waits on", false, true},
    [STEP_WAIT_KEEP] = {"waits on", false, true},
    [STEP_SEMAPHORE_READ] = {"looks at", false, true},
    [STEP_EXPECT_COUNT] = {"expects a count of", false, true},
    [STEP_COPY_START] = {"starts a copy", false, false},
    [STEP_ALLOC] = {"opens a scope", false, false},
    [STEP_FREE] = {"closes a scope", false, false},
    [STEP_ENTER] = {"enters", false, false},
    [STEP_EXIT] = {"leaves", false, false},
    [STEP_CORE_BARRIER] = {"is at a core barrier", false, false},
    [STEP_FLAG_LOAD] = {"loads the flag", false, true},
    [STEP_FLAG_STORE] = {"stores the flag", false, true},
    [STEP_FLAG_ADD] = {"adds to the flag", false, true},
    [STEP_FLAG_CAS] = {"compares and swaps the flag", false, true},
    [STEP_FLAG_WAIT] = {"waits for the flag", false, true},
    [STEP_STOP] = {"stops", false, false},
    [STEP_EARLY_SEND] = {"counts early bytes of its read of", true, false},
    [STEP_READ] = {"reads", true, false},
    [STEP_EARLY_RECEIVE] = {"counts early bytes of its write of", true, false},
    [STEP_WRITE] = {"writes", true, false},
};

bool words_on_semaphore(uint8_t kind)
{
    return kind < STEP_KIND_COUNT && step_words[kind].semaphore;
}

bool words_on_memory(uint8_t kind)
{
    return kind < STEP_KIND_COUNT && step_words[kind].memory;
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
    char *copy = g_strdup_printf("copy %u of %s", place->copy, core);
    g_free(core);
    return copy;
}

char *words_object(const Program *program, const Place *place)
{
    if (place->object == NONE)
        return NULL;
    if (words_on_semaphore(place->kind))
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
    bool bare = !object && (words_on_memory(place->kind) || words_on_semaphore(place->kind));
    char *action = bare ? g_strdup_printf("%s, step: %s", agent, step_kind_name(place->kind))
                        : g_strdup_printf("%s %s%s%s", agent, step_words[place->kind].verb, object ? " " : "", object ? object : "");
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
    [KNOB_DATA] = {"data", WORDS_DATA},
};

const char *words_knob_name(Knob knob)
{
    return knob_words[knob].name;
}

char *words_knob_value(const Knobs *knobs, Knob knob)
{
    const unsigned value[KNOB_COUNT] = {knobs->dma_order, knobs->dma_progress, knobs->bounds, knobs->scopes, knobs->data};
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
