/* SPDX-License-Identifier: MIT */
/* What a ledger notes beside its accounts: remarks, and the places where guesses were read. */
#include "vgpu/core/ledger.h"

#include <stdio.h>
#include <string.h>

/* --- remarks --- */

bool plim_ledger_warn(struct plim_ledger *ledger, const char *kind, const char *what)
{
    bool is_new = false;
    plim_ledger_lock(ledger);
    uint32_t i = 0;
    while (i < ledger->n_warnings && i < PLIM_LEDGER_MAX_WARNINGS &&
           (strncmp(ledger->warning[i].kind, kind, sizeof ledger->warning[i].kind - 1) != 0 ||
            strncmp(ledger->warning[i].what, what, sizeof ledger->warning[i].what - 1) != 0))
        i++;
    if (i < PLIM_LEDGER_MAX_WARNINGS) {
        struct plim_ledger_warning *warning = &ledger->warning[i];
        if (i == ledger->n_warnings) {
            snprintf(warning->kind, sizeof warning->kind, "%s", kind);
            snprintf(warning->what, sizeof warning->what, "%s", what);
            ledger->n_warnings++;
            is_new = true;
        }
        warning->count++;
    }
    plim_ledger_unlock(ledger);
    return is_new;
}

/* --- guesses --- */

void plim_ledger_guessed_again(struct plim_ledger *ledger, uint32_t number, bool is_zero)
{
    plim_ledger_lock(ledger);
    ledger->guess[number < PLIM_LEDGER_MAX_GUESSES ? number : 0].count++;
    ledger->guess[number < PLIM_LEDGER_MAX_GUESSES ? number : 0].n_zero += is_zero;
    plim_ledger_unlock(ledger);
}

uint32_t plim_ledger_guessed(struct plim_ledger *ledger, uint64_t hash, const struct plim_ledger_guess *guess,
                             bool is_zero)
{
    enum { PLACES = PLIM_LEDGER_MAX_GUESSES - 1 }; /* without number 0 */
    uint32_t found = 0;
    plim_ledger_lock(ledger);
    for (uint32_t i = 0; i < PLACES && !found; i++) {
        const uint32_t number = 1 + (uint32_t)((hash + i) % PLACES);
        struct plim_ledger_guess *place = &ledger->guess[number];
        if (!place->hash) {
            *place = *guess;
            place->hash = hash;
            place->first_us = plim_ledger_now_us(ledger);
            ledger->n_guesses++;
        }
        if (place->hash == hash)
            found = number;
    }
    plim_ledger_unlock(ledger);
    plim_ledger_guessed_again(ledger, found, is_zero);
    return found;
}
