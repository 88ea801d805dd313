/* SPDX-License-Identifier: MIT */
#include "watch/watch.h"

const char *plim_stale_reason_name(enum plim_stale_reason reason)
{
    static const char *const names[PLIM_REASON_MAX_] = {
        [PLIM_REASON_NONE] = "",
        [PLIM_REASON_GONE] = "gone",
        [PLIM_REASON_DEFUNCT] = "defunct",
        [PLIM_REASON_CONTAINER_GONE] = "container_gone",
        [PLIM_REASON_ORPHAN] = "orphan",
        [PLIM_REASON_EARLIER_RUN] = "earlier_run",
        [PLIM_REASON_NOTEBOOK] = "notebook",
        [PLIM_REASON_SERVER] = "server",
        [PLIM_REASON_DISPLAY] = "display",
        [PLIM_REASON_MPS] = "mps",
        [PLIM_REASON_SERVICE] = "service",
        [PLIM_REASON_ATTACHED] = "attached",
        [PLIM_REASON_ACTIVE] = "active",
        [PLIM_REASON_STOPPED] = "stopped",
        [PLIM_REASON_ON_PURPOSE] = "on_purpose",
        [PLIM_REASON_YOUNG] = "not_watched",
        [PLIM_REASON_UNSEEN] = "unseen",
        [PLIM_REASON_OUTSIDE] = "outside",
    };
    return names[reason];
}

const char *plim_watch_role_name(enum plim_watch_role role)
{
    static const char *const names[PLIM_ROLE_MAX_] = { "", "script", "server", "notebook", "display", "worker", "mps" };
    return names[role];
}

const char *plim_trend_name(enum plim_trend trend)
{
    static const char *const names[PLIM_TREND_MAX_] = { "", "steady", "warm_up", "growing" };
    return names[trend];
}
