/* SPDX-License-Identifier: MIT */
/*
 * Limits by compute capability: table "Technical Specifications per Compute Capability" of the CUDA programming guide.
 * What differs from card to card is the launcher's to describe (rehearse/card_figures.h).
 */
#include "vgpu/core/attributes.h"

#include <stdio.h>

struct limits {
    uint32_t from_cc; /* and newer, up to the next row */
    int shared_per_sm_kib, shared_optin_kib, threads_per_sm, blocks_per_sm;
};

static const struct limits limits[] = {
    { 0, 64, 48, 2048, 32 },     { 52, 96, 48, 2048, 32 },    { 53, 64, 48, 2048, 32 },   { 61, 96, 48, 2048, 32 },
    { 62, 64, 48, 2048, 32 },    { 70, 96, 96, 2048, 32 },    { 75, 64, 64, 1024, 16 },   { 80, 164, 163, 2048, 32 },
    { 86, 100, 99, 1536, 16 },   { 87, 164, 163, 1536, 16 },  { 89, 100, 99, 1536, 24 },  { 90, 228, 227, 2048, 32 },
    { 100, 228, 227, 2048, 32 }, { 110, 228, 227, 1536, 24 }, { 120, 100, 99, 1536, 24 },
};

static const struct limits *limits_of(uint32_t cc)
{
    size_t i = sizeof limits / sizeof *limits - 1;
    while (limits[i].from_cc > cc)
        i--;
    return &limits[i];
}

enum { YES = 1, KIB = 1024, VERY_LARGE = 0x7fffffff };

/* The same on every card. */
static const struct {
    int attribute, value;
} fixed[] = {
    { 1, 1024 },        /* threads per block */
    { 2, 1024 },        /* block, x */
    { 3, 1024 },        /* block, y */
    { 4, 64 },          /* block, z */
    { 5, VERY_LARGE },  /* grid, x */
    { 6, 65535 },       /* grid, y */
    { 7, 65535 },       /* grid, z */
    { 8, 48 * KIB },    /* shared memory per block */
    { 9, 64 * KIB },    /* constant memory */
    { 10, 32 },         /* warp */
    { 11, VERY_LARGE }, /* pitch */
    { 12, 65536 },      /* registers per block */
    { 14, 512 },        /* texture alignment */
    { 15, YES },        /* copies beside kernels */
    { 17, 0 },          /* run time limit */
    { 18, 0 },          /* integrated */
    { 19, YES },        /* maps host memory */
    { 20, 0 },          /* compute mode: shared */
    { 30, 512 },        /* surface alignment */
    { 31, YES },        /* concurrent kernels */
    { 32, 0 },          /* ECC */
    { 34, 0 },          /* PCI device */
    { 35, 0 },          /* TCC */
    { 40, 2 },          /* copy engines */
    { 41, YES },        /* unified addressing */
    { 50, 0 },          /* PCI domain */
    { 51, 32 },         /* texture pitch alignment */
    { 78, YES },        /* stream priorities */
    { 79, YES },        /* L1 for globals */
    { 80, YES },        /* L1 for locals */
    { 82, 65536 },      /* registers per multiprocessor */
    { 83, YES },        /* managed memory */
    { 84, 0 },          /* several chips on a board */
    { 85, 0 },          /* which group */
    { 86, 0 },          /* atomics to the host */
    { 87, 32 },         /* single to double */
    { 88, 0 },          /* pageable access */
    { 89, YES },        /* concurrent managed access */
    { 90, YES },        /* preemption */
    { 91, YES },        /* host pointers of registered memory */
    { 95, YES },        /* cooperative launch */
    { 98, 0 },          /* flushes remote writes */
    { 99, YES },        /* registers host memory */
    { 100, 0 },         /* page tables of the host */
    { 101, 0 },         /* managed memory from the host */
    { 102, YES },       /* virtual memory management */
    { 103, YES },       /* ... its POSIX handles */
    { 108, 0 },         /* persisting L2 */
    { 109, 0 },         /* access policy window */
    { 110, 0 },         /* GPUDirect RDMA with virtual memory management */
    { 111, KIB },       /* shared memory kept per block */
    { 112, 0 },         /* sparse arrays */
    { 113, 0 },         /* read-only registration */
    { 114, 0 },         /* timeline semaphores */
    { 115, YES },       /* memory pools */
    { 116, 0 },         /* GPUDirect RDMA */
    { 117, 0 },         /* ... its flushes */
    { 118, 0 },         /* ... its order */
    { 119, 0 },         /* handles of pools */
    { 121, 0 },         /* deferred arrays */
    { 125, 0 },         /* events between processes */
    { 126, 1 },         /* synchronization domains */
    { 128, 0 },         /* fabric handles */
    { 130, 0 },         /* NUMA configuration */
    { 131, -1 },        /* NUMA node */
    { 132, 0 },         /* multicast */
    { 133, 0 },         /* MPS */
    { 134, -1 },        /* NUMA node of the host */
};

bool plim_attribute(const struct plim_ledger_card *card, int index, int attribute, int *ret_value)
{
    const struct limits *l = limits_of(card->compute_capability);
    switch (attribute) {
    case 13: /* kHz */
        *ret_value = (int)card->cuda.clock_mhz * 1000;
        return true;
    case 16:
        *ret_value = (int)card->sm_count;
        return true;
    case 33:
        *ret_value = index + 1;
        return true;
    case 36: /* kHz */
        *ret_value = (int)card->cuda.memory_mhz * 1000;
        return true;
    case 37:
        *ret_value = (int)card->cuda.bus_bits;
        return true;
    case 38:
        *ret_value = (int)card->cuda.l2_kib * KIB;
        return true;
    case 39:
        *ret_value = l->threads_per_sm;
        return true;
    case 75:
        *ret_value = (int)card->compute_capability / 10;
        return true;
    case 76:
        *ret_value = (int)card->compute_capability % 10;
        return true;
    case 81:
        *ret_value = l->shared_per_sm_kib * KIB;
        return true;
    case 97:
        *ret_value = l->shared_optin_kib * KIB;
        return true;
    case 106:
        *ret_value = l->blocks_per_sm;
        return true;
    case 120: /* clusters of blocks */
        *ret_value = card->compute_capability >= 90;
        return true;
    default:
        for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
            if (fixed[i].attribute == attribute) {
                *ret_value = fixed[i].value;
                return true;
            }
        return false;
    }
}

void plim_card_uuid(int index, unsigned char ret_uuid[16])
{
    static const unsigned char uuid[16] = { 'p', 'l', 'i', 'm', 's', 'o', 'l', 'l', '-', 'v', 'i', 'r', 't', 'u', 'a' };
    memcpy(ret_uuid, uuid, sizeof uuid);
    ret_uuid[15] = (unsigned char)index;
}

void plim_card_pci(int index, char ret_text[PLIM_PCI_TEXT])
{
    snprintf(ret_text, PLIM_PCI_TEXT, "0000:%02x:00.0", (unsigned)(index + 1) & 0xff);
}
