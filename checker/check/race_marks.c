/* race_marks.c - a race marks the accesses that clash; an exempted lifetime fault, the access of its first place. */
#include "race_marks.h"
#include "../../model/racing.h"

static uint8_t marks_of(const Program *program, const Finding *finding)
{
    bool outlived = (finding->id == FAULT_LIFETIME || finding->id == FAULT_IN_FLIGHT) && !finding->object_is_semaphore;
    uint8_t mark = finding_exemption(program, finding) != NULL ? ELEMENT_EXEMPT : ELEMENT_RACING;
    return finding->id == FAULT_RACE || (outlived && mark == ELEMENT_EXEMPT) ? mark : 0;
}

uint8_t race_marks_due(const Outcome *outcome, const Program *program)
{
    uint8_t marks = 0;
    for (guint i = 0; i < outcome->findings->len; i++)
        marks |= marks_of(program, g_ptr_array_index(outcome->findings, i));
    return marks;
}

static void mark_outlived(const Finding *finding, Program *program)
{
    const Place *place = &finding->place[0];
    Clash clash = { .site = place->site, .object = NONE, .region = NONE, .mark = ELEMENT_EXEMPT };
    if (place->kind == STEP_READ)
        racing_add(program, &clash);
    clash.write = 1;
    if (place->kind == STEP_WRITE)
        racing_add(program, &clash);
}

void race_marks_set(const Outcome *outcome, Program *program)
{
    for (guint i = 0; i < outcome->findings->len; i++) {
        const Finding *finding = g_ptr_array_index(outcome->findings, i);
        uint8_t mark = marks_of(program, finding);
        if (mark != 0 && finding->id != FAULT_RACE)
            mark_outlived(finding, program);
        for (guint k = 0; finding->clashes != NULL && k < finding->clashes->len; k++) {
            Clash clash = g_array_index(finding->clashes, Clash, k);
            clash.mark = mark;
            racing_add(program, &clash);
        }
    }
}

bool race_marks_matter_to(const Finding *finding)
{
    bool about_count = finding->places > 0 && finding->place[0].kind == STEP_EXPECT_COUNT;
    return (finding->id == FAULT_ASSERT && !about_count) || finding->id == FAULT_DIVERGENCE
        || (finding->id == FAULT_UNINITIALISED && finding->message != NULL);
}

bool race_marks_drop_unjudged(Outcome *outcome)
{
    GPtrArray *findings = outcome->findings;
    bool race = false, dropped = false;
    for (guint i = 0; i < findings->len; i++)
        race |= ((const Finding *)g_ptr_array_index(findings, i))->id == FAULT_RACE;
    for (guint i = findings->len; race && i-- > 0;) {
        const Finding *finding = g_ptr_array_index(findings, i);
        if (finding->shown || !race_marks_matter_to(finding))
            continue;
        g_ptr_array_remove_index(findings, i);
        dropped = true;
    }
    return dropped;
}
