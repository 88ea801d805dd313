/* SPDX-License-Identifier: MIT */
/*
 * For how long a process has been idle, from what was seen: the driver's figures of activity on the GPU, which reach
 * back some seconds, and the processor time between two samples. Between samples that are far apart nobody looked at
 * the GPU; but no kernel starts without processor time, so a process that took none has been idle all along.
 */
#include "watch/record.h"

enum {
    BUSY_MS = 3000,     /* drivers sample activity every 1/6 s to 1 s (NVML API reference) */
    NEAR_MS = 30000,    /* samples so close together are one look */
    MIN_STEP_MS = 500,  /* less is a few ticks of 10 ms: too coarse for a share */
    NEAR_SLACK_MS = 20, /* two ticks */
    /* Two percent of a core: kernels of notebooks, watchdogs of NCCL and event loops take up to one while idle. */
    NEAR_PPM = 20000,
    FAR_SLACK_MS = 100, /* less than one request to a server or a cell of a notebook takes */
    FAR_PPM = 500,      /* when the housekeeping of this process was not measured */
    MEASURE_MS = 30000, /* one tick of 10 ms is 0.03 % of it */
};

/* What the driver says: since when the process has not been seen on any card. */
struct quiet {
    bool is_known, is_exact, is_busy;
    int64_t since_ms, bytes, busy_ms;
};

static void look_at(const struct plim_sample *s, const struct plim_holding *h, struct quiet *q)
{
    const int64_t activity_ms = s->card[h->card].activity_ms;
    const bool is_told = activity_ms >= 0; /* 0: of those that were active only; the others are quiet from now on */
    const int64_t since_ms = h->last_active_unix_ms > 0 ? h->last_active_unix_ms : s->taken_unix_ms - activity_ms;
    q->is_known = q->is_known && is_told;
    if (is_told && since_ms > q->since_ms) {
        q->since_ms = since_ms;
        q->is_exact = h->last_active_unix_ms > 0;
    }
    const bool is_late = h->last_active_unix_ms > 0 && s->taken_unix_ms - h->last_active_unix_ms > BUSY_MS;
    q->is_busy = q->is_busy || (h->gpu_percent > 0 && !is_late);
    q->bytes += h->bytes > 0 ? h->bytes : 0;
    q->busy_ms = q->busy_ms < 0 || h->gpu_busy_ms < 0 ? -1 : q->busy_ms + h->gpu_busy_ms;
}

/* 0: unknown. What starts after the look has a wrong clock. */
static int64_t start_of(const struct plim_sample *s, uint32_t process)
{
    const int64_t started_s = s->process[process].started_unix_s;
    return started_s <= 0 ? 0 : started_s > s->taken_unix_ms / 1000 ? s->taken_unix_ms : started_s * 1000;
}

static struct quiet quiet_of(const struct plim_sample *s, uint32_t process)
{
    const int64_t started_ms = start_of(s, process);
    struct quiet q = { .is_known = true };
    for (uint32_t i = 0; i < s->n_holdings; i++)
        if (s->holding[i].process == process)
            look_at(s, &s->holding[i], &q);
    if (q.since_ms <= started_ms) { /* never active, and the driver looked back beyond its start */
        q.is_exact = q.is_exact || started_ms > 0;
        q.since_ms = started_ms;
    }
    q.since_ms = q.since_ms > s->taken_unix_ms ? s->taken_unix_ms : q.since_ms;
    return q;
}

static int64_t share_ms(int64_t span_ms, int64_t ppm) { return (int64_t)((double)span_ms * (double)ppm / 1e6); }

/* The processor, or anything else, between the record and now. */
enum verdict { NOT_SEEN, IDLE, BUSY };

static enum verdict processor(const struct plim_record *r, int64_t span_ms, int64_t cpu_ms)
{
    if (r->cpu_ms < 0 || cpu_ms < r->cpu_ms)
        return NOT_SEEN;
    const int64_t used_ms = cpu_ms - r->cpu_ms;
    if (span_ms <= NEAR_MS)
        return used_ms <= NEAR_SLACK_MS + share_ms(span_ms, NEAR_PPM) ? IDLE : BUSY;
    const int64_t usual_ms = r->idle_ppm >= 0 ? share_ms(span_ms, r->idle_ppm) * 5 / 4 : share_ms(span_ms, FAR_PPM);
    return used_ms <= FAR_SLACK_MS + usual_ms ? IDLE : BUSY;
}

static enum verdict between(const struct plim_record *r, const struct quiet *q, int64_t span_ms, int64_t cpu_ms)
{
    const bool has_worked = q->busy_ms >= 0 && r->gpu_busy_ms >= 0 && q->busy_ms != r->gpu_busy_ms;
    return q->bytes != r->bytes || has_worked ? BUSY : processor(r, span_ms, cpu_ms);
}

/*
 * The share of a core that the process takes while it is idle: the least over spans of half a minute through which it
 * was watched. A span that nobody watched may hold work and cannot measure housekeeping.
 */
static void measure(struct plim_record *r, int64_t now_ms, int64_t cpu_ms, bool is_watched)
{
    const int64_t span_ms = now_ms - r->anchor_ms;
    if (is_watched && r->anchor_ms && cpu_ms >= r->anchor_cpu_ms && span_ms < MEASURE_MS)
        return;
    if (is_watched && r->anchor_ms && cpu_ms >= r->anchor_cpu_ms && span_ms < 2 * MEASURE_MS) {
        const double ppm = (double)(cpu_ms - r->anchor_cpu_ms) * 1e6 / (double)span_ms;
        if (ppm <= NEAR_PPM && (r->idle_ppm < 0 || ppm < r->idle_ppm))
            r->idle_ppm = (int32_t)ppm;
    }
    r->anchor_ms = now_ms;
    r->anchor_cpu_ms = cpu_ms;
}

static void begin(struct plim_record *r, int64_t since_ms, bool is_at_least)
{
    r->idle_since_ms = since_ms;
    r->is_idle_at_least = is_at_least;
}

/* Join what the record knows with what the driver says now: the GPU is quiet since q->since_ms, exactly or at least. */
static void join(struct plim_record *r, const struct quiet *q, int64_t now_ms, enum verdict between)
{
    const int64_t span_ms = now_ms - r->seen_ms;
    if (q->is_busy)
        begin(r, q->is_exact ? q->since_ms : now_ms, false);
    else if (r->idle_since_ms == 0 || (q->is_exact && q->since_ms > r->seen_ms))
        begin(r, q->since_ms, !q->is_exact);
    else if (between == BUSY && span_ms <= NEAR_MS)
        begin(r, now_ms, false);
    else if (between == BUSY) /* at a moment that nobody saw; it may be any since then */
        begin(r, q->since_ms > r->seen_ms ? q->since_ms : now_ms, true);
    else if (between == NOT_SEEN && q->since_ms > r->seen_ms)
        begin(r, q->since_ms, !q->is_exact);
    else if (q->is_exact && (q->since_ms > r->idle_since_ms || r->is_idle_at_least))
        begin(r, q->since_ms, false);
}

static bool is_known(const struct plim_record *r, int64_t now_ms) { return r->seen_ms > 0 && r->seen_ms <= now_ms; }

static void reset(struct plim_record *r)
{
    r->seen_ms = r->idle_since_ms = r->anchor_ms = 0;
    r->cpu_ms = r->bytes = r->gpu_busy_ms = -1;
    r->idle_ppm = -1;
    r->is_idle_at_least = false;
}

void plim_record_update(struct plim_record *r, const struct plim_sample *s, uint32_t index, int64_t log_unix_s,
                        struct plim_watch_activity *ret_activity)
{
    const struct plim_sample_process *p = &s->process[index];
    const struct quiet q = quiet_of(s, index);
    const int64_t now_ms = s->taken_unix_ms;
    if (!is_known(r, now_ms))
        reset(r);
    const int64_t span_ms = r->seen_ms ? now_ms - r->seen_ms : 0;
    const enum verdict since = r->seen_ms ? between(r, &q, span_ms, p->cpu_ms) : NOT_SEEN;
    *ret_activity = (struct plim_watch_activity){ .idle_s = -1, .is_gpu_silent = !q.is_known };
    if (q.is_known)
        join(r, &q, now_ms, since);
    else
        r->idle_since_ms = 0;
    if (q.is_known && log_unix_s < INT64_MAX / 1000 && log_unix_s * 1000 > r->idle_since_ms &&
        log_unix_s * 1000 <= now_ms)
        begin(r, log_unix_s * 1000, false);
    if (q.is_known && since == NOT_SEEN && p->state == 'R')
        begin(r, now_ms, false);
    ret_activity->is_busy = q.is_busy || (since == BUSY && span_ms <= NEAR_MS);
    if (r->idle_since_ms) {
        ret_activity->idle_s = (now_ms - r->idle_since_ms) / 1000;
        ret_activity->is_idle_at_least = r->is_idle_at_least;
    }
    if (r->seen_ms && span_ms < MIN_STEP_MS)
        return; /* a few ticks: the next sample compares with the same one */
    measure(r, now_ms, p->cpu_ms, r->seen_ms && span_ms <= NEAR_MS && since == IDLE && !q.is_busy);
    r->seen_ms = now_ms;
    r->cpu_ms = p->cpu_ms;
    r->bytes = q.bytes;
    r->gpu_busy_ms = q.busy_ms;
}
