/* test_region.c - regions against plain sets of bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <glib.h>

#include "../../model/region.h"
#include "../../model/rng.h"

#define BYTES 1500

typedef struct Set { bool has[BYTES]; } Set;

/* A region and, by definition, the bytes that it holds. */
typedef struct Sample { Region *region; Set set; bool nested; } Sample;

static void set_add(Set *set, int64_t at, unsigned ndim, const int64_t *count, const int64_t *stride, int64_t item)
{
    if (ndim == 0) {
        for (int64_t i = 0; i < item; i++) {
            g_assert(at + i < BYTES);
            set->has[at + i] = true;
        }
        return;
    }
    for (int64_t i = 0; i < *count; i++)
        set_add(set, at + i * *stride, ndim - 1, count + 1, stride + 1, item);
}

static int64_t set_size(const Set *set)
{
    int64_t size = 0;
    for (int i = 0; i < BYTES; i++)
        size += set->has[i];
    return size;
}

static void shuffle_dims(Rng *rng, unsigned ndim, int64_t *count, int64_t *stride)
{
    for (unsigned i = ndim; i > 1; i--) {
        unsigned j = (unsigned)rng_below(rng, i);
        int64_t c = count[i - 1], s = stride[i - 1];
        count[i - 1] = count[j], stride[i - 1] = stride[j];
        count[j] = c, stride[j] = s;
    }
}

static Sample sample_box(Rng *rng, bool nested)
{
    static const int64_t ITEM[] = {1, 2, 4, 8, 3};
    static const int64_t STRIDE[] = {1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32, 48, 64};
    for (;;) {
        unsigned ndim = (unsigned)rng_below(rng, 5);
        int64_t item = ITEM[rng_below(rng, 5)], count[4], stride[4], span = item;
        for (unsigned i = 0; i < ndim; i++) {
            count[i] = rng_below(rng, 30) == 0 ? 0 : 1 + (int64_t)rng_below(rng, 4);
            stride[i] = nested ? span + (int64_t)rng_below(rng, 3) * ITEM[rng_below(rng, 4)] : STRIDE[rng_below(rng, 14)];
            span += MAX(count[i] - 1, 0) * stride[i];
        }
        if (span > 300)
            continue;
        if (rng_below(rng, 2))
            shuffle_dims(rng, ndim, count, stride);
        int64_t offset = (int64_t)rng_below(rng, (uint64_t)(rng_below(rng, 2) ? 400 : 40));
        Sample sample = {.region = g_new(Region, 1), .nested = nested};
        region_box(sample.region, offset, (size_t)item, ndim, count, stride);
        set_add(&sample.set, offset, ndim, count, stride, item);
        return sample;
    }
}

static Sample sample_runs(Rng *rng)
{
    Sample sample = {.nested = true};
    RegionDim run[40];
    uint32_t runs = (uint32_t)rng_below(rng, 40);
    int64_t at = (int64_t)rng_below(rng, 100);
    for (uint32_t i = 0; i < runs; i++) {
        run[i] = (RegionDim){at, 1 + (int64_t)rng_below(rng, 6)};
        set_add(&sample.set, at, 0, NULL, NULL, run[i].stride);
        at += run[i].stride + 1 + (int64_t)rng_below(rng, 8);
    }
    size_t bytes;
    sample.region = region_from_runs(run, runs, &bytes);
    assert_int_equal(bytes, region_key_bytes(sample.region));
    return sample;
}

static Sample sample_any(Rng *rng)
{
    uint64_t kind = rng_below(rng, 5);
    return kind < 2 ? sample_box(rng, true) : kind < 4 ? sample_box(rng, false) : sample_runs(rng);
}

typedef struct SeenBytes { Set set; int64_t end, most; } SeenBytes;

static bool see_run(void *data, int64_t lo, int64_t length)
{
    SeenBytes *seen = data;
    assert_true(length > 0);
    assert_true(lo > seen->end);                /* ascending, and a gap between any two: the runs are maximal */
    seen->end = lo + length;
    set_add(&seen->set, lo, 0, NULL, NULL, length);
    return --seen->most != 0;
}

static void runs_of_a_region_are_its_bytes_in_order(void **state)
{
    (void)state;
    Rng rng;
    rng_init(&rng, 1);
    for (int i = 0; i < 20000; i++) {
        Sample sample = rng_below(&rng, 3) ? sample_box(&rng, true) : sample_runs(&rng);
        SeenBytes seen = {.end = -1};
        assert_true(region_each_run(sample.region, see_run, &seen));
        assert_memory_equal(&seen.set, &sample.set, sizeof(Set));
        assert_int_equal(sample.region->bytes, set_size(&sample.set));
        SeenBytes one = {.end = -1, .most = 1};
        assert_int_equal(region_each_run(sample.region, see_run, &one), sample.region->bytes == 0);
        g_free(sample.region);
    }
}

static void bounds_of_a_region_are_its_first_and_last_byte(void **state)
{
    (void)state;
    Rng rng;
    rng_init(&rng, 2);
    for (int i = 0; i < 20000; i++) {
        Sample sample = sample_any(&rng);
        int64_t lo = 0, hi = BYTES, size = set_size(&sample.set);
        for (; lo < BYTES && !sample.set.has[lo]; lo++)
            ;
        for (; hi > lo && !sample.set.has[hi - 1]; hi--)
            ;
        assert_int_equal(sample.region->hi - sample.region->lo, size ? hi - lo : 0);
        if (size)
            assert_int_equal(sample.region->lo, lo);
        assert_true(sample.region->bytes >= size);
        if (region_is_contiguous(sample.region))
            assert_int_equal(size, sample.region->bytes);
        if (sample.nested)
            assert_int_equal(region_is_contiguous(sample.region), size == sample.region->hi - sample.region->lo);
        g_free(sample.region);
    }
}

static void overlap_is_exact(void **state)
{
    (void)state;
    Rng rng;
    rng_init(&rng, 3);
    int overlapping = 0, tried = 300000;
    for (int i = 0; i < tried; i++) {
        Sample a = sample_any(&rng), b = sample_any(&rng);
        bool common = false;
        for (int at = 0; at < BYTES && !common; at++)
            common = a.set.has[at] && b.set.has[at];
        assert_int_equal(region_overlaps(a.region, b.region), common);
        assert_int_equal(region_overlaps(b.region, a.region), common);
        overlapping += common;
        g_free(a.region);
        g_free(b.region);
    }
    assert_true(overlapping > tried / 10 && overlapping < tried * 9 / 10);
}

static bool same_key(const Region *a, const Region *b)
{
    size_t bytes = region_key_bytes(a);
    return bytes == region_key_bytes(b) && memcmp(a, b, bytes) == 0;
}

static void a_nested_set_has_one_key_however_it_is_split_and_ordered(void **state)
{
    (void)state;
    Rng rng;
    rng_init(&rng, 5);
    for (int i = 0; i < 20000; i++) {
        int64_t item = 1 + (int64_t)rng_below(&rng, 4), span = item, count[8], stride[8], split_count[8], split_stride[8];
        unsigned ndim = (unsigned)rng_below(&rng, 4), parts = 0;
        for (unsigned d = 0; d < ndim; d++) {
            int64_t inner = 1 + (int64_t)rng_below(&rng, 3), outer = 1 + (int64_t)rng_below(&rng, 3);
            count[d] = inner * outer;
            stride[d] = span + (int64_t)rng_below(&rng, 2) * 4;
            span += (count[d] - 1) * stride[d];
            split_count[parts] = inner, split_stride[parts++] = stride[d];
            split_count[parts] = outer, split_stride[parts++] = stride[d] * inner;
        }
        split_count[parts] = 1, split_stride[parts++] = 1000;
        shuffle_dims(&rng, parts, split_count, split_stride);
        Region whole, split;
        region_box(&whole, 7, (size_t)item, ndim, count, stride);
        region_box(&split, 7, (size_t)item, parts, split_count, split_stride);
        assert_true(same_key(&whole, &split));
    }
}

static void a_dense_box_is_one_run(void **state)
{
    (void)state;
    int64_t count[] = {4, 8, 128}, stride[] = {4096, 512, 4};
    Region region;
    region_box(&region, 100, 4, 3, count, stride);
    assert_int_equal(region.ndim, 0);
    assert_int_equal(region.run_bytes, 4 * 8 * 128 * 4);
    assert_true(region_is_contiguous(&region));
}

static void the_empty_region_meets_nothing(void **state)
{
    (void)state;
    int64_t none[] = {3, 0}, stride[] = {8, 4}, four[] = {4};
    Region empty, box, zero = {0};
    region_box(&empty, 12, 4, 2, none, stride);
    region_box(&box, 0, 4, 1, four, stride);
    assert_memory_equal(&empty, &zero, sizeof zero);
    assert_false(region_overlaps(&empty, &box));
    assert_false(region_overlaps(&box, &empty));
    assert_false(region_overlaps(&empty, &empty));
    size_t bytes;
    Region *runs = region_from_runs(NULL, 0, &bytes);
    assert_int_equal(bytes, region_key_bytes(&empty));
    assert_memory_equal(runs, &empty, bytes);
    g_free(runs);
}

static void one_run_is_a_box_of_no_dimension(void **state)
{
    (void)state;
    Region box;
    region_box(&box, 40, 12, 0, NULL, NULL);
    size_t bytes;
    Region *runs = region_from_runs(&(RegionDim){40, 12}, 1, &bytes);
    assert_true(same_key(runs, &box));
    g_free(runs);
}

/* Interleaved columns of one huge array, and rows of it seen at twice the width: neither may cost a walk over all their parts. */
static void boxes_of_one_array_are_compared_at_once(void **state)
{
    (void)state;
    int64_t huge = INT64_C(1) << 30, count[] = {1 << 20, 1 << 20, 4}, stride[] = {huge * 4, 64, 8};
    Region even, odd, shifted;
    region_box(&even, 0, 4, 3, count, stride);
    region_box(&odd, 4, 4, 3, count, stride);
    region_box(&shifted, huge * 4 * 7 + 64 * 5 + 3, 4, 3, count, stride);
    for (int i = 0; i < 1000; i++) {
        assert_false(region_overlaps(&even, &odd));
        assert_true(region_overlaps(&even, &shifted));
        assert_true(region_overlaps(&odd, &shifted));
    }
}

static void absurd_extents_do_not_wrap(void **state)
{
    (void)state;
    int64_t count[] = {INT64_C(1) << 50, INT64_C(1) << 50}, stride[] = {INT64_C(1) << 50, INT64_C(1) << 40};
    Region region, small;
    region_box(&region, 0, 8, 2, count, stride);
    region_box(&small, 16, 4, 0, NULL, NULL);
    assert_true(region.hi > region.lo && region.bytes > 0);
    assert_false(region_overlaps(&region, &small));
    assert_true(region_overlaps(&small, &small));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_of_a_region_are_its_bytes_in_order),
        cmocka_unit_test(bounds_of_a_region_are_its_first_and_last_byte),
        cmocka_unit_test(overlap_is_exact),
        cmocka_unit_test(a_nested_set_has_one_key_however_it_is_split_and_ordered),
        cmocka_unit_test(a_dense_box_is_one_run),
        cmocka_unit_test(the_empty_region_meets_nothing),
        cmocka_unit_test(one_run_is_a_box_of_no_dimension),
        cmocka_unit_test(boxes_of_one_array_are_compared_at_once),
        cmocka_unit_test(absurd_extents_do_not_wrap),
    };
    return cmocka_run_group_tests_name("region", tests, NULL, NULL);
}
