/* SPDX-License-Identifier: MIT */
/*
 * The ledger of the rehearsal that this runs in:
 *
 *     ledger show                   what it has of each card and process, as JSON
 *     ledger keep PID CARD MIB      memory that stays though the process PID has ended
 *     ledger others CARD MIB        memory of which the driver does not say whose it is
 *
 * A driver sometimes does not give the memory of a process back when it has ended. The ledger always does, so such
 * memory is entered as that of a process of an unknown pid namespace, whose end nobody can see.
 */
#include "vgpu/core/ledger.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void show(const struct plim_ledger *ledger)
{
    const char *comma = "";
    printf("{\"cards\": [");
    for (uint32_t i = 0; i < plim_ledger_n_cards(ledger); i++) {
        const struct plim_ledger_card *card = &ledger->card[i];
        printf("%s{\"name\": \"%s\", \"total\": %llu, \"reserved\": %llu, \"others\": %llu, \"used\": %llu}", comma,
               card->name, (unsigned long long)card->total_bytes, (unsigned long long)card->reserved_bytes,
               (unsigned long long)card->others_bytes, (unsigned long long)card->used_bytes);
        comma = ", ";
    }
    printf("], \"processes\": [");
    comma = "";
    for (int i = 0; i < PLIM_LEDGER_MAX_PROCESSES; i++)
        for (uint32_t c = 0; c < plim_ledger_n_cards(ledger); c++) {
            const struct plim_ledger_process *process = &ledger->process[i];
            if (!process->pid || !process->used_bytes[c])
                continue;
            printf("%s{\"pid\": %d, \"card\": %u, \"used\": %llu, \"peak\": %llu}", comma, process->pid, c,
                   (unsigned long long)process->used_bytes[c], (unsigned long long)process->peak_bytes[c]);
            comma = ", ";
        }
    printf("]}\n");
}

static int keep(struct plim_ledger *ledger, int pid, uint32_t card, uint64_t mib)
{
    uint32_t record;
    const int slot = plim_ledger_join(ledger);
    if (slot < 0)
        return 1;
    plim_ledger_lock(ledger);
    ledger->process[slot].pid = pid;
    ledger->process[slot].pid_namespace = 0;
    plim_ledger_unlock(ledger);
    return plim_ledger_take(ledger, slot, card, PLIM_KIND_VMM, mib << 20, 0, &record) != PLIM_LEDGER_TAKEN;
}

static int add_others(struct plim_ledger *ledger, uint32_t card, uint64_t mib)
{
    if (card >= plim_ledger_n_cards(ledger))
        return 1;
    plim_ledger_lock(ledger);
    ledger->card[card].others_bytes += mib << 20;
    plim_ledger_unlock(ledger);
    return 0;
}

int main(int argc, char **argv)
{
    const char *path = getenv("PLIM_VGPU_LEDGER");
    struct plim_ledger *ledger = path ? plim_ledger_open(path) : NULL;
    if (!ledger) {
        fprintf(stderr, "ledger: not in a rehearsal\n");
        return 2;
    }
    if (argc == 5 && !strcmp(argv[1], "keep"))
        return keep(ledger, atoi(argv[2]), (uint32_t)atoi(argv[3]), strtoull(argv[4], NULL, 10));
    if (argc == 4 && !strcmp(argv[1], "others"))
        return add_others(ledger, (uint32_t)atoi(argv[2]), strtoull(argv[3], NULL, 10));
    if (argc != 2 || strcmp(argv[1], "show") != 0)
        return 2;
    plim_ledger_reap(ledger);
    plim_ledger_lock(ledger);
    show(ledger);
    plim_ledger_unlock(ledger);
    return 0;
}
