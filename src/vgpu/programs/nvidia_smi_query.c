/* SPDX-License-Identifier: MIT */
/* nvidia-smi --query-gpu and --query-compute-apps: a table of the fields, and a line of CSV for each row. */
#include "vgpu/programs/nvidia_smi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

/* A row: a card, or a process on it. */
struct row {
    const struct plim_smi *smi;
    const struct plim_smi_card *card;
    const struct nvml_process_info *process;
};

/* Writes the value without its unit; false: this card cannot know it. */
typedef int teller(const struct row *row, char text[PLIM_SMI_CELL]);

struct field {
    const char *name, *alias; /* the alias is another name for it in a query */
    const char *unit;
    teller *tell;
};

static int say(char text[PLIM_SMI_CELL], const char *value)
{
    snprintf(text, PLIM_SMI_CELL, "%s", value);
    return 1;
}

static int say_number(char text[PLIM_SMI_CELL], unsigned long long number)
{
    snprintf(text, PLIM_SMI_CELL, "%llu", number);
    return 1;
}

/* --- of both --- */

static int tell_time(const struct row *row, char text[PLIM_SMI_CELL])
{
    struct timeval now;
    struct tm local;
    (void)row;
    gettimeofday(&now, NULL);
    localtime_r(&now.tv_sec, &local);
    const size_t n = strftime(text, PLIM_SMI_CELL, "%Y/%m/%d %H:%M:%S", &local);
    snprintf(text + n, PLIM_SMI_CELL - n, ".%03d", (int)(now.tv_usec / 1000));
    return 1;
}

static int tell_name(const struct row *row, char text[PLIM_SMI_CELL])
{
    return !nvmlDeviceGetName(row->card->handle, text, PLIM_SMI_CELL);
}

static int tell_uuid(const struct row *row, char text[PLIM_SMI_CELL])
{
    return !nvmlDeviceGetUUID(row->card->handle, text, PLIM_SMI_CELL);
}

static struct nvml_pci pci_of(const struct row *row)
{
    struct nvml_pci pci = { 0 };
    nvmlDeviceGetPciInfo_v3(row->card->handle, &pci);
    return pci;
}

static int tell_bus_id(const struct row *row, char text[PLIM_SMI_CELL]) { return say(text, pci_of(row).id); }

/* --- of a card --- */

static int tell_driver(const struct row *row, char text[PLIM_SMI_CELL])
{
    (void)row;
    return !nvmlSystemGetDriverVersion(text, PLIM_SMI_CELL);
}

static int tell_count(const struct row *row, char text[PLIM_SMI_CELL])
{
    unsigned n = 0;
    (void)row;
    return !nvmlDeviceGetCount_v2(&n) && say_number(text, n);
}

static int tell_index(const struct row *row, char text[PLIM_SMI_CELL]) { return say_number(text, row->card->index); }

static int tell_domain(const struct row *row, char text[PLIM_SMI_CELL])
{
    snprintf(text, PLIM_SMI_CELL, "0x%04X", pci_of(row).domain);
    return 1;
}

static int tell_bus(const struct row *row, char text[PLIM_SMI_CELL])
{
    snprintf(text, PLIM_SMI_CELL, "0x%02X", pci_of(row).bus);
    return 1;
}

static int tell_slot(const struct row *row, char text[PLIM_SMI_CELL])
{
    snprintf(text, PLIM_SMI_CELL, "0x%02X", pci_of(row).device);
    return 1;
}

static int tell_device_id(const struct row *row, char text[PLIM_SMI_CELL])
{
    snprintf(text, PLIM_SMI_CELL, "0x%08X", pci_of(row).device_id);
    return pci_of(row).device_id != 0;
}

static int tell_capability(const struct row *row, char text[PLIM_SMI_CELL])
{
    int major = 0, minor = 0;
    const int error = nvmlDeviceGetCudaComputeCapability(row->card->handle, &major, &minor);
    snprintf(text, PLIM_SMI_CELL, "%d.%d", major, minor);
    return !error;
}

static int tell_pstate(const struct row *row, char text[PLIM_SMI_CELL])
{
    int state = 0;
    const int error = nvmlDeviceGetPerformanceState(row->card->handle, &state);
    snprintf(text, PLIM_SMI_CELL, "P%d", state);
    return !error;
}

static struct nvml_memory_info_v2 memory_of(const struct row *row)
{
    struct nvml_memory_info_v2 memory = { .version = sizeof memory | 2u << 24 };
    nvmlDeviceGetMemoryInfo_v2(row->card->handle, &memory);
    return memory;
}

enum { MIB = 1 << 20 };

static int tell_total(const struct row *row, char text[PLIM_SMI_CELL])
{
    return say_number(text, memory_of(row).total / MIB);
}

static int tell_reserved(const struct row *row, char text[PLIM_SMI_CELL])
{
    return say_number(text, memory_of(row).reserved / MIB);
}

static int tell_used(const struct row *row, char text[PLIM_SMI_CELL])
{
    return say_number(text, memory_of(row).used / MIB);
}

static int tell_free(const struct row *row, char text[PLIM_SMI_CELL])
{
    return say_number(text, memory_of(row).free / MIB);
}

static int tell_load(const struct row *row, char text[PLIM_SMI_CELL])
{
    struct nvml_utilization load = { 0, 0 };
    return !nvmlDeviceGetUtilizationRates(row->card->handle, &load) && say_number(text, load.gpu);
}

static int tell_memory_load(const struct row *row, char text[PLIM_SMI_CELL])
{
    struct nvml_utilization load = { 0, 0 };
    return !nvmlDeviceGetUtilizationRates(row->card->handle, &load) && say_number(text, load.memory);
}

static int tell_memory_clock(const struct row *row, char text[PLIM_SMI_CELL])
{
    enum { MEMORY = 2 };
    unsigned mhz = 0;
    return !nvmlDeviceGetMaxClockInfo(row->card->handle, MEMORY, &mhz) && say_number(text, mhz);
}

static int tell_enabled(const struct row *row, char text[PLIM_SMI_CELL])
{
    (void)row;
    return say(text, "Enabled");
}

static int tell_disabled(const struct row *row, char text[PLIM_SMI_CELL])
{
    (void)row;
    return say(text, "Disabled");
}

static int tell_default(const struct row *row, char text[PLIM_SMI_CELL])
{
    (void)row;
    return say(text, "Default");
}

static int tell_accounting(const struct row *row, char text[PLIM_SMI_CELL])
{
    unsigned is_on = 0;
    return !nvmlDeviceGetAccountingMode(row->card->handle, &is_on) && say(text, is_on ? "Enabled" : "Disabled");
}

static int tell_accounting_size(const struct row *row, char text[PLIM_SMI_CELL])
{
    unsigned n = 0;
    return !nvmlDeviceGetAccountingBufferSize(row->card->handle, &n) && say_number(text, n);
}

/* Sorted by name. Without a function: a virtual card does not have it. */
static const struct field of_cards[] = {
    { "accounting.buffer_size", NULL, NULL, tell_accounting_size },
    { "accounting.mode", NULL, NULL, tell_accounting },
    { "clocks.applications.graphics", NULL, "MHz", NULL },
    { "clocks.applications.memory", NULL, "MHz", NULL },
    { "clocks.current.graphics", "clocks.gr", "MHz", NULL },
    { "clocks.current.memory", "clocks.mem", "MHz", NULL },
    { "clocks.current.sm", "clocks.sm", "MHz", NULL },
    { "clocks.current.video", "clocks.video", "MHz", NULL },
    { "clocks.max.graphics", "clocks.max.gr", "MHz", NULL },
    { "clocks.max.memory", "clocks.max.mem", "MHz", tell_memory_clock },
    { "clocks.max.sm", NULL, "MHz", NULL },
    { "clocks_event_reasons.active", "clocks_throttle_reasons.active", NULL, NULL },
    { "compute_cap", NULL, NULL, tell_capability },
    { "compute_mode", NULL, NULL, tell_default },
    { "count", NULL, NULL, tell_count },
    { "display_active", NULL, NULL, tell_disabled },
    { "display_mode", NULL, NULL, tell_disabled },
    { "driver_version", NULL, NULL, tell_driver },
    { "ecc.errors.corrected.volatile.total", NULL, NULL, NULL },
    { "ecc.errors.uncorrected.volatile.total", NULL, NULL, NULL },
    { "ecc.mode.current", NULL, NULL, NULL },
    { "ecc.mode.pending", NULL, NULL, NULL },
    { "enforced.power.limit", NULL, "W", NULL },
    { "fan.speed", NULL, "%", NULL },
    { "index", NULL, NULL, tell_index },
    { "memory.free", NULL, "MiB", tell_free },
    { "memory.reserved", NULL, "MiB", tell_reserved },
    { "memory.total", NULL, "MiB", tell_total },
    { "memory.used", NULL, "MiB", tell_used },
    { "mig.mode.current", NULL, NULL, NULL },
    { "mig.mode.pending", NULL, NULL, NULL },
    { "name", "gpu_name", NULL, tell_name },
    { "pci.bus", "gpu_bus", NULL, tell_bus },
    { "pci.bus_id", "gpu_bus_id", NULL, tell_bus_id },
    { "pci.device", NULL, NULL, tell_slot },
    { "pci.device_id", NULL, NULL, tell_device_id },
    { "pci.domain", NULL, NULL, tell_domain },
    { "pci.sub_device_id", NULL, NULL, NULL },
    { "pcie.link.gen.current", NULL, NULL, NULL },
    { "pcie.link.gen.max", NULL, NULL, NULL },
    { "pcie.link.width.current", NULL, NULL, NULL },
    { "pcie.link.width.max", NULL, NULL, NULL },
    { "persistence_mode", NULL, NULL, tell_enabled },
    { "power.draw", NULL, "W", NULL },
    { "power.draw.average", NULL, "W", NULL },
    { "power.draw.instant", NULL, "W", NULL },
    { "power.limit", NULL, "W", NULL },
    { "power.management", NULL, NULL, NULL },
    { "power.max_limit", NULL, "W", NULL },
    { "pstate", NULL, NULL, tell_pstate },
    { "serial", "gpu_serial", NULL, NULL },
    { "temperature.gpu", NULL, NULL, NULL },
    { "temperature.memory", NULL, NULL, NULL },
    { "timestamp", NULL, NULL, tell_time },
    { "utilization.gpu", NULL, "%", tell_load },
    { "utilization.memory", NULL, "%", tell_memory_load },
    { "uuid", "gpu_uuid", NULL, tell_uuid },
    { "vbios_version", NULL, NULL, NULL },
};

/* --- of a process --- */

static int tell_pid(const struct row *row, char text[PLIM_SMI_CELL]) { return say_number(text, row->process->pid); }

static int tell_process_name(const struct row *row, char text[PLIM_SMI_CELL])
{
    char name[PLIM_SMI_TEXT];
    plim_smi_process_name(row->process->pid, name);
    return say(text, name);
}

static int tell_process_memory(const struct row *row, char text[PLIM_SMI_CELL])
{
    return say_number(text, row->process->used / MIB);
}

static const struct field of_processes[] = {
    { "gpu_bus_id", NULL, NULL, tell_bus_id }, { "gpu_name", NULL, NULL, tell_name },
    { "gpu_serial", NULL, NULL, NULL },        { "gpu_uuid", NULL, NULL, tell_uuid },
    { "pid", NULL, NULL, tell_pid },           { "process_name", "name", NULL, tell_process_name },
    { "timestamp", NULL, NULL, tell_time },    { "used_gpu_memory", "used_memory", "MiB", tell_process_memory },
};

/* --- the answer --- */

enum { MAX_FIELDS = 128, MAX_QUERY = 8192 };

struct query {
    const struct field *field[MAX_FIELDS];
    size_t n;
};

static int read_query(const struct field *known, size_t n_known, const char *text, struct query *query)
{
    static char words[MAX_QUERY];
    char *rest = words;
    snprintf(words, sizeof words, "%s", text);
    for (char *word; (word = strsep(&rest, ", ")) && query->n < MAX_FIELDS;) {
        const struct field *found = NULL;
        for (size_t i = 0; i < n_known && !found; i++)
            if (!strcmp(word, known[i].name) || (known[i].alias && !strcmp(word, known[i].alias)))
                found = &known[i];
        if (!found && !*word && query->n) /* "name, index" */
            continue;
        if (!found) {
            printf("Field \"%s\" is not a valid field to query.\n\n", word);
            return PLIM_SMI_INVALID;
        }
        query->field[query->n++] = found;
    }
    return 0;
}

static void print_header(const struct plim_smi *smi, const struct query *query)
{
    for (size_t i = 0; smi->has_header && i < query->n; i++) {
        const struct field *field = query->field[i];
        printf("%s%s", i ? ", " : "", field->name);
        if (field->unit && smi->has_units)
            printf(" [%s]", field->unit);
    }
    if (smi->has_header)
        printf("\n");
}

static void print_row(const struct query *query, const struct row *row)
{
    for (size_t i = 0; i < query->n; i++) {
        const struct field *field = query->field[i];
        char text[PLIM_SMI_CELL] = "";
        const int is_known = field->tell && field->tell(row, text);
        printf("%s%s", i ? ", " : "", is_known ? text : "[N/A]");
        if (is_known && field->unit && row->smi->has_units)
            printf(" %s", field->unit);
    }
    printf("\n");
}

int plim_smi_query_cards(const struct plim_smi *smi, const char *fields)
{
    struct query query = { .n = 0 };
    if (read_query(of_cards, sizeof of_cards / sizeof *of_cards, fields, &query))
        return PLIM_SMI_INVALID;
    print_header(smi, &query);
    for (unsigned i = 0; i < smi->n_cards; i++)
        print_row(&query, &(struct row){ .smi = smi, .card = &smi->card[i] });
    return 0;
}

int plim_smi_query_processes(const struct plim_smi *smi, const char *fields)
{
    static struct nvml_process_info list[PLIM_SMI_MAX_PROCESSES];
    struct query query = { .n = 0 };
    if (read_query(of_processes, sizeof of_processes / sizeof *of_processes, fields, &query))
        return PLIM_SMI_INVALID;
    print_header(smi, &query);
    for (unsigned i = 0; i < smi->n_cards; i++) {
        const unsigned n = plim_smi_processes(smi->card[i].handle, list);
        for (unsigned k = 0; k < n; k++)
            print_row(&query, &(struct row){ .smi = smi, .card = &smi->card[i], .process = &list[k] });
    }
    return 0;
}
