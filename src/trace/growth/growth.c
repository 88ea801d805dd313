/* SPDX-License-Identifier: MIT */
#include "trace/growth/growth.h"

#include "base/mem.h"
#include "trace/growth/series.h"
#include "trace/holders.h"

#include <stdlib.h>
#include <string.h>

enum {
    N_QUARTERS = PLIM_TRACE_N_QUARTERS,
    MAX_BINS = PLIM_TRACE_MAX_BINS,
    FIRST_TURNS = 2, /* warm-up */
    LEAST_BURST = 3, /* turns whose memory is given back together */
    LEAST_BURSTS = 2,
    LEAST_SHARE = 100, /* of the most that was held: what grows by less than 1/100 of it is not told */
    MAX_SIZES = 64,
    LOADED_SHARE = 4, /* a loop that leaves more than 1/4 of what it takes may load weights */
};

/* What is given back without a request between, of one line. */
struct burst {
    uint64_t number;
    uint32_t last_turn, n_turns, stack;
    uint64_t n;
    bool is_newest_first;
};

/* Requests of one line, under one line of the loop. */
struct group {
    uint64_t line, call_line;
    uint32_t frame, call;
    uint64_t taken[MAX_BINS], carried[MAX_BINS];      /* bytes, by turns; carried: held when a turn begins */
    uint64_t asked[MAX_BINS], asking_turns[MAX_BINS]; /* requests, and the turns with one */
    uint32_t last_turn;
    uint64_t n_taken, n_given, held_bytes, most_bytes;
    struct burst burst;
    uint64_t n_bursts, n_newest_first, n_in_bursts;
    uint32_t burst_stack, burst_turns; /* of the first */
    bool are_bursts_varied;
    bool is_larger, is_kept;
};

struct held {
    uint32_t group, turn;
    uint64_t bytes;
};

struct finder {
    const struct plim_memory_trace *trace;
    const struct plim_trace_entry *entries;
    const struct plim_trace_requests *requests;
    const struct plim_trace_loop *loop;
    struct group *groups;
    size_t n_groups;
    uint32_t *group_of; /* by stack; UINT32_MAX: none */
    uint32_t *turn_of;  /* by id; 0: not held, or not of the loop */
    size_t n_bins;
    uint64_t bin_turns[MAX_BINS];
    uint64_t most_bytes, taken_bytes; /* held at once; taken in the loop */
    uint64_t replaced[N_QUARTERS];    /* given back in the loop, of what was there before it or came first */
    uint64_t n_gaps;
    struct plim_trace_growth *growth;
};

/* --- groups --- */

struct stack_row {
    uint64_t line, call_line;
    uint32_t stack, frame, call;
};

static uint64_t line_of(const struct plim_memory_trace *trace, uint32_t frame)
{
    if (frame == PLIM_TRACE_NO_STACK)
        return 0;
    return (uint64_t)trace->frames[frame].file << 32 | trace->frames[frame].line;
}

static int by_line(const void *a, const void *b)
{
    const struct stack_row *x = a, *y = b;
    if (x->call_line != y->call_line)
        return (x->call_line > y->call_line) - (x->call_line < y->call_line);
    if (x->line != y->line)
        return (x->line > y->line) - (x->line < y->line);
    return (x->stack > y->stack) - (x->stack < y->stack);
}

static void unite(struct finder *f, const struct stack_row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!i || rows[i].line != rows[i - 1].line || rows[i].call_line != rows[i - 1].call_line)
            f->groups[f->n_groups++] = (struct group){
                .line = rows[i].line, .call_line = rows[i].call_line, .frame = rows[i].frame, .call = rows[i].call
            };
        f->group_of[rows[i].stack] = (uint32_t)f->n_groups - 1;
    }
}

static bool make_groups(struct finder *f)
{
    size_t n = 0;
    struct stack_row *rows = plim_alloc_unset(f->trace->n_stacks + 1, sizeof *rows);
    f->groups = rows ? plim_alloc_unset(f->trace->n_stacks + 1, sizeof *f->groups) : NULL;
    for (uint32_t i = 0; f->groups && i < f->trace->n_stacks; i++) {
        const uint32_t frame = plim_trace_frame_of(f->trace, i), call = f->loop->calls[i];
        f->group_of[i] = UINT32_MAX;
        if (frame != PLIM_TRACE_NO_STACK)
            rows[n++] = (struct stack_row){ line_of(f->trace, frame), line_of(f->trace, call), i, frame, call };
    }
    if (n > 1)
        qsort(rows, n, sizeof *rows, by_line);
    if (f->groups)
        unite(f, rows, n);
    plim_free(rows);
    return f->groups != NULL;
}

static struct group *group_of(const struct finder *f, uint32_t id)
{
    const uint32_t stack = f->loop->stacks[id];
    const uint32_t group = stack < f->trace->n_stacks ? f->group_of[stack] : UINT32_MAX;
    return group == UINT32_MAX ? NULL : &f->groups[group];
}

/* --- one pass over the history --- */

/* The turns that count: not the first ones, nor the last, which may be under way. */
static bool has_bin(const struct finder *f, uint64_t turn) { return turn > FIRST_TURNS && turn < f->loop->n_turns; }

static size_t bin_of(const struct finder *f, uint64_t turn, size_t n_bins)
{
    return (size_t)((turn - FIRST_TURNS - 1) * n_bins / (f->loop->n_turns - FIRST_TURNS - 1));
}

static void make_bins(struct finder *f)
{
    const uint64_t n_turns = f->loop->n_turns - FIRST_TURNS - 1;
    f->n_bins = n_turns < MAX_BINS ? (size_t)n_turns : MAX_BINS;
    for (uint64_t turn = 1; turn <= f->loop->n_turns; turn++)
        if (has_bin(f, turn))
            f->bin_turns[bin_of(f, turn, f->n_bins)]++;
}

static void end_burst(struct group *group)
{
    const struct burst *b = &group->burst;
    if (b->n_turns < LEAST_BURST)
        return;
    if (b->is_newest_first) {
        group->n_newest_first++;
        return;
    }
    if (!group->n_bursts) {
        group->burst_stack = b->stack;
        group->burst_turns = b->n_turns;
    }
    group->are_bursts_varied |= group->burst_stack != b->stack || group->burst_turns != b->n_turns;
    group->n_bursts++;
    group->n_in_bursts += b->n;
}

static void note_return(struct finder *f, struct group *group, uint32_t turn, uint32_t stack)
{
    struct burst *b = &group->burst;
    if (b->number != f->n_gaps) {
        end_burst(group);
        *b = (struct burst){ .number = f->n_gaps, .stack = stack };
    }
    b->is_newest_first |= turn < b->last_turn;
    b->n_turns += turn != b->last_turn;
    b->last_turn = turn;
    b->n++;
}

static void take(struct finder *f, size_t event)
{
    const uint32_t id = f->requests->events[event].id, turn = f->loop->turns[event];
    const uint64_t bytes = f->requests->id_bytes[id];
    struct group *group = group_of(f, id);
    f->n_gaps++;
    f->turn_of[id] = turn;
    if (!turn || !group)
        return;
    f->taken_bytes += bytes;
    if (has_bin(f, turn)) {
        const size_t bin = bin_of(f, turn, f->n_bins);
        group->taken[bin] += bytes;
        group->asked[bin]++;
        group->asking_turns[bin] += turn != group->last_turn;
    }
    group->last_turn = turn;
    group->n_taken++;
    group->held_bytes += bytes;
    if (group->held_bytes > group->most_bytes)
        group->most_bytes = group->held_bytes;
}

static void give(struct finder *f, size_t event)
{
    const uint32_t id = f->requests->events[event].id, turn = f->turn_of[id];
    const uint32_t entry = f->requests->entry_of[event];
    struct group *group = turn ? group_of(f, id) : NULL;
    f->turn_of[id] = 0;
    /* The first turn has also what the loop's function did before it. */
    if (turn <= FIRST_TURNS && has_bin(f, f->loop->turns[event]))
        f->replaced[bin_of(f, f->loop->turns[event], N_QUARTERS)] += f->requests->id_bytes[id];
    if (!group)
        return;
    group->held_bytes -= f->requests->id_bytes[id];
    group->n_given++;
    note_return(f, group, turn, entry == UINT32_MAX ? PLIM_TRACE_NO_STACK : f->entries[entry].stack);
}

static void follow(struct finder *f)
{
    uint64_t held = f->requests->before_bytes;
    for (size_t i = 0; i < f->loop->end; i++) {
        const struct plim_torch_event *event = &f->requests->events[i];
        if (event->kind == PLIM_TORCH_TAKE && f->entries[f->requests->entry_of[i]].action != PLIM_TRACE_OOM) {
            take(f, i);
            held += event->bytes;
        } else if (event->kind == PLIM_TORCH_GIVE || event->kind == PLIM_TORCH_GIVE_LATER) {
            give(f, i);
            held -= f->requests->id_bytes[event->id];
        }
        if (held > f->most_bytes)
            f->most_bytes = held;
    }
    for (size_t i = 0; i < f->n_groups; i++)
        end_burst(&f->groups[i]);
}

/* --- findings --- */

static int by_kind_and_bytes(const void *a, const void *b)
{
    const struct plim_trace_growing *x = a, *y = b;
    if (x->kind != y->kind)
        return (x->kind > y->kind) - (x->kind < y->kind);
    return x->bytes != y->bytes ? (x->bytes < y->bytes) - (x->bytes > y->bytes)
                                : (x->frame > y->frame) - (x->frame < y->frame);
}

static void tell(struct plim_trace_growth *growth, struct plim_trace_growing line)
{
    if (growth->n_lines < PLIM_TRACE_MAX_GROWING)
        growth->lines[growth->n_lines++] = line;
    else if (by_kind_and_bytes(&line, &growth->lines[growth->n_lines - 1]) < 0)
        growth->lines[growth->n_lines - 1] = line;
    qsort(growth->lines, growth->n_lines, sizeof *growth->lines, by_kind_and_bytes);
}

static bool is_late(const struct group *group)
{
    return group->n_bursts >= LEAST_BURSTS && !group->n_newest_first && group->are_bursts_varied &&
           5 * (group->n_in_bursts + group->n_taken - group->n_given) >= 4 * group->n_taken;
}

static void find_late(struct finder *f)
{
    for (size_t i = 0; i < f->n_groups; i++) {
        const struct group *group = &f->groups[i];
        if (is_late(group) && group->most_bytes >= f->most_bytes / LEAST_SHARE)
            tell(f->growth, (struct plim_trace_growing){ .kind = PLIM_TRACE_LATE,
                                                         .frame = group->frame,
                                                         .call = group->call,
                                                         .bytes = group->most_bytes,
                                                         .n = group->n_in_bursts,
                                                         .n_bursts = group->n_bursts });
    }
}

/* What a line left, by turns that left some; returns how many there are. */
static size_t sum_turns(const struct held *rows, size_t n, uint64_t *sizes)
{
    size_t n_turns = 0;
    for (size_t i = 0; i < n; i++)
        if (i && rows[i - 1].turn == rows[i].turn)
            sizes[n_turns - 1] += rows[i].bytes;
        else
            sizes[n_turns++] = rows[i].bytes;
    return n_turns;
}

static void judge_kept(struct finder *f, const struct held *rows, size_t n, uint64_t *sizes)
{
    struct group *group = &f->groups[rows[0].group];
    uint64_t parts[N_QUARTERS] = { 0 };
    struct plim_trace_growing line = { .kind = PLIM_TRACE_KEPT, .frame = group->frame, .call = group->call };
    uint64_t largest = 0;
    uint32_t turn = 0;
    for (size_t i = 0; i < n; i++)
        if (has_bin(f, rows[i].turn) && rows[i].bytes > largest)
            largest = rows[i].bytes;
    for (size_t i = 0; i < n; i++) {
        if (rows[i].bytes > largest) /* once, at the beginning: a work area of a library */
            continue;
        line.bytes += rows[i].bytes;
        line.n++;
        line.n_turns += rows[i].turn != turn;
        turn = rows[i].turn;
        if (has_bin(f, rows[i].turn))
            parts[bin_of(f, rows[i].turn, N_QUARTERS)] += rows[i].bytes;
    }
    const size_t n_turns = sum_turns(rows, n, sizes);
    group->is_kept =
        plim_trace_are_even(parts, N_QUARTERS) && !is_late(group) &&
        (f->loop->has_work || plim_trace_are_alike(sizes, n_turns) || !plim_trace_do_recur(sizes, n_turns));
    if (group->is_kept)
        tell(f->growth, line);
}

static int by_group_and_turn(const void *a, const void *b)
{
    const struct held *x = a, *y = b;
    if (x->group != y->group)
        return (x->group > y->group) - (x->group < y->group);
    return (x->turn > y->turn) - (x->turn < y->turn);
}

/* What was there before goes in all quarters, as much as is left: weights are converted one by one. */
static bool is_replacing(const struct finder *f, uint64_t left_bytes)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < N_QUARTERS; i++)
        bytes += f->replaced[i];
    return plim_trace_are_even(f->replaced, N_QUARTERS) && bytes >= left_bytes / 2;
}

static bool find_kept(struct finder *f)
{
    struct held *rows = plim_alloc_unset((size_t)f->requests->n_ids + 1, sizeof *rows);
    uint64_t *sizes = rows ? plim_alloc_unset((size_t)f->requests->n_ids + 1, sizeof *sizes) : NULL;
    const bool is_done = sizes;
    uint64_t bytes = 0;
    size_t n = 0;
    for (uint32_t id = f->requests->n_before; sizes && id < f->requests->n_ids; id++) {
        const struct group *group = f->turn_of[id] ? group_of(f, id) : NULL;
        if (group)
            rows[n++] = (struct held){ (uint32_t)(group - f->groups), f->turn_of[id], f->requests->id_bytes[id] };
        bytes += group ? f->requests->id_bytes[id] : 0;
    }
    if (n > 1)
        qsort(rows, n, sizeof *rows, by_group_and_turn);
    const bool is_wanted = is_replacing(f, bytes) || (!f->loop->has_work && bytes > f->taken_bytes / LOADED_SHARE);
    for (size_t from = 0, to; from < n && !is_wanted; from = to) {
        for (to = from + 1; to < n && rows[to].group == rows[from].group; to++)
            ;
        judge_kept(f, rows + from, to - from, sizes);
    }
    plim_free(sizes);
    plim_free(rows);
    return is_done;
}

/*
 * Of the bins that have turns to count. Of what a line asks for, only the turns count in which it asks: the turns of a
 * loop may be those of another loop in it, and one of several has a validation.
 */
static struct plim_trace_series series_of(const struct finder *f, const uint64_t sums[], const uint64_t n_turns[])
{
    struct plim_trace_series series = { .n = 0 };
    for (size_t i = 0; i < f->n_bins; i++) {
        series.sums[series.n] = sums[i];
        series.turns[series.n] = n_turns[i];
        series.n += n_turns[i] > 0;
    }
    return series;
}

static struct plim_trace_series bytes_of(const struct finder *f, const struct group *group)
{
    return series_of(f, group->taken, group->asking_turns);
}

static bool is_carried_rising(const struct finder *f, const struct group *group)
{
    const struct plim_trace_series series = series_of(f, group->carried, f->bin_turns);
    return plim_trace_is_rising(&series, f->n_bins);
}

/* What a turn asks for all in all has to become larger by something that matters. */
static bool does_matter(const struct finder *f)
{
    uint64_t more = 0;
    for (size_t i = 0; i < f->n_groups; i++) {
        const struct plim_trace_series bytes = bytes_of(f, &f->groups[i]);
        if (f->groups[i].is_larger)
            more += plim_trace_last_quarter(&bytes) - plim_trace_first_quarter(&bytes);
    }
    return more >= f->most_bytes / LEAST_SHARE;
}

/* The group of the request at this event, if its requests become larger. */
static struct group *larger_at(const struct finder *f, size_t event)
{
    const struct plim_torch_event *e = &f->requests->events[event];
    struct group *group = e->kind == PLIM_TORCH_TAKE && f->loop->turns[event] ? group_of(f, e->id) : NULL;
    return group && group->is_larger ? group : NULL;
}

/* What lines that ask for more hold from turn to turn. */
static void sum_carried(struct finder *f)
{
    memset(f->turn_of, 0, f->requests->n_ids * sizeof *f->turn_of);
    for (size_t i = 0; i < f->n_groups; i++)
        f->groups[i].held_bytes = 0;
    for (size_t i = 0; i < f->loop->end; i++) {
        const struct plim_torch_event *event = &f->requests->events[i];
        const uint32_t turn = f->loop->turns[i];
        if (i && turn != f->loop->turns[i - 1] && has_bin(f, turn))
            for (size_t g = 0; g < f->n_groups; g++)
                f->groups[g].carried[bin_of(f, turn, f->n_bins)] += f->groups[g].held_bytes;
        struct group *group = larger_at(f, i);
        if (group) {
            f->turn_of[event->id] = turn;
            group->held_bytes += event->bytes;
        } else if ((event->kind == PLIM_TORCH_GIVE || event->kind == PLIM_TORCH_GIVE_LATER) && f->turn_of[event->id]) {
            f->turn_of[event->id] = 0;
            group_of(f, event->id)->held_bytes -= f->requests->id_bytes[event->id];
        }
    }
}

/* Sizes of the requests of a line in one turn; more than these are not remembered. */
struct sizes {
    uint64_t bytes[MAX_SIZES];
    size_t n;
};

static bool has_size(const struct sizes *sizes, uint64_t bytes)
{
    for (size_t i = 0; i < sizes->n; i++)
        if (sizes->bytes[i] == bytes)
            return true;
    return false;
}

/* The largest request of a line in each turn, but for sizes that the turn before had: those of work areas. */
static void list_largest(const struct finder *f, const struct group *wanted, uint64_t *largest)
{
    struct sizes before = { .n = 0 }, now = { .n = 0 };
    uint32_t turn = 0;
    for (size_t i = 0; i < f->loop->end; i++) {
        const uint64_t bytes = f->requests->events[i].bytes;
        if (larger_at(f, i) != wanted)
            continue;
        if (f->loop->turns[i] != turn) {
            before = now;
            now.n = 0;
            turn = f->loop->turns[i];
        }
        if (now.n < MAX_SIZES)
            now.bytes[now.n++] = bytes;
        if (bytes > largest[turn] && !has_size(&before, bytes))
            largest[turn] = bytes;
    }
}

/* Sizes of one line stand in a constant ratio to those of another, so many turns before. */
static bool do_follow(const struct finder *f, const uint64_t *sizes, const uint64_t *of, uint64_t lag)
{
    const uint64_t middle = f->loop->n_turns / 2;
    const double ratio = of[middle - lag] ? (double)sizes[middle] / (double)of[middle - lag] : 0;
    uint64_t n = 0, n_equal = 0;
    for (uint64_t turn = 1; turn <= f->loop->n_turns; turn++) {
        const double wanted = has_bin(f, turn) ? ratio * (double)of[turn - lag] : 0;
        n += has_bin(f, turn);
        n_equal += wanted > 0 && (double)sizes[turn] > 0.995 * wanted && (double)sizes[turn] < 1.005 * wanted;
    }
    return 10 * n_equal >= 9 * n;
}

/* Of the lines that ask for more, the one that holds the most from turn to turn, and holds more and more. */
static const struct group *carrier_of(const struct finder *f)
{
    const struct group *carrier = NULL;
    for (size_t i = 0; i < f->n_groups; i++) {
        const struct group *group = &f->groups[i];
        if (group->is_larger && is_carried_rising(f, group) &&
            (!carrier || group->carried[f->n_bins - 1] > carrier->carried[f->n_bins - 1]))
            carrier = group;
    }
    return carrier;
}

/*
 * The first line of a turn may ask for more because of what another line left in the turn before: a tensor that is
 * copied into a larger one at a turn's end. Its sizes then follow those of the turn before, and not those of its own.
 * Where that does not tell, as when it puts something of a fixed size to it, both lines stay. False: out of memory.
 */
static bool choose_roots(const struct finder *f, const struct group *roots[2])
{
    const struct group *carrier = is_carried_rising(f, roots[0]) ? NULL : carrier_of(f);
    if (!carrier)
        return true;
    uint64_t *sizes = plim_alloc(2 * (f->loop->n_turns + 1), sizeof *sizes);
    if (!sizes)
        return false;
    uint64_t *of = sizes + f->loop->n_turns + 1;
    list_largest(f, roots[0], sizes);
    list_largest(f, carrier, of);
    const bool is_before = do_follow(f, sizes, of, 1), is_now = do_follow(f, sizes, of, 0);
    if (is_before == is_now)
        roots[1] = carrier;
    else if (is_before)
        roots[0] = carrier;
    plim_free(sizes);
    return true;
}

/* A line that asks more often goes over what is kept. */
static bool does_go_over_kept(const struct finder *f, const struct group *group)
{
    const struct plim_trace_series n = series_of(f, group->asked, group->asking_turns);
    for (size_t i = 0; i < f->n_groups; i++)
        if (f->groups[i].is_kept)
            return plim_trace_is_rising(&n, f->n_bins);
    return false;
}

/* The first of the lines that ask for more, in a turn in the middle; what comes after it follows from it. */
static const struct group *first_larger(struct finder *f)
{
    const uint32_t middle = (uint32_t)(f->loop->n_turns / 2);
    const struct group *first = NULL;
    for (size_t i = 0; i < f->n_groups; i++) {
        const struct plim_trace_series bytes = bytes_of(f, &f->groups[i]);
        f->groups[i].is_larger = plim_trace_is_rising(&bytes, f->n_bins);
    }
    for (size_t i = 0; i < f->loop->end && !first; i++)
        if (f->loop->turns[i] >= middle)
            first = larger_at(f, i);
    return first;
}

static void tell_larger(struct finder *f, const struct group *group)
{
    const struct plim_trace_series bytes = bytes_of(f, group);
    tell(f->growth, (struct plim_trace_growing){ .kind = PLIM_TRACE_LARGER,
                                                 .frame = group->frame,
                                                 .call = group->call,
                                                 .bytes = plim_trace_last_quarter(&bytes),
                                                 .first_bytes = plim_trace_first_quarter(&bytes),
                                                 .n = group->n_taken });
}

static bool find_larger(struct finder *f)
{
    const struct group *roots[2] = { first_larger(f) };
    if (!roots[0] || roots[0]->is_kept || does_go_over_kept(f, roots[0]) || !does_matter(f))
        return true;
    sum_carried(f);
    if (!choose_roots(f, roots))
        return false;
    for (size_t i = 0; i < 2; i++)
        if (roots[i] && !roots[i]->is_kept)
            tell_larger(f, roots[i]);
    return true;
}

static bool find(struct finder *f)
{
    if (!make_groups(f))
        return false;
    f->growth->has_loop = true;
    f->growth->loop_frame = f->loop->frame;
    f->growth->n_turns = f->loop->n_turns;
    make_bins(f);
    follow(f);
    find_late(f);
    return find_kept(f) && find_larger(f);
}

int plim_trace_growth_find(const struct plim_memory_trace *trace, size_t device,
                           const struct plim_trace_requests *requests, const struct plim_trace_loop *loop,
                           struct plim_trace_growth *ret_growth, struct plim_error *reterr)
{
    size_t n_entries;
    struct finder f = { .trace = trace, .requests = requests, .loop = loop, .growth = ret_growth };
    *ret_growth = (struct plim_trace_growth){ 0 };
    f.entries = plim_trace_history(trace, device, &n_entries);
    if (!f.entries || loop->frame == PLIM_TRACE_NO_STACK)
        return 0;
    f.group_of = plim_alloc_unset(trace->n_stacks + 1, sizeof *f.group_of);
    f.turn_of = plim_alloc((size_t)requests->n_ids + 1, sizeof *f.turn_of);
    const bool is_done = f.group_of && f.turn_of && find(&f);
    plim_free(f.groups);
    plim_free(f.group_of);
    plim_free(f.turn_of);
    return is_done ? 0 : plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
}
