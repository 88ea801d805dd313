/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CARD_H
#define PLIMSOLL_CARD_H

/*
 * Cards: accelerators with their memory, from the built-in catalogue or live from the driver, and the machine they
 * are in. A card is a plain struct; unknown figures are 0.
 */

#include "plimsoll/basis.h"
#include "plimsoll/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { PLIM_MAX_DEVICES = 16 }; /* of one machine */

enum plim_vendor {
    PLIM_VENDOR_UNKNOWN = 0,
    PLIM_VENDOR_NVIDIA,
    PLIM_VENDOR_AMD,
    PLIM_VENDOR_INTEL,
    PLIM_VENDOR_APPLE,
    PLIM_VENDOR_MAX_
};

struct plim_card {
    char name[80];
    char uuid[48]; /* live cards only */
    enum plim_vendor vendor;
    enum plim_basis total_basis; /* measured: from a driver; assumed: from the size on the box */
    uint64_t total_bytes;        /* as the driver reports it */
    uint64_t total_low_bytes;    /* the same, or less when the total is assumed */
    uint64_t reserved_bytes;     /* of it, kept by the driver: programs never see this part */
    uint64_t reserved_low_bytes, reserved_high_bytes;
    enum plim_basis reserved_basis;
    uint64_t others_bytes; /* of it, held by other processes now (live cards) */
    uint32_t n_others;     /* their number */
    double bandwidth_bytes_per_s;
    uint16_t sm_count;           /* streaming multiprocessors */
    uint16_t compute_capability; /* 89 is 8.9; 0 when the vendor has none */
    uint16_t bus_bits;           /* width of the memory bus; 0: unknown */
    uint32_t pci_id;             /* device and vendor, as NVML writes them: 0x268410de; 0: unknown */
    bool is_live;
    bool is_unified;       /* shares the memory of the host */
    uint64_t shared_bytes; /* when unified: all of that memory; the card may be given less of it. 0: unknown */
};

/* The memory that programs can still get: the total less the parts that the driver and other processes hold. */
uint64_t plim_card_free_bytes(const struct plim_card *card);

/* --- catalogue --- */

/* Number of cards in the catalogue, and the i-th. */
size_t plim_catalogue_size(void);
void plim_catalogue_card(size_t i, struct plim_card *ret_card);

/* A column of the i-th card by its name in data/cards.csv ("architecture", "memory_type", "launch_year" ...). */
const char *plim_catalogue_field(size_t i, const char *column);

/* True when the name or an alias of card i contains every word of query; case, spaces and punctuation are ignored. */
bool plim_catalogue_matches(size_t i, const char *query);

/*
 * The card of this name or alias ("RTX 4060", "nvidia geforce rtx4060", "A100 40GB"). Several cards of one name that
 * do not differ in memory and capability count as one: then the first is taken and 1 returned instead of 0. Fails with
 * PLIM_E_USAGE when the name is ambiguous (the hint lists the candidates) or unknown (the hint lists near misses). MIG
 * slices must be named as such.
 */
int plim_catalogue_find(const char *query, struct plim_card *ret_card, struct plim_error *reterr);

/* A card that is only a size: "a budget of 7.5 GiB". */
void plim_card_of_budget(uint64_t bytes, struct plim_card *ret_card);

/* Some NVIDIA card of this size on the box: "a card of 8 GB". */
void plim_card_of_size(unsigned gib, struct plim_card *ret_card);

/* --- machines --- */

struct plim_host {
    uint64_t total_bytes;         /* RAM, or the limit of the control group if that is less; 0: unknown */
    uint64_t free_bytes;          /* available without swapping */
    bool is_limited;              /* by a control group */
    bool is_partial;              /* a file about it is there and cannot be read: less may be left */
    bool is_assumed;              /* given by the user, not read from this machine */
    double bandwidth_bytes_per_s; /* 0: unknown */
};

/* A process that holds memory of a card now. */
struct plim_holder {
    uint32_t card; /* of the machine */
    int64_t pid;
    uint64_t bytes;  /* 0: the driver does not say */
    char name[64];   /* "python train.py" */
    char why[200];   /* what is known of its use: "idle for 3 h, and its parent is gone"; "" */
    bool is_stale;   /* nobody waits for it */
    bool is_endable; /* stale, there, and this user may end it */
};

enum { PLIM_MAX_HOLDERS = 64 };

struct plim_machine {
    uint32_t n_cards;
    struct plim_card card[PLIM_MAX_DEVICES];
    struct plim_host host;
    /* Of others_bytes what is known, by card and then largest first; they must outlive the machine. */
    const struct plim_holder *holders;
    uint32_t n_holders;
};

/*
 * The NVIDIA cards of this machine, through NVML opened at run time from `library` (NULL: the driver's own). Finding
 * no card is not an error: *ret_n is 0. Fails with PLIM_E_NO_DRIVER when NVML is there but its driver does not answer.
 */
int plim_cards_live(const char *library, struct plim_card *ret_cards, uint32_t max, uint32_t *ret_n,
                    struct plim_error *reterr);

/*
 * A host for a question about cards alone: RAM that no model fills; with a card that shares its host's memory, that
 * memory.
 */
void plim_host_of_card(const struct plim_card *card, struct plim_host *ret_host);

/* This machine's memory, from /proc/meminfo and the control groups under `root` (NULL: "/"). Unknown figures stay 0. */
void plim_host_live(const char *root, struct plim_host *ret_host);

#ifdef __cplusplus
}
#endif

#endif
