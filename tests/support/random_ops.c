/* random_ops.c - appends operations to the lists of the cores in one global order, and keeps count of the signals on each semaphore, so
 * that most waits can be satisfied and most programs end.
 *
 * Many operations are small protocols (a copy, a signal, a wait, perhaps an answer), and half of the programs end with waits for all
 * signals that are left: otherwise right programs would be rare.
 */
#include "random_inside.h"

static unsigned device_of(const RandomMaker *m, unsigned core)
{
    return core / m->random->cores_per_device;
}

static const RandomPlace NOWHERE = { .thing = -1 };

static RandomOp *append(RandomMaker *m, unsigned core, RandomKind kind)
{
    static RandomOp overflow;
    RandomProgram *random = m->random;
    if (random->ops[core] == RANDOM_OPS_MAX)
        return &overflow;
    RandomOp *op = &random->op[core][random->ops[core]++];
    *op = (RandomOp){ .kind = (uint8_t)kind, .launch = (uint8_t)m->launch, .at = NOWHERE, .source = NOWHERE, .send = NOWHERE,
                      .receive = NOWHERE };
    return op;
}

static void open_scope(RandomMaker *m, unsigned core, int thing)
{
    bool full = m->opens[core] == G_N_ELEMENTS(m->open[core]) || m->random->ops[core] + m->opens[core] + 2 >= RANDOM_OPS_MAX;
    if (m->opened[core][thing] || full)
        return;
    append(m, core, OP_OPEN)->at.thing = (int8_t)thing;
    m->open[core][m->opens[core]++] = (int8_t)thing;
    m->opened[core][thing] = true;
}

static void wait_on(RandomMaker *m, unsigned core, RandomPlace semaphore, int value)
{
    RandomOp *op = append(m, core, OP_WAIT);
    op->at = semaphore;
    op->value = (uint8_t)value;
}

/* A careful core takes what was promised to a semaphore of its own. */
static void take_rest(RandomMaker *m, unsigned core, int thing)
{
    for (unsigned e = 0; m->careful && e < m->random->thing[thing].elements && m->random->thing[thing].space == SPACE_SEMAPHORE; e++) {
        int *rest = &m->account[thing][core][e];
        if (*rest > 0)
            wait_on(m, core, (RandomPlace){ .thing = (int8_t)thing, .core = (uint8_t)core, .start = (uint8_t)e }, *rest);
        *rest = 0;
    }
}

static void close_scope(RandomMaker *m, unsigned core)
{
    int thing = m->open[core][--m->opens[core]];
    take_rest(m, core, thing);
    append(m, core, OP_CLOSE)->at.thing = (int8_t)thing;
}

/* A core that names a scope has opened its own. False: it cannot any more. */
static bool may_name(RandomMaker *m, unsigned core, int thing)
{
    if (thing < 0)
        return false;
    if (!m->random->thing[thing].scoped)
        return true;
    open_scope(m, core, thing);
    bool is_open = false;
    for (unsigned i = 0; i < m->opens[core]; i++)
        is_open |= m->open[core][i] == thing;
    return m->opened[core][thing] && (is_open || random_chance(m, 15));
}

static int pick_scope(RandomMaker *m, bool semaphore)
{
    int fit[4], fits = 0;
    for (int i = 0; i < m->scopes; i++)
        if ((m->random->thing[m->scope[i]].space == SPACE_SEMAPHORE) == semaphore)
            fit[fits++] = m->scope[i];
    return fits ? fit[random_pick(m, 0, (unsigned)fits - 1)] : -1;
}

static RandomPlace semaphore_at(RandomMaker *m, int thing, unsigned core)
{
    unsigned element = random_pick(m, 0, m->random->thing[thing].elements - 1u);
    return (RandomPlace){ .thing = (int8_t)thing, .core = (uint8_t)core, .start = (uint8_t)element };
}

/* A semaphore of `owner` for a copy of `who` to complete on. */
static RandomPlace completion_of(RandomMaker *m, unsigned who, unsigned owner)
{
    int scoped = pick_scope(m, true);
    if (scoped >= 0 && random_chance(m, 55) && may_name(m, who, scoped))
        return semaphore_at(m, scoped, owner);
    bool regular = random_has(m, RANDOM_REGULAR) ? random_chance(m, 33) : random_chance(m, 8);
    return semaphore_at(m, regular ? m->regular : m->dma, owner);
}

/* A semaphore of `owner` for `who` to signal. */
static RandomPlace counter_of(RandomMaker *m, unsigned who, unsigned owner)
{
    int scoped = pick_scope(m, true);
    if (scoped >= 0 && m->random->thing[scoped].kind == SEMAPHORE_REGULAR && random_chance(m, 55) && may_name(m, who, scoped))
        return semaphore_at(m, scoped, owner);
    bool barrier = m->barrier >= 0 && random_chance(m, 40);
    return semaphore_at(m, barrier ? m->barrier : m->regular, owner);
}

static RandomPlace bytes_at(RandomMaker *m, int thing, unsigned core, unsigned count)
{
    unsigned elements = m->random->thing[thing].elements, slot = random_pick(m, 0, elements / RANDOM_SLOT_BYTES - 1) * RANDOM_SLOT_BYTES;
    RandomPlace place = { .thing = (int8_t)thing, .core = (uint8_t)core, .start = (uint8_t)slot, .count = (uint8_t)count, .stride = 1 };
    if (count < RANDOM_SLOT_BYTES && random_chance(m, 15))
        place.start++;
    if (count == 2 && place.start == slot && random_chance(m, 15))
        place.stride = 2;
    return place;
}

/* A place for a copy of `who` to read or write on `core`. */
static RandomPlace buffer_of(RandomMaker *m, unsigned who, unsigned core, unsigned count)
{
    int scoped = pick_scope(m, false);
    unsigned dice = random_pick(m, 0, 99);
    if (scoped >= 0 && dice < 50 && may_name(m, who, scoped))
        return bytes_at(m, scoped, core, count);
    if (m->flag_bytes >= 0 && dice < 62)
        return bytes_at(m, m->flag_bytes, core, count);
    return bytes_at(m, dice < 78 ? m->hbm : m->vmem, core, count);
}

/* A place for a core to load or store. */
static RandomPlace memory_of(RandomMaker *m, unsigned core, unsigned count)
{
    int scoped = pick_scope(m, false);
    if (m->random->host[m->launch])
        return bytes_at(m, m->hbm, core, count);
    unsigned owner = core;
    if (m->random->cores_per_device > 1 && random_chance(m, 25))
        owner = device_of(m, core) * m->random->cores_per_device + random_pick(m, 0, m->random->cores_per_device - 1u);
    if (scoped >= 0 && m->random->thing[scoped].space == SPACE_VMEM && random_chance(m, 50) && may_name(m, core, scoped))
        return bytes_at(m, scoped, owner, count);
    return bytes_at(m, m->flag_bytes >= 0 && random_chance(m, 40) ? m->flag_bytes : m->vmem, owner, count);
}

static int credit(const RandomMaker *m, RandomPlace semaphore, unsigned bytes)
{
    if (semaphore.thing < 0 || bytes == 0)
        return 0;
    return m->random->thing[semaphore.thing].kind == SEMAPHORE_DMA ? (int)bytes : 1;
}

static int *account(RandomMaker *m, RandomPlace semaphore)
{
    return &m->account[semaphore.thing][semaphore.core][semaphore.start];
}

static void note_promise(RandomMaker *m, unsigned core, RandomPlace semaphore, bool by_send)
{
    if (semaphore.thing < 0 || semaphore.core != core || m->promises == RANDOM_MEANT_MAX)
        return;
    unsigned index = m->random->ops[core] - 1u;
    if (m->random->thing[semaphore.thing].kind == SEMAPHORE_DMA)
        m->promise[m->promises++] = (RandomPromise){ (uint8_t)core, (uint8_t)index, (uint8_t)semaphore.thing, semaphore.start, by_send };
}

static bool overlap(const RandomPlace *a, const RandomPlace *b)
{
    for (unsigned i = 0; i < a->count; i++)
        for (unsigned j = 0; j < b->count; j++)
            if (a->start + i * a->stride == b->start + j * b->stride)
                return true;
    return false;
}

static bool same_object(const RandomMaker *m, const RandomPlace *a, const RandomPlace *b)
{
    uint8_t space = m->random->thing[a->thing].space;
    bool shared = space == SPACE_HBM || space == SPACE_ANY;
    return a->thing == b->thing && (shared ? device_of(m, a->core) == device_of(m, b->core) : a->core == b->core);
}

/* A copy of `core` to `to`; local: between memories of its own device. NULL: it would overlap itself. */
static RandomOp *copy_to(RandomMaker *m, unsigned core, unsigned to, unsigned bytes, bool remote, RandomPlace send, RandomPlace receive)
{
    RandomPlace source = buffer_of(m, core, core, bytes), target = buffer_of(m, core, to, bytes);
    if (same_object(m, &source, &target) && overlap(&source, &target))
        return NULL;
    RandomOp *op = append(m, core, OP_COPY);
    op->source = source, op->at = target, op->receive = receive, op->remote = remote;
    if (remote)
        op->send = send;
    note_promise(m, core, op->receive, false);
    note_promise(m, core, op->send, true);
    return op;
}

static bool takes_part(const RandomMaker *m, unsigned core)
{
    return (m->random->devices_of[m->launch] >> device_of(m, core)) & 1;
}

static unsigned other_core(RandomMaker *m, unsigned core)
{
    unsigned other = random_pick(m, 0, m->random->cores - 2u);
    return other + (other >= core);
}

static void wait_for_copy(RandomMaker *m, unsigned core, const RandomOp *copy, unsigned copy_index, bool by_send, bool annotated)
{
    RandomPlace semaphore = by_send ? copy->send : copy->receive;
    if (annotated && m->random->thing[semaphore.thing].kind == SEMAPHORE_DMA && semaphore.core == core) {
        RandomOp *op = append(m, core, OP_WAIT_MEANT);
        op->at = semaphore, op->value = (uint8_t)copy_index, op->by_send = by_send;
    } else {
        wait_on(m, core, semaphore, credit(m, semaphore, copy->at.count));
    }
}

/* A copy, waited for on both sides, perhaps answered. */
static void whole_copy(RandomMaker *m, unsigned core)
{
    unsigned to = other_core(m, core), bytes = random_pick(m, 1, random_has(m, RANDOM_FLUID) ? 3 : 2);
    RandomPlace receive = completion_of(m, core, to), send = completion_of(m, core, core);
    const RandomOp *copy = copy_to(m, core, to, bytes, true, send, receive);
    if (copy == NULL || !may_name(m, to, receive.thing))
        return;
    const RandomOp kept = *copy;
    unsigned index = m->random->ops[core] - 1u;
    if (m->careful || random_chance(m, 90))
        wait_for_copy(m, core, &kept, index, true, random_has(m, RANDOM_MISMATCH));
    else
        *account(m, send) += credit(m, send, bytes);
    if (m->careful || random_chance(m, 90))
        wait_for_copy(m, to, &kept, index, false, false);
    else
        *account(m, receive) += credit(m, receive, bytes);
    if (random_chance(m, 50)) {
        RandomPlace answer = { .thing = (int8_t)m->regular, .core = (uint8_t)core };
        RandomOp *signal = append(m, to, OP_SIGNAL);
        signal->at = answer, signal->value = 1;
        wait_on(m, core, answer, 1);
    }
}

static void whole_signal(RandomMaker *m, unsigned core)
{
    unsigned to = other_core(m, core);
    RandomPlace at = counter_of(m, core, to);
    if (!may_name(m, to, at.thing))
        return;
    RandomOp *signal = append(m, core, OP_SIGNAL);
    signal->at = at, signal->value = 1;
    if (random_has(m, RANDOM_KEEP) && random_chance(m, 40)) {
        RandomOp *keep = append(m, to, OP_WAIT_KEEP);
        keep->at = at, keep->value = 1;
        *account(m, at) += 1;
    } else {
        wait_on(m, to, at, 1);
    }
}

/* Signals another core that its own scope is open; that core then uses it. */
static void announced_scope(RandomMaker *m, unsigned core)
{
    int thing = m->scope[random_pick(m, 0, (unsigned)m->scopes - 1)];
    if (m->opened[core][thing]) {
        if (m->opens[core] && random_chance(m, 40))
            close_scope(m, core);
        return;
    }
    open_scope(m, core, thing);
    if (!m->opened[core][thing] || m->random->cores < 2 || random_chance(m, 40))
        return;
    unsigned other = other_core(m, core);
    if (!takes_part(m, other))
        return;
    RandomPlace told = { .thing = (int8_t)m->regular, .core = (uint8_t)other };
    RandomOp *tell = append(m, core, OP_SIGNAL);
    tell->at = told, tell->value = 1;
    wait_on(m, other, told, 1);
    if (m->random->thing[thing].kind != SEMAPHORE_REGULAR || m->random->thing[thing].space != SPACE_SEMAPHORE || random_chance(m, 30)
        || !may_name(m, other, thing))
        return;
    RandomOp *use = append(m, other, OP_SIGNAL);
    use->at = (RandomPlace){ .thing = (int8_t)thing, .core = (uint8_t)core }, use->value = 1;
    wait_on(m, core, use->at, 1);
}

static void lone_signal(RandomMaker *m, unsigned core)
{
    unsigned to = random_pick(m, 0, m->random->cores - 1u);
    RandomOp op = { .at = counter_of(m, core, to), .value = (uint8_t)random_pick(m, 1, 2) };
    RandomOp *signal = append(m, core, OP_SIGNAL);
    signal->at = op.at, signal->value = op.value;
    *account(m, op.at) += op.value;
}

/* A semaphore of `core` that was promised something, else NOWHERE. */
static RandomPlace promised(RandomMaker *m, unsigned core)
{
    RandomPlace found[RANDOM_THINGS_MAX * 2];
    unsigned fits = 0;
    for (unsigned t = 0; t < m->random->things; t++)
        for (unsigned e = 0; e < 2; e++)
            if (m->account[t][core][e] > 0 && (m->random->thing[t].launches >> m->launch & 1))
                found[fits++] = (RandomPlace){ .thing = (int8_t)t, .core = (uint8_t)core, .start = (uint8_t)e };
    return fits ? found[random_pick(m, 0, fits - 1)] : NOWHERE;
}

static bool meant_wait(RandomMaker *m, unsigned core, RandomPlace semaphore)
{
    for (unsigned i = m->promises; i-- > 0;) {
        const RandomPromise *p = &m->promise[i];
        const RandomOp *copy = &m->random->op[core][p->index];
        if (p->core != core || p->thing != semaphore.thing || p->element != semaphore.start || copy->launch != m->launch
            || copy->at.count > *account(m, semaphore))
            continue;
        RandomOp *op = append(m, core, OP_WAIT_MEANT);
        op->at = semaphore, op->value = p->index, op->by_send = p->by_send;
        *account(m, semaphore) -= copy->at.count;
        return true;
    }
    return false;
}

static void lone_wait(RandomMaker *m, unsigned core)
{
    RandomPlace at = promised(m, core);
    if (at.thing < 0 || random_chance(m, 7)) {
        if (random_chance(m, 10)) {
            RandomPlace any = counter_of(m, core, core);
            wait_on(m, core, any, 1);
        }
        return;
    }
    if (!may_name(m, core, at.thing))
        return;
    bool dma = m->random->thing[at.thing].kind == SEMAPHORE_DMA;
    int value = random_has(m, RANDOM_ZERO) && random_chance(m, 40) ? 0 : (int)random_pick(m, 1, (unsigned)*account(m, at));
    if (random_has(m, RANDOM_MISMATCH) && dma && random_chance(m, 80) && meant_wait(m, core, at))
        return;
    RandomOp *op = append(m, core, random_has(m, RANDOM_KEEP) && !dma && random_chance(m, 50) ? OP_WAIT_KEEP : OP_WAIT);
    op->at = at, op->value = (uint8_t)value;
    if (op->kind == OP_WAIT)
        *account(m, at) -= value;
}

static void lone_copy(RandomMaker *m, unsigned core)
{
    unsigned to = random_pick(m, 0, m->random->cores - 1u), bytes = random_pick(m, 1, random_has(m, RANDOM_FLUID) ? 3 : 2);
    bool near = device_of(m, core) == device_of(m, to), remote = !near || random_chance(m, 30);
    if (random_has(m, RANDOM_ZERO) && random_chance(m, 40))
        bytes = 0;
    RandomPlace send = completion_of(m, core, core), receive = completion_of(m, core, to);
    const RandomOp *op = copy_to(m, core, to, bytes, remote, send, receive);
    if (op == NULL)
        return;
    *account(m, op->receive) += credit(m, op->receive, bytes);
    if (op->send.thing >= 0)
        *account(m, op->send) += credit(m, op->send, bytes);
}

static void access_memory(RandomMaker *m, unsigned core)
{
    unsigned dice = random_pick(m, 0, 99);
    RandomPlace at = memory_of(m, core, random_pick(m, 1, 2));
    RandomOp *op = append(m, core, dice < 45 ? OP_LOAD : dice < 92 ? OP_STORE : OP_SWAP);
    op->at = at, op->value = (uint8_t)random_pick(m, 0, 3);
}

static void meet_siblings(RandomMaker *m, unsigned core)
{
    unsigned first = device_of(m, core) * m->random->cores_per_device;
    for (unsigned c = first; c < first + m->random->cores_per_device; c++)
        if (random_chance(m, 97))
            append(m, c, OP_CORE_BARRIER);
}

static void steer(RandomMaker *m, unsigned core)
{
    RandomPlace at = memory_of(m, core, 1);
    RandomOp *op = append(m, core, OP_STEER);
    op->at = at, op->value = (uint8_t)random_pick(m, 1, 3), op->skip = (uint8_t)random_pick(m, 1, 2);
}

/* The receiver polls before it takes. */
static void awaited_by_polling(RandomMaker *m, unsigned core)
{
    unsigned to = other_core(m, core);
    RandomPlace at = counter_of(m, core, to);
    if (!takes_part(m, to) || !may_name(m, to, at.thing))
        return;
    RandomOp *signal = append(m, core, OP_SIGNAL);
    signal->at = at, signal->value = 1;
    RandomOp *poll = append(m, to, OP_POLL);
    poll->at = at, poll->value = 1;
    wait_on(m, to, at, 1);
}

static void conflict(RandomMaker *m, unsigned core)
{
    if (m->random->cores > 1 && random_chance(m, 20)) {
        awaited_by_polling(m, core);
        return;
    }
    if (random_chance(m, 60)) {
        unsigned first = device_of(m, core) * m->random->cores_per_device, owner = core;
        if (m->random->cores_per_device > 1 && random_chance(m, 25))
            owner = first + random_pick(m, 0, m->random->cores_per_device - 1u);
        RandomPlace at = counter_of(m, core, owner);
        unsigned dice = random_pick(m, 0, 99);
        RandomOp *op = append(m, core, dice < 65 ? OP_LOOK : dice < 80 ? OP_POLL : OP_EXPECT_COUNT);
        op->at = at, op->value = (uint8_t)random_pick(m, 1, 2), op->skip = op->kind == OP_LOOK ? (uint8_t)random_pick(m, 1, 2) : 0;
        return;
    }
    unsigned sibling = device_of(m, core) * m->random->cores_per_device + random_pick(m, 0, m->random->cores_per_device - 1u);
    RandomPlace at = promised(m, sibling);
    if (at.thing < 0 || !may_name(m, core, at.thing))
        return;
    wait_on(m, core, at, 1);
    *account(m, at) -= 1;
}

static void use_word(RandomMaker *m, unsigned core)
{
    static const RandomKind KIND[] = { OP_FLAG_STORE, OP_FLAG_ADD, OP_FLAG_FETCH, OP_FLAG_WAIT, OP_FLAG_LOOK, OP_FLAG_SWAP,
                                       OP_FLAG_POLL };
    RandomKind kind = KIND[random_pick(m, 0, G_N_ELEMENTS(KIND) - 1)];
    unsigned device = random_pick(m, 0, m->random->devices - 1u);
    RandomOp *op = append(m, core, kind);
    op->at = semaphore_at(m, m->words, device * m->random->cores_per_device);
    op->value = (uint8_t)random_pick(m, 1, 2);
    op->compare = random_chance(m, 50) ? COMPARE_GE : (uint8_t)random_pick(m, COMPARE_EQ, COMPARE_LE);
    op->skip = random_jumps(kind) ? (uint8_t)random_pick(m, 1, 2) : 0;
    op->less = kind == OP_FLAG_SWAP;
}

static void lone_operation(RandomMaker *m, unsigned core)
{
    unsigned dice = random_pick(m, 0, 99);
    if (random_has(m, RANDOM_STOPS) && random_chance(m, 4)) {
        RandomPlace at = memory_of(m, core, 1);
        append(m, core, OP_STOP)->at = at;
    }
    if (random_has(m, RANDOM_DATA) && random_chance(m, 15))
        steer(m, core);
    else if (random_has(m, RANDOM_BARRIERS) && dice < 12)
        meet_siblings(m, core);
    else if (dice < 25)
        lone_signal(m, core);
    else if (dice < 50)
        lone_wait(m, core);
    else if (dice < 76)
        lone_copy(m, core);
    else
        access_memory(m, core);
}

void random_add_operation(RandomMaker *m)
{
    unsigned core = random_pick(m, 0, m->random->cores - 1u);
    if (!takes_part(m, core))
        return;
    if (m->random->host[m->launch]) {
        if (core % m->random->cores_per_device == 0)
            access_memory(m, core);
        return;
    }
    if (m->scopes && random_chance(m, 25)) {
        announced_scope(m, core);
        return;
    }
    if (random_has(m, RANDOM_FLAGS) && random_chance(m, 30)) {
        use_word(m, core);
        return;
    }
    if (random_has(m, RANDOM_CONFLICTS) && random_chance(m, 30)) {
        conflict(m, core);
        return;
    }
    bool all = m->random->devices_of[m->launch] == (1 << m->random->devices) - 1;
    if (random_has(m, RANDOM_TIDY) && m->random->cores > 1 && all && random_chance(m, m->careful ? 75 : 45)) {
        if (random_chance(m, 55))
            whole_copy(m, core);
        else
            whole_signal(m, core);
        return;
    }
    lone_operation(m, core);
}

void random_end_launch(RandomMaker *m)
{
    const RandomProgram *random = m->random;
    for (unsigned core = 0; core < random->cores; core++)
        while (m->opens[core] > 0)
            close_scope(m, core);
    for (unsigned core = 0; core < random->cores; core++)
        for (int t = 0; t < random->things; t++)
            if (!random->thing[t].scoped && (random->thing[t].launches >> m->launch & 1) && takes_part(m, core) && !random->host[m->launch])
                take_rest(m, core, t);
    m->promises = 0;
}
