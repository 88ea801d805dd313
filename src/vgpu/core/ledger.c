/* SPDX-License-Identifier: MIT */
/*
 * Rounding. How far cudaMalloc rounds up is not documented. The programming guide promises pointers aligned to at least
 * 256 bytes; cuMemGetAllocationGranularity documents 2 MiB as the unit of physical memory on present cards. So:
 * requests up to 1 MiB are rounded to 512 bytes and share chunks of 2 MiB per process, larger ones are rounded up to 2
 * MiB. Basis: assumed, not measured on a card yet.
 */
#include "vgpu/core/ledger.h"

#include "vgpu/core/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const uint64_t magic = 0x706c696d76677561; /* "plimvgua": changes with the layout */
static const uint64_t chunk_bytes = (uint64_t)2 << 20, small_max_bytes = (uint64_t)1 << 20, small_unit_bytes = 512;

static uint64_t round_up(uint64_t n, uint64_t unit) { return (n + unit - 1) / unit * unit; }

static uint64_t clock_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

uint64_t plim_ledger_now_us(const struct plim_ledger *ledger) { return clock_us() - ledger->start_us; }

/* --- the file --- */

struct plim_ledger *plim_ledger_create(int fd)
{
    if (fd >= 0 && ftruncate(fd, sizeof(struct plim_ledger)) < 0)
        return NULL;
    int flags = fd >= 0 ? MAP_SHARED : MAP_SHARED | MAP_ANONYMOUS;
    struct plim_ledger *ledger =
        mmap(NULL, sizeof *ledger, PROT_READ | PROT_WRITE, flags | MAP_NORESERVE, fd >= 0 ? fd : -1, 0);
    if (ledger == MAP_FAILED)
        return NULL;
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&ledger->lock, &attributes);
    pthread_mutexattr_destroy(&attributes);
    ledger->start_us = clock_us();
    ledger->magic = magic;
    return ledger;
}

struct plim_ledger *plim_ledger_open(const char *path)
{
    struct stat status;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    void *start = MAP_FAILED;
    if (fstat(fd, &status) == 0 && status.st_size == (off_t)sizeof(struct plim_ledger))
        start = mmap(NULL, sizeof(struct plim_ledger), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    close(fd);
    if (start == MAP_FAILED)
        return NULL;
    struct plim_ledger *ledger = start;
    if (ledger->magic == magic && ledger->n_cards <= PLIM_LEDGER_MAX_CARDS)
        return ledger;
    munmap(start, sizeof *ledger);
    return NULL;
}

void plim_ledger_close(struct plim_ledger *ledger)
{
    if (ledger)
        munmap(ledger, sizeof *ledger);
}

uint32_t plim_ledger_n_cards(const struct plim_ledger *ledger)
{
    return ledger->n_cards < PLIM_LEDGER_MAX_CARDS ? ledger->n_cards : PLIM_LEDGER_MAX_CARDS;
}

/* --- accounts --- */

static uint64_t small_charge(const struct plim_ledger_process *process, uint32_t device)
{
    return round_up(process->small_bytes[device], chunk_bytes);
}

static bool is_small(const struct plim_ledger *ledger, uint32_t kind, uint64_t size)
{
    return kind == PLIM_KIND_ALLOC && !ledger->is_raw && size <= small_max_bytes;
}

static bool is_rounded(uint32_t kind) { return kind == PLIM_KIND_ALLOC || kind == PLIM_KIND_MANAGED; }

/* --- call sites --- */

/* The number of peaks so far of the account that the call site belongs to. */
static uint64_t peaks_of(const struct plim_ledger *ledger, const struct plim_ledger_site *site)
{
    if (site->kind == PLIM_KIND_PINNED)
        return ledger->n_pinned_peaks;
    return ledger->card[site->device < PLIM_LEDGER_MAX_CARDS ? site->device : 0].n_peaks;
}

/* To be called before live_bytes changes: keeps its value at a peak reached since the last change. */
static struct plim_ledger_site *settled(struct plim_ledger *ledger, uint32_t number)
{
    struct plim_ledger_site *site = &ledger->site[number < PLIM_LEDGER_MAX_SITES ? number : 0];
    const uint64_t n = peaks_of(ledger, site);
    if (site->settled_peak != n) {
        site->settled_peak = n;
        site->settled_bytes = site->live_bytes;
    }
    return site;
}

uint64_t plim_ledger_site_peak(const struct plim_ledger *ledger, const struct plim_ledger_site *site)
{
    return site->settled_peak == peaks_of(ledger, site) ? site->settled_bytes : site->live_bytes;
}

uint32_t plim_ledger_site(struct plim_ledger *ledger, uint32_t device, enum plim_ledger_kind kind, uint64_t hash,
                          const struct plim_ledger_stack *stack)
{
    enum { PLACES = PLIM_LEDGER_MAX_SITES - 1 }; /* without number 0 */
    uint32_t found = 0;
    plim_ledger_lock(ledger);
    for (uint32_t i = 0; i < PLACES && !found; i++) {
        const uint32_t number = 1 + (uint32_t)((hash + i) % PLACES);
        struct plim_ledger_site *place = &ledger->site[number];
        if (place->hash == hash) {
            found = number;
        } else if (!place->hash && ledger->n_sites < PLACES / 4 * 3) { /* a full table is slow to search */
            *place = (struct plim_ledger_site){
                .hash = hash, .device = device, .kind = kind, .first_us = plim_ledger_now_us(ledger)
            };
            place->settled_peak = peaks_of(ledger, place);
            ledger->stack[number] = *stack;
            ledger->n_sites++;
            found = number;
        } else if (!place->hash) {
            break;
        }
    }
    plim_ledger_unlock(ledger);
    return found;
}

/* Recompute the account of each card from the records. */
static void recount(struct plim_ledger *ledger)
{
    for (uint32_t d = 0; d < PLIM_LEDGER_MAX_CARDS; d++) {
        ledger->card[d].used_bytes = 0;
        memset(ledger->card[d].kind_bytes, 0, sizeof ledger->card[d].kind_bytes);
    }
    for (uint32_t i = 0; i < PLIM_LEDGER_MAX_SITES; i++)
        if (i == 0 || ledger->site[i].hash)
            settled(ledger, i)->live_bytes = 0;
    ledger->pinned_bytes = 0;
    ledger->free_record = 0;
    for (int p = 0; p < PLIM_LEDGER_MAX_PROCESSES; p++) {
        memset(ledger->process[p].small_bytes, 0, sizeof ledger->process[p].small_bytes);
        memset(ledger->process[p].used_bytes, 0, sizeof ledger->process[p].used_bytes);
        ledger->process[p].pinned_bytes = 0;
    }
    if (ledger->n_records > PLIM_LEDGER_MAX_RECORDS)
        ledger->n_records = PLIM_LEDGER_MAX_RECORDS;
    for (uint32_t i = 0; i < ledger->n_records; i++) {
        struct plim_ledger_record *r = &ledger->record[i];
        bool is_sound =
            r->process < PLIM_LEDGER_MAX_PROCESSES && r->device < PLIM_LEDGER_MAX_CARDS && r->kind < PLIM_KIND_MAX_;
        if (!r->is_used || !is_sound) {
            r->is_used = 0;
            r->next = ledger->free_record;
            ledger->free_record = i + 1;
            continue;
        }
        ledger->site[r->next < PLIM_LEDGER_MAX_SITES ? r->next : 0].live_bytes += r->size;
        struct plim_ledger_process *process = &ledger->process[r->process];
        if (r->kind == PLIM_KIND_PINNED) {
            ledger->pinned_bytes += r->size;
            process->pinned_bytes += r->size;
            continue;
        }
        ledger->card[r->device].kind_bytes[r->kind] += r->size;
        ledger->card[r->device].used_bytes += r->charged_bytes;
        process->used_bytes[r->device] += r->charged_bytes;
        if (is_small(ledger, r->kind, r->size))
            process->small_bytes[r->device] += round_up(r->size, small_unit_bytes);
    }
    for (int p = 0; p < PLIM_LEDGER_MAX_PROCESSES; p++)
        for (uint32_t d = 0; d < plim_ledger_n_cards(ledger); d++) {
            ledger->card[d].used_bytes += small_charge(&ledger->process[p], d);
            ledger->process[p].used_bytes[d] += small_charge(&ledger->process[p], d);
        }
}

/* The last owner has died with the lock held. */
static void take_over(struct plim_ledger *ledger)
{
    pthread_mutex_consistent(&ledger->lock);
    recount(ledger);
}

void plim_ledger_lock(struct plim_ledger *ledger)
{
    if (pthread_mutex_lock(&ledger->lock) == EOWNERDEAD)
        take_over(ledger);
}

/* Tried again and again: a wait in the kernel trusts what the program may have written over the lock. */
bool plim_ledger_lock_within(struct plim_ledger *ledger, unsigned most_ms)
{
    const struct timespec pause = { .tv_nsec = 200000 };
    const uint64_t end_us = clock_us() + (uint64_t)most_ms * 1000;
    int error;
    while ((error = pthread_mutex_trylock(&ledger->lock)) == EBUSY && clock_us() < end_us)
        nanosleep(&pause, NULL);
    if (error == EOWNERDEAD)
        take_over(ledger);
    return error == 0 || error == EOWNERDEAD;
}

void plim_ledger_unlock(struct plim_ledger *ledger) { pthread_mutex_unlock(&ledger->lock); }

uint64_t plim_ledger_free_bytes(const struct plim_ledger_card *card)
{
    uint64_t gone = card->reserved_bytes + card->others_bytes + card->used_bytes;
    return gone < card->total_bytes ? card->total_bytes - gone : 0;
}

/* Points closer than point_us are merged into the higher one; when the array is full, pairs are merged. */
static void add_point(struct plim_ledger_card *card, uint64_t time_us, uint32_t site)
{
    if (card->n_points > PLIM_LEDGER_MAX_POINTS)
        card->n_points = PLIM_LEDGER_MAX_POINTS; /* a program overwrote it */
    struct plim_ledger_point *last = card->n_points ? &card->point[card->n_points - 1] : NULL;
    if (last && time_us < last->time_us + card->point_us) {
        if (card->used_bytes > last->bytes) {
            last->bytes = card->used_bytes;
            last->site = site;
        }
        return;
    }
    if (card->n_points == PLIM_LEDGER_MAX_POINTS) {
        for (uint32_t i = 0; i < PLIM_LEDGER_MAX_POINTS / 2; i++) {
            const struct plim_ledger_point *a = &card->point[2 * i], *b = a + 1;
            card->point[i] = a->bytes >= b->bytes ? *a : *b;
        }
        card->n_points = PLIM_LEDGER_MAX_POINTS / 2;
        card->point_us = card->point_us ? 2 * card->point_us : 1000;
    }
    card->point[card->n_points++] = (struct plim_ledger_point){ time_us, card->used_bytes, site };
}

static void account_changed(struct plim_ledger *ledger, struct plim_ledger_card *card, uint32_t site)
{
    uint64_t now = plim_ledger_now_us(ledger);
    if (card->used_bytes > card->peak_bytes) {
        card->peak_bytes = card->used_bytes;
        card->peak_us = now;
        card->n_peaks++;
        memcpy(card->peak_kind_bytes, card->kind_bytes, sizeof card->kind_bytes);
    }
    add_point(card, now, site);
}

/* --- processes --- */

/* What this process can tell of others. */
struct view {
    uint64_t pid_namespace;
    bool has_own_proc;
};

static bool is_dead(const struct plim_ledger_process *process, const struct view *view)
{
    struct plim_process found;
    if (process->is_ended)
        return true;
    if (process->pid_namespace != view->pid_namespace)
        return false;
    if (kill(process->pid, 0) < 0 && errno == ESRCH)
        return true;
    return view->has_own_proc && plim_process_read(process->pid, &found) &&
           (found.is_ended || (process->start_ticks && found.start_ticks != process->start_ticks));
}

/* Whose memory counts: of all, of one card or of the host. */
enum { EVERYWHERE = PLIM_LEDGER_EVERYWHERE, HOST = -2 };

static bool holds(const struct plim_ledger_process *process, int where)
{
    return where == EVERYWHERE || (where == HOST ? process->pinned_bytes : process->used_bytes[where]) != 0;
}

static void note_left(const struct plim_ledger *ledger, struct plim_ledger_process *process)
{
    process->is_ended = process->has_left = 1;
    process->left_us = plim_ledger_now_us(ledger);
    memcpy(process->left_bytes, process->used_bytes, sizeof process->left_bytes);
}

/* Only processes that hold memory there are looked at, of one pid (0: any): each takes a file of /proc. */
static void reap_locked(struct plim_ledger *ledger, int where, int pid)
{
    const struct view view = { plim_process_pid_namespace(0), plim_process_has_own_proc() };
    bool is_changed = false, is_gone[PLIM_LEDGER_MAX_PROCESSES] = { false };
    for (int p = 0; p < PLIM_LEDGER_MAX_PROCESSES; p++) {
        const struct plim_ledger_process *process = &ledger->process[p];
        if (process->pid && !process->has_left && (!pid || process->pid == pid) && holds(process, where) &&
            is_dead(process, &view))
            is_gone[p] = is_changed = true;
    }
    if (!is_changed)
        return;
    for (uint32_t i = 0; i < ledger->n_records && i < PLIM_LEDGER_MAX_RECORDS; i++)
        if (ledger->record[i].process < PLIM_LEDGER_MAX_PROCESSES && is_gone[ledger->record[i].process])
            ledger->record[i].is_used = 0;
    for (int p = 0; p < PLIM_LEDGER_MAX_PROCESSES; p++)
        if (is_gone[p])
            note_left(ledger, &ledger->process[p]);
    recount(ledger);
    for (uint32_t d = 0; d < plim_ledger_n_cards(ledger); d++)
        account_changed(ledger, &ledger->card[d], 0);
}

void plim_ledger_reap_of(struct plim_ledger *ledger, int card, int pid)
{
    plim_ledger_lock(ledger);
    reap_locked(ledger, card, pid);
    plim_ledger_unlock(ledger);
}

static bool is_entry_of(const struct plim_ledger_process *entry, const struct plim_process *process)
{
    return entry->pid == process->pid && entry->start_ticks == process->start_ticks &&
           entry->pid_namespace == plim_process_pid_namespace(0);
}

static struct plim_process this_process(void)
{
    struct plim_process self = { 0 };
    plim_process_read_at(AT_FDCWD, "/proc/self/stat", &self);
    self.pid = getpid();
    return self;
}

void plim_ledger_leave_former(struct plim_ledger *ledger)
{
    const struct plim_process self = this_process();
    plim_ledger_lock(ledger);
    for (int p = 0; p < PLIM_LEDGER_MAX_PROCESSES; p++)
        if (is_entry_of(&ledger->process[p], &self))
            ledger->process[p].is_ended = 1;
    plim_ledger_unlock(ledger);
}

/* One that nobody had; else that of a process that has left. */
static int free_slot(const struct plim_ledger *ledger)
{
    int of_another = -1;
    for (int p = 0; p < PLIM_LEDGER_MAX_PROCESSES; p++) {
        if (!ledger->process[p].pid)
            return p;
        if (ledger->process[p].has_left && of_another < 0)
            of_another = p;
    }
    return of_another;
}

int plim_ledger_join(struct plim_ledger *ledger)
{
    const struct plim_process self = this_process();
    plim_ledger_lock(ledger);
    reap_locked(ledger, EVERYWHERE, 0);
    const int slot = free_slot(ledger);
    if (slot >= 0) {
        memset(&ledger->process[slot], 0, sizeof ledger->process[slot]);
        ledger->process[slot].pid = self.pid;
        ledger->process[slot].start_ticks = self.start_ticks;
        ledger->process[slot].pid_namespace = plim_process_pid_namespace(0);
        ledger->process[slot].joined_us = plim_ledger_now_us(ledger);
    }
    plim_ledger_unlock(ledger);
    return slot;
}

/* --- allocating and freeing --- */

static uint64_t charge_of(const struct plim_ledger *ledger, const struct plim_ledger_process *process, uint32_t device,
                          enum plim_ledger_kind kind, uint64_t size)
{
    if (is_small(ledger, kind, size))
        return round_up(process->small_bytes[device] + round_up(size, small_unit_bytes), chunk_bytes) -
               small_charge(process, device);
    return is_rounded(kind) && !ledger->is_raw ? round_up(size, chunk_bytes) : size;
}

/* A free record, or UINT32_MAX. */
static uint32_t new_record(struct plim_ledger *ledger)
{
    if (ledger->free_record && ledger->free_record <= PLIM_LEDGER_MAX_RECORDS) {
        uint32_t record = ledger->free_record - 1;
        ledger->free_record = ledger->record[record].next;
        return record;
    }
    return ledger->n_records < PLIM_LEDGER_MAX_RECORDS ? ledger->n_records++ : UINT32_MAX;
}

static bool is_of(const struct plim_ledger_oom *oom, const struct plim_ledger *ledger,
                  const struct plim_ledger_process *process)
{
    return oom->process == (uint32_t)(process - ledger->process) && oom->pid == process->pid;
}

bool plim_ledger_has_gone_on(const struct plim_ledger *ledger)
{
    const struct plim_ledger_oom *oom = &ledger->oom;
    const struct plim_ledger_process *process =
        &ledger->process[oom->process < PLIM_LEDGER_MAX_PROCESSES ? oom->process : 0];
    return oom->is_set && oom->pid == process->pid && process->n_launches > oom->n_launches;
}

/* Keep the first refused request, as of its last repetition: by then an allocator has freed its cache. */
static void note_out_of_memory(struct plim_ledger *ledger, struct plim_ledger_process *process, uint32_t device,
                               enum plim_ledger_kind kind, uint64_t size, uint32_t site)
{
    const struct plim_ledger_card *card = &ledger->card[device];
    ledger->n_out_of_memory++;
    process->refused_bytes[device] = size;
    const struct plim_ledger_oom *first = &ledger->oom;
    const bool is_again =
        first->is_set && is_of(first, ledger, process) && first->device == device && first->size == size;
    if (!first->is_set || is_again || plim_ledger_has_gone_on(ledger))
        ledger->oom = (struct plim_ledger_oom){ .is_set = 1,
                                                .device = device,
                                                .kind = kind,
                                                .pid = process->pid,
                                                .process = (uint32_t)(process - ledger->process),
                                                .site = site,
                                                .size = size,
                                                .free_bytes = plim_ledger_free_bytes(card),
                                                .used_bytes = card->used_bytes,
                                                .time_us = plim_ledger_now_us(ledger),
                                                .n_launches = process->n_launches };
}

/* Allocators with a cache free it and repeat the request: one that is granted then was not fatal. */
static void note_met(struct plim_ledger *ledger, struct plim_ledger_process *process, uint32_t device, uint64_t size)
{
    if (!process->refused_bytes[device] || size < process->refused_bytes[device])
        return;
    process->refused_bytes[device] = 0;
    ledger->n_met_later++;
    if (ledger->oom.is_set && is_of(&ledger->oom, ledger, process) && ledger->oom.device == device)
        ledger->oom.is_set = 0;
}

/*
 * Nobody says when a process ends. So the others that hold memory are looked at whenever it matters: before a new peak,
 * which would be one too high, and before a refusal. A process that is alone on its card reads nothing for it.
 */
static void reap_before_peak(struct plim_ledger *ledger, const struct plim_ledger_process *process, int where,
                             uint64_t charge)
{
    const struct plim_ledger_card *card = where == HOST ? NULL : &ledger->card[where];
    const uint64_t used_bytes = card ? card->used_bytes : ledger->pinned_bytes;
    const uint64_t own_bytes = card ? process->used_bytes[where] : process->pinned_bytes;
    const uint64_t peak_bytes = card ? card->peak_bytes : ledger->pinned_peak_bytes;
    if (used_bytes != own_bytes &&
        (used_bytes + charge > peak_bytes || (card && charge > plim_ledger_free_bytes(card))))
        reap_locked(ledger, where, 0);
}

uint64_t plim_ledger_free_now(struct plim_ledger *ledger, int process, uint32_t device)
{
    const struct plim_ledger_card *card = &ledger->card[device];
    plim_ledger_lock(ledger);
    if (process < 0 || card->used_bytes != ledger->process[process].used_bytes[device])
        reap_locked(ledger, (int)device, 0);
    const uint64_t free_bytes = plim_ledger_free_bytes(card);
    plim_ledger_unlock(ledger);
    return free_bytes;
}

static enum plim_ledger_result take_locked(struct plim_ledger *ledger, int slot, uint32_t device,
                                           enum plim_ledger_kind kind, uint64_t size, uint32_t site,
                                           uint32_t *ret_record)
{
    struct plim_ledger_process *process = &ledger->process[slot];
    struct plim_ledger_card *card = &ledger->card[device];
    const bool is_host = kind == PLIM_KIND_PINNED;
    const bool is_impossible = size > (uint64_t)1 << 50; /* rounding would overflow */
    uint64_t charge = is_host ? 0 : is_impossible ? UINT64_MAX : charge_of(ledger, process, device, kind, size);
    if (!is_impossible)
        reap_before_peak(ledger, process, is_host ? HOST : (int)device, is_host ? size : charge);
    if (is_impossible || (!is_host && kind != PLIM_KIND_MANAGED && charge > plim_ledger_free_bytes(card))) {
        if (!is_host)
            note_out_of_memory(ledger, process, device, kind, size, site);
        return PLIM_LEDGER_FULL;
    }
    uint32_t i = new_record(ledger);
    if (i == UINT32_MAX)
        return PLIM_LEDGER_NO_RECORD;
    const bool is_in_chunk = is_small(ledger, kind, size);
    ledger->record[i] = (struct plim_ledger_record){ .size = size,
                                                     .charged_bytes = is_in_chunk ? 0 : charge,
                                                     .time_us = plim_ledger_now_us(ledger),
                                                     .pid = process->pid,
                                                     .process = (uint16_t)slot,
                                                     .device = (uint8_t)device,
                                                     .kind = (uint8_t)kind,
                                                     .is_used = 1,
                                                     .next = site };
    *ret_record = i;
    struct plim_ledger_site *place = settled(ledger, site);
    place->live_bytes += size;
    place->n_taken++;
    if (is_host) {
        ledger->pinned_bytes += size;
        process->pinned_bytes += size;
        if (ledger->pinned_bytes > ledger->pinned_peak_bytes) {
            ledger->pinned_peak_bytes = ledger->pinned_bytes;
            ledger->n_pinned_peaks++;
        }
        return PLIM_LEDGER_TAKEN;
    }
    if (is_in_chunk)
        process->small_bytes[device] += round_up(size, small_unit_bytes);
    process->used_bytes[device] += charge;
    if (process->used_bytes[device] > process->peak_bytes[device])
        process->peak_bytes[device] = process->used_bytes[device];
    card->used_bytes += charge;
    card->kind_bytes[kind] += size;
    card->n_taken++;
    note_met(ledger, process, device, size);
    account_changed(ledger, card, site);
    return PLIM_LEDGER_TAKEN;
}

enum plim_ledger_result plim_ledger_take(struct plim_ledger *ledger, int process, uint32_t device,
                                         enum plim_ledger_kind kind, uint64_t size, uint32_t site, uint32_t *ret_record)
{
    if (process < 0 || device >= plim_ledger_n_cards(ledger))
        return PLIM_LEDGER_NO_RECORD;
    plim_ledger_lock(ledger);
    enum plim_ledger_result result = take_locked(ledger, process, device, kind, size, site, ret_record);
    plim_ledger_unlock(ledger);
    return result;
}

void plim_ledger_place(struct plim_ledger *ledger, uint32_t record, uint64_t address)
{
    ledger->record[record].address = address; /* a record in use has one writer */
}

static void give_locked(struct plim_ledger *ledger, struct plim_ledger_record *r)
{
    struct plim_ledger_card *card = &ledger->card[r->device];
    struct plim_ledger_process *process = &ledger->process[r->process];
    r->is_used = 0;
    settled(ledger, r->next)->live_bytes -= r->size;
    if (r->kind == PLIM_KIND_PINNED) {
        ledger->pinned_bytes -= r->size;
        process->pinned_bytes -= r->size;
        return;
    }
    uint64_t charge = r->charged_bytes;
    if (is_small(ledger, r->kind, r->size)) {
        charge = small_charge(process, r->device);
        process->small_bytes[r->device] -= round_up(r->size, small_unit_bytes);
        charge -= small_charge(process, r->device);
    }
    process->used_bytes[r->device] -= charge;
    card->used_bytes -= charge;
    card->kind_bytes[r->kind] -= r->size;
    account_changed(ledger, card, 0);
}

void plim_ledger_give(struct plim_ledger *ledger, uint32_t record)
{
    struct plim_ledger_record *r = &ledger->record[record];
    plim_ledger_lock(ledger);
    if (r->is_used) {
        give_locked(ledger, r);
        r->next = ledger->free_record;
        ledger->free_record = record + 1;
    }
    plim_ledger_unlock(ledger);
}
