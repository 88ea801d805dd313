/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CLI_TOP_LOOK_H
#define PLIMSOLL_CLI_TOP_LOOK_H

/* Looks at the machine, one after the other: the sampler, and the watch that remembers. */

#include "card/sample.h"
#include "report/top/view.h"

struct plim_top_look {
    struct plim_sampler *sampler;
    struct plim_watch *watch;
    struct plim_top_machine machine; /* as of the last look */
    const char *nvml, *root;         /* of the driver, of /proc; NULL: the system's own */
    uint64_t figures;                /* a sum of what the last look saw, to tell whether anything changed */
    int64_t saved_ms;
    bool has_bill;
    struct plim_top_id bill_of;
    struct plim_top_bill bill;
};

/* With a first look. nvml and root may be NULL. */
int plim_top_look_open(struct plim_top_look *look, const char *nvml, const char *root, int64_t idle_after_s,
                       struct plim_error *reterr) PLIM_MUST_CHECK;
void plim_top_look_close(struct plim_top_look *look);

/* *ret_is_new: something has changed but the time. */
int plim_top_look_again(struct plim_top_look *look, bool *ret_is_new, struct plim_error *reterr) PLIM_MUST_CHECK;

/* The bill of this holding's process, made once, stands in the machine from then on; UINT32_MAX: no bill. */
void plim_top_look_at_bill(struct plim_top_look *look, uint32_t holding);

/* The card that a user names: "1", "gpu1", a PCI address, "GPU-4f2a". UINT32_MAX: none. */
uint32_t plim_top_look_card(const struct plim_top_look *look, const char *name);

#endif
