/* SPDX-License-Identifier: MIT */
#include "rehearse/processes/usage.h"

#include <stdio.h>
#include <unistd.h>

/* Computing less than this part of one core is waiting. */
static const double busy_part = 0.2, busy_every_s = 0.5;

static void add_memory(int pid, uint64_t *rss_bytes, uint64_t *anonymous_bytes)
{
    char path[40], line[128];
    unsigned long long kib;
    snprintf(path, sizeof path, "/proc/%d/status", pid);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "VmRSS: %llu", &kib) == 1)
            *rss_bytes += kib * 1024;
        else if (sscanf(line, "RssAnon: %llu", &kib) == 1)
            *anonymous_bytes += kib * 1024;
    }
    if (file)
        fclose(file);
}

/* A process that ended takes its seconds with it: that counts as work, too. */
static void look_at_work(struct plim_usage *usage, const struct plim_tree *tree, double now_s)
{
    struct plim_process process;
    double sum_s = 0;
    if (now_s - usage->cpu_seen_s < busy_every_s)
        return;
    for (size_t i = 0; i < tree->n; i++)
        if (plim_process_read(tree->member[i].pid, &process) && process.start_ticks == tree->member[i].start_ticks)
            sum_s += (double)process.cpu_ticks / (double)sysconf(_SC_CLK_TCK);
    if (sum_s < usage->cpu_s || sum_s - usage->cpu_s > busy_part * (now_s - usage->cpu_seen_s))
        usage->busy_s = now_s;
    usage->cpu_s = sum_s;
    usage->cpu_seen_s = now_s;
}

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

void plim_usage_look(struct plim_usage *usage, const struct plim_tree *tree, double now_s)
{
    uint64_t rss_bytes = 0, anonymous_bytes = 0;
    look_at_work(usage, tree, now_s);
    for (size_t i = 0; i < tree->n; i++)
        add_memory(tree->member[i].pid, &rss_bytes, &anonymous_bytes);
    usage->peak_n = larger(usage->peak_n, tree->n);
    usage->peak_rss_bytes = larger(usage->peak_rss_bytes, rss_bytes);
    usage->peak_anonymous_bytes = larger(usage->peak_anonymous_bytes, anonymous_bytes);
}
