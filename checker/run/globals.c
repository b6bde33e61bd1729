/* globals.c - regions of memory, each saved and then protected, or compared at each step if its pages cannot be protected.
 *
 * The segment that the loader protects after relocation (RELRO: GOT, vtables) is left out. Thread-locals share pages with the checker's
 * own, so they are compared; each thread that runs user code begins with the values that PROGRAM left.
 */
#include "globals.h"
#include <dlfcn.h>
#include <glib.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include "../../model/heap.h"
#include "../../model/outside.h"
#include "foreign.h"

enum { PAGE = 4096 };

typedef struct GlobalRegion {
    const struct link_map *object;              /* NULL: a heap */
    size_t module;                              /* of thread-locals; 0: of none */
    char *start, *saved;                        /* start: NULL for thread-locals */
    size_t bytes;
    volatile bool open;                         /* written since it was protected */
} GlobalRegion;

static GPtrArray *at_home;                      /* of link_map: objects that are not the user's */
static GArray *regions, *kept;                  /* of GlobalRegion; kept: as loading left them */
static const struct link_map *own_object;       /* the module itself; others are its libraries */
static bool protects, compares;

static const struct link_map *first_object(void)
{
    return _r_debug.r_map;
}

static bool is_user(const struct link_map *object)
{
    return !g_ptr_array_find(at_home, object, NULL);
}

static void free_saved(gpointer region)
{
    g_free(((GlobalRegion *)region)->saved);
}

void globals_expect(void)
{
    outside_watch = NULL, outside_suspect = false, own_object = NULL;
    heap_seal(false);
    g_clear_pointer(&regions, g_array_unref);
    if (at_home != NULL)
        return;
    at_home = g_ptr_array_new();
    for (const struct link_map *object = first_object(); object != NULL; object = object->l_next)
        g_ptr_array_add(at_home, (gpointer)object);
}

void globals_opened(void *handle)
{
    struct link_map *own;
    if (handle == NULL || dlinfo(handle, RTLD_DI_LINKMAP, &own) != 0)
        return;
    own_object = own;
    for (const struct link_map *object = first_object(); object != NULL; object = object->l_next)
        if (is_user(object))
            foreign_watch(object, is_user);
}

/* ---- regions ---- */

static char *start_of(const GlobalRegion *region)
{
    struct { unsigned long module, offset; } index = { region->module, 0 };
    extern void *__tls_get_addr(void *);
    return region->module != 0 ? __tls_get_addr(&index) : region->start;
}

static void add_region(GArray *to, GlobalRegion region)
{
    if (region.bytes == 0)
        return;
    region.saved = g_memdup2(start_of(&region), region.bytes);
    g_array_append_val(to, region);
}

static void add_heap(void *to, void *start, size_t bytes)
{
    add_region(to, (GlobalRegion){ .start = start, .bytes = bytes });
}

static const struct link_map *user_object(const struct dl_phdr_info *info)
{
    for (const struct link_map *object = first_object(); object != NULL; object = object->l_next)
        if (object->l_addr == info->dlpi_addr && is_user(object))
            return object;
    return NULL;
}

/* Protects the segment again, after tables of calls have changed. Returns its end. */
static ElfW(Addr) protect_relro(const struct dl_phdr_info *info, const ElfW(Phdr) *header)
{
    ElfW(Addr) first = header->p_vaddr & ~(ElfW(Addr))(PAGE - 1), end = (header->p_vaddr + header->p_memsz) & ~(ElfW(Addr))(PAGE - 1);
    mprotect((void *)(info->dlpi_addr + first), end - first, PROT_READ);
    return end;
}

static int add_segments(struct dl_phdr_info *info, size_t size, void *to)
{
    const struct link_map *object = user_object(info);
    (void)size;
    if (object == NULL)
        return 0;
    ElfW(Addr) relro_end = 0;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_GNU_RELRO)
            relro_end = protect_relro(info, &info->dlpi_phdr[i]);
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        ElfW(Addr) end = header->p_vaddr + header->p_memsz, first = MAX(header->p_vaddr, MIN(relro_end, end));
        if (header->p_type == PT_LOAD && (header->p_flags & PF_W))
            add_region(to, (GlobalRegion){ .object = object, .start = (char *)(info->dlpi_addr + first), .bytes = end - first });
        if (header->p_type == PT_TLS)
            add_region(to, (GlobalRegion){ .object = object, .module = info->dlpi_tls_modid, .bytes = header->p_memsz });
    }
    return 0;
}

static void allow_writes(const GlobalRegion *region, bool allow)
{
    char *first = (char *)((uintptr_t)region->start & ~(uintptr_t)(PAGE - 1));
    mprotect(first, (size_t)(region->start + region->bytes - first), allow ? PROT_READ | PROT_WRITE : PROT_READ);
}

static bool is_protected(const GlobalRegion *region)
{
    return protects && region->module == 0;
}

bool globals_on_fault(const void *address)
{
    for (guint i = 0; regions != NULL && i < regions->len; i++) {
        GlobalRegion *region = &g_array_index(regions, GlobalRegion, i);
        uintptr_t first = (uintptr_t)region->start & ~(uintptr_t)(PAGE - 1);
        uintptr_t end = ((uintptr_t)region->start + region->bytes + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
        if (!is_protected(region) || region->open || (uintptr_t)address < first || (uintptr_t)address >= end)
            continue;
        allow_writes(region, true);
        region->open = outside_suspect = true;
        return true;
    }
    return false;
}

/* ---- the watch ---- */

static char *describe(const GlobalRegion *region, size_t offset)
{
    if (region->object == NULL)
        return heap_describe(region->start + offset);
    ElfW(Addr) within = region->module != 0 ? offset : (ElfW(Addr))(region->start + offset) - region->object->l_addr;
    const char *name = foreign_symbol_at(region->object, within, region->module != 0);
    g_autofree char *library = g_path_get_basename(region->object->l_name);
    bool own = region->object == own_object;
    const char *kind = region->module != 0 ? "thread-local variable" : own ? "static variable" : "variable";
    return g_strdup_printf("the %s %s%s%s", kind, name ? name : "(unnamed)", own ? "" : " of ", own ? "" : library);
}

/* Restores the region as PROGRAM left it, and protects it again. Returns the first byte that differed; NULL: none. */
static char *put_back(GlobalRegion *region)
{
    char *now = start_of(region), *changed = NULL;
    if (memcmp(now, region->saved, region->bytes) != 0) {
        size_t at = 0;
        while (now[at] == region->saved[at])
            at++;
        changed = describe(region, at);
        memcpy(now, region->saved, region->bytes);
    }
    if (region->open)
        allow_writes(region, false);
    region->open = false;
    return changed;
}

static char *changed(void)
{
    char *first = NULL;
    for (guint i = 0; i < regions->len; i++) {
        GlobalRegion *region = &g_array_index(regions, GlobalRegion, i);
        char *what = is_protected(region) && !region->open ? NULL : put_back(region);
        if (first == NULL)
            first = what;
        else
            g_free(what);
    }
    outside_suspect = compares;
    return first;
}

/* Discards what an interrupted run left, and sets the thread-locals of a new thread. */
static void begin(void)
{
    if (outside_suspect)
        g_free(changed());
}

static GArray *save_all(void)
{
    GArray *saved = g_array_new(FALSE, FALSE, sizeof(GlobalRegion));
    g_array_set_clear_func(saved, free_saved);
    dl_iterate_phdr(add_segments, saved);
    heap_pages(add_heap, saved);
    return saved;
}

void globals_keep(void)
{
    heap_keep();
    if (own_object != NULL)
        kept = save_all();
}

bool globals_start_over(void)
{
    outside_watch = NULL, outside_suspect = false;
    for (guint i = 0; regions != NULL && i < regions->len; i++)
        if (is_protected(&g_array_index(regions, GlobalRegion, i)))
            allow_writes(&g_array_index(regions, GlobalRegion, i), true);
    g_clear_pointer(&regions, g_array_unref);
    if (!heap_start_over())
        return false;
    for (guint i = 0; kept != NULL && i < kept->len; i++) {
        const GlobalRegion *region = &g_array_index(kept, GlobalRegion, i);
        memcpy(start_of(region), region->saved, region->bytes);
    }
    return true;
}

void globals_seal(bool handlers)
{
    static const OutsideWatch watch = { begin, changed };
    heap_seal(true);
    if (own_object == NULL)
        return;
    regions = save_all();
    outside_watch = &watch;
    protects = handlers;
    compares = false;
    for (guint i = 0; i < regions->len; i++) {
        const GlobalRegion *region = &g_array_index(regions, GlobalRegion, i);
        if (is_protected(region))
            allow_writes(region, false);
        else
            compares = true;
    }
    outside_suspect = compares;
}
