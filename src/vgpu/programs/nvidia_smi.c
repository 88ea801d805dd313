/* SPDX-License-Identifier: MIT */
/*
 * A stand-in for nvidia-smi, first on the PATH of a rehearsal: programs call it to choose a card, to size themselves
 * and to log. It has the options that they use, with the words of the real one (its manual, nvidia-smi(1)), and refuses
 * the others. What a virtual card cannot know is "[N/A]", as it is for real cards that lack a sensor.
 */
#include "vgpu/programs/nvidia_smi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char usage[] = "NVIDIA System Management Interface -- the stand-in of a rehearsal by Plimsoll\n"
                            "\n"
                            "nvidia-smi [-i ID[,ID...]] [-l SECONDS | -lms MILLISECONDS] [-f FILE]\n"
                            "nvidia-smi -L\n"
                            "nvidia-smi --query-gpu=FIELD,... --format=csv[,noheader][,nounits]\n"
                            "nvidia-smi --query-compute-apps=FIELD,... --format=csv[,noheader][,nounits]\n";

struct options {
    const char *cards, *of_cards, *of_processes, *format, *file;
    double every_s;
    int is_list, is_help;
};

/* The value of an option: "--name=value", or the next word. NULL: this word is another option. */
static const char *value_of(char **argv, int argc, int *i, const char *name)
{
    const char *word = *i < argc ? argv[*i] : NULL;
    const size_t n = strlen(name);
    if (!word || strncmp(word, name, n) != 0)
        return NULL;
    if (word[n] == '=')
        return word + n + 1;
    return word[n] ? NULL : *i + 1 < argc ? argv[++*i] : "";
}

/* Without a number, or with one that makes no sense, 5 seconds, as the real one. */
static double pause_of(const char *value, double unit_s)
{
    static const double usual_s = 5, most_s = 1e6;
    const double s = strtod(value, NULL) * unit_s;
    return s > 0 && s < most_s ? s : usual_s;
}

static int read_options(int argc, char **argv, struct options *o)
{
    const struct {
        const char *name;
        const char **to;
    } texts[] = { { "-i", &o->cards },
                  { "--id", &o->cards },
                  { "--query-gpu", &o->of_cards },
                  { "--query-compute-apps", &o->of_processes },
                  { "--format", &o->format },
                  { "-f", &o->file },
                  { "--filename", &o->file } };
    for (int i = 1; i < argc; i++) {
        const char *value = NULL;
        for (size_t k = 0; k < sizeof texts / sizeof *texts && !value; k++)
            if ((value = value_of(argv, argc, &i, texts[k].name)))
                *texts[k].to = value;
        if (value)
            continue;
        if ((value = value_of(argv, argc, &i, "-l")) || (value = value_of(argv, argc, &i, "--loop")))
            o->every_s = pause_of(value, 1);
        else if ((value = value_of(argv, argc, &i, "-lms")) || (value = value_of(argv, argc, &i, "--loop-ms")))
            o->every_s = pause_of(value, 1e-3);
        else if (!strcmp(argv[i], "-L") || !strcmp(argv[i], "--list-gpus"))
            o->is_list = 1;
        else if (!strcmp(argv[i], "-h") || !strcmp(argv[i], "--help"))
            o->is_help = 1;
        else {
            printf("Invalid combination of input arguments. Please run 'nvidia-smi -h' for help.\n\n");
            fprintf(stderr, "plimsoll: the nvidia-smi of a rehearsal does not know '%s'\n", argv[i]);
            return PLIM_SMI_INVALID;
        }
    }
    return 0;
}

/* A query has a format, and it is CSV. */
static int read_format(const struct options *o, struct plim_smi *smi)
{
    char text[PLIM_SMI_TEXT], *rest = text;
    int is_csv = 0;
    snprintf(text, sizeof text, "%s", o->format ? o->format : "");
    smi->has_header = smi->has_units = 1;
    for (char *word; (word = strsep(&rest, ", "));) {
        is_csv |= !strcmp(word, "csv");
        smi->has_header &= strcmp(word, "noheader") != 0;
        smi->has_units &= strcmp(word, "nounits") != 0;
    }
    if ((o->of_cards || o->of_processes) && !is_csv) {
        printf("\"--format=\" switch is missing the value \"csv\". Please run 'nvidia-smi -h' for help.\n\n");
        return PLIM_SMI_INVALID;
    }
    return 0;
}

static int is_chosen(const char *ids, unsigned index, device card)
{
    char uuid[PLIM_SMI_TEXT] = "", text[PLIM_SMI_TEXT], *rest = text;
    struct nvml_pci pci = { 0 };
    nvmlDeviceGetUUID(card, uuid, sizeof uuid);
    nvmlDeviceGetPciInfo_v3(card, &pci);
    snprintf(text, sizeof text, "%s", ids ? ids : "");
    for (char *word; ids && (word = strsep(&rest, ", "));) {
        char *end;
        const unsigned long number = strtoul(word, &end, 10);
        if (*word && ((!*end && number == index) || !strcmp(word, uuid) || !strcasecmp(word, pci.id) ||
                      !strcasecmp(word, pci.legacy_id)))
            return 1;
    }
    return !ids;
}

static int choose_cards(const char *ids, struct plim_smi *smi)
{
    unsigned n = 0;
    if (nvmlInit_v2() || nvmlDeviceGetCount_v2(&n)) {
        printf(
            "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest "
            "NVIDIA driver is installed and running.\n\n");
        return PLIM_SMI_NO_DRIVER;
    }
    for (unsigned i = 0; i < n && smi->n_cards < PLIM_SMI_MAX_CARDS; i++) {
        struct plim_smi_card *card = &smi->card[smi->n_cards];
        if (!nvmlDeviceGetHandleByIndex_v2(i, &card->handle) && is_chosen(ids, i, card->handle)) {
            card->index = i;
            smi->n_cards++;
        }
    }
    if (!smi->n_cards)
        printf("No devices were found\n");
    return smi->n_cards ? 0 : PLIM_SMI_NO_CARD;
}

static int answer(const struct options *o, const struct plim_smi *smi)
{
    int result = 0;
    if (o->is_list)
        plim_smi_list(smi);
    else if (o->of_cards)
        result = plim_smi_query_cards(smi, o->of_cards);
    else if (o->of_processes)
        result = plim_smi_query_processes(smi, o->of_processes);
    else
        plim_smi_table(smi);
    fflush(stdout);
    return result;
}

int main(int argc, char **argv)
{
    struct options o = { 0 };
    static struct plim_smi smi;
    int result = read_options(argc, argv, &o);
    if (result || o.is_help) {
        if (!result)
            fputs(usage, stdout);
        return result;
    }
    if ((result = read_format(&o, &smi)) || (result = choose_cards(o.cards, &smi)))
        return result;
    if (o.file && !freopen(o.file, "w", stdout)) {
        fprintf(stderr, "Unable to write to file \"%s\".\n", o.file);
        return PLIM_SMI_INVALID;
    }
    const struct timespec pause = { (time_t)o.every_s, (long)((o.every_s - (double)(time_t)o.every_s) * 1e9) };
    while ((result = answer(&o, &smi)) == 0 && o.every_s > 0) {
        smi.has_header = 0;
        nanosleep(&pause, NULL);
    }
    return result;
}
