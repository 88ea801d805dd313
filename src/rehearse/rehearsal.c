/* SPDX-License-Identifier: MIT */
#include "rehearse/rehearsal.h"

#include "card/cuda_overhead.h"
#include "rehearse/attribution.h"
#include "rehearse/card_figures.h"
#include "rehearse/parts.h"
#include "rehearse/processes/departures.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The lock is held for microseconds; a program that keeps it so long hangs, or is stopped. */
enum { LOCK_MS = 1000 };

int plim_rehearsal_ledger(struct plim_ledger **ret_ledger)
{
    const int fd = memfd_create("plimsoll-ledger", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    struct plim_ledger *ledger = fd >= 0 ? plim_ledger_create(fd) : NULL;
    if (ledger && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0) {
        *ret_ledger = ledger;
        return fd;
    }
    const int error = errno;
    plim_ledger_close(ledger);
    if (fd >= 0)
        close(fd);
    errno = error;
    return -1;
}

/* Programs can write into the ledger: texts end, and numbers stay within their tables, whatever they wrote. */
static void seal(struct plim_ledger *ledger)
{
    ledger->n_cards = plim_ledger_n_cards(ledger);
    for (uint32_t i = 0; i < PLIM_LEDGER_MAX_CARDS; i++)
        ledger->card[i].name[PLIM_LEDGER_NAME_BYTES - 1] = '\0';
    for (uint32_t i = 0; i < PLIM_LEDGER_MAX_SITES; i++)
        if (ledger->site[i].hash) {
            ledger->stack[i].native[PLIM_LEDGER_STACK_BYTES - 1] = '\0';
            ledger->stack[i].python[PLIM_LEDGER_STACK_BYTES - 1] = '\0';
        }
}

/* --- what is held --- */

static int by_size(const void *a, const void *b)
{
    const struct plim_rehearsal_allocation *x = a, *y = b;
    return x->bytes < y->bytes ? 1 : x->bytes > y->bytes ? -1 : x->time_us > y->time_us ? 1 : -1;
}

/* The largest stay. */
static void keep(struct plim_rehearsal *rehearsal, const struct plim_ledger_record *record)
{
    struct plim_rehearsal_allocation *slot = NULL;
    if (rehearsal->n_allocations < PLIM_REHEARSAL_MAX_ALLOCATIONS) {
        slot = &rehearsal->allocation[rehearsal->n_allocations++];
    } else {
        for (uint32_t i = 0; i < rehearsal->n_allocations; i++)
            if (!slot || rehearsal->allocation[i].bytes < slot->bytes)
                slot = &rehearsal->allocation[i];
        if (slot->bytes >= record->size)
            return;
    }
    const uint32_t device = record->kind == PLIM_KIND_PINNED ? PLIM_REHEARSAL_HOST : record->device;
    *slot =
        (struct plim_rehearsal_allocation){ device, plim_rehearsal_kind(record->kind), record->size, record->time_us };
}

static void copy_allocations(const struct plim_ledger *ledger, struct plim_rehearsal *rehearsal)
{
    rehearsal->n_allocations = 0;
    for (uint32_t i = 0; i < ledger->n_records && i < PLIM_LEDGER_MAX_RECORDS; i++)
        if (ledger->record[i].is_used && ledger->record[i].kind < PLIM_KIND_MAX_ &&
            ledger->record[i].device < PLIM_LEDGER_MAX_CARDS)
            keep(rehearsal, &ledger->record[i]);
    qsort(rehearsal->allocation, rehearsal->n_allocations, sizeof *rehearsal->allocation, by_size);
}

/* Without NVIDIA's name. */
static const char *short_name(const char *name) { return !strncmp(name, "NVIDIA ", 7) ? name + 7 : name; }

static const char *phase_of(const struct plim_rehearsal *rehearsal, uint32_t number)
{
    for (uint32_t i = 0; number && i < rehearsal->n_call_sites; i++)
        if (rehearsal->call_site[i].number == number)
            return rehearsal->call_site[i].phase;
    return NULL;
}

/* Peaks of several processes are of several moments: their sum is no peak. */
static struct plim_rehearsal_pytorch pytorch_on(const struct plim_ledger *ledger, uint32_t device)
{
    struct plim_rehearsal_pytorch found = { 0 };
    for (uint32_t i = 0; i < PLIM_LEDGER_MAX_PROCESSES; i++) {
        const struct plim_ledger_process *process = &ledger->process[i];
        const struct plim_ledger_pytorch *peaks = &process->pytorch[device];
        const uint64_t reserved_bytes = atomic_load(&peaks->reserved_bytes);
        if (!atomic_load(&process->has_pytorch))
            continue;
        found.is_lower_bound =
            found.is_lower_bound || !atomic_load(&process->has_last_peaks) || atomic_load(&process->has_missed_peaks);
        found.n_processes += reserved_bytes != 0;
        if (reserved_bytes > found.reserved_bytes) {
            found.reserved_bytes = reserved_bytes;
            found.allocated_bytes = atomic_load(&peaks->allocated_bytes);
            found.active_bytes = atomic_load(&peaks->active_bytes);
        }
    }
    return found;
}

static void add_card(const struct plim_ledger_card *account, const struct plim_departures *departures, uint32_t device,
                     struct plim_rehearsal *rehearsal)
{
    struct plim_rehearsal_card *card = &rehearsal->card[device];
    char id[PLIM_RECEIPT_ID_BYTES];
    snprintf(id, sizeof id, "gpu%u", device);
    struct plim_receipt_device *peak = plim_receipt_device(&rehearsal->receipt, id);
    snprintf(peak->name, sizeof peak->name, "%.*s", (int)sizeof peak->name - 1, short_name(account->name));
    peak->total_bytes = account->total_bytes;
    *card = (struct plim_rehearsal_card){ .reserved_bytes = account->reserved_bytes,
                                          .others_bytes = account->others_bytes,
                                          .peak_us = account->peak_us,
                                          .pytorch = pytorch_on(rehearsal->ledger, device) };
    plim_rehearsal_add_lines(rehearsal, device, /* is_peak */ true, account, peak);
    plim_rehearsal_add_lines(rehearsal, device, /* is_peak */ false, account, &card->final);
    plim_rehearsal_add_phases(rehearsal, device);
    for (; card->n_points < account->n_points && card->n_points < PLIM_REHEARSAL_MAX_POINTS; card->n_points++) {
        const struct plim_ledger_point *point = &account->point[card->n_points];
        card->point[card->n_points] =
            (struct plim_rehearsal_point){ point->time_us, point->bytes, phase_of(rehearsal, point->site) };
    }
    plim_departures_take_out(departures, device, card);
}

void plim_rehearsal_take(struct plim_rehearsal *rehearsal)
{
    static struct plim_ledger_card account[PLIM_LEDGER_MAX_CARDS]; /* large; a process runs one rehearsal at a time */
    static struct plim_departures departures;
    struct plim_ledger *ledger = rehearsal->ledger;
    const bool is_locked = plim_ledger_lock_within(ledger, LOCK_MS);
    if (!is_locked)
        plim_rehearsal_warn(rehearsal, "unlocked",
                            "a process kept the ledger locked: the figures were read in the middle of a change", 1);
    seal(ledger);
    rehearsal->n_cards = ledger->n_cards;
    memcpy(account, ledger->card, sizeof account);
    plim_departures_copy(ledger, &departures);
    copy_allocations(ledger, rehearsal);
    plim_call_sites_copy(ledger, rehearsal);
    rehearsal->end_us = plim_ledger_now_us(ledger);
    if (is_locked)
        plim_ledger_unlock(ledger);
    plim_call_sites_attribute(ledger, rehearsal);
    plim_receipt_init(&rehearsal->receipt, "", "rehearse");
    rehearsal->receipt.is_whole = true;
    rehearsal->receipt.n_starts = 1;
    for (uint32_t i = 0; i < rehearsal->n_cards; i++)
        add_card(&account[i], &departures, i, rehearsal);
    plim_rehearsal_add_host(rehearsal);
    plim_call_sites_sort(rehearsal);
}

/* --- what happened --- */

void plim_rehearsal_warn(struct plim_rehearsal *rehearsal, const char *kind, const char *what, uint64_t count)
{
    struct plim_rehearsal_warning *warning = rehearsal->warning;
    uint32_t i = 0;
    while (i < rehearsal->n_warnings && (strcmp(warning[i].kind, kind) != 0 || strcmp(warning[i].what, what) != 0))
        i++;
    if (i == PLIM_REHEARSAL_MAX_WARNINGS)
        return;
    if (i == rehearsal->n_warnings) {
        warning[rehearsal->n_warnings++] = (struct plim_rehearsal_warning){ .count = 0 };
        snprintf(warning[i].kind, sizeof warning[i].kind, "%s", kind);
        snprintf(warning[i].what, sizeof warning[i].what, "%s", what);
    }
    warning[i].count += count;
}

static void copy_warnings(const struct plim_ledger *ledger, struct plim_rehearsal *rehearsal)
{
    for (uint32_t i = 0; i < ledger->n_warnings && i < PLIM_LEDGER_MAX_WARNINGS; i++) {
        struct plim_ledger_warning from;
        memcpy(&from, &ledger->warning[i], sizeof from);
        from.kind[sizeof from.kind - 1] = from.what[sizeof from.what - 1] = '\0';
        plim_rehearsal_warn(rehearsal, from.kind, from.what, from.count);
    }
}

static void copy_oom(const struct plim_ledger *ledger, struct plim_rehearsal *rehearsal)
{
    const struct plim_ledger_oom *from = &ledger->oom;
    const struct plim_ledger_stack *stack = &ledger->stack[from->site < PLIM_LEDGER_MAX_SITES ? from->site : 0];
    struct plim_attribution attribution;
    plim_attribution_of(stack, &attribution);
    rehearsal->oom = (struct plim_rehearsal_oom){ .is_set = from->is_set,
                                                  .has_gone_on = plim_ledger_has_gone_on(ledger),
                                                  .device = from->device < rehearsal->n_cards ? from->device : 0,
                                                  .pid = from->pid,
                                                  .kind = plim_rehearsal_kind(from->kind),
                                                  .size_bytes = from->size,
                                                  .free_bytes = from->free_bytes,
                                                  .used_bytes = from->used_bytes,
                                                  .time_us = from->time_us,
                                                  .label = attribution.label,
                                                  .phase = attribution.phase,
                                                  .native = stack->native,
                                                  .python = stack->python };
}

void plim_rehearsal_finish(struct plim_rehearsal *rehearsal)
{
    const struct plim_ledger *ledger = rehearsal->ledger;
    copy_warnings(ledger, rehearsal);
    copy_oom(ledger, rehearsal);
    rehearsal->n_met_later = ledger->n_met_later;
    rehearsal->n_out_of_memory = ledger->n_out_of_memory;
    rehearsal->host.pinned_peak_bytes = ledger->pinned_peak_bytes;
    rehearsal->host.written_bytes = ledger->written_bytes;
    rehearsal->host.written_us = ledger->written_us;
}

/* --- cards --- */

void plim_rehearsal_describe(const struct plim_card *card, struct plim_ledger_card *ret_card)
{
    const struct plim_overhead_band context = plim_cuda_context_band(card), kernels = plim_cuda_kernels_band(),
                                    cublas = plim_cublas_band(card);
    enum { DEFAULT_CAPABILITY = 89, PAGE_BYTES = 64 << 10 };
    struct plim_card known = *card;
    struct plim_card_figures figures;
    known.compute_capability = card->compute_capability ? card->compute_capability : DEFAULT_CAPABILITY;
    plim_card_figures(&known, &figures);
    snprintf(ret_card->name, sizeof ret_card->name, "%s%.70s", card->vendor == PLIM_VENDOR_NVIDIA ? "NVIDIA " : "",
             card->name);
    ret_card->total_bytes = card->total_bytes;
    /* programs see whole pages: real totals are (25,438,126,080 bytes of an RTX 3090), ours come from decimals */
    const uint64_t seen_bytes = card->total_bytes > card->reserved_bytes ? card->total_bytes - card->reserved_bytes : 0;
    ret_card->reserved_bytes = card->reserved_bytes ? card->reserved_bytes + seen_bytes % PAGE_BYTES : 0;
    ret_card->others_bytes = card->others_bytes;
    ret_card->compute_capability = known.compute_capability;
    ret_card->sm_count = figures.sm_count;
    ret_card->bus_bits = card->bus_bits;
    ret_card->memory_mhz = plim_card_memory_mhz(card);
    ret_card->cuda.bus_bits = figures.bus_bits;
    ret_card->cuda.memory_mhz = figures.memory_mhz;
    ret_card->cuda.clock_mhz = figures.clock_mhz;
    ret_card->cuda.l2_kib = figures.l2_kib;
    ret_card->pci_id = card->pci_id;
    ret_card->context = (struct plim_ledger_band){ context.bytes, context.low_bytes, context.high_bytes };
    ret_card->kernels = (struct plim_ledger_band){ kernels.bytes, kernels.low_bytes, kernels.high_bytes };
    ret_card->cublas = (struct plim_ledger_band){ cublas.bytes, cublas.low_bytes, cublas.high_bytes };
}
