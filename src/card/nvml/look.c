/* SPDX-License-Identifier: MIT */
#include "card/nvml/look.h"

#include "base/limits.h"
#include "base/mem.h"
#include "base/system.h"
#include "card/nvml/sleep.h"

#include <stdio.h>
#include <string.h>

enum {
    COUNT_AGAIN_MS = 30000, /* MIG instances are made and destroyed */
    GPU_SENSOR = 0,         /* NVML_TEMPERATURE_GPU */
};

struct plim_nvml_known {
    struct plim_nvml_card nvml;
    struct plim_sample_card card;
    struct plim_nvml_activity activity;
    struct plim_nvml_peaks peaks;
};

void plim_nvml_look_open(const char *path, const char *root, bool wants_load, struct plim_nvml_look *ret_look)
{
    *ret_look = (struct plim_nvml_look){ .path = path, .root = root, .wants_load = wants_load };
}

static void forget_cards(struct plim_nvml_look *look)
{
    for (uint32_t i = 0; i < look->n_known; i++) {
        plim_nvml_activity_done(&look->known[i].activity);
        plim_nvml_peaks_done(&look->known[i].peaks);
    }
    plim_free(look->known);
    look->known = NULL;
    look->n_known = 0;
}

static void stop(struct plim_nvml_look *look)
{
    forget_cards(look);
    if (look->is_started)
        look->nvml.shutdown();
    look->is_started = false;
    plim_nvml_close(&look->nvml);
}

/* Open the library and start it. False when there is none, or when it does not answer: look->why. */
static bool start(struct plim_nvml_look *look)
{
    char why[160];
    if (look->must_restart)
        stop(look);
    look->must_restart = false;
    if (look->is_started)
        return true;
    look->why[0] = '\0';
    if (!plim_nvml_open(look->path, &look->nvml, why, sizeof why)) {
        if (why[0])
            snprintf(look->why, sizeof look->why, "NVML cannot be loaded: %.120s", why);
        return false;
    }
    const int status = look->nvml.init();
    if (status != PLIM_NVML_SUCCESS) {
        snprintf(look->why, sizeof look->why, "the NVIDIA driver does not answer: %.100s",
                 look->nvml.error_string(status));
        plim_nvml_close(&look->nvml);
        return false;
    }
    look->is_started = true;
    return true;
}

/* --- the cards --- */

/* "00000000:01:00.0" of NVML is "0000:01:00.0" of the kernel. */
static void read_address(const struct plim_nvml *nvml, plim_nvml_device device, char address[16])
{
    struct plim_nvml_pci pci = { 0 };
    if (nvml->pci && nvml->pci(device, &pci) == PLIM_NVML_SUCCESS)
        snprintf(address, 16, "%04x:%02x:%02x.0", pci.domain & 0xffff, pci.bus & 0xff, pci.device & 0xff);
}

static void describe(const struct plim_nvml_look *look, struct plim_nvml_known *known)
{
    const struct plim_nvml *nvml = &look->nvml;
    const plim_nvml_device device = known->nvml.device;
    char name[PLIM_NVML_NAME_BYTES] = "";
    known->card = plim_draft_blank(PLIM_VENDOR_NVIDIA);
    plim_nvml_describe(nvml, device, &known->card.card);
    read_address(nvml, known->nvml.whole ? known->nvml.whole : device, known->card.pci);
    if (!known->nvml.whole) {
        snprintf(known->card.id, sizeof known->card.id, "gpu%u", known->nvml.index % 1000);
    } else {
        snprintf(known->card.id, sizeof known->card.id, "gpu%u:%u", known->nvml.index % 1000,
                 known->nvml.instance % 1000);
        if (nvml->name(known->nvml.whole, name, sizeof name) == PLIM_NVML_SUCCESS)
            snprintf(known->card.parent, sizeof known->card.parent, "%.79s", name);
        if (!nvml->gpu_instance || nvml->gpu_instance(device, &known->card.gpu_instance) != PLIM_NVML_SUCCESS)
            known->card.gpu_instance = UINT32_MAX;
        if (!nvml->compute_instance ||
            nvml->compute_instance(device, &known->card.compute_instance) != PLIM_NVML_SUCCESS)
            known->card.compute_instance = UINT32_MAX;
    }
    plim_nvml_peaks_open(nvml, device, &known->peaks);
}

static uint32_t find_cards(struct plim_nvml_look *look, const struct plim_sleepers *sleepers,
                           struct plim_nvml_card *found, uint32_t max)
{
    uint32_t n = 0;
    unsigned count = 0;
    if (sleepers->n_asleep > 0) {
        /* only those that are awake; a handle by its number would wake the others */
        for (uint32_t i = 0; i < sleepers->n && look->nvml.by_pci; i++) {
            plim_nvml_device device;
            if (!sleepers->card[i].is_asleep && look->nvml.by_pci(sleepers->card[i].pci, &device) == PLIM_NVML_SUCCESS)
                n += plim_nvml_cards_of(&look->nvml, device, i, found + n, max - n);
        }
        return n;
    }
    const int status = look->nvml.count(&count);
    if (status != PLIM_NVML_SUCCESS) {
        snprintf(look->why, sizeof look->why, "NVML cannot count the GPUs: %.100s", look->nvml.error_string(status));
        look->must_restart = true;
        return 0;
    }
    for (unsigned i = 0; i < count && i < PLIM_MAX_SAMPLE_CARDS && n < max; i++)
        n += plim_nvml_cards_at(&look->nvml, i, found + n, max - n);
    return n;
}

/* Count the cards, when that is due. Handles stay valid: asking for them at each look is dear. */
static int list_cards(struct plim_nvml_look *look, int64_t now_ms, const struct plim_sleepers *sleepers)
{
    struct plim_nvml_card found[PLIM_MAX_SAMPLE_CARDS];
    if (look->known && now_ms - look->listed_ms < COUNT_AGAIN_MS)
        return 0;
    const uint32_t n = find_cards(look, sleepers, found, PLIM_MAX_SAMPLE_CARDS);
    bool is_same = look->known && n == look->n_known;
    for (uint32_t i = 0; i < n && is_same; i++)
        is_same = found[i].device == look->known[i].nvml.device;
    look->listed_ms = now_ms;
    if (is_same)
        return 0;
    forget_cards(look);
    look->known = plim_alloc(n, sizeof *look->known);
    if (!look->known)
        return PLIM_E_NOMEM;
    look->n_known = n;
    for (uint32_t i = 0; i < n; i++) {
        look->known[i].nvml = found[i];
        describe(look, &look->known[i]);
    }
    return 0;
}

/* --- one card --- */

static void read_load(const struct plim_nvml *nvml, plim_nvml_device device, struct plim_sample_card *card)
{
    struct plim_nvml_utilization load;
    unsigned number;
    if (nvml->utilization && nvml->utilization(device, &load) == PLIM_NVML_SUCCESS && load.gpu <= 100 &&
        load.memory <= 100) {
        card->gpu_percent = (int32_t)load.gpu;
        card->memory_percent = (int32_t)load.memory;
    }
    if (nvml->temperature && nvml->temperature(device, GPU_SENSOR, &number) == PLIM_NVML_SUCCESS && number < 1000)
        card->temperature_c = (int32_t)number;
    if (nvml->power && nvml->power(device, &number) == PLIM_NVML_SUCCESS)
        card->power_mw = number;
}

static int add_process(const struct plim_nvml_look *look, struct plim_nvml_known *known,
                       const struct plim_nvml_process *process, int64_t now_ms, struct plim_draft *draft)
{
    const struct plim_nvml_process_utilization *row = plim_nvml_activity_of(&known->activity, process->pid);
    struct plim_draft_holding added = {
        .holding = {
            .card = draft->n_cards,
            .contexts = process->contexts,
            .bytes = process->bytes,
            .peak_bytes = plim_nvml_peak_of(&look->nvml, known->nvml.device, &known->peaks, process->pid,
                                            process->bytes, now_ms),
            .gpu_percent = known->activity.window_ms > 0 ? 0 : -1,
            .last_active_unix_ms = -1,
            .gpu_busy_ms = -1,
        },
        .pid = process->pid,
    };
    if (row) {
        added.holding.gpu_percent = (int32_t)row->sm_percent;
        added.holding.last_active_unix_ms = (int64_t)(row->timestamp_us / 1000);
    }
    return plim_draft_holding(draft, &added);
}

static bool is_of(const struct plim_nvml_known *known, const struct plim_nvml_process *process)
{
    return known->card.gpu_instance == UINT32_MAX || process->gpu_instance == UINT32_MAX ||
           (known->card.gpu_instance == process->gpu_instance &&
            (known->card.compute_instance == UINT32_MAX || process->compute_instance == UINT32_MAX ||
             known->card.compute_instance == process->compute_instance));
}

static int add_processes(struct plim_nvml_look *look, struct plim_nvml_known *known, int64_t now_ms,
                         struct plim_sample_card *card, struct plim_draft *draft)
{
    bool lacks_bytes = false;
    const int status = plim_nvml_list_processes(&look->nvml, known->nvml.device, &look->processes);
    if (status < 0)
        return status;
    for (uint32_t i = 0; i < look->processes.n; i++) {
        const struct plim_nvml_process *process = &look->processes.process[i];
        if (!is_of(known, process))
            continue;
        lacks_bytes = lacks_bytes || process->bytes < 0;
        const int result = add_process(look, known, process, now_ms, draft);
        if (result)
            return result;
    }
    plim_nvml_peaks_sweep(&known->peaks);
    if (status != PLIM_NVML_SUCCESS) {
        card->listing = PLIM_LISTING_NONE;
        snprintf(card->why, sizeof card->why, "the driver does not list the processes of this card: %.80s",
                 look->nvml.error_string(status));
    } else if (lacks_bytes) {
        card->listing = PLIM_LISTING_WITHOUT_BYTES;
        snprintf(card->why, sizeof card->why, "the driver does not say how much memory each process holds%s",
                 card->pci[0] ? "" : " (as under WSL)");
    }
    return 0;
}

/* NVML's answer; unless it is PLIM_NVML_SUCCESS, the card stays as it is. */
static int read_memory(const struct plim_nvml_look *look, const struct plim_nvml_known *known,
                       struct plim_sample_card *card)
{
    const int status = plim_nvml_read_memory(&look->nvml, known->nvml.device, look->root, &card->card);
    if (status != PLIM_NVML_SUCCESS)
        return status;
    const uint64_t taken_bytes = card->card.others_bytes + card->card.reserved_bytes;
    card->used_bytes = (int64_t)card->card.others_bytes;
    card->free_bytes = taken_bytes < card->card.total_bytes ? (int64_t)(card->card.total_bytes - taken_bytes) : 0;
    return status;
}

/* What the processes of the card that is about to be added hold. */
static int64_t sum_of_processes(const struct plim_draft *draft)
{
    int64_t sum = 0;
    for (uint32_t i = draft->n_holdings; i > 0 && draft->holding[i - 1].holding.card == draft->n_cards; i--) {
        const int64_t bytes = draft->holding[i - 1].holding.bytes;
        sum += bytes > 0 && bytes < INT64_MAX - sum ? bytes : 0;
    }
    return sum;
}

static int read_card(struct plim_nvml_look *look, struct plim_nvml_known *known, int64_t now_ms, int64_t now_unix_ms,
                     struct plim_draft *draft)
{
    struct plim_sample_card card = known->card;
    const int status = read_memory(look, known, &card);
    if (status != PLIM_NVML_SUCCESS) {
        snprintf(look->why, sizeof look->why, "%.79s does not answer: %.100s", card.card.name,
                 look->nvml.error_string(status));
        look->must_restart = true;
        return 0;
    }
    if (card.card.total_bytes != known->card.card.total_bytes) { /* the catalogue is long */
        plim_nvml_complete(&card.card);
        known->card.card = card.card;
    }
    int result = plim_nvml_read_activity(&look->nvml, known->nvml.device, now_ms, now_unix_ms, &known->activity);
    if (result == 0)
        result = add_processes(look, known, now_ms, &card, draft);
    if (sum_of_processes(draft) > card.used_bytes)
        read_memory(look, known, &card); /* they have grown since the memory was read */
    if (look->wants_load)
        read_load(&look->nvml, known->nvml.device, &card);
    card.activity_ms = known->activity.window_ms;
    return result ? result : plim_draft_card(draft, &card);
}

/* --- */

/* The cards that sleep, of those from the first'th on and before the end'th. */
static int add_asleep(const struct plim_sleepers *sleepers, uint32_t first, uint32_t end, struct plim_draft *draft)
{
    int result = 0;
    for (uint32_t i = first; i < sleepers->n && i < end && result == 0; i++) {
        if (!sleepers->card[i].is_asleep)
            continue;
        struct plim_sample_card card = plim_draft_blank(PLIM_VENDOR_NVIDIA);
        card.is_asleep = true;
        card.listing = PLIM_LISTING_NONE;
        snprintf(card.id, sizeof card.id, "gpu%u", i % 1000);
        snprintf(card.pci, sizeof card.pci, "%s", sleepers->card[i].pci);
        snprintf(card.card.name, sizeof card.card.name, "%s",
                 sleepers->card[i].name[0] ? sleepers->card[i].name : "NVIDIA GPU");
        snprintf(card.why, sizeof card.why, "asleep: it was not asked, for that would wake it");
        result = plim_draft_card(draft, &card);
    }
    return result;
}

/* The cards that are awake, and among them those that sleep. */
static int read_awake(struct plim_nvml_look *look, const struct plim_sleepers *sleepers, int64_t now_ms,
                      int64_t now_unix_ms, struct plim_draft *draft)
{
    uint32_t next = 0; /* of the cards in the order of their numbers, the next that may be asleep */
    int result = 0;
    for (uint32_t i = 0; i < look->n_known && result == 0; i++) {
        const uint32_t number = look->known[i].nvml.index;
        result = add_asleep(sleepers, next, number, draft);
        next = number > next ? number : next;
        if (result == 0)
            result = read_card(look, &look->known[i], now_ms, now_unix_ms, draft);
    }
    return result ? result : add_asleep(sleepers, next, sleepers->n, draft);
}

static int add_resting(const struct plim_nvml_look *look, struct plim_draft *draft)
{
    int result = 0;
    for (uint32_t i = 0; i < look->rest.n && result == 0; i++)
        result = plim_draft_card(draft, &look->rest.card[i]);
    return result;
}

int plim_nvml_look_read(struct plim_nvml_look *look, int64_t now_ms, int64_t now_unix_ms, struct plim_draft *draft)
{
    struct plim_sleepers sleepers;
    int result = plim_nvml_find_sleepers(look->root, &sleepers);
    if (result)
        return result; /* unknown: one that sleeps would wake */
    if (sleepers.n_asleep != look->n_asleep)
        look->must_restart = true; /* the handles are of other cards */
    look->n_asleep = sleepers.n_asleep;
    if (plim_nvml_rests(&look->rest, &sleepers, now_ms) && sleepers.n_asleep == 0)
        return add_resting(look, draft);
    if (sleepers.n_asleep > 0 && sleepers.n_asleep == sleepers.n) {
        stop(look);
        return add_asleep(&sleepers, 0, sleepers.n, draft);
    }
    if (start(look))
        result = list_cards(look, now_ms, &sleepers);
    if (result == 0)
        result = read_awake(look, &sleepers, now_ms, now_unix_ms, draft);
    if (result == 0 && look->is_started && !look->must_restart &&
        plim_nvml_may_rest(&look->rest, &sleepers, now_ms, draft->card, draft->n_cards, draft->n_holdings > 0))
        stop(look);
    return result;
}

void plim_nvml_look_close(struct plim_nvml_look *look)
{
    stop(look);
    plim_nvml_processes_done(&look->processes);
}
