/* exemptions.c - advice about exemptions that hide no fault. */
#include "check.h"
#include "check_parts.h"

/* The same scratch in several launches is one declaration in the source, and so are its exemptions. */
static bool same_exemption(const Decl *a, const Decl *b, FaultId id)
{
    return a->exempt[id] != 0 && b->exempt[id] != 0 && a->site == b->site && a->name == b->name;
}

static bool hides_nothing(const CheckResult *result, uint32_t decl, FaultId id)
{
    const Decl *own = program_decl(result->program, decl);
    bool nothing = own->exempt[id] != 0;
    for (uint32_t earlier = 0; nothing && earlier < decl; earlier++)
        nothing = !same_exemption(program_decl(result->program, earlier), own, id);
    for (guint i = 0; nothing && i < result->outcome->findings->len; i++) {
        const Finding *finding = g_ptr_array_index(result->outcome->findings, i);
        const Decl *met = finding_decl(result->program, finding);
        nothing = finding->id != id || met == NULL || !same_exemption(met, own, id);
    }
    return nothing;
}

void check_note_unused_exemptions(CheckResult *result)
{
    const Program *program = result->program;
    for (uint32_t d = 0; d < program->decls.count && result->outcome->complete && !result->spec->first; d++)
        for (unsigned id = 0; id < FAULT_COUNT; id++) {
            const Decl *decl = program_decl(program, d);
            if (!hides_nothing(result, d, (FaultId)id))
                continue;
            g_autofree char *text = g_strdup_printf("the exemption of %s on %s hides nothing here", fault_name((FaultId)id),
                                                    program_text(program, decl->name));
            const Place place = { .copy = NONE, .kind = STEP_ALLOC, .site = decl->site, .object = NONE, .region = NONE };
            check_add_advice(result, ADVICE_UNUSED_EXEMPTION, text, &place);
        }
}
