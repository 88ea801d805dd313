/* SPDX-License-Identifier: MIT */
#include "habit_record.h"

#include "unit.h"

static void *grown(void *array, size_t n, size_t size)
{
    if (n & (n - 1))
        return array;
    void *larger = realloc(array, (n ? 2 * n : 1) * size);
    assert_non_null(larger);
    return larger;
}

/* The same text has the same number. */
static uint32_t add_text(struct plim_memory_trace *trace, const char *text)
{
    for (size_t i = 0; i < trace->text_bytes; i += strlen(trace->text + i) + 1)
        if (strcmp(trace->text + i, text) == 0)
            return (uint32_t)i;
    const size_t n = strlen(text) + 1, at = trace->text_bytes;
    trace->text = realloc(trace->text, at + n);
    assert_non_null(trace->text);
    memcpy(trace->text + at, text, n);
    trace->text_bytes += n;
    return (uint32_t)at;
}

static void read_frame(struct habit_record *record, const char *line)
{
    struct plim_memory_trace *trace = &record->trace;
    unsigned file, number;
    char name[128];
    assert_int_equal(sscanf(line, "frame %u %u %127s", &file, &number, name), 3);
    assert_true(file < record->n_files);
    trace->frames = grown(trace->frames, trace->n_frames, sizeof *trace->frames);
    trace->frames[trace->n_frames++] =
        (struct plim_trace_frame){ .file = record->files[file], .name = add_text(trace, name), .line = number };
}

static void read_stack(struct habit_record *record, const char *line)
{
    struct plim_memory_trace *trace = &record->trace;
    struct plim_trace_stack stack = { .first = (uint32_t)trace->n_stack_frames };
    const char *at = line + strlen("stack");
    for (char *end; *at == ' '; at = end) {
        const unsigned long frame = strtoul(at, &end, 10);
        assert_true(frame < trace->n_frames);
        trace->stack_frames = grown(trace->stack_frames, trace->n_stack_frames, sizeof *trace->stack_frames);
        trace->stack_frames[trace->n_stack_frames++] = (uint32_t)frame;
        stack.n++;
    }
    trace->stacks = grown(trace->stacks, trace->n_stacks, sizeof *trace->stacks);
    trace->stacks[trace->n_stacks++] = stack;
}

static void read_segment(struct habit_record *record, const char *line)
{
    struct plim_memory_trace *trace = &record->trace;
    unsigned long long place, bytes;
    unsigned stream, pool, small, expandable;
    assert_int_equal(sscanf(line, "s %llx %llu %u %u %u %u", &place, &bytes, &stream, &pool, &small, &expandable), 6);
    trace->segments = grown(trace->segments, trace->n_segments, sizeof *trace->segments);
    trace->segments[trace->n_segments++] = (struct plim_trace_segment){
        .address = place * 512,
        .bytes = bytes,
        .first_block = (uint32_t)trace->n_blocks,
        .stack = PLIM_TRACE_NO_STACK,
        .stream = (uint16_t)stream,
        .pool = (uint16_t)pool,
        .is_small = small,
        .is_expandable = expandable,
    };
}

static void read_block(struct habit_record *record, const char *line)
{
    struct plim_memory_trace *trace = &record->trace;
    unsigned long long bytes, requested;
    unsigned state;
    int stack;
    assert_int_equal(sscanf(line, "b %llu %llu %u %d", &bytes, &requested, &state, &stack), 4);
    trace->blocks = grown(trace->blocks, trace->n_blocks, sizeof *trace->blocks);
    trace->blocks[trace->n_blocks++] = (struct plim_trace_block){ bytes, requested, (uint32_t)stack, (uint8_t)state };
    trace->segments[trace->n_segments - 1].n_blocks++;
}

static uint64_t *bytes_at(struct habit_record *record, unsigned long long place)
{
    if (place >= record->n_addresses) {
        const size_t n = 2 * (size_t)place + 2;
        record->bytes_at = realloc(record->bytes_at, n * sizeof *record->bytes_at);
        assert_non_null(record->bytes_at);
        record->n_addresses = n;
    }
    return &record->bytes_at[place];
}

static void add_entry(struct habit_record *record, enum plim_trace_action action, uint64_t address, uint64_t bytes,
                      int stack, bool is_emptying)
{
    struct plim_memory_trace *trace = &record->trace;
    trace->entries = grown(trace->entries, trace->n_entries, sizeof *trace->entries);
    trace->entries[trace->n_entries++] = (struct plim_trace_entry){
        .address = address,
        .bytes = bytes,
        .stack = (uint32_t)stack,
        .stream = record->stream,
        .pool = record->pool,
        .action = (uint8_t)action,
        .is_emptying = is_emptying,
    };
}

/* LETTER PLACE STACK [BYTES] [e]; 'd' is given back and free at once. */
static void read_entry(struct habit_record *record, const char *line)
{
    static const char letters[] = "arf+-muo"; /* in the order of enum plim_trace_action */
    const char *letter = strchr(letters, line[0]);
    unsigned long long place, bytes = 0;
    int stack;
    char emptying = 0;
    assert_true(sscanf(line + 1, "%llx %d %llu %c", &place, &stack, &bytes, &emptying) >= 2);
    if (line[0] == 'd') {
        add_entry(record, PLIM_TRACE_FREE_REQUESTED, place * 512, *bytes_at(record, place), stack, false);
        add_entry(record, PLIM_TRACE_FREE_COMPLETED, place * 512, *bytes_at(record, place), stack, false);
        return;
    }
    assert_non_null(letter);
    if (line[0] == 'a')
        *bytes_at(record, place) = bytes;
    else if (line[0] == 'r' || line[0] == 'f')
        bytes = *bytes_at(record, place);
    add_entry(record, (enum plim_trace_action)(letter - letters), line[0] == 'o' ? place : place * 512, bytes, stack,
              emptying == 'e');
}

static bool starts_with(const char *line, const char *word) { return strncmp(line, word, strlen(word)) == 0; }

static bool read_head(struct habit_record *record, const char *line)
{
    struct plim_memory_trace *trace = &record->trace;
    unsigned n, pool;
    if (sscanf(line, "streams %u", &n) == 1)
        trace->n_streams = n;
    else if (sscanf(line, "pools %u", &n) == 1)
        trace->n_pools = n;
    else if (sscanf(line, "at %u %u", &n, &pool) == 2)
        record->stream = (uint16_t)n, record->pool = (uint16_t)pool;
    else if (sscanf(line, "fault %15s", record->fault) != 1)
        return starts_with(line, "torch ") || starts_with(line, "conf ") || starts_with(line, "fraction ") ||
               starts_with(line, "room ") || starts_with(line, "peaks ") || starts_with(line, "ends ");
    return true;
}

static void read_line(struct habit_record *record, char *line)
{
    line[strcspn(line, "\n")] = 0;
    if (starts_with(line, "file ")) {
        record->files = grown(record->files, record->n_files, sizeof *record->files);
        record->files[record->n_files++] = add_text(&record->trace, line + strlen("file "));
    } else if (starts_with(line, "frame ")) {
        read_frame(record, line);
    } else if (starts_with(line, "stack ")) {
        read_stack(record, line);
    } else if (starts_with(line, "s ")) {
        read_segment(record, line);
    } else if (starts_with(line, "b ")) {
        read_block(record, line);
    } else if (!read_head(record, line)) {
        read_entry(record, line);
    }
}

void habit_record_read(const char *path, struct habit_record *ret_record)
{
    char line[1024];
    FILE *file = fopen(path, "r");
    *ret_record = (struct habit_record){ 0 };
    struct plim_memory_trace *trace = &ret_record->trace;
    assert_non_null(file);
    add_text(trace, "");
    while (fgets(line, sizeof line, file))
        read_line(ret_record, line);
    fclose(file);
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

void habit_record_done(struct habit_record *record)
{
    struct plim_memory_trace *trace = &record->trace;
    free(trace->entries);
    free(trace->segments);
    free(trace->blocks);
    free(trace->stacks);
    free(trace->stack_frames);
    free(trace->frames);
    free(trace->text);
    free(trace->streams);
    free(trace->pools);
    free(record->files);
    free(record->bytes_at);
}
