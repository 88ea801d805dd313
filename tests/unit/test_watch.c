/* SPDX-License-Identifier: MIT */
/* Idle time over several samples, what is written down between runs, memory without a process, programs and models. */
#include "by_hand.h"

#include "base/limits.h"
#include "watch/program.h"
#include "watch/records.h"

#include <sys/stat.h>
#include <unistd.h>

static struct plim_watch *opened(void)
{
    const struct plim_watch_options options = { .idle_after_s = 600 };
    struct plim_watch *watch;
    assert_int_equal(plim_watch_open(&options, &watch, NULL), 0);
    return watch;
}

static const struct plim_watch_row *add(struct plim_watch *watch, const struct by_hand *h)
{
    assert_int_equal(plim_watch_add(watch, &h->sample, NULL), 0);
    return plim_watch_rows(watch);
}

/* A driver that tells who was active since the sample before, as NVML does; one process without a parent. */
static void begin(struct by_hand *h)
{
    by_hand_begin(h);
    struct plim_sample_process *p = by_hand_process(h, 4000, 0);
    p->parent = 1;
    p->parent_program = "systemd";
    h->cards[0].activity_ms = 0;
}

/* --- idle time --- */

static void test_idle_is_what_was_seen(void **state)
{
    struct by_hand h;
    struct plim_watch *watch = opened();
    const struct plim_watch_row *row;
    (void)state;
    begin(&h);
    row = add(watch, &h);
    assert_int_equal(row->idle_s, 0);
    assert_true(row->is_idle_at_least);
    assert_int_equal(row->reason, PLIM_REASON_YOUNG);
    for (int i = 0; i < 599; i++) {
        by_hand_wait(&h, 1000);
        h.cards[0].activity_ms = 1000;
        row = add(watch, &h);
        assert_int_equal(row->idle_s, i + 1);
        assert_int_equal(row->stale, PLIM_STALE_UNKNOWN);
    }
    by_hand_wait(&h, 1000);
    row = add(watch, &h);
    assert_int_equal(row->stale, PLIM_STALE_YES);
    assert_int_equal(row->reason, PLIM_REASON_ORPHAN);
    plim_watch_close(watch);
}

/* After so many seconds of watching, each second: what the process did in the last one. */
static const struct plim_watch_row *watched(struct plim_watch *watch, struct by_hand *h, int seconds)
{
    add(watch, h);
    for (int i = 0; i < seconds; i++) {
        by_hand_wait(h, 1000);
        h->cards[0].activity_ms = 1000;
        add(watch, h);
    }
    return plim_watch_rows(watch);
}

static void test_any_activity_begins_anew(void **state)
{
    (void)state;
    for (int what = 0; what < 5; what++) {
        struct by_hand h;
        struct plim_watch *watch = opened();
        begin(&h);
        watched(watch, &h, 700);
        by_hand_wait(&h, 1000);
        if (what == 0)
            h.holdings[0].gpu_percent = 1;
        else if (what == 1)
            h.holdings[0].last_active_unix_ms = h.sample.taken_unix_ms - 500;
        else if (what == 2)
            h.processes[0].cpu_ms += 300;
        else if (what == 3)
            h.holdings[0].bytes += 2 << 20;
        const struct plim_watch_row *row = add(watch, &h);
        assert_int_equal(row->stale, what < 4 ? PLIM_STALE_NO : PLIM_STALE_YES);
        assert_int_equal(row->idle_s, what < 4 ? 0 : 701);
        plim_watch_close(watch);
    }
}

/* Event loops and watchdogs take a little of the processor all the time. */
static void test_housekeeping_is_not_work(void **state)
{
    struct by_hand h;
    struct plim_watch *watch = opened();
    (void)state;
    begin(&h);
    add(watch, &h);
    for (int i = 0; i < 700; i++) {
        by_hand_wait(&h, 1000);
        h.cards[0].activity_ms = 1000;
        h.processes[0].cpu_ms += i % 2 ? 10 : 0; /* half a percent, in ticks */
        add(watch, &h);
    }
    assert_int_equal(plim_watch_rows(watch)->stale, PLIM_STALE_YES);
    plim_watch_close(watch);
}

/* Between two samples nobody looked at the GPU: the processor time says whether it can have worked. */
static void test_a_gap(void **state)
{
    static const struct {
        int64_t cpu_ms; /* in one hour */
        bool is_measured, is_idle;
    } cases[] = { { 0, false, true },    { 90, false, true },    { 1800, false, true },  { 2500, false, false },
                  { 17000, true, true }, { 25000, true, false }, { 600000, true, false } };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct by_hand h;
        struct plim_watch *watch = opened();
        begin(&h);
        add(watch, &h);
        for (int k = 0; k < 65 && cases[i].is_measured; k++) { /* a notebook: 0.4 % */
            by_hand_wait(&h, 1000);
            h.cards[0].activity_ms = 1000;
            h.processes[0].cpu_ms += k % 5 < 2 ? 10 : 0;
            add(watch, &h);
        }
        by_hand_wait(&h, 3600000);
        h.cards[0].activity_ms = 0;
        h.processes[0].cpu_ms += cases[i].cpu_ms;
        const struct plim_watch_row *row = add(watch, &h);
        if (row->stale != (cases[i].is_idle ? PLIM_STALE_YES : PLIM_STALE_UNKNOWN))
            fail_msg("case %zu: %s", i, row->why);
        plim_watch_close(watch);
    }
}

static void test_a_pid_that_is_used_again(void **state)
{
    struct by_hand h;
    struct plim_watch *watch = opened();
    (void)state;
    begin(&h);
    watched(watch, &h, 700);
    by_hand_wait(&h, 1000);
    h.processes[0].start_ticks += 5;
    h.processes[0].started_unix_s = h.sample.taken_unix_ms / 1000 - 1;
    assert_int_equal(add(watch, &h)->stale, PLIM_STALE_NO);
    assert_int_equal(plim_watch_rows(watch)->idle_s, 1);
    watched(watch, &h, 20);
    by_hand_wait(&h, 1000);
    h.processes[0].start_ticks += 2000; /* again, within a minute */
    h.processes[0].started_unix_s += 20;
    assert_true(add(watch, &h)->idle_s <= 1);
    plim_watch_close(watch);
}

static void test_a_clock_that_is_set_back(void **state)
{
    struct by_hand h;
    struct plim_watch *watch = opened();
    (void)state;
    begin(&h);
    watched(watch, &h, 700);
    by_hand_wait(&h, 1000);
    h.sample.taken_unix_ms -= 3600000;
    assert_int_equal(add(watch, &h)->reason, PLIM_REASON_YOUNG);
    plim_watch_close(watch);
}

/* Busy on one card, and holding memory on another. */
static void test_two_cards(void **state)
{
    struct by_hand h;
    struct plim_watch *watch = opened();
    (void)state;
    by_hand_begin(&h);
    by_hand_process(&h, 4000, 0)->parent_program = "systemd";
    h.holdings[1] = h.holdings[0];
    h.holdings[1].card = 1;
    h.holdings[1].gpu_percent = 50;
    h.sample.n_holdings = 2;
    const struct plim_watch_row *rows = add(watch, &h);
    assert_int_equal(rows[0].reason, PLIM_REASON_ACTIVE);
    assert_int_equal(rows[1].reason, PLIM_REASON_ACTIVE);
    h.cards[1].activity_ms = -1; /* and one whose driver says nothing */
    h.holdings[1].gpu_percent = -1;
    plim_watch_close(watch);
    watch = opened();
    assert_int_equal(add(watch, &h)->reason, PLIM_REASON_UNSEEN);
    plim_watch_close(watch);
}

static void test_logs_that_others_write(void **state)
{
    struct by_hand h;
    (void)state;
    for (int others = 0; others < 3; others++) {
        const struct plim_watch_options options = { .own_log = others == 2 ? "/home/ada/run.log" : NULL };
        struct plim_watch *watch;
        by_hand_begin(&h);
        h.cards[0].activity_ms = h.cards[1].activity_ms = 86400000;
        struct plim_sample_process *p = by_hand_process(&h, 4000, 0);
        p->parent_program = "systemd";
        p->log = "/home/ada/run.log";
        p->log_written_unix_s = BY_HAND_NOW_MS / 1000 - 2;
        if (others == 1)
            by_hand_process(&h, 4001, 1)->log = p->log;
        assert_int_equal(plim_watch_open(&options, &watch, NULL), 0);
        assert_int_equal(add(watch, &h)->stale, others ? PLIM_STALE_YES : PLIM_STALE_NO);
        plim_watch_close(watch);
    }
}

/* --- the state file --- */

static const char *state_path(void)
{
    static char path[64];
    snprintf(path, sizeof path, "/tmp/plimsoll-seen-%d", (int)getpid());
    return path;
}

static void test_the_next_run_goes_on(void **state)
{
    struct by_hand h;
    struct plim_watch *watch = opened();
    struct plim_error error = { 0 };
    (void)state;
    begin(&h);
    h.processes[1] = h.processes[0];
    by_hand_process(&h, 9999, 1)->is_gone = true;
    h.processes[1].start_ticks = 0;
    add(watch, &h);
    assert_int_equal(plim_watch_save(watch, state_path(), &error), 0);
    plim_watch_close(watch);

    watch = opened();
    plim_watch_load(watch, state_path());
    by_hand_wait(&h, 3600000);
    const struct plim_watch_row *rows = add(watch, &h);
    assert_int_equal(rows[0].stale, PLIM_STALE_YES);
    assert_int_equal(rows[0].idle_s, 3600);
    assert_true(rows[0].is_idle_at_least);
    assert_non_null(strstr(rows[1].why, "ended at least 60 min ago"));
    plim_watch_close(watch);

    struct stat status;
    assert_int_equal(stat(state_path(), &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    assert_int_equal(chmod(state_path(), 0666), 0); /* anybody may have written it */
    watch = opened();
    plim_watch_load(watch, state_path());
    assert_int_equal(add(watch, &h)->reason, PLIM_REASON_YOUNG);
    plim_watch_close(watch);
    unlink(state_path());
    assert_int_equal(symlink("/etc/passwd", state_path()), 0);
    watch = opened();
    plim_watch_load(watch, state_path());
    plim_watch_load(watch, "/nonexistent/seen");
    plim_watch_load(watch, "/dev/null");
    assert_int_equal(plim_watch_save(watch, "/nonexistent/seen", &error), PLIM_E_NOT_FOUND);
    plim_watch_close(watch);
    unlink(state_path());
}

#define HEAD "plimsoll seen 1\n"
#define GOOD "4000 5000 1789913600 1789999999000 60000 2147483648 -1 1789999000000 1 -1 0\n"

static void test_files_that_are_damaged(void **state)
{
    static const struct {
        const char *text;
        bool is_good;
    } cases[] = {
        { HEAD, true },
        { HEAD GOOD, true },
        { HEAD GOOD "4001" GOOD, true }, /* pid 40014000 */
        { "", false },
        { "plimsoll seen 2\n" GOOD, false },
        { HEAD "\n", false },
        { HEAD GOOD GOOD, false }, /* twice */
        { HEAD "4000 5000 1789913600 1789999999000 60000 2147483648 -1 1789999000000 1 -1\n", false },
        { HEAD "4000 5000 1789913600 1789999999000 60000 2147483648 -1 1789999000000 1 -1 0 0\n", false },
        { HEAD "4000 5000 1789913600 1789999999000 60000 2147483648 -1 1789999000000 2 -1 0\n", false },
        { HEAD "4000 5000 1789913600 1789999999000 60000 2147483648 -1 1790000000000 1 -1 0\n",
          false }, /* idle later */
        { HEAD "4000 5000 1789913600 1789999999000 60000 2147483648 -1 1789000000000 1 -1 0\n",
          false }, /* than start */
        { HEAD "0 5000 1789913600 1789999999000 60000 2147483648 -1 0 0 -1 0\n", false },
        { HEAD "-1 5000 1789913600 1789999999000 60000 2147483648 -1 0 0 -1 0\n", false },
        { HEAD "4000 99999999999999999999 1789913600 1789999999000 60000 2147483648 -1 0 0 -1 0\n", false },
        { HEAD "4000 5000 1789913600 1789999999000 60000 2147483648 -1 0 0 -1 0", false }, /* no line end */
        { HEAD GOOD "x", false },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct plim_records records = { 0 };
        if (plim_records_read(&records, cases[i].text, strlen(cases[i].text)) != cases[i].is_good)
            fail_msg("case %zu", i);
        assert_true(cases[i].is_good || records.n == 0);
        plim_records_done(&records);
    }
}

/* What is written is read; and no bytes whatever make a process that just started look idle. */
static void test_any_file(void **state)
{
    uint64_t seed = random_seed();
    (void)state;
    for (int round = 0; round < 3000; round++) {
        char text[] = HEAD GOOD "4001 5001 1789913600 1789999999000 60000 2147483648 -1 1789999000000 1 77 0\n";
        struct plim_records records = { 0 };
        for (uint64_t n = random_below(&seed, 4); n; n--) {
            static const char alphabet[] = "0123456789- \n\0x";
            text[random_below(&seed, sizeof text - 1)] = alphabet[random_below(&seed, sizeof alphabet - 1)];
        }
        plim_records_read(&records, text, sizeof text - 1);
        for (size_t i = 0; i < records.n; i++) {
            const struct plim_record *r = &records.at[i];
            assert_true(r->pid > 0 && r->idle_since_ms <= r->seen_ms);
            assert_true(r->idle_since_ms == 0 || r->idle_since_ms / 1000 >= r->started_unix_s - 1);
        }
        plim_records_done(&records);
    }
}

static void test_forgets(void **state)
{
    struct plim_records records = { 0 };
    (void)state;
    for (int i = 0; i < 1000; i++) {
        struct plim_record *r = plim_records_get(&records, 1 + i, 5, 100);
        assert_non_null(r);
        r->seen_ms = 1000 + i;
        r->mark = i < 10 ? 2 : 1;
    }
    plim_records_settle(&records, 2, 86400000 + 1500);
    assert_int_equal(records.n, 10 + 499);
    assert_non_null(plim_records_get(&records, 1, 5, 130)); /* a clock that was corrected by half a minute */
    assert_int_equal(records.n, 10 + 499);
    assert_int_equal(plim_records_get(&records, 1, 5, 5000)->seen_ms, 0); /* another boot */
    plim_records_done(&records);
}

/* --- memory without a process --- */

static void test_the_rest(void **state)
{
    struct by_hand h;
    struct plim_watch *watch = opened();
    (void)state;
    begin(&h);
    add(watch, &h);
    assert_true(plim_watch_cards(watch)[0].unattributed_bytes == 4 * BY_HAND_GIB);
    h.holdings[0].bytes = -1;
    add(watch, &h);
    assert_int_equal(plim_watch_cards(watch)[0].unattributed_bytes, -1);
    h.holdings[0].bytes = 7 * BY_HAND_GIB; /* an MPS server is charged for its clients, too */
    add(watch, &h);
    assert_int_equal(plim_watch_cards(watch)[0].unattributed_bytes, 0);
    h.sample.is_contained = true;
    h.holdings[0].bytes = BY_HAND_GIB;
    add(watch, &h);
    assert_non_null(strstr(plim_watch_cards(watch)[0].unattributed_why, "container"));
    h.cards[0].listing = PLIM_LISTING_NONE;
    add(watch, &h);
    assert_int_equal(plim_watch_cards(watch)[0].unattributed_bytes, -1);
    plim_watch_close(watch);
}

/* --- programs --- */

static void test_programs(void **state)
{
    static const struct {
        const char *command, *program, *framework, *model;
        enum plim_watch_role role;
    } cases[] = {
        { "/opt/llama-server -m /m/q.gguf -c 8192", "llama-server", "llama.cpp", "/m/q.gguf", PLIM_ROLE_SERVER },
        { "llama-cli -hf unsloth/Qwen3-8B-GGUF:Q4_K_M", "llama-cli", "llama.cpp", "unsloth/Qwen3-8B-GGUF:Q4_K_M",
          PLIM_ROLE_SCRIPT },
        { "/usr/bin/python3 /usr/local/bin/vllm serve Qwen/Qwen3-8B --port 1", "python3.12", "vLLM", "Qwen/Qwen3-8B",
          PLIM_ROLE_SERVER },
        { "python3 -m vllm.entrypoints.openai.api_server --model=m/x", "python3.10", "vLLM", "m/x", PLIM_ROLE_SERVER },
        { "python -m vllmish --model x", "python3.10", "", "x", PLIM_ROLE_SCRIPT },
        { "VLLM::Worker_TP1", "python3.12", "vLLM", "", PLIM_ROLE_WORKER },
        { "python -m sglang.launch_server --model-path meta-llama/L", "python3", "SGLang", "meta-llama/L",
          PLIM_ROLE_SERVER },
        { "/usr/bin/ollama serve", "ollama", "Ollama", "", PLIM_ROLE_SERVER },
        { "/usr/bin/ollama runner --ollama-engine --model /b/sha256-aa --port 1", "ollama", "Ollama", "/b/sha256-aa",
          PLIM_ROLE_WORKER },
        { "python -W ignore -u /home/x/ComfyUI/main.py", "python3.11", "ComfyUI", "", PLIM_ROLE_SERVER },
        { "python main.py", "python3.11", "", "", PLIM_ROLE_SCRIPT },
        { "python3 -m ipykernel_launcher -f k.json", "python3.11", "Jupyter", "", PLIM_ROLE_NOTEBOOK },
        { "python -c import torch", "python3.11", "", "", PLIM_ROLE_UNKNOWN },
        { "python", "python3.11", "", "", PLIM_ROLE_UNKNOWN },
        { "tritonserver --model-repository /m", "tritonserver", "Triton", "", PLIM_ROLE_SERVER },
        { "", "", "", "", PLIM_ROLE_UNKNOWN },
        { "   ", "x", "", "", PLIM_ROLE_UNKNOWN },
        { "./train --model", "train", "", "", PLIM_ROLE_UNKNOWN },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct plim_sample_process p = {
            .command = cases[i].command, .program = cases[i].program, .folder = "/home/x/work", .runtime = ""
        };
        struct plim_watch_known_program known = { 0 };
        struct plim_watch_program program;
        char model[64];
        plim_watch_program(&p, &known, &program);
        plim_watch_program(&p, &known, &program); /* known by now */
        plim_watch_model(&p, model, sizeof model);
        if (strcmp(program.framework, cases[i].framework) != 0 || program.role != cases[i].role ||
            strcmp(model, cases[i].model) != 0)
            fail_msg("%s: '%s', role %d, model '%s'", cases[i].command, program.framework, program.role, model);
    }
}

static void test_names_of_models(void **state)
{
    static const char *const cases[][2] = {
        { "/m/Qwen3-14B-Q4_K_M.gguf", "Qwen3-14B-Q4_K_M.gguf" },
        { "Qwen/Qwen3-8B", "Qwen3-8B" },
        { "/m/Qwen3-8B/model-00001-of-00005.safetensors", "Qwen3-8B" },
        { "/m/Qwen3-8B/", "Qwen3-8B" },
        { "/c/hub/models--Qwen--Qwen3-8B/snapshots/0a1b/model.safetensors", "Qwen3-8B" },
        { "/c/hub/models--Qwen--Qwen3-8B/snapshots/0a1b", "Qwen3-8B" },
        { "/c/hub/models--unsloth--X-GGUF/snapshots/0a1b/X-Q4_0.gguf", "X-Q4_0.gguf" },
        { "/o/blobs/sha256-aabb", "sha256-aabb" },
        { "model.safetensors", "model.safetensors" },
        { "/", "" },
        { "", "" },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        char name[64];
        assert_string_equal(plim_watch_model_name(cases[i][0], name, sizeof name), cases[i][1]);
    }
}

/* --- any sample --- */

static const char *any_of(uint64_t *seed, const char *const *texts, size_t n) { return texts[random_below(seed, n)]; }

static void shake(struct by_hand *h, uint64_t *seed)
{
    static const char *const texts[] = { "",          "systemd", "python",       "python train.py",
                                         "\x1b[2J",   "VLLM::x", "llama-server", "tini",
                                         "python -m", "-m",      "a/b/c",        "ssh.service",
                                         "x.service", "/",       "ollama runner" };
    static const int64_t numbers[] = { -1, 0, 1, INT64_MAX, INT64_MIN, BY_HAND_NOW_MS, BY_HAND_NOW_MS / 1000, 1 << 20 };
    const char states[] = "RSDTtZX\0";
    for (uint32_t i = 0; i < h->sample.n_processes; i++) {
        struct plim_sample_process *p = &h->processes[i];
        p->command = any_of(seed, texts, COUNT(texts));
        p->program = any_of(seed, texts, COUNT(texts));
        p->parent_program = any_of(seed, texts, COUNT(texts));
        p->unit = any_of(seed, texts, COUNT(texts));
        p->folder = any_of(seed, texts, COUNT(texts));
        p->launcher = any_of(seed, texts, 2);
        p->container = any_of(seed, texts, 2);
        p->state = states[random_below(seed, sizeof states)];
        p->cpu_ms = numbers[random_below(seed, COUNT(numbers))];
        p->started_unix_s = numbers[random_below(seed, COUNT(numbers))];
        p->log_written_unix_s = numbers[random_below(seed, COUNT(numbers))];
        p->n_threads = (int32_t)random_below(seed, 3);
        p->is_gone = random_below(seed, 8) == 0;
        p->is_outside = random_below(seed, 8) == 0;
        p->is_container_gone = random_below(seed, 4) == 0;
        h->holdings[i].bytes = numbers[random_below(seed, COUNT(numbers))];
        h->holdings[i].last_active_unix_ms = numbers[random_below(seed, COUNT(numbers))];
        h->holdings[i].gpu_percent = (int32_t)random_below(seed, 3) - 1;
        h->holdings[i].contexts = (unsigned)random_below(seed, 16);
    }
    h->cards[0].activity_ms = (int64_t)random_below(seed, 3) * 500 - 500;
    h->cards[1].used_bytes = numbers[random_below(seed, COUNT(numbers))];
    by_hand_wait(h, (int64_t)random_below(seed, 3000) * (int64_t)random_below(seed, 400));
}

/* Of samples of anything: "yes" only of what is ended, or was seen idle for as long as it takes; never of the desktop.
 */
static void test_any_sample(void **state)
{
    uint64_t seed = random_seed();
    (void)state;
    for (int round = 0; round < 200; round++) {
        struct by_hand h;
        struct plim_watch *watch = opened();
        by_hand_begin(&h);
        for (int64_t pid = 1; pid < 6; pid++)
            by_hand_process(&h, pid, (uint32_t)(pid % 2));
        for (int step = 0; step < 30; step++) {
            shake(&h, &seed);
            const struct plim_watch_row *rows = add(watch, &h);
            for (uint32_t i = 0; i < h.sample.n_holdings; i++) {
                const bool is_ended = rows[i].reason == PLIM_REASON_GONE || rows[i].reason == PLIM_REASON_DEFUNCT;
                assert_true(*rows[i].why);
                assert_true(rows[i].reason != PLIM_REASON_NONE);
                if (rows[i].stale == PLIM_STALE_YES && !is_ended) {
                    assert_true(rows[i].idle_s >= 600);
                    assert_true(rows[i].role != PLIM_ROLE_SERVER || rows[i].reason == PLIM_REASON_CONTAINER_GONE);
                    assert_true(rows[i].role != PLIM_ROLE_DISPLAY && rows[i].role != PLIM_ROLE_MPS);
                    assert_false(h.processes[i].is_outside);
                }
            }
        }
        plim_watch_close(watch);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_idle_is_what_was_seen),
        cmocka_unit_test(test_any_activity_begins_anew),
        cmocka_unit_test(test_housekeeping_is_not_work),
        cmocka_unit_test(test_a_gap),
        cmocka_unit_test(test_a_pid_that_is_used_again),
        cmocka_unit_test(test_a_clock_that_is_set_back),
        cmocka_unit_test(test_two_cards),
        cmocka_unit_test(test_logs_that_others_write),
        cmocka_unit_test(test_the_next_run_goes_on),
        cmocka_unit_test(test_files_that_are_damaged),
        cmocka_unit_test(test_any_file),
        cmocka_unit_test(test_forgets),
        cmocka_unit_test(test_the_rest),
        cmocka_unit_test(test_programs),
        cmocka_unit_test(test_names_of_models),
        cmocka_unit_test(test_any_sample),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
