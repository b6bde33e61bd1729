/* flag.c - words of shared memory; each operation is one step of the core. */
#include "flag.h"
#include "builder.h"

static int64_t flag_load(const PlSite *here, PlRef flag, PlDevice on)
{
    Core *core = builder_core(here, "pl_flag_load");
    return core_flag_load(core, builder_site(here), builder_ref(here, flag, "pl_flag_load"), builder_target(core, here, on, "flag_load"));
}

static void flag_store(const PlSite *here, PlRef flag, int64_t value, PlDevice on)
{
    Core *core = builder_core(here, "pl_flag_store");
    Ref ref = builder_ref(here, flag, "pl_flag_store");
    core_flag_store(core, builder_site(here), ref, builder_target(core, here, on, "flag_store"), value);
}

static int64_t flag_add(const PlSite *here, PlRef flag, int64_t value, PlDevice on, bool observe)
{
    Core *core = builder_core(here, "pl_flag_add");
    Ref ref = builder_ref(here, flag, "pl_flag_add");
    return core_flag_add(core, builder_site(here), ref, builder_target(core, here, on, "flag_add"), value, observe);
}

static int64_t flag_compare_and_swap(const PlSite *here, PlRef flag, int64_t expected, int64_t value, PlDevice on)
{
    Core *core = builder_core(here, "pl_flag_compare_and_swap");
    Ref ref = builder_ref(here, flag, "pl_flag_compare_and_swap");
    Target target = builder_target(core, here, on, "flag_compare_and_swap");
    return core_flag_compare_and_swap(core, builder_site(here), ref, target, expected, value);
}

static void flag_wait(const PlSite *here, PlRef flag, PlCompare compare, int64_t value, PlDevice on)
{
    Core *core = builder_core(here, "pl_flag_wait");
    Ref ref = builder_ref(here, flag, "pl_flag_wait");
    core_flag_wait(core, builder_site(here), ref, builder_target(core, here, on, "flag_wait"), (Compare)compare, value);
}

void pl_flag_install(PlApi *api)
{
    api->flag_load = flag_load;
    api->flag_store = flag_store;
    api->flag_add = flag_add;
    api->flag_compare_and_swap = flag_compare_and_swap;
    api->flag_wait = flag_wait;
}
