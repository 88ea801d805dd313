/* SPDX-License-Identifier: MIT */
/*
 * The environment, set by the launcher:
 *   PLIM_VGPU_LEDGER=PATH                     the ledger of the rehearsal
 *   CUDA_VISIBLE_DEVICES=I,J...               as on a real machine, by number
 * or, in tests, cards that are only a size, charged to the byte and without a context:
 *   PLIM_VGPU_RAW=MIB[:FREE_MIB][,...]        one entry per card
 *   PLIM_VGPU_RAW_CC=M.N                      compute capability (default 8.9)
 */
#include "vgpu/core/session.h"

#include "vgpu/core/callsite.h"
#include "vgpu/core/python/python.h"
#include "vgpu/core/ranks.h"
#include "vgpu/core/space.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct {
    struct plim_ledger *ledger;
    int process;
    int n_cards, card[PLIM_LEDGER_MAX_CARDS]; /* visible */
    bool is_forked;                           /* CUDA does not survive fork() in the child */
} session = { .process = -1 };

enum { HAS_CONTEXT = 1, HAS_KERNELS = 2 };
static atomic_int charged[PLIM_LEDGER_MAX_CARDS]; /* by the ledger's card number */
static uint32_t context_record[PLIM_LEDGER_MAX_CARDS], kernels_record[PLIM_LEDGER_MAX_CARDS];
static pthread_mutex_t charging = PTHREAD_MUTEX_INITIALIZER;

/* --- attaching --- */

static struct plim_ledger *raw_ledger(const char *text)
{
    enum { MIB = 1 << 20 };
    const char *cc = getenv("PLIM_VGPU_RAW_CC");
    unsigned major = 8, minor = 9;
    struct plim_ledger *ledger = plim_ledger_create(-1);
    if (!ledger)
        return NULL;
    if (cc)
        sscanf(cc, "%u.%u", &major, &minor);
    ledger->is_raw = 1;
    for (const char *p = text; *p && ledger->n_cards < PLIM_LEDGER_MAX_CARDS;) {
        struct plim_ledger_card *card = &ledger->card[ledger->n_cards++];
        char *end;
        snprintf(card->name, sizeof card->name, "Plimsoll raw card");
        card->compute_capability = 10 * major + minor;
        card->sm_count = 64;
        card->bus_bits = card->cuda.bus_bits = 256;
        card->cuda.memory_mhz = 7000;
        card->cuda.clock_mhz = 1500;
        card->cuda.l2_kib = 32 << 10;
        card->total_bytes = strtoull(p, &end, 10) * MIB;
        if (*end == ':')
            card->others_bytes = card->total_bytes - strtoull(end + 1, &end, 10) * MIB;
        p = *end == ',' ? end + 1 : "";
    }
    return ledger;
}

/* As the driver reads it: numbers, up to the first word that is not one. */
static void read_visible(const char *text)
{
    const int n = (int)plim_ledger_n_cards(session.ledger);
    session.n_cards = 0;
    for (int i = 0; i < n && !text; i++)
        session.card[session.n_cards++] = i;
    while (text && *text && session.n_cards < n) {
        char *end;
        long card = strtol(text, &end, 10);
        if (end == text || card < 0 || card >= n)
            break;
        session.card[session.n_cards++] = (int)card;
        text = *end == ',' ? end + 1 : "";
    }
}

static void in_child(void)
{
    if (session.ledger)
        session.is_forked = true;
}

static void attach(void)
{
    const char *path = getenv("PLIM_VGPU_LEDGER"), *raw = getenv("PLIM_VGPU_RAW");
    session.ledger = path ? plim_ledger_open(path) : raw ? raw_ledger(raw) : NULL;
    if (!session.ledger)
        return;
    plim_ledger_leave_former(session.ledger);
    session.process = plim_ledger_join(session.ledger);
    const bool is_full = session.process < 0;
    if (is_full || !plim_space_init()) {
        plim_ledger_warn(session.ledger, "no_room",
                         is_full ? "a process could not join the rehearsal: too many have"
                                 : "a process may not have the address space of a card (ulimit -v)");
        session.ledger = NULL;
        return;
    }
    read_visible(getenv("CUDA_VISIBLE_DEVICES"));
    pthread_atfork(NULL, NULL, in_child);
    plim_python_set_cards(session.ledger, session.card, session.n_cards);
    plim_python_watch(&session.ledger->process[session.process]);
}

struct plim_ledger *plim_vgpu_ledger(int *ret_error)
{
    pthread_once(&once, attach);
    *ret_error = session.is_forked                         ? PLIM_CUDA_NOT_INITIALIZED
                 : !session.ledger || session.n_cards == 0 ? PLIM_CUDA_NO_DEVICE
                                                           : PLIM_CUDA_SUCCESS;
    return *ret_error ? NULL : session.ledger;
}

struct plim_ledger_process *plim_vgpu_process(void)
{
    int error;
    struct plim_ledger *ledger = plim_vgpu_ledger(&error);
    return ledger ? &ledger->process[session.process] : NULL;
}

uint64_t plim_vgpu_free_bytes(int device)
{
    int error;
    struct plim_ledger *ledger = plim_vgpu_ledger(&error);
    return ledger && device >= 0 && device < session.n_cards
               ? plim_ledger_free_now(ledger, session.process, (uint32_t)session.card[device])
               : 0;
}

uint64_t plim_vgpu_now_us(void)
{
    int error;
    struct plim_ledger *ledger = plim_vgpu_ledger(&error);
    return ledger ? plim_ledger_now_us(ledger) : 0;
}

static atomic_ullong n_slow;

void plim_vgpu_note_slow_work(void) { atomic_fetch_add_explicit(&n_slow, 1, memory_order_relaxed); }

uint64_t plim_vgpu_event_time_us(void)
{
    return plim_vgpu_now_us() + 1000000 * atomic_load_explicit(&n_slow, memory_order_relaxed);
}

int plim_vgpu_n_cards(void)
{
    int error;
    return plim_vgpu_ledger(&error) ? session.n_cards : 0;
}

struct plim_ledger_card *plim_vgpu_card(int device)
{
    int error;
    struct plim_ledger *ledger = plim_vgpu_ledger(&error);
    return ledger && device >= 0 && device < session.n_cards ? &ledger->card[session.card[device]] : NULL;
}

int plim_vgpu_card_of(int device) { return plim_vgpu_card(device) ? session.card[device] : -1; }

int plim_vgpu_device_of(int card)
{
    for (int i = 0; i < plim_vgpu_n_cards(); i++)
        if (session.card[i] == card)
            return i;
    return -1;
}

/* --- charging --- */

/* The driver or a library takes it, not the program. */
static bool is_fixed(enum plim_ledger_kind kind)
{
    return kind == PLIM_KIND_CONTEXT || kind == PLIM_KIND_KERNELS || kind == PLIM_KIND_CUBLAS ||
           kind == PLIM_KIND_LIBRARY;
}

int plim_vgpu_charge(int device, enum plim_ledger_kind kind, uint64_t size, uint32_t *ret_record)
{
    int error;
    struct plim_ledger *ledger = plim_vgpu_ledger(&error);
    if (!ledger)
        return error;
    if (device < 0 || device >= session.n_cards)
        return PLIM_CUDA_INVALID_DEVICE;
    uint32_t card = (uint32_t)session.card[device], site = 0;
    if (!is_fixed(kind)) {
        plim_python_watch(&ledger->process[session.process]);
        site = plim_callsite_here(ledger, card, kind);
    }
    switch (plim_ledger_take(ledger, session.process, card, kind, size, site, ret_record)) {
    case PLIM_LEDGER_TAKEN:
        return PLIM_CUDA_SUCCESS;
    case PLIM_LEDGER_NO_RECORD:
        plim_ledger_warn(ledger, "no_room", "more allocations than the ledger has records");
        return PLIM_CUDA_OUT_OF_MEMORY;
    default:
        return PLIM_CUDA_OUT_OF_MEMORY;
    }
}

void plim_vgpu_uncharge(uint32_t record)
{
    if (session.ledger && !session.is_forked)
        plim_ledger_give(session.ledger, record);
}

static int need(int device, int what, enum plim_ledger_kind kind)
{
    int error;
    struct plim_ledger *ledger = plim_vgpu_ledger(&error);
    if (!ledger)
        return error;
    if (device < 0 || device >= session.n_cards)
        return PLIM_CUDA_INVALID_DEVICE;
    const int card = session.card[device];
    if (atomic_load_explicit(&charged[card], memory_order_acquire) & what)
        return PLIM_CUDA_SUCCESS;
    pthread_mutex_lock(&charging);
    if (!(atomic_load(&charged[card]) & what)) {
        if (plim_ranks_in_environment())
            ledger->has_ranks = 1;
        const struct plim_ledger_card *c = &ledger->card[card];
        const uint64_t size = kind == PLIM_KIND_CONTEXT ? c->context.bytes : c->kernels.bytes;
        uint32_t *record = kind == PLIM_KIND_CONTEXT ? &context_record[card] : &kernels_record[card];
        error = size ? plim_vgpu_charge(device, kind, size, record) : PLIM_CUDA_SUCCESS;
        if (error == PLIM_CUDA_SUCCESS)
            atomic_fetch_or(&charged[card], what);
    }
    pthread_mutex_unlock(&charging);
    return error;
}

static void give_back(int card, int what, uint64_t size, uint32_t record)
{
    if (atomic_load(&charged[card]) & what && size)
        plim_vgpu_uncharge(record);
    atomic_fetch_and(&charged[card], ~what);
}

void plim_vgpu_drop_context(int device)
{
    const struct plim_ledger_card *c = plim_vgpu_card(device);
    if (!c)
        return;
    const int card = session.card[device];
    pthread_mutex_lock(&charging);
    give_back(card, HAS_CONTEXT, c->context.bytes, context_record[card]);
    give_back(card, HAS_KERNELS, c->kernels.bytes, kernels_record[card]);
    pthread_mutex_unlock(&charging);
}

int plim_vgpu_need_context(int device) { return need(device, HAS_CONTEXT, PLIM_KIND_CONTEXT); }
int plim_vgpu_need_kernels(int device) { return need(device, HAS_KERNELS, PLIM_KIND_KERNELS); }

bool plim_vgpu_is_device(const void *pointer) { return plim_space_contains((uint64_t)(uintptr_t)pointer); }

/* --- remarks --- */

void plim_vgpu_remark(const char *kind, const char *what)
{
    int error;
    struct plim_ledger *ledger = plim_vgpu_ledger(&error);
    if (ledger)
        plim_ledger_warn(ledger, kind, what);
}

static const char *object_of(const void *caller)
{
    Dl_info info = { 0 };
    const char *object = dladdr(caller, &info) && info.dli_fname ? info.dli_fname : "?";
    const char *slash = strrchr(object, '/');
    return slash ? slash + 1 : object;
}

int plim_vgpu_unsupported(const char *function, const void *caller)
{
    char what[PLIM_LEDGER_WHAT_BYTES];
    int error;
    struct plim_ledger *ledger = plim_vgpu_ledger(&error);
    snprintf(what, sizeof what, "%s, called by %s", function, object_of(caller));
    if (!ledger || plim_ledger_warn(ledger, "not_supported", what))
        fprintf(stderr, "plimsoll: the virtual GPU does not support %s\n", what);
    return PLIM_CUDA_NOT_SUPPORTED;
}
