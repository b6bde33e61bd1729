/* racing.c - for each access the list of accesses it races with; and the set of what racing values have reached. */
#include "racing.h"
#include <glib.h>
#include <string.h>

enum { RIVALS_MAX = 64, KEYS_MAX = 1 << 18 };   /* beyond these, whole buffers, and whole lines, count as racing */

typedef struct Key { uint32_t site, object, write; } Key;
typedef struct Rival { uint32_t region, mark, next; } Rival;   /* next: index + 1, 0 ends the list */

static Rival *rival_at(const Program *program, uint32_t link)
{
    return &STORE(Rival, &program->racing.rivals, link - 1);
}

void racing_add(Program *program, const Clash *clash)
{
    const bool many = intern_count(&program->racing.keys) >= KEYS_MAX;
    const Key key = { clash->site, many ? NONE : clash->object, clash->write };
    uint32_t id = intern_add(&program->racing.keys, &key, sizeof key), rivals = 0;
    if (id >= program->racing.first.count)
        store_push(&program->racing.first, id + 1 - program->racing.first.count);
    uint32_t *first = &STORE(uint32_t, &program->racing.first, id);
    uint32_t region = many ? NONE : clash->region;
    for (uint32_t link = *first; link != 0; link = rival_at(program, link)->next, rivals++) {
        const Rival *rival = rival_at(program, link);
        if (rival->mark == clash->mark && (rival->region == NONE || rival->region == region))
            return;
    }
    *(Rival *)store_push(&program->racing.rivals, 1) = (Rival){ rivals < RIVALS_MAX ? region : NONE, clash->mark, *first };
    *first = (uint32_t)program->racing.rivals.count;
}

bool racing_any(const Program *program)
{
    return program->racing.rivals.count > 0 || program->racing.outside;
}

static uint32_t find(const Program *program, uint32_t site, uint32_t object, bool write)
{
    const Key key = { site, object, write };
    return intern_find(&program->racing.keys, &key, sizeof key) + 1;
}

/* Two lists in one number: that of this object, and that of any object. */
uint64_t racing_of(const Program *program, uint32_t site, uint32_t object, bool write)
{
    if (G_LIKELY(program->racing.rivals.count == 0))
        return 0;
    return (uint64_t)find(program, site, NONE, write) << 32 | find(program, site, object, write);
}

/* Most regions are one run of bytes. */
static bool touches(const Program *program, uint32_t rival, int64_t offset, size_t bytes)
{
    if (rival == NONE)
        return true;
    const Region *region = program_get_region(program, rival);
    if (offset >= region->hi || offset + (int64_t)bytes <= region->lo)
        return false;
    if (region_is_contiguous(region))
        return true;
    Region element;
    region_box(&element, offset, bytes, 0, NULL, NULL);
    return region_overlaps(&element, region);
}

static uint8_t marks_of(const Program *program, uint32_t list, int64_t offset, size_t bytes)
{
    uint8_t marks = 0;
    for (uint32_t link = list ? STORE(uint32_t, &program->racing.first, list - 1) : 0; link != 0; link = rival_at(program, link)->next) {
        const Rival *rival = rival_at(program, link);
        if ((marks & rival->mark) == 0 && touches(program, rival->region, offset, bytes))
            marks |= (uint8_t)rival->mark;
    }
    return marks;
}

uint8_t racing_marks(const Program *program, uint64_t racing, int64_t offset, size_t bytes)
{
    return marks_of(program, (uint32_t)racing, offset, bytes) | marks_of(program, (uint32_t)(racing >> 32), offset, bytes);
}

void racing_reach(Program *program, ReachKind kind, uint32_t unit, uint32_t site, uint8_t marks)
{
    const Reach reach = { .kind = (uint8_t)kind, .marks = marks, .unit = unit, .site = site };
    intern_add(&program->racing.reached, &reach, sizeof reach);
}

bool racing_reached(const Program *program, ReachKind kind, uint8_t marks)
{
    for (uint32_t i = 0; i < intern_count(&program->racing.reached); i++) {
        const Reach *reach = intern_get(&program->racing.reached, i, NULL);
        if (reach->kind == kind && (reach->marks & marks) != 0)
            return true;
    }
    return false;
}

bool racing_reached_any(const Program *program, uint8_t marks)
{
    return racing_reached(program, REACH_CONTROL, marks) || racing_reached(program, REACH_EXPECTATION, marks)
        || racing_reached(program, REACH_RESULT, marks);
}
