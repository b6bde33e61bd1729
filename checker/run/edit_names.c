/* edit_names.c - changes what an operation names before it is checked: another slot, device or semaphore, or nothing where it is out of
 * bounds.
 */
#include "edit_inside.h"
#include <string.h>

static bool concerns(const Core *core, const EditWhere *where, const Named *named)
{
    if (where->made)
        return named->copy != NULL && named->copy->site != NONE && edit_is_at(core->program, where, named->copy->site);
    return (where->step == named->kind || where->step == EDIT_ANY_STEP) && edit_is_at(core->program, where, named->site);
}

static Ref *find_ref(const Named *named, EditName name)
{
    CopyDesc *copy = named->copy;
    switch (name) {
    case EDIT_NAMES_REF: return named->ref;
    case EDIT_NAMES_SOURCE: return copy ? &copy->source : NULL;
    case EDIT_NAMES_TARGET: return copy ? &copy->target : NULL;
    case EDIT_NAMES_SEND: return copy && copy->remote ? &copy->send : NULL;
    case EDIT_NAMES_RECEIVE: return copy ? &copy->receive : NULL;
    }
    g_assert_not_reached();
}

static bool is_whole(const View *view, uint32_t dim)
{
    for (uint32_t i = 0; i < view->ndim; i++)
        if (view->whole[i] == dim + 1)
            return true;
    return false;
}

/* The nth dimension of the buffer of which the view is not the whole, and its stride in bytes; false: there is none. */
static bool find_dim(const Decl *decl, const View *view, unsigned nth, uint32_t *dim, int64_t *stride)
{
    for (uint32_t d = 0; d < decl->ndim; d++) {
        if (is_whole(view, d) || nth-- > 0)
            continue;
        *dim = d, *stride = (int64_t)dtype_size_bytes((DType)decl->dtype);
        for (uint32_t below = d + 1; below < decl->ndim; below++)
            *stride *= decl->size[below];
        return true;
    }
    return false;
}

/* How many indices of that dimension the view takes. */
static int64_t extent(const View *view, int64_t stride)
{
    for (uint32_t i = 0; i < view->ndim; i++)
        if (view->stride[i] == stride && view->whole[i] == 0)
            return view->size[i];
    return 1;
}

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

static void shift(Core *core, Ref *ref, unsigned nth, int64_t by)
{
    Program *program = core->program;
    const Decl *decl = program_decl(program, ref->decl);
    View view = *program_get_view(program, ref->view);
    uint32_t dim;
    int64_t stride;
    if (view.folds || view.dtype != decl->dtype || !find_dim(decl, &view, nth, &dim, &stride) || stride == 0)
        return;
    int64_t outer = stride * decl->size[dim], at = view.offset + by * stride, index = floor_div(at, stride);
    if (dim > 0 && outer > 0)                   /* an index outside is in the row that it should be in only once it is shifted */
        index = floor_div(at - floor_div(view.over ? at : view.offset, outer) * outer, stride);
    view.offset = at;
    if (index < 0 || index + extent(&view, stride) > decl->size[dim])
        view.over = true, view.excess = (ViewExcess){ .start = index, .size = 1, .stride = 1, .limit = decl->size[dim], .dim = dim,
                                                      .nowhere = true, .beyond = true };
    else
        view.over = false, view.excess = (ViewExcess){ 0 };
    ref->view = program_view(program, &view);
}

static bool is_over(const Core *core, const Ref *ref)
{
    return ref != NULL && ref->decl != NONE && program_get_view(core->program, ref->view)->over;
}

static bool reaches_outside(const Core *core, const Named *named)
{
    if (named->copy == NULL)
        return named->kind == STEP_STORE && is_over(core, named->ref);
    return is_over(core, &named->copy->source) || is_over(core, &named->copy->target);
}

static void redirect(const Core *core, const Edit *edit, const Named *named)
{
    const uint32_t devices = core->program->devices;
    if (named->to == NULL || (edit->target != NULL && edit->target[core->id] == NONE))
        return;
    if (edit->target == NULL) {
        uint32_t device = named->to->device == NONE ? core->device : named->to->device;
        named->to->device = (uint32_t)(((int64_t)device + edit->value + devices) % devices);
        return;
    }
    uint32_t to = edit->target[core->id];
    named->to->device = to / core->program->cores_per_device;
    if (named->to->core != NONE)
        named->to->core = to % core->program->cores_per_device;
}

static void refer(const Core *core, Ref *ref, const EditSemaphore *semaphore)
{
    uint32_t decl = edit_find_decl(core, semaphore);
    if (ref != NULL && decl != NONE && program_decl(core->program, decl)->elements == program_decl(core->program, ref->decl)->elements)
        ref->decl = decl;
}

static bool amend(Core *core, const Edit *edit, const Named *named)
{
    Ref *ref = edit->kind == EDIT_SLOT || edit->kind == EDIT_REFER ? find_ref(named, (EditName)edit->name) : NULL;
    if (edit->kind == EDIT_SLOT && ref != NULL)
        shift(core, ref, edit->dim, edit->value);
    if (edit->kind == EDIT_REFER)
        refer(core, ref, &edit->semaphore);
    if (edit->kind == EDIT_DEVICE)
        redirect(core, edit, named);
    if (edit->kind == EDIT_EXCHANGE && named->copy != NULL && named->copy->remote) {
        Ref send = named->copy->send;
        named->copy->send = named->copy->receive, named->copy->receive = send;
    }
    return edit->kind != EDIT_GUARD || !reaches_outside(core, named);
}

bool edit_amend(Core *core, const Named *named)
{
    const ProgramEdits *own = core->program->edits;
    bool stays = true;
    for (unsigned i = 0; i < own->count; i++)
        if (own->edit[i].kind >= EDIT_SLOT && concerns(core, &own->edit[i].where, named))
            stays &= amend(core, &own->edit[i], named);
    return stays;
}
