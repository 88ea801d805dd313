/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_VALUES_POLICY_H
#define PLIMSOLL_VGPU_VALUES_POLICY_H

/* How values of device memory are treated: PLIM_VGPU_VALUES, as `plimsoll rehearse --values` sets it. */

#include "vgpu/core/session.h"

enum plim_values_policy {
    PLIM_VALUES_ZERO, /* (also "shadow", an old name) what is unknown counts as zero */
    PLIM_VALUES_MAX,  /* and a selection by an unknown mask selects everything */
    PLIM_VALUES_OFF   /* nothing is kept or computed: the host reads zeros */
};

PLIM_VGPU_EXPORT enum plim_values_policy plim_values_policy(void);

#endif
