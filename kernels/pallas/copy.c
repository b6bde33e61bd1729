/* copy.c - descriptors of copies, passed to the core when they are started or waited on. */
#include "copy.h"
#include "builder.h"

static PlCopy make_copy(const PlSite *here, PlRef source, PlRef target, PlRef send, PlRef receive, PlDevice to, bool remote)
{
    const char *what = remote ? "pl_make_async_remote_copy" : "pl_make_async_copy";
    builder_core(here, what);
    builder_ref(here, source, what);
    builder_ref(here, target, what);
    builder_ref(here, receive, what);
    if (remote)
        builder_ref(here, send, what);
    return (PlCopy){ source, target, send, receive, to, remote, NONE, NONE, builder_site(here) };
}

static Ref to_ref(PlRef ref)
{
    return (Ref){ ref.buffer, ref.view, ref.core };
}

static CopyDesc describe(const PlSite *here, const PlCopy *copy, const char *what)
{
    builder_ref(here, copy->source, what);       /* misuse of a PlCopy that was never set */
    CopyDesc desc = { .source = to_ref(copy->source), .target = to_ref(copy->target), .receive = to_ref(copy->receive),
                      .to = { copy->to.has_device ? (uint32_t)copy->to.device : NONE, copy->to.has_core ? (uint32_t)copy->to.core : NONE },
                      .remote = copy->remote, .core = copy->issuer, .ordinal = copy->ordinal, .site = copy->site };
    desc.send = copy->remote ? to_ref(copy->send) : (Ref){ NONE, NONE, NONE };
    return desc;
}

static void copy_start(const PlSite *here, PlCopy *copy)
{
    Core *core = builder_core(here, "pl_copy_start");
    CopyDesc desc = describe(here, copy, "pl_copy_start");
    if (copy->remote)
        desc.to = builder_copy_target(core, here, copy);
    core_copy_start(core, builder_site(here), &desc);
    copy->issuer = desc.core, copy->ordinal = desc.ordinal;
}

static void copy_wait(const PlSite *here, PlCopy copy, bool send, bool receive, bool meant)
{
    Core *core = builder_core(here, "pl_copy_wait");
    CopyDesc desc = describe(here, &copy, "pl_copy_wait");
    uint32_t site = builder_site(here);
    bool only_send = send && !receive;
    if (meant && copy.ordinal == NONE)
        builder_misuse(here, "pl_copy_wait_for(copy, PL_THIS): this copy was not started");
    if (copy.remote ? send : only_send)
        core_copy_wait(core, site, &desc, COPY_WAIT_SEND, meant);
    if (receive)
        core_copy_wait(core, site, &desc, COPY_WAIT_RECEIVE, meant && !copy.remote);
}

void pl_copy_install(PlApi *api)
{
    api->make_copy = make_copy;
    api->copy_start = copy_start;
    api->copy_wait = copy_wait;
}
