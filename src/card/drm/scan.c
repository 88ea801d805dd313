/* SPDX-License-Identifier: MIT */
/*
 * A client of a driver is an opened device. Its file may be open more than once, and in more than one process (a fork,
 * or a file that was passed on), and has the same numbers everywhere: (drm-pdev, drm-client-id) counts once, for the
 * oldest process, which opened it. But what logind has open it has opened for a display server, which is younger.
 */
#include "card/drm/scan.h"

#include "base/limits.h"
#include "base/mem.h"
#include "base/system.h"
#include "card/proc/entry.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FDINFO_BYTES = 8192, KFD_FILE_BYTES = 64 };

struct plim_drm_found {
    struct plim_drm_client client;
    uint32_t card;
    int64_t pid;
};

/* What a visit of a process's open files needs. */
struct visit {
    const char *root;
    const struct plim_drm_card *cards;
    const bool *is_asked;
    uint32_t n_cards;
    int64_t pid;
    struct plim_drm_scan *scan;
    uint32_t n_files;
    int result;
};

static bool is_logind(const char *root, int64_t pid)
{
    const struct plim_proc_reader reader = { .root = root };
    char path[PLIM_PROC_PATH_BYTES], name[32];
    plim_proc_path(&reader, pid, "comm", path);
    return plim_proc_read_file(path, name, sizeof name) > 0 && !strncmp(name, "systemd-logind", 14);
}

/* The same client once more: the process keeps it that had it first. True when it was known. */
static bool is_known(struct visit *visit, const struct plim_drm_found *found)
{
    for (uint32_t i = 0; i < visit->scan->n_found; i++) {
        struct plim_drm_found *known = &visit->scan->found[i];
        const bool is_same = known->card == found->card && known->client.has_id == found->client.has_id &&
                             (found->client.has_id ? known->client.id == found->client.id : known->pid == found->pid);
        if (!is_same)
            continue;
        if (known->pid != found->pid && is_logind(visit->root, known->pid))
            known->pid = found->pid;
        return true;
    }
    return false;
}

static int add_found(struct plim_drm_scan *scan, const struct plim_drm_found *found)
{
    if (scan->n_found == PLIM_MAX_DRM_CLIENTS)
        return 0;
    if (scan->n_found == scan->found_room) {
        const uint32_t room = scan->found_room ? 2 * scan->found_room : 32;
        struct plim_drm_found *grown = plim_realloc(scan->found, room, sizeof *grown);
        if (!grown)
            return PLIM_E_NOMEM;
        scan->found = grown;
        scan->found_room = room;
    }
    scan->found[scan->n_found++] = *found;
    return 0;
}

static bool visit_file(void *context, const char *name, const char *target)
{
    struct visit *visit = context;
    const struct plim_proc_reader reader = { .root = visit->root };
    char path[PLIM_PROC_PATH_BYTES], file[64], text[FDINFO_BYTES];
    const int card = plim_drm_card_of(visit->cards, visit->n_cards, target);
    if (++visit->n_files > PLIM_MAX_OPEN_FILES)
        return false;
    if (card == PLIM_DRM_NONE || !visit->is_asked[card])
        return true;
    snprintf(file, sizeof file, "fdinfo/%.32s", name);
    plim_proc_path(&reader, visit->pid, file, path);
    struct plim_drm_found found = { .card = (uint32_t)card, .pid = visit->pid };
    if (plim_proc_read_file(path, text, sizeof text) <= 0 || !plim_drm_parse(text, &found.client))
        return true; /* closed since, or a kernel that does not say */
    if (!is_known(visit, &found))
        visit->result = add_found(visit->scan, &found);
    return visit->result == 0;
}

static int visit_process(struct visit *visit)
{
    const struct plim_proc_reader reader = { .root = visit->root };
    char path[PLIM_PROC_PATH_BYTES];
    plim_proc_path(&reader, visit->pid, "fd", path);
    visit->n_files = 0;
    const int error = plim_system_visit_links(path, visit_file, visit);
    visit->scan->is_partial = visit->scan->is_partial || (error && error != ENOENT && error != ESRCH);
    return visit->result;
}

static int compare_pids(const void *a, const void *b)
{
    const int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

/* The pids below a folder in their order; NULL when there are none, or when memory is short: *ret_result. */
static int64_t *list_pids(const char *folder, uint32_t *ret_n, int *ret_result)
{
    struct plim_names names;
    uint32_t n = 0;
    *ret_n = 0;
    *ret_result = 0;
    const int error = plim_system_list(folder, &names);
    if (error) {
        *ret_result = error == ENOMEM ? PLIM_E_NOMEM : 0;
        return NULL;
    }
    int64_t *pid = plim_alloc(names.n, sizeof *pid);
    for (size_t i = 0; pid && i < names.n && n < PLIM_MAX_PROCESSES; i++)
        if (names.names[i][0] >= '1' && names.names[i][0] <= '9')
            pid[n++] = strtoll(names.names[i], NULL, 10);
    plim_names_done(&names);
    *ret_result = pid ? 0 : PLIM_E_NOMEM;
    if (pid)
        qsort(pid, n, sizeof *pid, compare_pids);
    *ret_n = n;
    return pid;
}

static int visit_all(struct visit *visit)
{
    char folder[PLIM_PROC_PATH_BYTES];
    uint32_t n;
    int result;
    snprintf(folder, sizeof folder, "%.4000s/proc", visit->root);
    int64_t *pid = list_pids(folder, &n, &result);
    visit->scan->is_partial = false;
    for (uint32_t i = 0; i < n && result == 0; i++) {
        visit->pid = pid[i];
        result = visit_process(visit);
    }
    plim_free(pid);
    return result;
}

/* Those of the scan before; its uses are by card and pid, and a pid may be there for each card. */
static int visit_known(struct visit *visit)
{
    int result = 0;
    const struct plim_drm_scan *scan = visit->scan;
    for (uint32_t i = 0; i < scan->n_uses && result == 0; i++) {
        bool is_done = false;
        for (uint32_t k = 0; k < i && !is_done; k++)
            is_done = scan->use[k].pid == scan->use[i].pid;
        visit->pid = scan->use[i].pid;
        if (!is_done)
            result = visit_process(visit);
    }
    return result;
}

/* --- uses --- */

static struct plim_drm_use *use_of(struct plim_drm_scan *scan, uint32_t card, int64_t pid)
{
    for (uint32_t i = 0; i < scan->n_uses; i++)
        if (scan->use[i].card == card && scan->use[i].pid == pid)
            return &scan->use[i];
    if (scan->n_uses == scan->use_room) {
        const uint32_t room = scan->use_room ? 2 * scan->use_room : 32;
        struct plim_drm_use *grown = plim_realloc(scan->use, room, sizeof *grown);
        if (!grown)
            return NULL;
        scan->use = grown;
        scan->use_room = room;
    }
    struct plim_drm_use *use = &scan->use[scan->n_uses++];
    *use = (struct plim_drm_use){ .card = card, .pid = pid, .busy_ms = -1 };
    return use;
}

static int sum_clients(struct plim_drm_scan *scan, const struct plim_drm_card *cards)
{
    scan->n_uses = 0;
    for (uint32_t i = 0; i < scan->n_found; i++) {
        const struct plim_drm_found *found = &scan->found[i];
        const int64_t bytes = cards[found->card].is_integrated ? found->client.shared_bytes : found->client.local_bytes;
        if (bytes <= 0)
            continue;
        struct plim_drm_use *use = use_of(scan, found->card, found->pid);
        if (!use)
            return PLIM_E_NOMEM;
        use->bytes = use->bytes + bytes < PLIM_MAX_CARD_BYTES ? use->bytes + bytes : PLIM_MAX_CARD_BYTES;
        if (found->client.busy_ms >= 0)
            use->busy_ms = (use->busy_ms < 0 ? 0 : use->busy_ms) + found->client.busy_ms;
        use->cycles += found->client.cycles;
        if (found->client.total_cycles > use->total_cycles)
            use->total_cycles = found->client.total_cycles;
    }
    return 0;
}

/*
 * /sys/class/kfd/kfd/proc/PID/vram_ID, bytes (amdkfd, kfd_process.c, kfd_procfs_show()). The same memory may be in the
 * client's figures, with newer kernels: the larger of both is the process's.
 */
static int add_rocm(const char *root, const struct plim_drm_card *cards, const bool *is_asked, uint32_t n_cards,
                    struct plim_drm_scan *scan)
{
    char folder[PLIM_PROC_PATH_BYTES], path[PLIM_PROC_PATH_BYTES + 128], text[KFD_FILE_BYTES];
    uint32_t n;
    int result;
    snprintf(folder, sizeof folder, "%.4000s/sys/class/kfd/kfd/proc", root);
    int64_t *pid = list_pids(folder, &n, &result);
    for (uint32_t i = 0; i < n && result == 0; i++)
        for (uint32_t k = 0; k < n_cards && result == 0; k++) {
            snprintf(path, sizeof path, "%s/%" PRId64 "/vram_%" PRIu64, folder, pid[i], cards[k].kfd_id);
            if (!is_asked[k] || cards[k].kfd_id == 0 || plim_proc_read_file(path, text, sizeof text) <= 0)
                continue;
            const unsigned long long bytes = strtoull(text, NULL, 10);
            if (bytes == 0 || bytes > (unsigned long long)PLIM_MAX_CARD_BYTES)
                continue;
            struct plim_drm_use *use = use_of(scan, k, pid[i]);
            if (!use) {
                result = PLIM_E_NOMEM;
                break;
            }
            use->is_rocm = true;
            use->bytes = (int64_t)bytes > use->bytes ? (int64_t)bytes : use->bytes;
        }
    plim_free(pid);
    return result;
}

/* --- */

int plim_drm_scan(const char *root, const struct plim_drm_card *cards, const bool *is_asked, uint32_t n_cards,
                  bool is_whole, struct plim_drm_scan *scan)
{
    struct visit visit = { .root = root, .cards = cards, .is_asked = is_asked, .n_cards = n_cards, .scan = scan };
    scan->n_found = 0;
    int result = is_whole ? visit_all(&visit) : visit_known(&visit);
    result = result ? result : sum_clients(scan, cards);
    return result ? result : add_rocm(root, cards, is_asked, n_cards, scan);
}

void plim_drm_scan_done(struct plim_drm_scan *scan)
{
    plim_free(scan->found);
    plim_free(scan->use);
    *scan = (struct plim_drm_scan){ 0 };
}
