/* SPDX-License-Identifier: MIT */
/* The files of /proc that tell of a process, with any content; the first byte says which. */
#include "fuzz.h"

#include "card/drm/fdinfo.h"
#include "card/proc/entry.h"
#include "card/proc/group.h"
#include "card/proc/stat.h"

#include <string.h>

static void read_fdinfo(const char *text)
{
    struct plim_drm_client client;
    if (!plim_drm_parse(text, &client))
        return;
    FUZZ_REQUIRE(client.driver[0] && memchr(client.driver, '\0', sizeof client.driver));
    FUZZ_REQUIRE(memchr(client.pci, '\0', sizeof client.pci));
    FUZZ_REQUIRE(client.local_bytes >= -1 && client.shared_bytes >= -1 && client.busy_ms >= -1);
}

static void read_stat(const char *text)
{
    struct plim_proc_stat stat;
    if (!plim_proc_parse_stat(text, &stat))
        return;
    FUZZ_REQUIRE(memchr(stat.name, '\0', sizeof stat.name));
    FUZZ_REQUIRE(stat.state && stat.n_threads >= -1);
}

static void read_status(const char *text)
{
    struct plim_proc_status status;
    plim_proc_parse_status(text, &status);
}

static void read_group(const char *text)
{
    struct plim_proc_group group;
    plim_proc_parse_group(text, &group);
    FUZZ_REQUIRE(memchr(group.container, '\0', sizeof group.container) && memchr(group.pod, '\0', sizeof group.pod));
    FUZZ_REQUIRE(strspn(group.slurm_job, "0123456789") == strlen(group.slurm_job));
    FUZZ_REQUIRE(strspn(group.pod, "0123456789abcdefABCDEF-") == strlen(group.pod));
    FUZZ_REQUIRE(memchr(group.unit, '\0', sizeof group.unit));
}

static void read_words(const char *text, size_t size)
{
    struct plim_proc_entry entry = { .process.pid = 1 };
    FUZZ_REQUIRE(plim_proc_read_words(&entry, text, size) == 0);
    FUZZ_REQUIRE(entry.process.n_models <= PLIM_SAMPLE_MODELS);
    plim_proc_entry_done(&entry);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    char *text = malloc(size);
    if (!text)
        abort();
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    switch (data[0]) {
    case '0':
        read_fdinfo(text);
        break;
    case '1':
        read_stat(text);
        break;
    case '2':
        read_status(text);
        break;
    case '3':
        read_group(text);
        break;
    default:
        read_words(text, size - 1);
        break;
    }
    free(text);
    return 0;
}
