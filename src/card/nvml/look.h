/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CARD_NVML_LOOK_H
#define PLIMSOLL_CARD_NVML_LOOK_H

/*
 * Looks at the cards of NVIDIA's driver, which stays open between them. A card that is suspended is not asked: it would
 * wake, and lose what it saves.
 */

#include "card/draft.h"
#include "card/nvml/activity.h"
#include "card/nvml/cards.h"
#include "card/nvml/lists.h"
#include "card/nvml/peaks.h"
#include "card/nvml/rest.h"

struct plim_nvml_known; /* a card, with what does not change of it */

struct plim_nvml_look {
    const char *path, *root;
    bool wants_load;
    struct plim_nvml nvml; /* its library is NULL when it is not open */
    bool is_started;       /* between init and shutdown */
    bool must_restart;     /* it failed in the look before */
    struct plim_nvml_known *known;
    uint32_t n_known, n_asleep;
    struct plim_nvml_processes processes;
    struct plim_nvml_rest rest;
    int64_t listed_ms; /* when the cards were counted */
    char why[208];     /* a driver that is there and does not answer; else empty */
};

/* path: of the library; root: "" or that of a tree. Nothing is opened before the first look. */
void plim_nvml_look_open(const char *path, const char *root, bool wants_load, struct plim_nvml_look *ret_look);

/* Add the cards and their processes as they are now. Returns 0 or PLIM_E_NOMEM. */
int plim_nvml_look_read(struct plim_nvml_look *look, int64_t now_ms, int64_t now_unix_ms, struct plim_draft *draft);

void plim_nvml_look_close(struct plim_nvml_look *look);

#endif
