/* exemptions.c - programs with exempt races and what lies beside them: `twin` is 1 for the wrong one, or the one that exempts more. */
#include <heddle/pallas.h>
#include <stdbool.h>

enum { RIGHT, WRONG };                          /* the parameter `twin` */

static bool is_wrong(void)
{
    return pl_parameter(twin) == WRONG;
}

#define TWINS() ((void)PARAMETER(twin, RIGHT, RIGHT, WRONG))

static PlRef raced_output(void)
{
    PlRef raced = pl_output(PL_F32, 8);
    pl_exempt(raced, PL_RACE, "both write the same");
    return raced;
}

/* Two copies into one place, both awaited. */
static void race(PlRef from, PlRef to, PlRef sem)
{
    PlCopy a = pl_async_copy(from, to, sem), b = pl_async_copy(from, to, sem);
    pl_copy_wait(a);
    pl_copy_wait(b);
}

static void copy(PlRef from, PlRef to, PlRef sem)
{
    PlCopy one = pl_async_copy(from, to, sem);
    pl_copy_wait(one);
}

/* ---- beside the race ---- */

KERNEL(asserts_beside, i, o, s)
{
    race(i, o, s);
    pl_assert(!is_wrong());
}

PROGRAM(asserts_beside, "an assertion that has nothing to do with the race")
{
    TWINS();
    pl_launch(asserts_beside, .args = {pl_input(PL_F32, 8), raced_output(), pl_dma_semaphore()});
}

KERNEL(looks_beside, i, o, count, s)
{
    race(i, o, s);
    if (!is_wrong())
        pl_store_int(count, 1);
    pl_assert(pl_load_int(count) < 2);
}

PROGRAM(looks_beside, "a look at scratch that nobody wrote")
{
    TWINS();
    pl_launch(looks_beside, .args = {pl_input(PL_F32, 8), raced_output(), pl_smem(PL_I32), pl_dma_semaphore()});
}

KERNEL(results_beside, i, j, o, q, s)
{
    race(i, o, s);
    copy(is_wrong() ? j : i, q, s);
}

PROGRAM(results_beside, "a result that the race does not touch")
{
    TWINS();
    PlRef i = pl_input(PL_F32, 8), q = pl_output(PL_F32, 8);
    pl_launch(results_beside, .args = {i, pl_input(PL_F32, 8), raced_output(), q, pl_dma_semaphore()});
    pl_expect_equal(q, i);
}

KERNEL(waits_beside, i, o, s, t)
{
    race(i, o, s);
    if (!is_wrong())
        pl_semaphore_signal(t, 1);
    pl_semaphore_wait(t, 1);
}

PROGRAM(waits_beside, "a wait that has nothing to do with the race")
{
    TWINS();
    pl_launch(waits_beside, .args = {pl_input(PL_F32, 8), raced_output(), pl_dma_semaphore(), pl_regular_semaphore()});
}

KERNEL(stores_beside, i, o, s, v)
{
    race(i, o, s);
    pl_store_float(pl_at(v, is_wrong() ? 8 : 7), 1.0);
}

PROGRAM(stores_beside, "a store beyond another buffer")
{
    TWINS();
    pl_launch(stores_beside, .args = {pl_input(PL_F32, 8), raced_output(), pl_dma_semaphore(), pl_vmem(PL_F32, 8)});
}

KERNEL(half_races, i, o, s)
{
    PlCopy a = pl_async_copy(i, o, s), b = pl_async_copy(pl_at(i, pl_ds(0, 4)), pl_at(o, pl_ds(0, 4)), s);
    pl_copy_wait(a);
    pl_copy_wait(b);
    if (is_wrong())
        copy(pl_at(i, pl_ds(0, 1)), pl_at(o, pl_ds(7, 1)), s);
}

PROGRAM(half_races, "only the first half of the buffer races, and only the other is expected")
{
    TWINS();
    PlRef i = pl_input(PL_F32, 8), o = raced_output();
    pl_launch(half_races, .args = {i, o, pl_dma_semaphore()});
    pl_expect_equal(pl_at(o, pl_ds(4, 4)), pl_at(i, pl_ds(4, 4)));
}

KERNEL(written_again, i, j, o, s)
{
    race(j, o, s);
    copy(is_wrong() ? j : i, o, s);
}

PROGRAM(written_again, "what raced is written once more, in order")
{
    TWINS();
    PlRef i = pl_input(PL_F32, 8), o = raced_output();
    pl_launch(written_again, .args = {i, pl_input(PL_F32, 8), o, pl_dma_semaphore()});
    pl_expect_equal(o, i);
}

KERNEL(read_before, i, j, o, q, s)
{
    copy(is_wrong() ? j : i, o, s);
    copy(o, q, s);
    race(i, o, s);
}

PROGRAM(read_before, "what is read before the race")
{
    TWINS();
    PlRef i = pl_input(PL_F32, 8), q = pl_output(PL_F32, 8);
    pl_launch(read_before, .args = {i, pl_input(PL_F32, 8), raced_output(), q, pl_dma_semaphore()});
    pl_expect_equal(q, i);
}

/* In one class of two only. */
KERNEL(conflicts_beside, i, o, s, t)
{
    if (pl_device_id() == 0) {
        race(i, o, s);
        int early = (int)pl_semaphore_read(t) == 1;
        pl_assert(!is_wrong() || !early);
        pl_semaphore_wait(t, 1);
    } else {
        pl_semaphore_signal(t, 1, pl_device(0));
    }
}

PROGRAM(conflicts_beside, "a look at a count beside the race")
{
    TWINS();
    PL_NEEDS(pl_num_devices() == 2, "who looks and who signals");
    pl_launch(conflicts_beside, .args = {pl_input(PL_F32, 8), raced_output(), pl_dma_semaphore(), pl_regular_semaphore()});
}

/* ---- reached by the race: bounded, whatever comes of it ---- */

KERNEL(expected_of_it, i, j, o, s)
{
    PlCopy a = pl_async_copy(i, o, s), b = pl_async_copy(is_wrong() ? j : i, o, s);
    pl_copy_wait(a);
    pl_copy_wait(b);
}

PROGRAM(expected_of_it, "a result is expected of what races")
{
    TWINS();
    PlRef i = pl_input(PL_F32, 8), o = raced_output();
    pl_launch(expected_of_it, .args = {i, pl_input(PL_F32, 8), o, pl_dma_semaphore()});
    pl_expect_equal(o, i);
}

KERNEL(carried_on, i, o, q, s)
{
    race(i, o, s);
    copy(o, q, s);
}

PROGRAM(carried_on, "a copy carries it to another result, which is expected")
{
    PlRef i = pl_input(PL_F32, 8), q = pl_output(PL_F32, 8);
    pl_launch(carried_on, .args = {i, raced_output(), q, pl_dma_semaphore()});
    pl_expect_equal(q, i);
}

PROGRAM(carried_to_a_result, "the same, and nothing is expected: but schedules may end with different results")
{
    pl_launch(carried_on, .args = {pl_input(PL_F32, 8), raced_output(), pl_output(PL_F32, 8), pl_dma_semaphore()});
}

PROGRAM(carried_to_scratch, "the same, to scratch that nobody looks at")
{
    pl_launch(carried_on, .args = {pl_input(PL_F32, 8), raced_output(), pl_vmem(PL_F32, 8), pl_dma_semaphore()});
}

KERNEL(computed_with, i, v, q, s)
{
    race(i, v, s);
    pl_store(q, pl_tile_add(pl_tile_mul(pl_load(v), pl_tile_full(PL_F32, 2, 8)), pl_load(v)));
}

static double three_times(const PlRef *refs, int device, const int64_t *index)
{
    return 3 * pl_given(refs[0], device, index[0]);
}

PROGRAM(computed_with, "what is computed from it is expected")
{
    PlRef i = pl_input(PL_F32, 8), v = pl_vmem(PL_F32, 8), q = pl_output_in(PL_VMEM, PL_F32, 8);
    pl_exempt(v, PL_RACE, "both write the same");
    pl_launch(computed_with, .args = {i, v, q, pl_dma_semaphore()});
    pl_expect_values(q, three_times, 0, i);
}

/* Device 1 looks at a word while device 0 writes 1 over its 0. */
static double who(int device, const int64_t *index)
{
    (void)index;
    return device == 0;
}

static PlRef raced_word(void)
{
    PlRef word = pl_fill(pl_input_in(PL_SMEM, PL_I32), who);
    pl_exempt(word, PL_RACE, "meant");
    return word;
}

#define WORD_PROGRAM(name, summary, ...) \
    PROGRAM(name, summary) \
    { \
        TWINS(); \
        PL_NEEDS(pl_num_devices() == 2, "who writes and who looks"); \
        pl_launch(name, .args = {raced_word(), pl_dma_semaphore(2), __VA_ARGS__}); \
    }

static PlCopy send_word(PlRef word, PlRef s)
{
    return pl_make_async_remote_copy(word, word, pl_at(s, 0), pl_at(s, 1), pl_device(1));
}

/* Device 0 sends; true on device 1, which has to await it at the end. */
static bool looks(PlRef word, PlRef s)
{
    PlCopy sent = send_word(word, s);
    if (pl_device_id() == 1)
        return true;
    pl_copy_start(sent);
    pl_copy_wait_send(sent);
    return false;
}

KERNEL(branches, word, s, t)
{
    if (!looks(word, s))
        return;
    bool seen = pl_load_int(word) == 1;
    if (seen || !is_wrong())
        pl_semaphore_signal(t, 1);
    if (seen || is_wrong())
        pl_delay(10);
    if (seen || !is_wrong())
        pl_semaphore_wait(t, 1);
    if (is_wrong() && seen)
        pl_semaphore_signal(t, 1);
    pl_copy_wait_recv(send_word(word, s));
}

WORD_PROGRAM(branches, "a branch on it; the wrong twin signals once too often where it is seen", pl_regular_semaphore())

KERNEL(indexes, word, s, v)
{
    if (!looks(word, s))
        return;
    pl_store_int(pl_at(v, pl_load_int(word) + (is_wrong() ? 1 : 0)), 1);
    pl_copy_wait_recv(send_word(word, s));
}

WORD_PROGRAM(indexes, "an index; the wrong twin goes out of bounds where it is seen", pl_smem(PL_I32, 2))

KERNEL(counts, word, s, t)
{
    if (!looks(word, s))
        return;
    int64_t seen = pl_load_int(word);
    pl_semaphore_signal(t, is_wrong() ? 1 : seen);
    pl_semaphore_wait(t, seen + (is_wrong() ? 1 : 0));
    pl_copy_wait_recv(send_word(word, s));
}

WORD_PROGRAM(counts, "a count; the wrong twin waits for too much where it is seen", pl_regular_semaphore())

KERNEL(names_a_device, word, s, t)
{
    if (looks(word, s)) {
        pl_semaphore_signal(t, 1, pl_device(is_wrong() ? pl_load_int(word) : 0 * pl_load_int(word)));
        pl_copy_wait_recv(send_word(word, s));
    } else {
        pl_semaphore_wait(t, 1);
    }
}

WORD_PROGRAM(names_a_device, "a device; the wrong twin signals itself where it is seen", pl_regular_semaphore())

KERNEL(asserts_of_it, word, s, t)
{
    (void)t;
    if (!looks(word, s))
        return;
    pl_assert(pl_load_int(word) == 0 || !is_wrong());
    pl_copy_wait_recv(send_word(word, s));
}

WORD_PROGRAM(asserts_of_it, "an assertion about it", pl_regular_semaphore())

KERNEL(polls, word, s, t)
{
    if (!looks(word, s))
        return;
    while (pl_load_int(word) == 0)
        pl_delay(1);
    if (is_wrong())
        pl_semaphore_signal(t, 1);
    pl_copy_wait_recv(send_word(word, s));
}

WORD_PROGRAM(polls, "a poll; the wrong twin signals behind it", pl_regular_semaphore())

/* ---- what an exempt fault would have stood for ---- */

KERNEL(signals_late, t)
{
    if (pl_device_id() == 1)
        pl_semaphore_signal(t, 1, pl_device(0));
}

PROGRAM(signals_late, "a signal to who may have left")
{
    TWINS();
    PL_NEEDS(pl_num_devices() == 2, "who signals and who leaves");
    PlRef t = pl_regular_semaphore();
    if (is_wrong())
        pl_exempt(t, PL_LEFTOVER, "meant");
    pl_launch(signals_late, .args = {t});
}

KERNEL(writes_late, v, s)
{
    if (pl_device_id() == 1)
        pl_copy_wait_send(pl_async_remote_copy(v, v, pl_at(s, 0), pl_at(s, 1), pl_device(0)));
}

PROGRAM(writes_late, "a copy to who may have left")
{
    TWINS();
    PL_NEEDS(pl_num_devices() == 2, "who copies and who leaves");
    PlRef v = pl_vmem(PL_F32, 8), s = pl_dma_semaphore(2);
    pl_exempt(s, PL_LEFTOVER, "meant");
    if (is_wrong())
        pl_exempt(v, PL_IN_FLIGHT, "meant");
    pl_launch(writes_late, .args = {v, s});
}

KERNEL(loads_early, i, v, q, s)
{
    PlCopy in = pl_async_copy(i, v, s);
    pl_store(q, pl_load(v));
    pl_copy_wait(in);
}

PROGRAM(loads_early, "a load that may come before all writes")
{
    TWINS();
    PlRef v = pl_vmem(PL_F32, 8);
    if (is_wrong())
        pl_exempt(v, PL_RACE, "meant");
    pl_launch(loads_early, .args = {pl_input(PL_F32, 8), v, pl_vmem(PL_F32, 8), pl_dma_semaphore()});
}

KERNEL(leaves_it, i, v, q, s, left)
{
    copy(i, v, s);
    PlCopy out = pl_async_copy(v, q, left);
    if (!is_wrong())
        pl_copy_wait(out);
}

KERNEL(takes_it, i, q, left)
{
    if (is_wrong())
        pl_copy_wait(pl_make_async_copy(i, q, left));
}

PROGRAM(reads_late, "a result whose copy may have read its source when that was gone")
{
    TWINS();
    PlRef i = pl_input(PL_F32, 8), v = pl_vmem(PL_F32, 8), q = pl_output(PL_F32, 8), left = pl_semaphore_output(PL_DMA);
    pl_exempt(v, PL_IN_FLIGHT, "meant");
    pl_exempt(v, PL_LIFETIME, "meant");
    pl_launch(leaves_it, .args = {i, v, q, pl_dma_semaphore(), left});
    pl_launch(takes_it, .args = {i, q, left});
    pl_expect_equal(q, i);
}

/* ---- races that are reported ---- */

KERNEL(reported, i, j, v, o, q, s)
{
    race(i, v, s);
    copy(v, o, s);
    copy(is_wrong() ? j : i, q, s);
}

PROGRAM(reported, "a result that a race reaches and one that it does not")
{
    TWINS();
    PlRef i = pl_input(PL_F32, 8), j = pl_input(PL_F32, 8), o = pl_output(PL_F32, 8), q = pl_output(PL_F32, 8);
    pl_launch(reported, .args = {i, j, pl_vmem(PL_F32, 8), o, q, pl_dma_semaphore()});
    pl_expect_equal(o, j);
    pl_expect_equal(q, i);
}

KERNEL(reported_look, x, r, count, out, s)
{
    copy(pl_at(x, 0), r, s);
    PlCopy second = pl_async_copy(pl_at(x, 1), r, s);
    pl_store(out, pl_load(r));
    pl_store_int(count, 3);
    if (is_wrong() ? pl_load_int(pl_at(r, 0)) == 77 : pl_load_int(count) == 77)
        pl_delay(1);
    pl_copy_wait(second);
}

PROGRAM(reported_look, "a core looks at something else; the wrong twin at what races")
{
    TWINS();
    pl_launch(reported_look, .args = {pl_input(PL_I32, 2, 8), pl_smem(PL_I32, 8), pl_smem(PL_I32), pl_output_in(PL_VMEM, PL_I32, 8),
                                      pl_dma_semaphore()});
}

KERNEL(never_races, i, o, s) { copy(i, o, s); }

PROGRAM(never_races, "an exemption that hides nothing")
{
    pl_launch(never_races, .args = {pl_input(PL_F32, 8), raced_output(), pl_dma_semaphore()});
}
