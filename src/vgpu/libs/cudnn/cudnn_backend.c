/* SPDX-License-Identifier: MIT */
/*
 * libcudnn: the backend. Descriptors keep the attributes that are set. The heuristics return one engine for every graph
 * of operations. Its plan has a workspace for convolutions only: what a change of layout needs (cudnn.h). Where it has
 * one, a second engine does without: programs try the next plan when there is no memory for the first, and run out of
 * memory where NVIDIA's library lets them, at a tensor (PyTorch: try_configs() in
 * aten/src/ATen/native/cudnn/Conv_v8.cpp). The second is slow, so that a program that measures takes the first.
 */
#include "vgpu/libs/cudnn/cudnn.h"
#include "vgpu/libs/cudnn/cudnn_api.h"

#include <stdlib.h>
#include <string.h>

/* The documented types and attributes that are treated specially. */
enum type {
    TYPE_ENGINE = 2,
    TYPE_ENGINE_CONFIG = 3,
    TYPE_HEURISTICS = 4,
    TYPE_PLAN = 5,
    TYPE_CONVOLUTION_FORWARD = 10,
    TYPE_CONVOLUTION_FILTER = 11,
    TYPE_CONVOLUTION_DATA = 12,
    TYPE_VARIANT_PACK = 16,
    N_TYPES = 64, /* more than exist: newer types only keep their attributes */
};
enum attribute_name {
    HEURISTICS_GRAPH = 201,
    HEURISTICS_RESULTS = 202,
    CONFIG_ENGINE = 300,
    CONFIG_WORKSPACE = 303,
    CONFIG_SHARED_MEMORY = 304,
    PLAN_CONFIG = 401,
    PLAN_WORKSPACE = 402,
    PLAN_JSON = 405,
    CONVOLUTION_W = 703, /* w, x, y; of the gradients 709 to 711 and 715 to 717 */
    GRAPH_OPERATIONS = 801,
    GRAPH_N_ENGINES = 802,
    TENSOR_TYPE = 901,
    TENSOR_SIZES = 902,
    TENSOR_STEPS = 903,
    TENSOR_ID = 906,
    PACK_IDS = 1000,
    PACK_ADDRESSES = 1001,
    PACK_WORKSPACE = 1003,
    ENGINE_GRAPH = 1300,
    ENGINE_INDEX = 1301,
};
enum { OF_INT64 = 3, OF_DESCRIPTOR = 15, OF_CHAR = 24, MAX_BYTES = 1 << 20 };

struct backend_attribute {
    int name, type;
    int64_t count;
    void *values;
    struct backend_attribute *next;
};

struct descriptor {
    int type;
    bool is_final, is_lean; /* lean: of the engine without a workspace, or made from it */
    size_t workspace_bytes;
    struct backend_attribute *attributes;
};

static size_t element_size(int type)
{
    switch (type) {
    case 0: /* handle */
    case OF_INT64:
    case 5: /* double */
    case 6: /* pointer */
    case OF_DESCRIPTOR:
        return 8;
    case 2: /* boolean */
    case OF_CHAR:
        return 1;
    case 26: /* fraction */
        return 16;
    default: /* float, 32-bit numbers and enumerations */
        return 4;
    }
}

static struct descriptor *descriptor_of(const void *handle) { return plim_handle_body(handle, CUDNN_BACKEND); }

static struct backend_attribute *find(const struct descriptor *d, int name)
{
    struct backend_attribute *a = d ? d->attributes : NULL;
    while (a && a->name != name)
        a = a->next;
    return a;
}

/* The i-th descriptor among the values of an attribute, or NULL. */
static struct descriptor *descriptor_at(const struct descriptor *d, int name, int64_t i)
{
    const struct backend_attribute *a = find(d, name);
    return a && a->type == OF_DESCRIPTOR && i < a->count ? descriptor_of(((void **)a->values)[i]) : NULL;
}

static bool keep(struct descriptor *d, int name, int type, int64_t count, const void *values)
{
    struct backend_attribute *a = find(d, name);
    const size_t size = (size_t)count * element_size(type);
    void *copy = malloc(size ? size : 1);
    if (!copy || (!a && !(a = calloc(1, sizeof *a)))) {
        free(copy);
        return false;
    }
    if (size)
        memcpy(copy, values, size);
    if (!a->values) {
        a->next = d->attributes;
        d->attributes = a;
    }
    free(a->values);
    a->name = name;
    a->type = type;
    a->count = count;
    a->values = copy;
    return true;
}

static void forget(struct descriptor *d)
{
    while (d->attributes) {
        struct backend_attribute *a = d->attributes;
        d->attributes = a->next;
        free(a->values);
        free(a);
    }
}

/* --- the workspace of a plan --- */

static size_t layout_bytes(const struct descriptor *tensor)
{
    const struct backend_attribute *sizes = find(tensor, TENSOR_SIZES), *steps = find(tensor, TENSOR_STEPS);
    const struct backend_attribute *type = find(tensor, TENSOR_TYPE);
    if (!sizes || !steps || !type || sizes->type != OF_INT64 || steps->type != OF_INT64 || type->count < 1 ||
        element_size(type->type) != 4 || sizes->count < 2 || steps->count < 2 || ((int64_t *)steps->values)[1] == 1)
        return 0;
    size_t bytes = plim_cudnn_element(*(int *)type->values);
    for (int64_t i = 0; i < sizes->count; i++)
        bytes *= (size_t)((int64_t *)sizes->values)[i];
    return bytes;
}

enum { LEAN_ENGINE = 1 };

static int n_engines(const struct descriptor *d) { return d->workspace_bytes ? LEAN_ENGINE + 1 : 1; }

/* Whether the program asked for the lean engine by its index. */
static bool names_lean_engine(const struct descriptor *d)
{
    const struct backend_attribute *index = find(d, ENGINE_INDEX);
    return d->type == TYPE_ENGINE && index && index->type == OF_INT64 && index->count == 1 &&
           *(int64_t *)index->values == LEAN_ENGINE;
}

/*
 * The workspace that a descriptor passes on to those made from it: it is computed when a convolution is finalized,
 * since the program may destroy its tensors afterwards.
 */
static void inherit(struct descriptor *d)
{
    static const int parts[] = { GRAPH_OPERATIONS, HEURISTICS_GRAPH, ENGINE_GRAPH, CONFIG_ENGINE, PLAN_CONFIG };
    const int first = d->type == TYPE_CONVOLUTION_FORWARD  ? CONVOLUTION_W
                      : d->type == TYPE_CONVOLUTION_DATA   ? CONVOLUTION_W + 6
                      : d->type == TYPE_CONVOLUTION_FILTER ? CONVOLUTION_W + 12
                                                           : 0;
    size_t bytes = 0;
    for (int k = 0; first && k < 3; k++)
        bytes += layout_bytes(descriptor_at(d, first + k, 0));
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const struct backend_attribute *a = find(d, parts[i]);
        for (int64_t k = 0; a && k < a->count; k++) {
            const struct descriptor *part = descriptor_at(d, parts[i], k);
            bytes += part ? part->workspace_bytes : 0;
            d->is_lean = d->is_lean || (part && part->is_lean);
        }
    }
    if (first)
        plim_cudnn_assume_workspace();
    d->is_lean = d->is_lean || (bytes && names_lean_engine(d));
    d->workspace_bytes = d->is_lean ? 0 : bytes;
}

/* --- the interface --- */

status cudnnBackendCreateDescriptor(int type, void **ret_descriptor)
{
    struct descriptor *d;
    if (!ret_descriptor)
        return CUDNN_NULL_POINTER;
    if (type < 0 || type >= N_TYPES)
        return CUDNN_NOT_SUPPORTED;
    *ret_descriptor = plim_handle_make(CUDNN_BACKEND, sizeof *d, (void **)&d);
    if (*ret_descriptor)
        d->type = type;
    return *ret_descriptor ? CUDNN_SUCCESS : CUDNN_ALLOCATION_FAILED;
}

status cudnnBackendInitialize(const void *descriptor)
{
    struct descriptor *d = descriptor_of(descriptor);
    if (!d)
        return CUDNN_BAD_PARAM;
    forget(d);
    d->is_final = d->is_lean = false;
    d->workspace_bytes = 0;
    return CUDNN_SUCCESS;
}

status cudnnBackendDestroyDescriptor(void *descriptor)
{
    struct descriptor *d = descriptor_of(descriptor);
    if (descriptor && !d)
        return CUDNN_BAD_PARAM;
    if (d)
        forget(d);
    plim_handle_drop(descriptor);
    return CUDNN_SUCCESS;
}

status cudnnBackendSetAttribute(const void *descriptor, int name, int type, int64_t count, const void *values)
{
    struct descriptor *d = descriptor_of(descriptor);
    if (!d || d->is_final || count < 0 || (uint64_t)count * element_size(type) > MAX_BYTES)
        return CUDNN_BAD_PARAM;
    if (count && !values)
        return CUDNN_NULL_POINTER;
    return keep(d, name, type, count, values) ? CUDNN_SUCCESS : CUDNN_ALLOCATION_FAILED;
}

/* The attribute that must be set before a descriptor is finalized; 0: no such attribute. */
static int demanded(int type)
{
    return type == TYPE_HEURISTICS      ? HEURISTICS_GRAPH
           : type == TYPE_ENGINE        ? ENGINE_GRAPH
           : type == TYPE_ENGINE_CONFIG ? CONFIG_ENGINE
           : type == TYPE_PLAN          ? PLAN_CONFIG
                                        : 0;
}

status cudnnBackendFinalize(const void *descriptor)
{
    struct descriptor *d = descriptor_of(descriptor);
    if (!d)
        return CUDNN_BAD_PARAM;
    const int needed = demanded(d->type);
    const struct descriptor *other = needed ? descriptor_at(d, needed, 0) : NULL;
    if (needed && !other)
        return CUDNN_BAD_PARAM;
    if (needed && !other->is_final)
        return CUDNN_NOT_FINALIZED;
    if (!d->is_final)
        inherit(d);
    d->is_final = true;
    return CUDNN_SUCCESS;
}

/* The caller provides the descriptors for the answers. */
static status fill(const struct descriptor *graph_owner, int graph_name, int type, bool is_lean, void *into)
{
    const struct backend_attribute *graph = find(graph_owner, graph_name);
    struct descriptor *d = descriptor_of(into);
    if (!d || d->type != type || !graph)
        return CUDNN_BAD_PARAM;
    if (!keep(d, ENGINE_GRAPH, OF_DESCRIPTOR, graph->count, graph->values))
        return CUDNN_ALLOCATION_FAILED;
    d->workspace_bytes = is_lean ? 0 : graph_owner->workspace_bytes;
    d->is_final = true;
    d->is_lean = is_lean;
    return CUDNN_SUCCESS;
}

/* The number of all, if none are wanted; else of those that are given: cudnn-frontend counts the rest as given, too. */
static status give_engines(const struct descriptor *d, int type, int64_t n_wanted, int64_t *ret_count, void *values)
{
    const int n = n_engines(d);
    status done = d->type == TYPE_HEURISTICS && type == OF_DESCRIPTOR ? CUDNN_SUCCESS : CUDNN_BAD_PARAM;
    if (ret_count)
        *ret_count = values && n_wanted > 0 && n_wanted < n ? n_wanted : n;
    for (int i = 0; values && i < n && i < n_wanted && done == CUDNN_SUCCESS; i++)
        done = fill(d, HEURISTICS_GRAPH, TYPE_ENGINE_CONFIG, i == LEAN_ENGINE, ((void **)values)[i]);
    return done;
}

static status give_number(int64_t number, int type, int64_t n_wanted, int64_t *ret_count, void *values)
{
    const int32_t narrow = (int32_t)number;
    if (ret_count)
        *ret_count = 1;
    if (n_wanted < 1 || !values)
        return CUDNN_SUCCESS;
    if (element_size(type) == 8)
        memcpy(values, &number, sizeof number);
    else
        memcpy(values, &narrow, sizeof narrow);
    return CUDNN_SUCCESS;
}

/* Kept values. An attribute that was never set has no values. */
static status give_kept(const struct descriptor *d, int name, int type, int64_t n_wanted, int64_t *ret_count,
                        void *values)
{
    const struct backend_attribute *a = find(d, name);
    if (a && a->type != type)
        return CUDNN_ATTRIBUTE_TYPE;
    const int64_t n = a ? a->count : 0, given = n < n_wanted ? n : n_wanted;
    if (ret_count)
        *ret_count = n;
    if (!a || !values || given <= 0)
        return CUDNN_SUCCESS;
    if (type != OF_DESCRIPTOR) {
        memcpy(values, a->values, (size_t)given * element_size(type));
        return CUDNN_SUCCESS;
    }
    for (int64_t i = 0; i < given; i++) {
        const struct descriptor *from = descriptor_of(((void **)a->values)[i]);
        struct descriptor *to = descriptor_of(((void **)values)[i]);
        if (!from || !to || to->type != from->type)
            return CUDNN_BAD_PARAM;
        for (const struct backend_attribute *p = from->attributes; p && to != from; p = p->next)
            if (!keep(to, p->name, p->type, p->count, p->values))
                return CUDNN_ALLOCATION_FAILED;
        to->is_final = from->is_final;
        to->is_lean = from->is_lean;
        to->workspace_bytes = from->workspace_bytes;
    }
    return CUDNN_SUCCESS;
}

status cudnnBackendGetAttribute(const void *descriptor, int name, int type, int64_t n_wanted, int64_t *ret_count,
                                void *values)
{
    const struct descriptor *d = descriptor_of(descriptor);
    if (!d || n_wanted < 0)
        return CUDNN_BAD_PARAM;
    if (!d->is_final)
        return CUDNN_NOT_FINALIZED;
    switch (name) {
    case HEURISTICS_RESULTS:
        return give_engines(d, type, n_wanted, ret_count, values);
    case CONFIG_ENGINE:
        if (find(d, CONFIG_ENGINE))
            break;
        if (ret_count)
            *ret_count = 1;
        return n_wanted < 1 || !values ? CUDNN_SUCCESS
                                       : fill(d, ENGINE_GRAPH, TYPE_ENGINE, d->is_lean, *(void **)values);
    case PLAN_WORKSPACE:
        return give_number((int64_t)d->workspace_bytes, type, n_wanted, ret_count, values);
    case CONFIG_WORKSPACE:
    case CONFIG_SHARED_MEMORY:
        return give_number(0, type, n_wanted, ret_count, values);
    case GRAPH_N_ENGINES:
        return give_number(n_engines(d), type, n_wanted, ret_count, values);
    case ENGINE_INDEX:
        if (!find(d, ENGINE_INDEX))
            return give_number(d->is_lean ? LEAN_ENGINE : 0, type, n_wanted, ret_count, values);
        break;
    case PLAN_JSON:
        plim_vgpu_unsupported("cudnnBackendGetAttribute of a plan's JSON", __builtin_return_address(0));
        return CUDNN_NOT_SUPPORTED;
    default:
        break;
    }
    return give_kept(d, name, type, n_wanted, ret_count, values);
}

/* The result of the only operation of a plan, if it is a convolution: the id of its tensor. False: another plan. */
static bool result_of(const struct descriptor *plan, int64_t *ret_id)
{
    enum { FORWARD_RESULT = 705, DATA_RESULT = 710, FILTER_RESULT = 715 };
    const struct descriptor *config = descriptor_at(plan, PLAN_CONFIG, 0);
    const struct descriptor *engine = config ? descriptor_at(config, CONFIG_ENGINE, 0) : NULL;
    const struct descriptor *graph = engine ? descriptor_at(engine, ENGINE_GRAPH, 0) : NULL;
    const struct backend_attribute *operations = graph ? find(graph, GRAPH_OPERATIONS) : NULL;
    const struct descriptor *operation =
        operations && operations->count == 1 ? descriptor_at(graph, GRAPH_OPERATIONS, 0) : NULL;
    if (!operation)
        return false;
    const int name = operation->type == TYPE_CONVOLUTION_FORWARD  ? FORWARD_RESULT
                     : operation->type == TYPE_CONVOLUTION_DATA   ? DATA_RESULT
                     : operation->type == TYPE_CONVOLUTION_FILTER ? FILTER_RESULT
                                                                  : 0;
    const struct descriptor *tensor = name ? descriptor_at(operation, name, 0) : NULL;
    const struct backend_attribute *id = tensor ? find(tensor, TENSOR_ID) : NULL;
    if (!id || id->count != 1)
        return false;
    memcpy(ret_id, id->values, sizeof *ret_id);
    return true;
}

/* The addresses that a plan may write to: its result, or all, and its workspace. */
static void addresses_of(const struct descriptor *plan, const struct descriptor *pack, uintptr_t words[PLIM_N_WORDS])
{
    const struct backend_attribute *ids = find(pack, PACK_IDS), *addresses = find(pack, PACK_ADDRESSES);
    const struct backend_attribute *workspace = find(pack, PACK_WORKSPACE);
    int64_t result = 0;
    const bool is_known = ids && addresses && ids->count == addresses->count && result_of(plan, &result);
    unsigned n = 0;
    if (workspace && workspace->count == 1)
        memcpy(&words[n++], workspace->values, sizeof *words);
    for (int64_t i = 0; addresses && i < addresses->count && n < PLIM_N_WORDS; i++) {
        int64_t id = result;
        if (is_known)
            memcpy(&id, (const char *)ids->values + (size_t)i * sizeof id, sizeof id);
        if (id == result)
            memcpy(&words[n++], (const char *)addresses->values + (size_t)i * sizeof *words, sizeof *words);
    }
}

status cudnnBackendExecute(const void *handle, const void *plan, const void *pack)
{
    const struct descriptor *p = descriptor_of(plan), *v = descriptor_of(pack);
    if (!p || !v || p->type != TYPE_PLAN || v->type != TYPE_VARIANT_PACK)
        return CUDNN_BAD_PARAM;
    uintptr_t words[PLIM_N_WORDS] = { 0 };
    addresses_of(p, v, words);
    if (p->is_lean)
        plim_vgpu_note_slow_work();
    return p->is_final && v->is_final ? plim_cudnn_write(handle, words) : CUDNN_NOT_FINALIZED;
}
