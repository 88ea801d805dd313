/* SPDX-License-Identifier: MIT */
/*
 * Total and use of the card's memory: amdgpu says both (mem_info_vram_total and mem_info_vram_used, bytes;
 * Documentation/gpu/amdgpu/driver-misc.rst). i915 says the total with Intel's own packages only (lmem_total_bytes,
 * which is not in the kernel), xe the physical size of each part (tileN/physical_vram_size_bytes, of which a little is
 * kept); neither says how much is in use.
 */
#include "card/drm/cards.h"

#include "base/limits.h"
#include "base/system.h"
#include "card/proc/entry.h"
#include "card/suspended.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_BYTES = PLIM_PROC_PATH_BYTES, MAX_TILES = 8 };

/* The first line of a file below a folder; false when there is none. */
static bool read_line(const char *folder, const char *name, char *line, size_t size)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%.4000s/%.64s", folder, name);
    if (plim_proc_read_file(path, line, size) <= 0)
        return false;
    line[strcspn(line, "\n")] = '\0';
    return line[0] != '\0';
}

/* A number of bytes; -1 when there is none. */
static int64_t read_bytes(const char *folder, const char *name)
{
    char line[64];
    if (!read_line(folder, name, line, sizeof line) || line[0] < '0' || line[0] > '9')
        return -1;
    const unsigned long long bytes = strtoull(line, NULL, 10);
    return bytes <= (unsigned long long)PLIM_MAX_CARD_BYTES ? (int64_t)bytes : -1;
}

static unsigned long read_hex(const char *folder, const char *name)
{
    char line[64];
    return read_line(folder, name, line, sizeof line) ? strtoul(line, NULL, 16) : 0;
}

/* The last part of the path that a link leads to. */
static bool read_target(const char *folder, const char *name, char *target, size_t size)
{
    char path[PATH_BYTES], whole[PATH_BYTES];
    snprintf(path, sizeof path, "%.4000s/%.64s", folder, name);
    if (plim_system_link(path, whole, sizeof whole) != 0)
        return false;
    const char *slash = strrchr(whole, '/');
    snprintf(target, size, "%.*s", (int)size - 1, slash ? slash + 1 : whole);
    return true;
}

/* --- finding --- */

static const struct {
    const char *driver;
    enum plim_vendor vendor;
} drivers[] = {
    { "amdgpu", PLIM_VENDOR_AMD },
    { "i915", PLIM_VENDOR_INTEL },
    { "xe", PLIM_VENDOR_INTEL },
};

/* "card0", but not "card0-DP-1". */
static bool is_card(const char *name)
{
    return !strncmp(name, "card", 4) && name[4] && strspn(name + 4, "0123456789") == strlen(name + 4);
}

/* Intel's integrated GPUs, and only they, are device 2 of the first bus (i915: intel_root_gt, "00:02.0"). */
static bool is_integrated(const struct plim_drm_card *card)
{
    return card->vendor == PLIM_VENDOR_INTEL && !strcmp(card->pci, "0000:00:02.0");
}

static void read_name(const char *device, struct plim_drm_card *card)
{
    char *const name = card->name;
    const size_t size = sizeof card->name;
    struct plim_card known;
    char line[80];
    if (read_line(device, "product_name", line, sizeof line)) {
        snprintf(name, size, "%s", line);
        return;
    }
    for (size_t i = 0; i < plim_catalogue_size(); i++) {
        plim_catalogue_card(i, &known);
        if (known.pci_id == card->pci_id && known.pci_id) {
            snprintf(name, size, "%s", known.name);
            return;
        }
    }
    snprintf(name, size, "%s GPU %04x:%04x", card->vendor == PLIM_VENDOR_AMD ? "AMD" : "Intel",
             (unsigned)(card->pci_id & 0xffff), (unsigned)(card->pci_id >> 16));
}

static bool read_identity(const char *root, const char *name, struct plim_drm_card *ret_card)
{
    char folder[PATH_BYTES], device[PATH_BYTES];
    struct plim_drm_card card = { .vendor = PLIM_VENDOR_UNKNOWN };
    snprintf(folder, sizeof folder, "%.3000s/sys/class/drm/%.15s", root, name);
    snprintf(device, sizeof device, "%.4000s/device", folder);
    if (!read_target(folder, "device", card.pci, sizeof card.pci) ||
        !read_target(device, "driver", card.driver, sizeof card.driver))
        return false;
    for (size_t i = 0; i < sizeof drivers / sizeof *drivers; i++)
        if (!strcmp(card.driver, drivers[i].driver))
            card.vendor = drivers[i].vendor;
    if (card.vendor == PLIM_VENDOR_UNKNOWN)
        return false;
    snprintf(card.minor, sizeof card.minor, "%.15s", name);
    card.pci_id = (uint32_t)(read_hex(device, "device") << 16 | (read_hex(device, "vendor") & 0xffff));
    card.is_integrated = is_integrated(&card);
    read_name(device, &card);
    *ret_card = card;
    return true;
}

/* The nodes "renderD128" have the same device as the cards. */
static void find_render(const char *root, const struct plim_names *names, struct plim_drm_card *cards, uint32_t n)
{
    char folder[PATH_BYTES], pci[16];
    for (size_t i = 0; i < names->n; i++) {
        if (strncmp(names->names[i], "renderD", 7) != 0)
            continue;
        snprintf(folder, sizeof folder, "%.3000s/sys/class/drm/%.15s", root, names->names[i]);
        if (!read_target(folder, "device", pci, sizeof pci))
            continue;
        for (uint32_t k = 0; k < n; k++)
            if (!strcmp(cards[k].pci, pci))
                snprintf(cards[k].render, sizeof cards[k].render, "%.15s", names->names[i]);
    }
}

/* ROCm's own numbers of the cards: a node with the number of its "renderD". (amdkfd, kfd_topology.c) */
static int find_kfd(const char *root, struct plim_drm_card *cards, uint32_t n)
{
    char folder[PATH_BYTES], text[4096], id[32], render[16];
    struct plim_names names;
    snprintf(folder, sizeof folder, "%.3000s/sys/class/kfd/kfd/topology/nodes", root);
    const int error = plim_system_list(folder, &names);
    if (error)
        return error == ENOMEM ? PLIM_E_NOMEM : 0;
    for (size_t i = 0; i < names.n && i < 2 * PLIM_DRM_MAX_CARDS; i++) {
        snprintf(folder, sizeof folder, "%.3000s/sys/class/kfd/kfd/topology/nodes/%.15s", root, names.names[i]);
        char path[PATH_BYTES];
        snprintf(path, sizeof path, "%.4000s/properties", folder);
        const char *minor = plim_proc_read_file(path, text, sizeof text) > 0 ? strstr(text, "drm_render_minor ") : NULL;
        if (!minor || !read_line(folder, "gpu_id", id, sizeof id))
            continue;
        snprintf(render, sizeof render, "renderD%d", atoi(minor + strlen("drm_render_minor ")) % 10000);
        for (uint32_t k = 0; k < n; k++)
            if (!strcmp(cards[k].render, render))
                cards[k].kfd_id = strtoull(id, NULL, 10);
    }
    plim_names_done(&names);
    return 0;
}

static int compare_addresses(const void *a, const void *b)
{
    const struct plim_drm_card *left = a, *right = b;
    return strcmp(left->pci, right->pci);
}

int plim_drm_find(const char *root, struct plim_drm_card *ret_cards, uint32_t *ret_n)
{
    char folder[PATH_BYTES];
    struct plim_names names;
    uint32_t n = 0;
    int result = 0;
    *ret_n = 0;
    snprintf(folder, sizeof folder, "%.3000s/sys/class/drm", root);
    const int error = plim_system_list(folder, &names);
    if (error)
        return error == ENOMEM ? PLIM_E_NOMEM : 0;
    for (size_t i = 0; i < names.n && n < PLIM_DRM_MAX_CARDS; i++)
        n += is_card(names.names[i]) && read_identity(root, names.names[i], &ret_cards[n]);
    qsort(ret_cards, n, sizeof *ret_cards, compare_addresses);
    if (n > 0) {
        find_render(root, &names, ret_cards, n);
        result = find_kfd(root, ret_cards, n);
    }
    plim_names_done(&names);
    *ret_n = n;
    return result;
}

int plim_drm_card_of(const struct plim_drm_card *cards, uint32_t n, const char *device)
{
    if (strncmp(device, "/dev/dri/", 9) != 0)
        return PLIM_DRM_NONE;
    for (uint32_t i = 0; i < n; i++)
        if (!strcmp(device + 9, cards[i].render) || !strcmp(device + 9, cards[i].minor))
            return (int)i;
    return PLIM_DRM_NONE;
}

/* --- reading --- */

static int64_t read_total(const char *folder, const char *device)
{
    int64_t total = read_bytes(device, "mem_info_vram_total");
    total = total >= 0 ? total : read_bytes(folder, "lmem_total_bytes");
    if (total >= 0)
        return total;
    for (int i = 0; i < MAX_TILES; i++) {
        char name[48];
        snprintf(name, sizeof name, "tile%d/physical_vram_size_bytes", i);
        const int64_t bytes = read_bytes(device, name);
        if (bytes < 0)
            return total;
        total = (total < 0 ? 0 : total) + bytes;
    }
    return total;
}

static void read_unified(const char *root, struct plim_sample_card *card)
{
    struct plim_host host;
    plim_host_live(*root ? root : NULL, &host);
    card->card.is_unified = true;
    card->card.total_basis = PLIM_BASIS_MEASURED;
    card->card.total_bytes = card->card.total_low_bytes = card->card.shared_bytes = host.total_bytes;
    card->used_bytes = host.total_bytes > host.free_bytes ? (int64_t)(host.total_bytes - host.free_bytes) : 0;
    card->free_bytes = (int64_t)host.free_bytes;
    card->card.others_bytes = (uint64_t)card->used_bytes;
}

void plim_drm_read_card(const char *root, const struct plim_drm_card *card, struct plim_sample_card *ret_card)
{
    char folder[PATH_BYTES], device[PATH_BYTES];
    snprintf(folder, sizeof folder, "%.3000s/sys/class/drm/%s", root, card->minor);
    snprintf(device, sizeof device, "%.4000s/device", folder);
    snprintf(ret_card->pci, sizeof ret_card->pci, "%s", card->pci);
    ret_card->card.pci_id = card->pci_id;
    snprintf(ret_card->card.name, sizeof ret_card->card.name, "%s", card->name);
    ret_card->is_asleep = plim_is_suspended(device);
    if (ret_card->is_asleep) {
        ret_card->listing = PLIM_LISTING_NONE;
        snprintf(ret_card->why, sizeof ret_card->why, "asleep: it was not asked, for that would wake it");
        return;
    }
    if (card->is_integrated) {
        read_unified(root, ret_card);
        return;
    }
    const int64_t total = read_total(folder, device), used = read_bytes(device, "mem_info_vram_used");
    if (total > 0) {
        ret_card->card.total_bytes = ret_card->card.total_low_bytes = (uint64_t)total;
        ret_card->card.total_basis = PLIM_BASIS_MEASURED;
    }
    if (total > 0 && used >= 0 && used <= total) {
        ret_card->used_bytes = used;
        ret_card->free_bytes = total - used;
        ret_card->card.others_bytes = (uint64_t)used;
    } else {
        snprintf(ret_card->why, sizeof ret_card->why, "the driver %s does not say how much memory is in use",
                 card->driver);
    }
}
