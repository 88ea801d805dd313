/* SPDX-License-Identifier: MIT */
/* Samples of the machines in tests/watch/scenes: each says itself what a sample of it holds. */
#include "base/units.h"
#include "card/sample.h"
#include "unit.h"

#include <dirent.h>
#include <inttypes.h>

/* --- a sample as text --- */

static void print_bytes(FILE *out, const char *name, int64_t bytes)
{
    if (bytes < 0)
        fprintf(out, " %s ?", name);
    else if (bytes % (int64_t)PLIM_MIB == 0)
        fprintf(out, " %s %" PRId64 " MiB", name, bytes / (int64_t)PLIM_MIB);
    else
        fprintf(out, " %s %" PRId64, name, bytes);
}

static void print_text(FILE *out, const char *name, const char *text)
{
    if (text[0])
        fprintf(out, " %s '%s'", name, text);
}

static void print_holding(FILE *out, const struct plim_sample *sample, const struct plim_holding *holding)
{
    const struct plim_sample_process *process = &sample->process[holding->process];
    fprintf(out, "  %" PRId64 " ", process->pid);
    for (unsigned bit = 0; bit < 4; bit++)
        if (holding->contexts & 1u << bit)
            fputc("CGMD"[bit], out);
    print_bytes(out, "bytes", holding->bytes);
    if (holding->peak_bytes >= 0)
        print_bytes(out, "peak", holding->peak_bytes);
    if (holding->gpu_percent >= 0)
        fprintf(out, " gpu %d%%", (int)holding->gpu_percent);
    if (holding->last_active_unix_ms >= 0)
        fprintf(out, " active %" PRId64 " s ago", (sample->taken_unix_ms - holding->last_active_unix_ms + 500) / 1000);
    if (holding->gpu_busy_ms >= 0)
        fprintf(out, " busy %" PRId64 " ms", holding->gpu_busy_ms);
    fputc('\n', out);
}

static void print_card(FILE *out, const struct plim_sample *sample, uint32_t i)
{
    static const char *const listings[] = { "full", "without bytes", "partial", "none" };
    const struct plim_sample_card *card = &sample->card[i];
    fprintf(out, "%s", card->id);
    print_text(out, "name", card->card.name);
    print_text(out, "of", card->parent);
    print_text(out, "uuid", card->card.uuid);
    print_text(out, "pci", card->pci);
    if (card->gpu_instance != UINT32_MAX)
        fprintf(out, " instance %u/%u", card->gpu_instance, card->compute_instance);
    print_bytes(out, "total", card->card.total_bytes ? (int64_t)card->card.total_bytes : -1);
    print_bytes(out, "reserved", (int64_t)card->card.reserved_bytes);
    print_bytes(out, "used", card->used_bytes);
    print_bytes(out, "free", card->free_bytes);
    fprintf(out, " listing %s activity %" PRId64 "%s%s", listings[card->listing], card->activity_ms,
            card->is_asleep ? " asleep" : "", card->card.is_unified ? " unified" : "");
    if (card->gpu_percent >= 0)
        fprintf(out, " load %d%% %d%%", card->gpu_percent, card->memory_percent);
    if (card->temperature_c >= 0)
        fprintf(out, " %d C", card->temperature_c);
    if (card->power_mw >= 0)
        fprintf(out, " %" PRId64 " mW", card->power_mw);
    print_text(out, "why", card->why);
    fputc('\n', out);
    for (uint32_t k = 0; k < sample->n_holdings; k++)
        if (sample->holding[k].card == i)
            print_holding(out, sample, &sample->holding[k]);
}

static void print_process(FILE *out, const struct plim_sample *sample, const struct plim_sample_process *process)
{
    fprintf(out, "process %" PRId64 "%s%s", process->pid, process->is_gone ? " gone" : "",
            process->is_outside ? " outside" : "");
    if (process->state) {
        fprintf(out, " %c parent %" PRId64, process->state, process->parent);
        print_text(out, "of", process->parent_program);
        fprintf(out, " age %" PRId64 " cpu %" PRId64 " ms", sample->taken_unix_ms / 1000 - process->started_unix_s,
                process->cpu_ms);
        print_bytes(out, "rss", process->rss_bytes);
        fprintf(out, " uid %" PRId64 "%s%s%s%s", process->uid, process->has_terminal ? " terminal" : "",
                process->is_limited ? " limited" : "", process->ignores_hangup ? " nohup" : "",
                process->is_container_gone ? " container gone" : "");
        if (process->listens == 1)
            fprintf(out, " listens");
        if (process->n_threads > 1)
            fprintf(out, " %d threads", process->n_threads);
        if (process->inner_pid >= 0)
            fprintf(out, " inner %" PRId64, process->inner_pid);
    }
    print_text(out, "user", process->user);
    print_text(out, "program", process->program);
    print_text(out, "command", process->command);
    print_text(out, "folder", process->folder);
    print_text(out, "container", process->container);
    print_text(out, "pod", process->pod);
    print_text(out, "job", process->slurm_job);
    print_text(out, "unit", process->unit);
    print_text(out, "launcher", process->launcher);
    print_text(out, "runtime", process->runtime);
    for (uint32_t i = 0; i < process->n_models; i++)
        print_text(out, "model", process->models[i]);
    print_text(out, "log", process->log);
    fputc('\n', out);
}

static void print_sample(FILE *out, const struct plim_sample *sample)
{
    if (sample->is_contained)
        fprintf(out, "contained\n");
    if (sample->why[0])
        fprintf(out, "why '%s'\n", sample->why);
    for (uint32_t i = 0; i < sample->n_cards; i++)
        print_card(out, sample, i);
    for (uint32_t i = 0; i < sample->n_processes; i++)
        print_process(out, sample, &sample->process[i]);
}

/* --- scenes --- */

static struct plim_sampler *open_scene(const char *name)
{
    static char root[512], scene[512];
    struct plim_sampler *sampler = NULL;
    struct plim_error error = { 0 };
    const char *folder = getenv("PLIM_TEST_SCENES");
    assert_non_null(folder);
    snprintf(root, sizeof root, "%s/%s/root", folder, name);
    snprintf(scene, sizeof scene, "%s/%s/nvml", folder, name);
    setenv("NVML_SCENE", scene, 1);
    const struct plim_sampler_options options = {
        .nvml = getenv("PLIM_TEST_NVML_SCENE"),
        .sysroot = root,
        .wants_load = true,
    };
    assert_int_equal(plim_sampler_open(&options, &sampler, &error), 0);
    return sampler;
}

static char *read_expected(const char *name)
{
    static char text[64 << 10];
    char path[512];
    snprintf(path, sizeof path, "%s/%s/expect", getenv("PLIM_TEST_SCENES"), name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

static int check_scene(const char *name)
{
    static char got[64 << 10];
    const struct plim_sample *sample;
    struct plim_sampler *sampler = open_scene(name);
    assert_int_equal(plim_sampler_read(sampler, &sample, NULL), 0);
    FILE *out = fmemopen(got, sizeof got, "w");
    print_sample(out, sample);
    fclose(out);
    plim_sampler_close(sampler);
    const char *expected = read_expected(name);
    if (!expected[0] || !strcmp(got, expected))
        return 0; /* a scene of other tests says nothing here */
    fprintf(stderr, "--- %s: expected\n%s--- got\n%s", name, expected, got);
    return 1;
}

static void test_scenes(void **state)
{
    (void)state;
    int n = 0, n_wrong = 0;
    struct dirent **entries;
    const int n_entries = scandir(getenv("PLIM_TEST_SCENES"), &entries, NULL, alphasort);
    assert_true(n_entries > 2);
    for (int i = 0; i < n_entries; i++) {
        if (entries[i]->d_name[0] != '.') {
            n_wrong += check_scene(entries[i]->d_name);
            n++;
        }
        free(entries[i]);
    }
    free(entries);
    assert_true(n > 0);
    assert_int_equal(n_wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scenes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
