/* ref.c - views: each is interned in the program, a ref holds its id.
 *
 * Kernels index the same elements repeatedly, so the views of single integer indices are cached by (view, index), but not those that leave
 * their buffer, which know where.
 */
#include "ref.h"
#include <glib.h>
#include <string.h>
#include "builder.h"

enum { KNOWN = 1 << 14 };
typedef struct KnownView { int64_t index; uint32_t parent, view; } KnownView;           /* parent: view id + 1, 0: free */
static struct { const Program *program; uint32_t generation; KnownView view[KNOWN]; } known;

static KnownView *find_known(const Program *program, uint32_t parent, int64_t index)
{
    if (known.program != program || known.generation != program->generation) {
        memset(known.view, 0, sizeof known.view);
        known.program = program, known.generation = program->generation;
    }
    uint64_t key = ((uint64_t)parent << 40) ^ (uint64_t)index;
    return &known.view[key * 0x9e3779b97f4a7c15u >> 50];
}

static PlRef with_view(PlRef ref, const View *view)
{
    ref.view = program_view(builder_program(), view);
    return ref;
}

static void write_sizes(const View *view, char *text, size_t bytes)
{
    g_strlcpy(text, "(", bytes);
    for (unsigned d = 0; d < view->ndim; d++)
        g_snprintf(text + strlen(text), bytes - strlen(text), d ? ", %lld" : "%lld", (long long)view->size[d]);
    g_strlcat(text, ")", bytes);
}

static void refuse(const PlSite *here, PlRef ref, const View *parent, const char *what, const char *why)
{
    char sizes[256];
    write_sizes(parent, sizes, sizeof sizes);
    builder_misuse(here, "%s of %s, whose shape is %s: %s", what, builder_name(builder_program(), ref.buffer), sizes, why);
}

static PlRef at_any(const PlSite *here, PlRef ref, int indices, const PlIndex *index)
{
    const View *parent = builder_view(here, ref, "pl_at");
    View view;
    ViewIndex given[VIEW_DIMS_MAX];
    const char *why = "more indices than dimensions";
    if (indices > (int)parent->ndim)
        refuse(here, ref, parent, "pl_at", why);
    for (int i = 0; i < indices; i++) {
        if (index[i].kind == PL_INDEX_SLICE && index[i].size < 0)
            refuse(here, ref, parent, "pl_at", "a slice of negative size");
        given[i] = (ViewIndex){ index[i].start, index[i].size, index[i].stride, index[i].kind == PL_INDEX_INTEGER };
        if (index[i].kind == PL_INDEX_ALL)
            given[i] = (ViewIndex){ 0, parent->size[i], 1, false };
    }
    if (!view_at(&view, parent, (unsigned)indices, given, &why))
        refuse(here, ref, parent, "pl_at", why);
    if (view.over && !parent->over)
        view.excess.site = builder_site(here);
    return with_view(ref, &view);
}

static PlRef at(const PlSite *here, PlRef ref, int indices, const PlIndex *index)
{
    builder_ref(here, ref, "pl_at");
    bool inside = indices == 1 && index[0].kind == PL_INDEX_INTEGER && index[0].start >= 0;
    if (!inside || index[0].start >= builder_view(here, ref, "pl_at")->size[0])
        return at_any(here, ref, indices, index);
    KnownView *entry = find_known(builder_program(), ref.view, index[0].start);
    if (entry->parent != ref.view + 1 || entry->index != index[0].start)
        *entry = (KnownView){ index[0].start, ref.view + 1, at_any(here, ref, indices, index).view };
    ref.view = entry->view;
    return ref;
}

static PlRef reshape(const PlSite *here, PlRef ref, int dims, const int64_t *size)
{
    const View *parent = builder_view(here, ref, "pl_reshape");
    View view;
    const char *why = NULL;
    if (dims > VIEW_DIMS_MAX)
        builder_misuse(here, "pl_reshape to %d dimensions: at most %d are supported", dims, VIEW_DIMS_MAX);
    if (!view_reshape(&view, parent, (unsigned)dims, size, &why))
        refuse(here, ref, parent, "pl_reshape", why);
    return with_view(ref, &view);
}

static PlRef bitcast(const PlSite *here, PlRef ref, PlType type)
{
    const View *parent = builder_view(here, ref, "pl_bitcast");
    View view;
    const char *why = NULL;
    if ((unsigned)type >= DTYPE_COUNT)
        builder_misuse(here, "pl_bitcast needs a type such as PL_F32");
    if (program_decl(builder_program(), ref.buffer)->space == SPACE_SEMAPHORE)
        builder_misuse(here, "pl_bitcast of %s, which is a semaphore", builder_name(builder_program(), ref.buffer));
    if (!view_bitcast(&view, parent, (DType)type, &why))
        refuse(here, ref, parent, "pl_bitcast", why);
    return with_view(ref, &view);
}

static PlRef select_ref(const PlSite *here, int64_t which, int refs, const PlRef *ref)
{
    if (which >= 0 && which < refs)
        return ref[which];
    if (core_running == NULL || builder_function != NULL)
        builder_misuse(here, "pl_select_ref: number %lld of %d refs", (long long)which, refs);
    core_stop(core_running, builder_site(here), FAULT_OUT_OF_BOUNDS, "pl_select_ref takes number %lld of %d refs", (long long)which, refs);
}

static PlRef on_core(const PlSite *here, PlRef ref, int64_t core)
{
    Program *program = builder_program();
    const Decl *decl = program_decl(program, builder_ref(here, ref, "pl_core_ref").decl);
    if (decl->space == SPACE_HBM || decl->space == SPACE_ANY)
        builder_misuse(here, "pl_core_ref of %s: HBM and ANY belong to the whole device", builder_name(program, ref.buffer));
    if (core < 0 || core >= program->cores_per_device)
        builder_misuse(here, "pl_core_ref: core %lld, but a device has cores 0 to %u", (long long)core, program->cores_per_device - 1);
    ref.core = (uint32_t)core;
    return ref;
}

static int64_t size(const PlSite *here, PlRef ref, int dimension)
{
    const View *view = builder_view(here, ref, "pl_size");
    if (dimension < 0 || dimension >= (int)view->ndim)
        builder_misuse(here, "pl_size: dimension %d of %s, which has %u", dimension,
                       builder_name(builder_program(), ref.buffer), view->ndim);
    return view->size[dimension];
}

void pl_ref_install(PlApi *api)
{
    api->at = at;
    api->reshape = reshape;
    api->bitcast = bitcast;
    api->select_ref = select_ref;
    api->on_core = on_core;
    api->size = size;
}
