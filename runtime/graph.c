/* Graphs: launches that are recorded once and replayed as one piece of work.
**
** While a runtime records, a launch is checked as ever and then kept instead of run: the graph holds
** its arguments, its parameter block and, for kernels with check sites, a mailbox of its own. Nothing
** is lent between replays; a replay asks for the ownership of everything that the graph uses, and
** is ordered behind and before other work by storage, as a launch is. */
#include <stdio.h>

#include "runtime/internal.h"

static GpStatus refuse(GpRuntime *rt, GpSite site, const char *why, GpDiags *diags) {
    gp_diag(diags, GpDiag_G0343, gp_site_span(rt, site), why);
    return GpStatus_Diagnostics;
}

GpStatus gp_graph_refuse_host(GpDiags *diags) {
    if (diags)
        gp_diag(diags, GpDiag_G0343, GP_NO_SPAN, "the host reads, writes or waits for a tensor");
    return GpStatus_Diagnostics;
}

/* ---- Recording -------------------------------------------------------------------------- */

GpStatus gp_graph_begin(GpRuntime *rt, GpSite site, GpDiags *diags, GpGraph **out) {
    *out = NULL;
    if (rt->recording)
        return refuse(rt, site, "another graph", diags);
    GpGraph *g = GP_TRY_NEW(rt->session, GpGraph);
    if (!g)
        return gp_report_no_memory(diags);
    *g = (GpGraph){.rt = gp_runtime_retain(rt), .refs = 1};
    rt->recording = g;
    *out = g;
    return GpStatus_Ok;
}

/* Room for one more element of `bytes`; false when out of memory. */
static bool reserve(GpRuntime *rt, void **at, uint32_t count, uint32_t *cap, size_t bytes) {
    if (count < *cap)
        return true;
    uint32_t more = GP_MAX(*cap * 2, UINT32_C(8));
    void *moved = gp_try_realloc(rt->session, *at, *cap * bytes, more * bytes);
    if (!moved)
        return false;
    *at = moved;
    *cap = more;
    return true;
}

static GpRunArg *find_use(GpGraph *g, const GpRunArg *arg) {
    for (uint32_t i = 0; i < g->use_count; i++) {
        if (g->uses[i].tensor == arg->tensor && g->uses[i].partition == arg->partition)
            return &g->uses[i];
    }
    return NULL;
}

static bool add_use(GpGraph *g, const GpRunArg *arg) {
    GpRunArg *use = find_use(g, arg);
    bool is_write = arg->access == GpAccess_Write;
    if (!use) {
        if (!reserve(g->rt, (void **)&g->uses, g->use_count, &g->use_cap, sizeof *g->uses))
            return false;
        use = &g->uses[g->use_count++];
        *use = *arg;
        use->is_overwritten = false;
    }
    if (is_write)
        use->access = GpAccess_Write;
    use->is_overwritten |= is_write && arg->is_overwritten && arg->tensor->is_whole;
    return true;
}

/* The node owns what it was given; `op` holds the arguments that the uses point to. */
static GpStatus fill_node(GpGraph *g, GpGraphNode *node, GpDiags *diags) {
    const GpRunRequest *r = gp_op_request(node->op);
    GpDevice *d = r->exec->device;
    node->bytes = r->exec->image->param_bytes + GP_TENSOR_MAP_ALIGN;
    node->memory = gp_try_calloc(g->rt->session, node->bytes);
    if (!node->memory)
        return gp_report_no_memory(diags);
    uint64_t block = gp_align_up((uint64_t)(uintptr_t)node->memory, GP_TENSOR_MAP_ALIGN);
    if (r->exec->has_mailbox) {
        node->slot = gp_slot_take(d->main, diags);
        if (!node->slot)
            return gp_report_no_memory(diags);
    }
    for (uint32_t i = 0; i < r->arg_count; i++) {
        if (r->args[i].tensor && !add_use(g, &r->args[i]))
            return gp_report_no_memory(diags);
    }
    return gp_launch_pack(r, node->slot, (uint8_t *)(uintptr_t)block, &node->launch, diags);
}

static GpStatus check_request(const GpGraph *g, const GpRunRequest *r, GpDiags *diags) {
    char why[192];
    if (g->device && g->device != r->exec->device)
        return refuse(g->rt, r->site, "launches on two devices", diags);
    for (uint32_t i = 0; i < r->arg_count; i++) {
        if (!r->args[i].tensor || r->args[i].access != GpAccess_Move)
            continue;
        snprintf(why, sizeof why, "kernel `%s` takes `%s` by value, and a replay would take it again",
                 r->kernel ? r->kernel : r->exec->image->name,
                 r->args[i].param ? r->args[i].param : "?");
        return refuse(g->rt, r->site, why, diags);
    }
    return GpStatus_Ok;
}

GpStatus gp_graph_add(GpGraph *g, const GpRunRequest *r, GpDiags *diags) {
    GpStatus status = check_request(g, r, diags);
    if (status != GpStatus_Ok)
        return status;
    if (r->grid.grid[0] == 0 || r->grid.grid[1] == 0 || r->grid.grid[2] == 0)
        return GpStatus_Ok; /* no block, nothing to do */
    if (!reserve(g->rt, (void **)&g->nodes, g->node_count, &g->node_cap, sizeof *g->nodes))
        return gp_report_no_memory(diags);
    GpRunOp *op = gp_op_hold(g->rt, r);
    if (!op)
        return gp_report_no_memory(diags);
    g->device = r->exec->device;
    g->nodes[g->node_count] = (GpGraphNode){.op = op};
    status = fill_node(g, &g->nodes[g->node_count++], diags);
    if (status != GpStatus_Ok)
        g->is_broken = true;
    return status;
}

GpStatus gp_graph_end(GpGraph *g, GpSite site, GpDiags *diags) {
    g->rt->recording = NULL;
    if (g->is_broken)
        return refuse(g->rt, site, "a launch that failed while it was recorded", diags);
    if (g->node_count == 0)
        return refuse(g->rt, site, "nothing, as no kernel was launched", diags);
    GpStatus status = gp_device_check(g->device, diags);
    if (status == GpStatus_Ok)
        status = g->device->ops->graph_make(g, diags);
    g->is_made = status == GpStatus_Ok;
    return status;
}

/* ---- Replays ---------------------------------------------------------------------------- */

static GpStatus check_use(const GpRunArg *arg, GpSite site, GpDiags *diags) {
    if (GP_LIKELY(gp_own_is_plain(arg->tensor, arg->partition, false)))
        return GpStatus_Ok;
    GpRequest q = {.tensor = arg->tensor,
                   .via = arg->partition,
                   .verb = gp_verb_of(arg->access),
                   .site = site,
                   .param = arg->param ? arg->param : "?"};
    return gp_own_check(&q, diags);
}

static GpStatus prepare(GpGraph *g, GpStream *s, GpSite site, GpDiags *diags) {
    GpStatus status = gp_device_check(g->device, diags);
    if (status == GpStatus_Ok && s->device != g->device)
        status = refuse(g->rt, site, "a stream of another device", diags);
    for (uint32_t i = 0; i < g->use_count && status == GpStatus_Ok; i++)
        status = check_use(&g->uses[i], site, diags);
    for (uint32_t i = 0; i < g->use_count && status == GpStatus_Ok; i++) {
        const GpRunArg *arg = &g->uses[i];
        status = gp_storage_order(arg->tensor->storage, s, arg->access != GpAccess_Read, diags);
    }
    for (uint32_t i = 0; i < g->node_count && status == GpStatus_Ok; i++) {
        const GpGraphNode *node = &g->nodes[i];
        if (node->slot && !gp_slot_arm(node->slot, gp_op_request(node->op)))
            status = gp_report_no_memory(diags);
    }
    return status;
}

/* What is remembered of a replay that the device took. */
static void note_replay(GpGraph *g, GpStream *s, GpSite site) {
    GpUse use = gp_stream_issue(s);
    for (uint32_t i = 0; i < g->use_count; i++) {
        const GpRunArg *arg = &g->uses[i];
        if (arg->is_overwritten)
            gp_storage_clean(arg->tensor->storage);
        gp_storage_used(arg->tensor->storage, use, arg->access != GpAccess_Read);
    }
    g->rt->launches++;
    for (uint32_t i = 0; i < g->node_count; i++) {
        GpGraphNode *node = &g->nodes[i];
        gp_ring_add(g->device, node->launch.exec, &node->launch.grid, site, use);
        if (node->slot)
            gp_slot_enqueued(node->slot, node->launch.exec, site, use);
    }
    g->last = use;
    if (s->device->info.kind != GpDevice_Cuda) {
        s->completed = s->issued;
        gp_stream_reap(s);
    }
}

GpStatus gp_graph_launch(GpGraph *g, GpStream *stream, GpSite site, GpDiags *diags) {
    if (!g->is_made)
        return GpStatus_Argument;
    if (g->rt->recording)
        return refuse(g->rt, site, "another graph", diags);
    GpStream *s = stream ? stream : g->device->main;
    GpStatus status = prepare(g, s, site, diags);
    if (status == GpStatus_Ok)
        status = g->device->ops->graph_launch(s, g, diags);
    if (status == GpStatus_Ok || status == GpStatus_Interrupted)
        note_replay(g, s, site);
    return status;
}

GpStatus gp_graph_sync(GpGraph *g, GpDiags *diags) {
    GpStatus status = g->last.stream ? gp_stream_wait(g->last.stream, diags) : GpStatus_Ok;
    for (uint32_t i = 0; i < g->node_count && status == GpStatus_Ok; i++) {
        GpFailure *failure = g->nodes[i].slot ? gp_slot_failure(g->nodes[i].slot) : NULL;
        if (failure)
            status = gp_failure_raise(failure, diags);
    }
    return status;
}

uint32_t gp_graph_count(const GpGraph *g) { return g->node_count; }
const GpRunRequest *gp_graph_request(const GpGraph *g, uint32_t i) {
    return gp_op_request(g->nodes[i].op);
}

/* ---- Life ------------------------------------------------------------------------------- */

void gp_graph_release(GpGraph *g) {
    if (!g || --g->refs != 0)
        return;
    GpRuntime *rt = g->rt;
    if (rt->recording == g)
        rt->recording = NULL;
    if (g->device)
        g->device->ops->graph_free(g);
    for (uint32_t i = 0; i < g->node_count; i++) {
        GpGraphNode *node = &g->nodes[i];
        if (node->slot)
            gp_slot_disarm(node->slot);
        if (node->memory)
            gp_free(rt->session, node->memory, node->bytes);
        gp_op_release(node->op);
    }
    if (g->nodes)
        gp_free(rt->session, g->nodes, g->node_cap * sizeof *g->nodes);
    if (g->uses)
        gp_free(rt->session, g->uses, g->use_cap * sizeof *g->uses);
    gp_free(rt->session, g, sizeof *g);
    gp_runtime_release(rt);
}
