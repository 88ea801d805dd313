/* SPDX-License-Identifier: MIT */
/* Models on servers, in a build without them: curl/curl.h was not there, or the system is neither Linux nor macOS. */
#include "source/remote/remote.h"

#include <stddef.h>

int plim_remote_new(const struct plim_remote_settings *settings, struct plim_remote **ret_remote,
                    struct plim_error *reterr)
{
    (void)settings, (void)ret_remote;
    return plim_fail(reterr, PLIM_E_UNSUPPORTED, PLIM_NO_OFFSET, "this build reads no models from servers");
}

struct plim_remote *plim_remote_free(struct plim_remote *remote)
{
    (void)remote;
    return NULL;
}

int plim_remote_find(struct plim_remote *remote, const char *name, struct plim_remote_model *ret_model,
                     struct plim_error *reterr)
{
    (void)remote, (void)ret_model;
    int code = plim_fail(reterr, PLIM_E_UNSUPPORTED, PLIM_NO_OFFSET,
                         "this model is not on this machine, and this build reads none from servers");
    plim_error_hint(reterr, "download the file; or build Plimsoll with libcurl's headers (libcurl4-openssl-dev)");
    plim_error_where(reterr, name);
    return code;
}

const struct plim_files *plim_remote_files(struct plim_remote *remote)
{
    (void)remote;
    return NULL;
}

struct plim_remote_facts plim_remote_facts(const struct plim_remote *remote)
{
    (void)remote;
    return (struct plim_remote_facts){ 0 };
}
