/* SPDX-License-Identifier: MIT */
#include "trace_record.h"

#include "unit.h"

#include <dirent.h>

static void *grown(void *array, size_t n, size_t size)
{
    if (n & (n - 1))
        return array;
    void *larger = realloc(array, (n ? 2 * n : 1) * size);
    assert_non_null(larger);
    return larger;
}

static void read_segment(struct trace_record *record, const char *line)
{
    struct plim_memory_trace *trace = &record->trace;
    unsigned long long address, bytes;
    unsigned stream, pool, small, expandable;
    assert_int_equal(sscanf(line, "s %llx %llu %u %u %u %u", &address, &bytes, &stream, &pool, &small, &expandable), 6);
    trace->segments = grown(trace->segments, trace->n_segments, sizeof *trace->segments);
    trace->segments[trace->n_segments++] = (struct plim_trace_segment){
        .address = address,
        .bytes = bytes,
        .first_block = (uint32_t)trace->n_blocks,
        .stream = (uint16_t)stream,
        .pool = (uint16_t)pool,
        .is_small = small,
        .is_expandable = expandable,
    };
}

static void read_block(struct trace_record *record, const char *line)
{
    struct plim_memory_trace *trace = &record->trace;
    unsigned long long bytes, requested;
    unsigned state;
    assert_int_equal(sscanf(line, "b %llu %llu %u", &bytes, &requested, &state), 3);
    trace->blocks = grown(trace->blocks, trace->n_blocks, sizeof *trace->blocks);
    trace->blocks[trace->n_blocks++] =
        (struct plim_trace_block){ bytes, requested, PLIM_TRACE_NO_STACK, (uint8_t)state };
    trace->segments[trace->n_segments - 1].n_blocks++;
}

static void read_entry(struct trace_record *record, const char *line)
{
    static const char letters[] = "arf+-muo"; /* in the order of enum plim_trace_action */
    struct plim_memory_trace *trace = &record->trace;
    const char *letter = strchr(letters, line[0]);
    unsigned long long address, bytes;
    unsigned stream;
    int pool;
    char emptying = 0;
    assert_non_null(letter);
    assert_true(sscanf(line + 1, "%llx %llu %u %d %c", &address, &bytes, &stream, &pool, &emptying) >= 4);
    trace->entries = grown(trace->entries, trace->n_entries, sizeof *trace->entries);
    trace->entries[trace->n_entries++] = (struct plim_trace_entry){
        .address = address,
        .bytes = bytes,
        .stack = PLIM_TRACE_NO_STACK,
        .stream = (uint16_t)stream,
        .pool = (uint16_t)pool,
        .action = (uint8_t)(letter - letters),
        .is_emptying = emptying == 'e',
    };
}

static bool read_head(struct trace_record *record, const char *line)
{
    unsigned long long a, b, c, d;
    struct plim_memory_trace *trace = &record->trace;
    if (sscanf(line, "torch %31s", record->torch) == 1 || sscanf(line, "conf %255s", record->conf) == 1 ||
        strcmp(line, "conf \n") == 0 || sscanf(line, "fraction %lf", &record->fraction) == 1)
        return true;
    if (sscanf(line, "room %llu %llu", &a, &b) == 2) {
        record->room_bytes = a;
        record->card_bytes = b;
    } else if (sscanf(line, "peaks %llu %llu %llu %llu", &a, &b, &c, &d) == 4) {
        record->allocated_peak = a;
        record->reserved_peak = b;
        record->requested_peak = c;
        record->inactive_split_peak = d;
    } else if (sscanf(line, "ends %llu %llu", &a, &b) == 2) {
        record->n_retries = a;
        record->n_ooms = b;
    } else if (strncmp(line, "divisions ", 10) == 0) {
        char *at = (char *)line + 10;
        for (size_t i = 0; i < PLIM_TORCH_N_DIVISIONS; i++)
            record->divisions[i] = (uint32_t)strtoul(at, &at, 10);
        record->has_divisions = true;
    } else if (sscanf(line, "streams %llu", &a) == 1) {
        trace->n_streams = (size_t)a;
    } else if (sscanf(line, "pools %llu", &a) == 1) {
        trace->n_pools = (size_t)a;
    } else {
        return false;
    }
    return true;
}

void trace_record_read(const char *path, struct trace_record *ret_record)
{
    char line[512];
    FILE *file = fopen(path, "r");
    *ret_record = (struct trace_record){ 0 };
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        if (strncmp(line, "s ", 2) == 0)
            read_segment(ret_record, line);
        else if (strncmp(line, "b ", 2) == 0)
            read_block(ret_record, line);
        else if (!read_head(ret_record, line))
            read_entry(ret_record, line);
    }
    fclose(file);
    struct plim_memory_trace *trace = &ret_record->trace;
    trace->streams = calloc(trace->n_streams, sizeof *trace->streams);
    for (size_t i = 0; i < trace->n_streams; i++)
        trace->streams[i] = i;
    trace->pools = calloc(trace->n_pools, sizeof *trace->pools);
    for (size_t i = 0; i < trace->n_pools; i++)
        trace->pools[i].second = i; /* as of MemPools */
    ret_record->device.n_entries = trace->n_entries;
    trace->devices = &ret_record->device;
    trace->n_devices = 1;
}

void trace_record_done(struct trace_record *record)
{
    free(record->trace.entries);
    free(record->trace.segments);
    free(record->trace.blocks);
    free(record->trace.streams);
    free(record->trace.pools);
}

static int is_record(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return dot && strcmp(dot, ".trace") == 0;
}

size_t trace_record_each(void (*visit)(const char *name, struct trace_record *record, void *data), void *data)
{
    char folder[512], path[1024];
    struct dirent **names;
    snprintf(folder, sizeof folder, "%s/data/traces", getenv("PLIM_TEST_LOGS"));
    const int n = scandir(folder, &names, is_record, alphasort);
    for (int i = 0; i < n; i++) {
        struct trace_record record;
        snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
        trace_record_read(path, &record);
        visit(names[i]->d_name, &record, data);
        trace_record_done(&record);
        free(names[i]);
    }
    free(names);
    return n > 0 ? (size_t)n : 0;
}
