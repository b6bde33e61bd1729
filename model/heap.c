/* heap.c - spans of pages for PROGRAM, a table of blocks for cores, and malloc itself, which constructors call directly.
 *
 * This executable's own malloc, calloc, realloc and free forward to the C library's. Only while a module is loaded do they check their
 * caller: the loader uses the C library's heap, any other caller is a constructor.
 */
#include "heap.h"
#include <errno.h>
#include <glib.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include "outside.h"
#include "sane.h"

struct HeapBlock { void *memory, *start; size_t bytes; HeapBlock **own, *next, *previous; };

enum { ALIGNED = 16, PAGE = 4096, SPAN_BYTES = 1 << 18 };
typedef struct HeapSpan { char *start; size_t bytes, used; } HeapSpan;

static GArray *spans, *maps;                    /* of HeapSpan; maps: PROGRAM's own mmaps */
static GHashTable *settled;                     /* sizes of the blocks in spans, by address */
static GHashTable *blocks;                      /* of HeapBlock, by the address that the core has */
_Thread_local HeapBlock **heap_own;
static HeapBlock *loose;                        /* of authors' functions of values */
static char *lowest, *highest;                  /* of all spans */
static bool loading, sealed;
static unsigned char pattern = HEAP_FILL;
static size_t moved;

void heap_seal(bool seal)
{
    sealed = seal;
}

void heap_pattern(unsigned char fill, size_t shift)
{
    pattern = fill, moved = shift % PAGE;
}

/* ---- PROGRAM's ---- */

static HeapSpan *add_span(size_t bytes)
{
    if (spans == NULL)
        spans = g_array_new(FALSE, FALSE, sizeof(HeapSpan)), settled = g_hash_table_new(NULL, NULL);
    HeapSpan span = { .bytes = (MAX(bytes, SPAN_BYTES) + PAGE - 1) & ~(size_t)(PAGE - 1) };
    span.start = mmap(NULL, span.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (span.start == MAP_FAILED)
        return NULL;
    lowest = lowest == NULL ? span.start : MIN(lowest, span.start);
    highest = MAX(highest, span.start + span.bytes);
    g_array_append_val(spans, span);
    return &g_array_index(spans, HeapSpan, spans->len - 1);
}

/* The newest span is the one that has room; a large block has one of its own. */
static void *settle(size_t bytes, size_t alignment)
{
    if (bytes > PTRDIFF_MAX - SPAN_BYTES || alignment > PAGE)
        return NULL;
    bool was_loading = loading;
    loading = false;                            /* our own allocations below are not a constructor's */
    HeapSpan *span = spans != NULL && spans->len > 0 ? &g_array_index(spans, HeapSpan, spans->len - 1) : NULL;
    size_t at = span != NULL ? (span->used + alignment - 1) & ~(alignment - 1) : 0;
    if (span == NULL || at > span->bytes || span->bytes - at < bytes)
        span = add_span(bytes), at = 0;
    void *block = NULL;
    if (span != NULL) {
        block = span->start + at;
        span->used = bytes > SPAN_BYTES ? span->bytes : at + MAX((bytes + ALIGNED - 1) & ~(size_t)(ALIGNED - 1), ALIGNED);
        g_hash_table_insert(settled, block, (gpointer)bytes);
        SANE_NOW_AND_THEN(g_hash_table_size(settled), heap_assert_sane());
    }
    loading = was_loading;
    return block;
}

static bool is_settled(const void *block)
{
    return (const char *)block >= lowest && (const char *)block < highest && g_hash_table_contains(settled, block);
}

static void unsettle(void *block)
{
    size_t bytes = (size_t)g_hash_table_lookup(settled, block);
    g_hash_table_remove(settled, block);
    for (guint i = spans->len; i-- > 0;) {
        HeapSpan *span = &g_array_index(spans, HeapSpan, i);
        if ((char *)block < span->start || (char *)block >= span->start + span->bytes)
            continue;
        if (block == span->start && bytes > SPAN_BYTES) {       /* it has the span to itself */
            munmap(span->start, span->bytes);
            g_array_remove_index(spans, i);
        } else if ((char *)block + MAX((bytes + ALIGNED - 1) & ~(size_t)(ALIGNED - 1), ALIGNED) == span->start + span->used) {
            span->used = (size_t)((char *)block - span->start);
            memset(block, 0, bytes);            /* the unused part of a span is zero */
        }
        return;
    }
}

static void for_each(const GArray *array, void (*each)(void *data, void *start, size_t bytes), void *data)
{
    for (guint i = 0; array != NULL && i < array->len; i++)
        each(data, g_array_index(array, HeapSpan, i).start, g_array_index(array, HeapSpan, i).bytes);
}

void heap_pages(void (*each)(void *data, void *start, size_t bytes), void *data)
{
    for_each(spans, each, data);
    for_each(maps, each, data);
}

static GArray *kept_spans;                      /* of HeapSpan, and the blocks in them: see heap_keep */
static GHashTable *kept_blocks;
static guint kept_maps;

static GHashTable *copy_blocks(GHashTable *from)
{
    GHashTable *copy = g_hash_table_new(NULL, NULL);
    GHashTableIter iter;
    gpointer block, bytes;
    if (from != NULL)
        g_hash_table_iter_init(&iter, from);
    while (from != NULL && g_hash_table_iter_next(&iter, &block, &bytes))
        g_hash_table_insert(copy, block, bytes);
    return copy;
}

void heap_keep(void)
{
    if (spans == NULL)
        spans = g_array_new(FALSE, FALSE, sizeof(HeapSpan)), settled = g_hash_table_new(NULL, NULL);
    kept_spans = g_array_copy(spans);
    kept_blocks = copy_blocks(settled);
    kept_maps = maps != NULL ? maps->len : 0;
}

static void unmap_from(GArray *array, guint first)
{
    for (guint i = first; array != NULL && i < array->len; i++)
        munmap(g_array_index(array, HeapSpan, i).start, g_array_index(array, HeapSpan, i).bytes);
    if (array != NULL)
        g_array_set_size(array, MIN(array->len, first));
}

bool heap_start_over(void)
{
    heap_seal(false);
    for (guint i = 0; i < kept_spans->len; i++)
        if (i >= spans->len || g_array_index(spans, HeapSpan, i).start != g_array_index(kept_spans, HeapSpan, i).start)
            return false;
    if (maps != NULL && maps->len < kept_maps)
        return false;
    unmap_from(spans, kept_spans->len);
    unmap_from(maps, kept_maps);
    for (guint i = 0; i < kept_spans->len; i++) {
        HeapSpan *span = &g_array_index(spans, HeapSpan, i);
        span->used = g_array_index(kept_spans, HeapSpan, i).used;
        memset(span->start + span->used, 0, span->bytes - span->used);
    }
    g_hash_table_unref(settled);
    settled = copy_blocks(kept_blocks);
    return true;
}

char *heap_describe(const void *address)
{
    GHashTableIter iter;
    gpointer block, bytes;
    if (settled != NULL)
        g_hash_table_iter_init(&iter, settled);
    while (settled != NULL && g_hash_table_iter_next(&iter, &block, &bytes))
        if ((const char *)address >= (char *)block && (const char *)address < (char *)block + (size_t)bytes)
            return g_strdup_printf("a heap block of %zu byte%s that is older than the run", (size_t)bytes, (size_t)bytes == 1 ? "" : "s");
    return g_strdup("memory that is older than the run");
}

/* ---- a core's ---- */

static void *lend(size_t bytes, size_t alignment)
{
    void *memory = NULL;
    size_t lead = (moved + alignment - 1) & ~(alignment - 1);
    if (bytes > PTRDIFF_MAX - lead || posix_memalign(&memory, alignment, lead + MAX(bytes, 1)) != 0)
        return NULL;
    if (blocks == NULL)
        blocks = g_hash_table_new(NULL, NULL);
    HeapBlock **own = heap_own != NULL ? heap_own : &loose, *block = g_new(HeapBlock, 1);
    *block = (HeapBlock){ .memory = memory, .bytes = bytes, .own = own, .next = *own };
    if (*own != NULL)
        (*own)->previous = block;
    *own = block;
    block->start = (char *)memory + lead;
    g_hash_table_insert(blocks, block->start, block);
    SANE_NOW_AND_THEN(g_hash_table_size(blocks), heap_assert_sane());
    return memset(block->start, pattern, bytes);
}

static void take_back(HeapBlock *block)
{
    g_hash_table_remove(blocks, block->start);
    if (block->next != NULL)
        block->next->previous = block->previous;
    *(block->previous != NULL ? &block->previous->next : block->own) = block->next;
    free(block->memory);
    g_free(block);
}

void heap_clear(HeapBlock **own)
{
    while (*own != NULL)
        take_back(*own);
    SANE_NOW_AND_THEN(blocks != NULL ? g_hash_table_size(blocks) : 0, heap_assert_sane());
}

/* ---- */

static void assert_span_sane(guint index)
{
    const HeapSpan *span = &g_array_index(spans, HeapSpan, index);
    g_assert(span->used <= span->bytes);
    for (guint i = 0; i < index; i++) {
        const HeapSpan *other = &g_array_index(spans, HeapSpan, i);
        g_assert(span->start + span->bytes <= other->start || other->start + other->bytes <= span->start);
    }
    g_assert(sane_is_zero(span->start + span->used, span->bytes - span->used));
}

static bool is_in_a_span(const char *block, size_t bytes)
{
    for (guint i = 0; i < spans->len; i++) {
        const HeapSpan *span = &g_array_index(spans, HeapSpan, i);
        if (block >= span->start && block + bytes <= span->start + span->used)
            return true;
    }
    return false;
}

static void assert_lent_sane(const HeapBlock *block, const void *start)
{
    g_assert(block->start == start && *(block->previous != NULL ? &block->previous->next : block->own) == block);
    g_assert(block->next == NULL || (block->next->previous == block && block->next->own == block->own));
}

void heap_assert_sane(void)
{
    GHashTableIter iter;
    gpointer start, data;
    for (guint i = 0; spans != NULL && i < spans->len; i++)
        assert_span_sane(i);
    if (settled != NULL)
        g_hash_table_iter_init(&iter, settled);
    while (settled != NULL && g_hash_table_iter_next(&iter, &start, &data))
        g_assert(is_in_a_span(start, (size_t)data));
    if (blocks != NULL)
        g_hash_table_iter_init(&iter, blocks);
    while (blocks != NULL && g_hash_table_iter_next(&iter, &start, &data))
        assert_lent_sane(data, start);
}

/* ---- what user code calls ---- */

static void refuse(const char *what)
{
    if (outside_refuse != NULL)
        outside_refuse(NULL, what);
}

static void *allocate(size_t bytes, size_t alignment)
{
    return sealed || heap_own != NULL ? lend(bytes, alignment) : settle(bytes, alignment);
}

static void *user_malloc(size_t bytes)
{
    void *block = allocate(bytes, ALIGNED);
    if (block != NULL && !sealed && heap_own == NULL)
        memset(block, pattern, bytes);
    return block;
}

static void *user_calloc(size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        return NULL;
    void *block = allocate(bytes, ALIGNED);
    return block != NULL ? memset(block, 0, bytes) : NULL;
}

/* May the caller free the block? Then gives its size. Does not return to a kernel that may not. */
static bool may_free(void *block, size_t *bytes)
{
    const HeapBlock *lent = blocks != NULL ? g_hash_table_lookup(blocks, block) : NULL;
    if (lent != NULL && lent->own != (heap_own != NULL ? heap_own : &loose))
        refuse("frees memory of another core");
    if (lent != NULL || is_settled(block)) {
        if (lent == NULL && (sealed || heap_own != NULL))
            refuse("frees memory that was allocated before the kernels ran");
        *bytes = lent != NULL ? lent->bytes : (size_t)g_hash_table_lookup(settled, block);
        return true;
    }
    refuse("frees memory that it did not allocate");
    return false;
}

static void user_free(void *block)
{
    size_t bytes;
    if (block == NULL)
        return;
    if (!may_free(block, &bytes))
        free(block);                            /* from a C library function that allocates for its caller */
    else if (is_settled(block))
        unsettle(block);
    else
        take_back(g_hash_table_lookup(blocks, block));
    SANE_NOW_AND_THEN(settled != NULL ? g_hash_table_size(settled) : 0, heap_assert_sane());
}

static void *user_realloc(void *block, size_t bytes)
{
    size_t before;
    if (block == NULL)
        return user_malloc(bytes);
    if (!may_free(block, &before))
        return realloc(block, bytes);
    void *larger = user_malloc(bytes);
    if (larger == NULL)
        return NULL;
    memcpy(larger, block, MIN(before, bytes));
    user_free(block);
    return larger;
}

static void *user_reallocarray(void *block, size_t count, size_t size)
{
    size_t bytes;
    return __builtin_mul_overflow(count, size, &bytes) ? NULL : user_realloc(block, bytes);
}

static void *user_aligned_alloc(size_t alignment, size_t bytes)
{
    return alignment == 0 || (alignment & (alignment - 1)) != 0 ? NULL : allocate(bytes, MAX(alignment, ALIGNED));
}

static int user_posix_memalign(void **block, size_t alignment, size_t bytes)
{
    if (alignment % sizeof(void *) != 0 || alignment == 0 || (alignment & (alignment - 1)) != 0)
        return EINVAL;
    *block = user_aligned_alloc(alignment, bytes);
    return *block != NULL ? 0 : ENOMEM;
}

static char *copy_text(const char *text, size_t bytes)
{
    char *copy = user_malloc(bytes + 1);
    if (copy != NULL)
        memcpy(copy, text, bytes), copy[bytes] = '\0';
    return copy;
}

static char *user_strdup(const char *text)
{
    return copy_text(text, strlen(text));
}

static char *user_strndup(const char *text, size_t most)
{
    return copy_text(text, strnlen(text, most));
}

static void *user_mmap(void *address, size_t bytes, int protection, int flags, int file, off_t offset)
{
    if (sealed || heap_own != NULL)
        refuse("maps memory; let PROGRAM do that, or use malloc");
    void *start = mmap(address, bytes, protection, flags, file, offset);
    if (start == MAP_FAILED || !(protection & PROT_WRITE))
        return start;
    if (maps == NULL)
        maps = g_array_new(FALSE, FALSE, sizeof(HeapSpan));
    g_array_append_val(maps, ((HeapSpan){ .start = start, .bytes = (bytes + PAGE - 1) & ~(size_t)(PAGE - 1) }));
    return start;
}

static int user_munmap(void *start, size_t bytes)
{
    if (sealed || heap_own != NULL)
        refuse("unmaps memory");
    for (guint i = maps != NULL ? maps->len : 0; i-- > 0;)
        if (g_array_index(maps, HeapSpan, i).start == start)
            g_array_remove_index(maps, i);
    return munmap(start, bytes);
}

void *heap_function(const char *name)
{
    static const struct { const char *name; void (*function)(void); } own[] = {
        { "malloc", (void (*)(void))user_malloc }, { "calloc", (void (*)(void))user_calloc },
        { "realloc", (void (*)(void))user_realloc }, { "free", (void (*)(void))user_free },
        { "reallocarray", (void (*)(void))user_reallocarray }, { "aligned_alloc", (void (*)(void))user_aligned_alloc },
        { "memalign", (void (*)(void))user_aligned_alloc }, { "posix_memalign", (void (*)(void))user_posix_memalign },
        { "strdup", (void (*)(void))user_strdup }, { "__strdup", (void (*)(void))user_strdup },
        { "mmap", (void (*)(void))user_mmap }, { "mmap64", (void (*)(void))user_mmap }, { "munmap", (void (*)(void))user_munmap },
        { "strndup", (void (*)(void))user_strndup }, { "__strndup", (void (*)(void))user_strndup },
    };
    for (size_t i = 0; i < G_N_ELEMENTS(own); i++)
        if (strcmp(own[i].name, name) == 0)
            return (void *)own[i].function;
    return NULL;
}

/* ---- while a module is loaded ---- */

static const char *loader_first, *loader_last;

static int find_loader(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size, (void)data;
    if (info->dlpi_addr != getauxval(AT_BASE))
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD)
            loader_last = (const char *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz);
    loader_first = (const char *)info->dlpi_addr;
    return 1;
}

void heap_load(void)
{
    dl_iterate_phdr(find_loader, NULL);
    loading = loader_first != NULL;
}

void heap_loaded(void)
{
    loading = false;
}

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)        /* a sanitizer brings its own; then constructors' blocks are not watched */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t bytes);
void __libc_free(void *block);

#define BY_CONSTRUCTOR() (G_UNLIKELY(loading) && !((const char *)__builtin_return_address(0) >= loader_first \
                                                   && (const char *)__builtin_return_address(0) < loader_last))
#define IN_SPANS(block) G_UNLIKELY((const char *)(block) < highest && (const char *)(block) >= lowest && is_settled(block))

void *malloc(size_t bytes)
{
    return BY_CONSTRUCTOR() ? settle(bytes, ALIGNED) : __libc_malloc(bytes);
}

void *calloc(size_t count, size_t size)
{
    return BY_CONSTRUCTOR() ? user_calloc(count, size) : __libc_calloc(count, size);
}

void *realloc(void *block, size_t bytes)
{
    if (IN_SPANS(block))
        return user_realloc(block, bytes);
    return BY_CONSTRUCTOR() && block == NULL ? settle(bytes, ALIGNED) : __libc_realloc(block, bytes);
}

void free(void *block)
{
    if (IN_SPANS(block))
        user_free(block);
    else
        __libc_free(block);
}
#endif
