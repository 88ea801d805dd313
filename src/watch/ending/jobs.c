/* SPDX-License-Identifier: MIT */
/*
 * Sources: setproctitle names of vLLM (vllm/utils/system_utils.py, "VLLM::") and SGLang (sglang/srt/utils, "sglang::");
 * the command lines of multiprocessing's children (Lib/multiprocessing/spawn.py get_command_line(), forkserver.py).
 */
#include "watch/ending/jobs.h"

#include "base/text.h"
#include "watch/stale.h"

#include <stdio.h>
#include <string.h>

enum { MAX_GENERATIONS = 8, WORD_BYTES = 128 };

/* Programs, and modules of `python -m`. */
static const char launchers[] =
    "torchrun accelerate accelerate-launch deepspeed horovodrun mpirun mpiexec mpiexec.hydra orterun prterun "
    "hydra_pmi_proxy colossalai torch.distributed.run torch.distributed.launch accelerate.commands.launch "
    "accelerate.commands.accelerate_cli deepspeed.launcher.launch deepspeed.launcher.runner "
    "paddle.distributed.launch horovod.runner.launch";

/* Titles that workers give themselves. */
static const char *const titles[] = { "VLLM::", "sglang::" };

/* The next word of a command line, without its folder; false at the end. */
static bool next_word(const char **command, char word[WORD_BYTES])
{
    const char *from = *command + strspn(*command, " ");
    const size_t length = strcspn(from, " ");
    if (!length)
        return false;
    *command = from + length;
    for (size_t i = 0; i < (size_t)(*command - from); i++)
        if (from[i] == '/') {
            from += i + 1;
            i = (size_t)-1;
        }
    snprintf(word, WORD_BYTES, "%.*s", (int)(*command - from), from);
    return true;
}

/* "torchrun ...", "python3 -u /usr/bin/torchrun ...", "python -m torch.distributed.run ..."; a shell is none. */
static bool is_launcher(const char *command)
{
    char word[WORD_BYTES];
    if (!next_word(&command, word))
        return false;
    if (plim_text_has_word(launchers, word))
        return true;
    if (strncmp(word, "python", strlen("python")) != 0)
        return false;
    while (next_word(&command, word)) {
        if (word[0] != '-')
            return plim_text_has_word(launchers, word);
        if (word[1] != '-' && strchr(word, 'c'))
            return false; /* the program is in the next word */
    }
    return false;
}

static bool is_multiprocessing(const char *command)
{
    return strstr(command, "from multiprocessing.spawn import spawn_main") ||
           strstr(command, "from multiprocessing.forkserver import main") ||
           strstr(command, "from multiprocessing.resource_tracker import main");
}

/* A process whose parent has ended has a reaper for a parent, which may be the user's own: it works for nobody. */
bool plim_job_is_worker(const struct plim_kin *child, const struct plim_kin *parent)
{
    char name[PLIM_KIN_PROGRAM_BYTES];
    if (child->uid != parent->uid || child->is_kernel || !child->command[0] || !parent->command[0] ||
        plim_stale_is_reaper(plim_kin_program(parent, name)))
        return false;
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        if (!strncmp(child->command, titles[i], strlen(titles[i])))
            return true;
    return is_launcher(parent->command) || is_multiprocessing(child->command) ||
           !strcmp(child->command, parent->command);
}

const struct plim_kin *plim_job_root(const struct plim_kinship *kinship, const struct plim_kin *kin)
{
    for (int i = 0; i < MAX_GENERATIONS; i++) {
        const struct plim_kin *parent = plim_kinship_parent(kinship, kin);
        if (!parent || !plim_job_is_worker(kin, parent))
            break;
        kin = parent;
    }
    return kin;
}

bool plim_job_has(const struct plim_kinship *kinship, const struct plim_kin *root, const struct plim_kin *kin)
{
    for (int i = 0; kin != root && i < MAX_GENERATIONS; i++) {
        const struct plim_kin *parent = plim_kinship_parent(kinship, kin);
        if (!parent || !plim_job_is_worker(kin, parent))
            return false;
        kin = parent;
    }
    return kin == root;
}
