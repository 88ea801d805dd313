/* SPDX-License-Identifier: MIT */
/* Looks that follow each other, at machines that change, vanish, and answer with anything. */
#include "base/limits.h"
#include "base/mem.h"
#include "base/units.h"
#include "card/nvml/look.h"
#include "card/sample.h"
#include "unit.h"

#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 600, SEEDS = 60 };

static char folder[] = "plimsoll-looks-XXXXXX", nvml[PATH_BYTES], root[PATH_BYTES];

static void write_text(const char *path, const char *text)
{
    char whole[3 * PATH_BYTES];
    snprintf(whole, sizeof whole, "%s.new", path);
    FILE *out = fopen(whole, "w");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
    assert_int_equal(rename(whole, path), 0);
}

#define CARD "card\nname NVIDIA A40\nuuid GPU-1\npci 0000:01:00.0\nmemory 40000000000 0 10000000000\n"

/* A copy of a scene that a test may change. */
static void copy_scene(const char *name)
{
    char command[3 * PATH_BYTES];
    snprintf(command, sizeof command, "rm -rf %s && mkdir %s && cp -a %s/%s/. %s/", folder, folder,
             getenv("PLIM_TEST_SCENES"), name, folder);
    assert_int_equal(system(command), 0);
    snprintf(nvml, sizeof nvml, "%s/nvml", folder);
    snprintf(root, sizeof root, "%s/root", folder);
    setenv("NVML_SCENE", nvml, 1);
}

static struct plim_sampler *open_copy(void)
{
    struct plim_sampler *sampler = NULL;
    const struct plim_sampler_options options = {
        .nvml = getenv("PLIM_TEST_NVML_SCENE"),
        .sysroot = root,
        .wants_load = true,
    };
    assert_int_equal(plim_sampler_open(&options, &sampler, NULL), 0);
    return sampler;
}

static const struct plim_sample *look(struct plim_sampler *sampler)
{
    const struct plim_sample *sample = NULL;
    struct plim_error error = { 0 };
    assert_int_equal(plim_sampler_read(sampler, &sample, &error), 0);
    return sample;
}

static const struct plim_holding *holding_of(const struct plim_sample *sample, int64_t pid)
{
    for (uint32_t i = 0; i < sample->n_holdings; i++)
        if (sample->process[sample->holding[i].process].pid == pid)
            return &sample->holding[i];
    return NULL;
}

static const struct plim_sample_process *process_of(const struct plim_sample *sample, int64_t pid)
{
    for (uint32_t i = 0; i < sample->n_processes; i++)
        if (sample->process[i].pid == pid)
            return &sample->process[i];
    return NULL;
}

/* What holds of every sample. */
static void check_sample(const struct plim_sample *sample)
{
    for (uint32_t i = 0; i < sample->n_cards; i++) {
        const struct plim_sample_card *card = &sample->card[i];
        assert_true(card->id[0] && card->used_bytes >= -1 && card->free_bytes >= -1);
        assert_true(card->card.total_bytes <= PLIM_MAX_CARD_BYTES && card->used_bytes <= PLIM_MAX_CARD_BYTES);
        assert_true(card->gpu_percent <= 100 && card->memory_percent <= 100);
        assert_true(memchr(card->why, '\0', sizeof card->why) && memchr(card->card.name, '\0', 80));
    }
    for (uint32_t i = 0; i < sample->n_processes; i++) {
        const struct plim_sample_process *process = &sample->process[i];
        assert_true(i == 0 || sample->process[i - 1].pid < process->pid);
        assert_true(process->n_models <= PLIM_SAMPLE_MODELS);
        assert_true(process->cpu_ms >= -1 && process->rss_bytes >= -1);
        assert_true(!process->is_gone || !process->is_outside);
        const char *const texts[] = { process->command,   process->program,   process->folder, process->parent_program,
                                      process->container, process->pod,       process->unit,   process->slurm_job,
                                      process->launcher,  process->runtime,   process->log,    process->models[0],
                                      process->models[1], process->models[2], process->user,   process->models[3] };
        for (size_t k = 0; k < COUNT(texts); k++)
            assert_true(texts[k] && strlen(texts[k]) < 1 << 16);
    }
    for (uint32_t i = 0; i < sample->n_holdings; i++) {
        const struct plim_holding *holding = &sample->holding[i], *before = holding - 1;
        assert_true(holding->card < sample->n_cards && holding->process < sample->n_processes);
        assert_true(holding->bytes >= -1 && holding->bytes <= PLIM_MAX_CARD_BYTES && holding->gpu_percent <= 100);
        if (i > 0)
            assert_true(before->card < holding->card ||
                        (before->card == holding->card && before->bytes >= holding->bytes));
    }
}

/* --- activity --- */

static void test_silence_is_idleness_from_the_second_look_on(void **state)
{
    (void)state;
    copy_scene("two-cards");
    struct plim_sampler *sampler = open_copy();
    write_text(nvml, CARD "compute 41233 1000\ncompute 2200 900\nutilization 41233 87 5\n");
    const struct plim_sample *sample = look(sampler);
    assert_int_equal(sample->card[0].activity_ms, 0);
    assert_int_equal(holding_of(sample, 41233)->gpu_percent, 87);
    assert_int_equal(holding_of(sample, 2200)->gpu_percent, -1); /* of how far back the driver speaks is unknown */
    usleep(3000);
    write_text(nvml, CARD "compute 41233 1000\ncompute 2200 900\nutilization 41233 87 9\n");
    sample = look(sampler);
    assert_true(sample->card[0].activity_ms > 0);
    assert_int_equal(holding_of(sample, 41233)->gpu_percent, 0); /* a sample that was seen before does not come again */
    assert_int_equal(holding_of(sample, 2200)->gpu_percent, 0);
    write_text(nvml, CARD "compute 41233 1000\nactivity 3\n");
    sample = look(sampler);
    assert_int_equal(sample->card[0].activity_ms, -1);
    assert_int_equal(holding_of(sample, 41233)->gpu_percent, -1);
    plim_sampler_close(sampler);
}

static void test_impossible_activity(void **state)
{
    (void)state;
    copy_scene("two-cards");
    struct plim_sampler *sampler = open_copy();
    write_text(nvml, CARD "compute 41233 1000\ncompute 2200 900\nutilization 41233 4000 1\n"
                          "utilization 2200 50 -100000\nutilization 0 50 1\n");
    const struct plim_sample *sample = look(sampler);
    assert_int_equal(holding_of(sample, 41233)->gpu_percent, -1);
    assert_int_equal(holding_of(sample, 2200)->last_active_unix_ms, -1);
    plim_sampler_close(sampler);
}

/* --- peaks --- */

static void test_peaks(void **state)
{
    (void)state;
    copy_scene("two-cards");
    struct plim_sampler *sampler = open_copy();
    write_text(nvml, CARD "accounting on\ncompute 41233 1000\npeak 41233 1500\ncompute 2200 900\n");
    const struct plim_sample *sample = look(sampler);
    assert_int_equal(holding_of(sample, 41233)->peak_bytes, 1500);
    assert_int_equal(holding_of(sample, 2200)->peak_bytes, -1); /* started before accounting was switched on */
    write_text(nvml, CARD "accounting on\ncompute 41233 2000\npeak 41233 2100\n"); /* more than the peak: asked again */
    assert_int_equal(holding_of(look(sampler), 41233)->peak_bytes, 2100);
    write_text(nvml, CARD "accounting on\n");
    assert_null(holding_of(look(sampler), 41233));
    write_text(nvml, CARD "accounting on\ncompute 41233 10\npeak 41233 20\n"); /* another process of that pid */
    assert_int_equal(holding_of(look(sampler), 41233)->peak_bytes, 20);
    plim_sampler_close(sampler);
}

/* --- processes --- */

static void test_a_pid_is_used_again(void **state)
{
    char path[2 * PATH_BYTES];
    (void)state;
    copy_scene("two-cards");
    struct plim_sampler *sampler = open_copy();
    const struct plim_sample *sample = look(sampler);
    const uint64_t start = process_of(sample, 2200)->start_ticks;
    assert_string_equal(process_of(sample, 2200)->program, "llama-server");
    snprintf(path, sizeof path, "%s/proc/2200/stat", root);
    write_text(path, "2200 (other) R 1 2200 2200 0 -1 0 0 0 0 0 7 1 0 0 20 0 3 0 8640000 0 10 0 0\n");
    snprintf(path, sizeof path, "%s/proc/2200/cmdline", root);
    write_text(path, "other");
    sample = look(sampler);
    assert_true(process_of(sample, 2200)->start_ticks != start);
    assert_string_equal(process_of(sample, 2200)->command, "other");
    assert_int_equal(process_of(sample, 2200)->n_threads, 3);
    assert_int_equal(process_of(sample, 2200)->cpu_ms, 80);
    snprintf(path, sizeof path, "%s/proc/2200/stat", root);
    unlink(path);
    sample = look(sampler);
    assert_true(process_of(sample, 2200)->is_gone);
    assert_string_equal(process_of(sample, 2200)->command, "");
    plim_sampler_close(sampler);
}

/* What changes seldom is not read at each look: as long as the process is the same, its command stays. */
static void test_facts_stay(void **state)
{
    char path[2 * PATH_BYTES];
    (void)state;
    copy_scene("two-cards");
    struct plim_sampler *sampler = open_copy();
    look(sampler);
    snprintf(path, sizeof path, "%s/proc/2200/cmdline", root);
    write_text(path, "renamed");
    const struct plim_sample *sample = look(sampler);
    assert_non_null(strstr(process_of(sample, 2200)->command, "llama-server"));
    assert_int_equal(process_of(sample, 2200)->n_models, 1);
    plim_sampler_close(sampler);
}

/* --- drivers --- */

static void test_the_driver_vanishes_and_returns(void **state)
{
    (void)state;
    copy_scene("two-cards");
    struct plim_sampler *sampler = open_copy();
    assert_int_equal(look(sampler)->n_cards, 2);
    write_text(nvml, "all 15\n");
    const struct plim_sample *sample = look(sampler);
    assert_int_equal(sample->n_cards, 0);
    assert_int_equal(sample->n_holdings, 0);
    assert_non_null(strstr(sample->why, "GPU is lost"));
    write_text(nvml, "init 9\n");
    sample = look(sampler);
    assert_string_equal(sample->why, "the NVIDIA driver does not answer: Driver Not Loaded");
    write_text(nvml, CARD "compute 41233 1000\n");
    sample = look(sampler);
    assert_int_equal(sample->n_cards, 1);
    assert_string_equal(sample->why, "");
    assert_int_equal(holding_of(sample, 41233)->bytes, 1000);
    plim_sampler_close(sampler);
}

static void test_garbage(void **state)
{
    (void)state;
    copy_scene("two-cards");
    struct plim_sampler *sampler = open_copy();
    for (unsigned seed = 1; seed <= SEEDS; seed++) {
        char text[400];
        snprintf(text, sizeof text,
                 "garbage %u\nstride %u\n" CARD "compute 41233 1000\nutilization 41233 87 1\n" CARD "mig 1\n"
                 "instance 1 0\nmemory 10 0 5\ncompute 2200 7 1 0\n",
                 seed, seed % 2 ? 24 : 32);
        write_text(nvml, text);
        check_sample(look(sampler));
    }
    write_text(nvml, CARD "compute 41233 1000\n"); /* it recovers */
    plim_sampler_close(sampler);
    sampler = open_copy();
    assert_int_equal(holding_of(look(sampler), 41233)->bytes, 1000);
    plim_sampler_close(sampler);
}

static void test_no_driver_at_all(void **state)
{
    struct plim_sampler *sampler = NULL;
    (void)state;
    copy_scene("two-cards");
    const struct plim_sampler_options options = { .nvml = "/nonexistent/libnvidia-ml.so.1", .sysroot = "/nonexistent" };
    assert_int_equal(plim_sampler_open(&options, &sampler, NULL), 0);
    const struct plim_sample *sample = look(sampler);
    assert_int_equal(sample->n_cards, 0);
    assert_string_equal(sample->why, "");
    plim_sampler_close(sampler);
    plim_sampler_close(NULL);
}

/* --- cards that may sleep --- */

static void set_power(const char *control, const char *status)
{
    char command[6 * PATH_BYTES];
    snprintf(command, sizeof command,
             "mkdir -p %s/sys/bus/pci/drivers/nvidia/0000:01:00.0 %s/sys/bus/pci/devices/0000:01:00.0/power && "
             "echo %s > %s/sys/bus/pci/devices/0000:01:00.0/power/control && "
             "echo %s > %s/sys/bus/pci/devices/0000:01:00.0/power/runtime_status",
             root, root, control, root, status, root);
    assert_int_equal(system(command), 0);
}

static const struct plim_sample_card *card_at(struct plim_nvml_look *nvml_look, int64_t s, bool is_open)
{
    static struct plim_draft draft;
    plim_draft_clear(&draft);
    assert_int_equal(plim_nvml_look_read(nvml_look, s * 1000, s * 1000, &draft), 0);
    assert_int_equal(draft.n_cards, 1);
    assert_int_equal(nvml_look->is_started, is_open);
    static struct plim_sample_card card;
    card = draft.card[0];
    plim_draft_done(&draft);
    return &card;
}

static void test_cards_may_fall_asleep(void **state)
{
    struct plim_nvml_look nvml_look;
    (void)state;
    copy_scene("two-cards");
    set_power("auto", "active");
    write_text(nvml, CARD);
    plim_nvml_look_open(getenv("PLIM_TEST_NVML_SCENE"), root, false, &nvml_look);
    card_at(&nvml_look, 100, true);
    card_at(&nvml_look, 109, true);
    assert_int_equal(card_at(&nvml_look, 110, false)->free_bytes, 10000000000); /* ten seconds without a process */
    assert_int_equal(card_at(&nvml_look, 111, false)->free_bytes, 10000000000); /* as it was */
    set_power("auto", "suspended");
    assert_true(card_at(&nvml_look, 112, false)->is_asleep);
    set_power("auto", "active"); /* somebody woke it */
    write_text(nvml, CARD "compute 41233 1000\n");
    assert_false(card_at(&nvml_look, 113, true)->is_asleep);
    card_at(&nvml_look, 200, true); /* a process holds memory: it stays open */
    write_text(nvml, CARD);
    card_at(&nvml_look, 201, true);
    card_at(&nvml_look, 211, false);
    card_at(&nvml_look, 270, false);
    card_at(&nvml_look, 271, true); /* a minute later: look again */
    card_at(&nvml_look, 280, true);
    set_power("on", "active"); /* it will never sleep */
    card_at(&nvml_look, 300, true);
    plim_nvml_look_close(&nvml_look);
}

/* --- memory --- */

static void test_no_memory(void **state)
{
    static const char *const scenes[] = { "two-cards", "amd" };
    (void)state;
    for (size_t i = 0; i < COUNT(scenes); i++) {
        bool has_failed = true;
        copy_scene(scenes[i]);
        for (long n = 0; has_failed; n++) {
            const struct plim_sample *sample;
            struct plim_sampler *sampler = open_copy();
            struct plim_error error = { 0 };
            plim_alloc_fail_after(n);
            const int result = plim_sampler_read(sampler, &sample, &error);
            plim_alloc_fail_after(-1);
            assert_true(result == 0 || (result == PLIM_E_NOMEM && error.code == PLIM_E_NOMEM));
            has_failed = result != 0 || n < 20;
            const struct plim_sample *whole = look(sampler); /* the next look is whole again */
            assert_true(whole->n_cards > 0);
            check_sample(whole);
            plim_sampler_close(sampler);
            assert_true(n < 3000);
        }
    }
}

/* --- files that hold anything --- */

static uint64_t numbers;

static uint32_t below(uint32_t n) { return (uint32_t)random_below(&numbers, n); }

static void spoil_contents(const char *path, off_t bytes)
{
    FILE *file = fopen(path, "r+");
    if (!file)
        return;
    static const char *const bad[] = {
        "18446744073709551616", "-1", "\n\n:::", "(((", ")", "\xff\xfe", "drm-driver:", "KiB", "/../../x",
        "99999999999 GiB",      "\t", "deleted)"
    };
    for (uint32_t i = 0, n = 1 + below(4); i < n; i++) {
        fseek(file, (long)below((uint32_t)bytes + 1), SEEK_SET);
        if (below(2))
            fputs(bad[below(COUNT(bad))], file);
        else
            fputc((int)below(256), file);
    }
    fclose(file);
}

/* One file in six is cut off, filled with other things, or becomes a folder. */
static int spoil(const char *path, const struct stat *status, int type, struct FTW *place)
{
    (void)place;
    if (type != FTW_F || below(6))
        return 0;
    switch (below(4)) {
    case 0:
        return truncate(path, (off_t)below((uint32_t)status->st_size + 1));
    case 1:
        unlink(path);
        return below(2) ? mkdir(path, 0700) : 0;
    default:
        spoil_contents(path, status->st_size);
        return 0;
    }
}

static void test_spoiled_trees(void **state)
{
    static const char *const scenes[] = { "two-cards", "amd", "intel-xe", "containers", "odd-processes", "suspended" };
    const uint64_t first_seed = random_seed();
    (void)state;
    for (unsigned seed = 0; seed < SEEDS / 2; seed++) {
        numbers = first_seed + seed;
        copy_scene(scenes[seed % COUNT(scenes)]);
        assert_int_equal(nftw(root, spoil, 16, FTW_PHYS), 0);
        struct plim_sampler *sampler = open_copy();
        check_sample(look(sampler));
        check_sample(look(sampler));
        plim_sampler_close(sampler);
    }
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    char command[PATH_BYTES];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_silence_is_idleness_from_the_second_look_on),
        cmocka_unit_test(test_impossible_activity),
        cmocka_unit_test(test_peaks),
        cmocka_unit_test(test_a_pid_is_used_again),
        cmocka_unit_test(test_facts_stay),
        cmocka_unit_test(test_the_driver_vanishes_and_returns),
        cmocka_unit_test(test_garbage),
        cmocka_unit_test(test_no_driver_at_all),
        cmocka_unit_test(test_cards_may_fall_asleep),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_spoiled_trees),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
