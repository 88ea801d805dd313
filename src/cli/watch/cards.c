/* SPDX-License-Identifier: MIT */
#include "cli/watch/cards.h"

#include "base/error.h"

#include <stdio.h>
#include <string.h>

enum { MIN_UUID = 4 }; /* of "6b1b64c1-...", so that a number is none */

bool plim_watch_card_is(const struct plim_sample_card *card, const char *name)
{
    const size_t n = strlen(name);
    const char *dash = strchr(card->card.uuid, '-');
    const size_t prefix = dash ? (size_t)(dash - card->card.uuid) + 1 : 0;
    return !strcmp(card->id, name) || (!strncmp(card->id, "gpu", 3) && !strcmp(card->id + 3, name)) ||
           (n && !strcmp(card->pci, name)) || (n > prefix && !strncmp(card->card.uuid, name, n)) ||
           (n >= MIN_UUID && !strncmp(card->card.uuid + prefix, name, n));
}

int plim_watch_no_such_card(const struct plim_sample *sample, const char *name, struct plim_error *reterr)
{
    char known[160] = "";
    size_t n = 0;
    for (uint32_t i = 0; i < sample->n_cards && n < sizeof known; i++)
        n += (size_t)snprintf(known + n, sizeof known - n, "%s%s", i ? ", " : "", sample->card[i].id);
    plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "no card is called '%.60s'", name);
    plim_error_hint(reterr, "this machine has %s", known);
    return reterr->code;
}

int plim_watch_no_card(const struct plim_sample *sample, struct plim_error *reterr)
{
    if (*sample->why)
        plim_fail(reterr, PLIM_E_NO_DRIVER, PLIM_NO_OFFSET, "%s", sample->why);
    else
        plim_fail(reterr, PLIM_E_NO_DEVICE, PLIM_NO_OFFSET, "no GPU found on this machine");
    plim_error_hint(reterr, "'nvidia-smi' or 'ls /sys/class/drm' shows whether the system sees one; in a container, "
                            "start it with the GPUs (docker run --gpus all)");
    return reterr->code;
}
