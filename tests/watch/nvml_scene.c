/* SPDX-License-Identifier: MIT */
/*
 * An NVML that says what the file $NVML_SCENE holds. It is read again when it has changed, so that a test can put
 * another in its place at any time. The interface and the sizes are those of NVIDIA's documentation.
 *
 *   init CODE | all CODE           nvmlInit_v2(), every call after it, returns this
 *   garbage SEED                   numbers and lists hold anything
 *   version N                      the newest version of the list functions that there is: 3, 2, 1
 *   stride N                       bytes of an entry of the third version: 24, 32
 *   clears                         the driver clears the whole array before it writes entries
 *   card                           a card; the lines that follow are its
 *   instance GI CI                 a MIG instance of the card before; the lines that follow are its
 *   name TEXT, uuid TEXT, pci 0000:01:00.0, capability MAJOR MINOR
 *   memory TOTAL RESERVED FREE [FREE_FROM_THE_SECOND_CALL_ON] | memory none | memory CODE;  memory_v2 none
 *   compute PID BYTES [GI CI], graphics ..., mps ...   BYTES "n/a": not available
 *   lists CODE                     of the compute processes
 *   utilization PID PERCENT SECONDS_AGO;  activity CODE
 *   accounting on;  peak PID BYTES
 *   temperature C, power MW, load GPU_PERCENT MEMORY_PERCENT
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum {
    SUCCESS = 0,
    UNINITIALIZED = 1,
    INVALID_ARGUMENT = 2,
    NOT_SUPPORTED = 3,
    NOT_FOUND = 6,
    INSUFFICIENT_SIZE = 7,
    FUNCTION_NOT_FOUND = 13,
    MEMORY_V2_VERSION = 40 | 2 << 24,
    MAX_CARDS = 64,
    MAX_ROWS = 512,
    LISTS = 3,
};

struct process {
    unsigned pid;
    unsigned long long used;
    unsigned gpu_instance, compute_instance;
};

struct activity {
    unsigned pid, percent;
    double seconds_ago;
};

struct device {
    bool has_next, is_instance, is_mig, has_no_v2, has_accounting, has_temperature, has_power, has_load;
    int whole, memory_status, lists_status, activity_status;
    char name[96], uuid[96], pci[32];
    int major, minor;
    unsigned long long total, reserved, free, next_free; /* next: from the second call on */
    unsigned gpu_instance, compute_instance, temperature, power, gpu_percent, memory_percent;
    struct process list[LISTS][MAX_ROWS];
    unsigned n[LISTS];
    struct activity activity[MAX_ROWS];
    unsigned n_activity;
    struct process peak[MAX_ROWS];
    unsigned n_peaks;
};

struct memory {
    unsigned long long total, free, used;
};

struct memory_v2 {
    unsigned version;
    unsigned long long total, reserved, free, used;
};

struct pci {
    char bus_id_legacy[16];
    unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
    char bus_id[32];
};

struct sample {
    unsigned pid;
    unsigned long long timestamp;
    unsigned sm, memory, encoder, decoder;
};

struct stats {
    unsigned gpu, memory;
    unsigned long long max_memory, time, start_time;
    unsigned is_running, reserved[5];
};

struct utilization {
    unsigned gpu, memory;
};

static struct device devices[MAX_CARDS]; /* handles stay valid for ever, as those of a real driver may */
static bool is_loaded;
static int n_devices, init_status, all_status, version, stride;
static bool clears;
static unsigned long long garbage;

/* --- the scene --- */

static unsigned long long next_garbage(void)
{
    garbage = garbage * 6364136223846793005ull + 1442695040888963407ull;
    return garbage >> 16;
}

static unsigned long long to_bytes(const char *text) { return strcmp(text, "n/a") ? strtoull(text, NULL, 10) : ~0ull; }

static void read_process(const char *line, struct process *rows, unsigned *n)
{
    char bytes[32];
    struct process row = { .gpu_instance = ~0u, .compute_instance = ~0u };
    if (*n < MAX_ROWS &&
        sscanf(line, "%*s %u %31s %u %u", &row.pid, bytes, &row.gpu_instance, &row.compute_instance) >= 2) {
        row.used = to_bytes(bytes);
        rows[(*n)++] = row;
    }
}

static void read_memory(const char *line, struct device *card)
{
    if (!strncmp(line, "memory none", 11)) {
        card->memory_status = NOT_SUPPORTED;
        return;
    }
    const int n = sscanf(line, "%*s %llu %llu %llu %llu", &card->total, &card->reserved, &card->free, &card->next_free);
    card->memory_status = n == 1 ? (int)card->total : 0;
    card->has_next = n == 4;
}

static bool read_global(const char *line)
{
    if (sscanf(line, "init %d", &init_status) == 1 || sscanf(line, "all %d", &all_status) == 1 ||
        sscanf(line, "garbage %llu", &garbage) == 1 || sscanf(line, "version %d", &version) == 1 ||
        sscanf(line, "stride %d", &stride) == 1)
        return true;
    clears = clears || !strcmp(line, "clears");
    return false;
}

static void read_of_card(const char *line, struct device *card)
{
    static const char *const lists[LISTS] = { "compute ", "graphics ", "mps " };
    struct activity row;
    for (int i = 0; i < LISTS; i++)
        if (!strncmp(line, lists[i], strlen(lists[i])))
            read_process(line, card->list[i], &card->n[i]);
    if (!strncmp(line, "peak ", 5))
        read_process(line, card->peak, &card->n_peaks);
    if (!strncmp(line, "memory ", 7))
        read_memory(line, card);
    sscanf(line, "name %95[^\n]", card->name);
    sscanf(line, "uuid %95s", card->uuid);
    sscanf(line, "pci %31s", card->pci);
    sscanf(line, "capability %d %d", &card->major, &card->minor);
    sscanf(line, "lists %d", &card->lists_status);
    sscanf(line, "activity %d", &card->activity_status);
    card->has_no_v2 = card->has_no_v2 || !strcmp(line, "memory_v2 none");
    card->is_mig = card->is_mig || !strcmp(line, "mig 1");
    card->has_accounting = card->has_accounting || !strcmp(line, "accounting on");
    card->has_temperature = card->has_temperature || sscanf(line, "temperature %u", &card->temperature) == 1;
    card->has_power = card->has_power || sscanf(line, "power %u", &card->power) == 1;
    card->has_load = card->has_load || sscanf(line, "load %u %u", &card->gpu_percent, &card->memory_percent) == 2;
    if (card->n_activity < MAX_ROWS &&
        sscanf(line, "utilization %u %u %lf", &row.pid, &row.percent, &row.seconds_ago) == 3)
        card->activity[card->n_activity++] = row;
}

/* True when the file is another than the one read last. */
static bool has_changed(const char *path)
{
    static struct stat last;
    struct stat status;
    if (!path || stat(path, &status) != 0)
        return false;
    const bool is_same = status.st_ino == last.st_ino && status.st_size == last.st_size &&
                         status.st_mtim.tv_sec == last.st_mtim.tv_sec && status.st_mtim.tv_nsec == last.st_mtim.tv_nsec;
    last = status;
    return !is_same;
}

static void load(void)
{
    const char *path = getenv("NVML_SCENE");
    const bool is_new = has_changed(path);
    if (is_loaded && !is_new)
        return;
    is_loaded = true;
    FILE *file = path ? fopen(path, "r") : NULL;
    char line[512];
    struct device *card = NULL;
    int whole = -1;
    n_devices = 0;
    init_status = all_status = 0;
    version = 3;
    stride = 24;
    clears = false;
    garbage = 0;
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        const bool is_instance = !strncmp(line, "instance ", 9);
        if ((!strcmp(line, "card") || is_instance) && n_devices < MAX_CARDS) {
            card = &devices[n_devices];
            memset(card, 0, sizeof *card);
            card->is_instance = is_instance;
            card->whole = whole = is_instance ? whole : n_devices;
            n_devices++;
            sscanf(line, "instance %u %u", &card->gpu_instance, &card->compute_instance);
        } else if (!read_global(line) && card) {
            read_of_card(line, card);
        }
    }
    if (file)
        fclose(file);
}

/* --- NVML --- */

#define FAILS                                                                                                          \
    load();                                                                                                            \
    if (all_status)                                                                                                    \
        return all_status;

int nvmlInit_v2(void);
int nvmlShutdown(void);
const char *nvmlErrorString(int status);
int nvmlDeviceGetCount_v2(unsigned *count);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, struct device **device);
int nvmlDeviceGetHandleByPciBusId_v2(const char *address, struct device **device);
int nvmlDeviceGetName(struct device *device, char *name, unsigned size);
int nvmlDeviceGetUUID(struct device *device, char *uuid, unsigned size);
int nvmlDeviceGetPciInfo_v3(struct device *device, struct pci *pci);
int nvmlDeviceGetMemoryInfo(struct device *device, struct memory *memory);
int nvmlDeviceGetMemoryInfo_v2(struct device *device, struct memory_v2 *memory);
int nvmlDeviceGetCudaComputeCapability(struct device *device, int *major, int *minor);
int nvmlDeviceGetProcessUtilization(struct device *device, struct sample *samples, unsigned *count,
                                    unsigned long long last);
int nvmlDeviceGetAccountingMode(struct device *device, unsigned *mode);
int nvmlDeviceGetAccountingStats(struct device *device, unsigned pid, struct stats *stats);
int nvmlDeviceGetMigMode(struct device *device, unsigned *mode, unsigned *pending);
int nvmlDeviceGetMaxMigDeviceCount(struct device *device, unsigned *count);
int nvmlDeviceGetMigDeviceHandleByIndex(struct device *device, unsigned index, struct device **instance);
int nvmlDeviceGetGpuInstanceId(struct device *device, unsigned *id);
int nvmlDeviceGetComputeInstanceId(struct device *device, unsigned *id);
int nvmlDeviceGetUtilizationRates(struct device *device, struct utilization *utilization);
int nvmlDeviceGetTemperature(struct device *device, int sensor, unsigned *temperature);
int nvmlDeviceGetPowerUsage(struct device *device, unsigned *power);

int nvmlInit_v2(void)
{
    load();
    return init_status;
}

int nvmlShutdown(void) { return SUCCESS; }

const char *nvmlErrorString(int status)
{
    return status == NOT_SUPPORTED ? "Not Supported"
           : status == 4           ? "Insufficient Permissions"
           : status == 9           ? "Driver Not Loaded"
           : status == 15          ? "GPU is lost"
           : status == 18          ? "Driver/library version mismatch"
                                   : "Unknown Error";
}

/* The n'th whole card. */
static struct device *whole_card(unsigned n)
{
    for (int i = 0; i < n_devices; i++)
        if (!devices[i].is_instance && n-- == 0)
            return &devices[i];
    return NULL;
}

int nvmlDeviceGetCount_v2(unsigned *count)
{
    FAILS
    *count = 0;
    while (whole_card(*count))
        ++*count;
    if (garbage)
        *count = (unsigned)next_garbage() % 100;
    return SUCCESS;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, struct device **device)
{
    FAILS
    *device = whole_card(index);
    return *device ? SUCCESS : INVALID_ARGUMENT;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *address, struct device **device)
{
    FAILS
    for (int i = 0; i < n_devices; i++)
        if (!devices[i].is_instance && !strcmp(devices[i].pci, address)) {
            *device = &devices[i];
            return SUCCESS;
        }
    return NOT_FOUND;
}

int nvmlDeviceGetName(struct device *device, char *name, unsigned size)
{
    FAILS
    snprintf(name, size, "%s", device->name);
    return SUCCESS;
}

int nvmlDeviceGetUUID(struct device *device, char *uuid, unsigned size)
{
    FAILS
    snprintf(uuid, size, "%s", device->uuid);
    return SUCCESS;
}

int nvmlDeviceGetPciInfo_v3(struct device *device, struct pci *pci)
{
    FAILS
    memset(pci, 0, sizeof *pci);
    if (sscanf(device->pci, "%x:%x:%x", &pci->domain, &pci->bus, &pci->device) != 3)
        return NOT_SUPPORTED;
    snprintf(pci->bus_id, sizeof pci->bus_id, "0000%.27s", device->pci);
    return SUCCESS;
}

int nvmlDeviceGetMemoryInfo(struct device *device, struct memory *memory)
{
    FAILS
    if (device->memory_status)
        return device->memory_status;
    *memory = (struct memory){ device->total, device->free, device->total - device->free };
    return SUCCESS;
}

int nvmlDeviceGetMemoryInfo_v2(struct device *device, struct memory_v2 *memory)
{
    FAILS
    if (device->memory_status)
        return device->memory_status;
    if (device->has_no_v2)
        return FUNCTION_NOT_FOUND;
    if (memory->version != MEMORY_V2_VERSION)
        return INVALID_ARGUMENT;
    memory->total = garbage ? next_garbage() : device->total;
    memory->reserved = garbage ? next_garbage() : device->reserved;
    memory->free = garbage ? next_garbage() << 8 : device->free;
    memory->used = memory->total - memory->free - memory->reserved;
    if (device->has_next)
        device->free = device->next_free;
    return SUCCESS;
}

int nvmlDeviceGetCudaComputeCapability(struct device *device, int *major, int *minor)
{
    FAILS
    *major = device->major;
    *minor = device->minor;
    return SUCCESS;
}

/* --- lists --- */

static int list(struct device *device, int which, int asked, unsigned *count, void *rows)
{
    const unsigned room = *count;
    const size_t bytes = asked == 1 ? 16 : asked == 2 ? 24 : (size_t)stride;
    FAILS
    if (asked > version)
        return FUNCTION_NOT_FOUND;
    if (which == 0 && device->lists_status)
        return device->lists_status;
    if (garbage && rows) {
        for (size_t i = 0; i < room * bytes; i++)
            ((unsigned char *)rows)[i] = (unsigned char)next_garbage();
        *count = (unsigned)next_garbage();
        return next_garbage() % 2 ? SUCCESS : INSUFFICIENT_SIZE;
    }
    *count = garbage ? (unsigned)next_garbage() % 200 + 1 : device->n[which];
    if (*count == 0)
        return SUCCESS;
    if (!rows || room < *count)
        return INSUFFICIENT_SIZE;
    if (clears)
        memset(rows, 0, room * bytes);
    for (unsigned i = 0; i < *count; i++) {
        unsigned char entry[32] = { 0 };
        memcpy(entry, &device->list[which][i], sizeof *device->list[which]);
        memcpy((unsigned char *)rows + i * bytes, entry, bytes);
    }
    return SUCCESS;
}

#define LIST(name, which, asked)                                                                                       \
    int name(struct device *device, unsigned *count, void *rows);                                                      \
    int name(struct device *device, unsigned *count, void *rows) { return list(device, which, asked, count, rows); }

LIST(nvmlDeviceGetComputeRunningProcesses_v3, 0, 3)
LIST(nvmlDeviceGetComputeRunningProcesses_v2, 0, 2)
LIST(nvmlDeviceGetComputeRunningProcesses, 0, 1)
LIST(nvmlDeviceGetGraphicsRunningProcesses_v3, 1, 3)
LIST(nvmlDeviceGetGraphicsRunningProcesses_v2, 1, 2)
LIST(nvmlDeviceGetGraphicsRunningProcesses, 1, 1)
LIST(nvmlDeviceGetMPSComputeRunningProcesses_v3, 2, 3)
LIST(nvmlDeviceGetMPSComputeRunningProcesses_v2, 2, 2)
LIST(nvmlDeviceGetMPSComputeRunningProcesses, 2, 1)

/* --- activity and accounting --- */

int nvmlDeviceGetProcessUtilization(struct device *device, struct sample *samples, unsigned *count,
                                    unsigned long long last)
{
    struct timespec now;
    unsigned n = 0;
    FAILS
    if (device->activity_status)
        return device->activity_status;
    if (device->is_instance)
        return NOT_SUPPORTED;
    clock_gettime(CLOCK_REALTIME, &now);
    const unsigned long long now_us = (unsigned long long)now.tv_sec * 1000000 + (unsigned long long)now.tv_nsec / 1000;
    for (unsigned i = 0; i < device->n_activity; i++) {
        const struct activity *row = &device->activity[i];
        const long long ago_us = (long long)(row->seconds_ago * 1e6); /* less than 0: it lies ahead */
        const unsigned long long at = now_us - (unsigned long long)ago_us;
        if (at <= last && !garbage)
            continue;
        if (samples && n < *count)
            samples[n] = (struct sample){ row->pid, at, garbage ? (unsigned)next_garbage() : row->percent, 0, 0, 0 };
        n++;
    }
    const bool has_room = samples && *count >= n;
    *count = n;
    return n == 0 ? NOT_FOUND : has_room ? SUCCESS : INSUFFICIENT_SIZE;
}

int nvmlDeviceGetAccountingMode(struct device *device, unsigned *mode)
{
    FAILS
    *mode = device->has_accounting;
    return device->is_instance ? NOT_SUPPORTED : SUCCESS;
}

int nvmlDeviceGetAccountingStats(struct device *device, unsigned pid, struct stats *stats)
{
    FAILS
    for (unsigned i = 0; i < device->n_peaks; i++)
        if (device->peak[i].pid == pid) {
            *stats = (struct stats){ .max_memory = device->peak[i].used, .is_running = 1 };
            return SUCCESS;
        }
    return NOT_FOUND;
}

/* --- MIG --- */

int nvmlDeviceGetMigMode(struct device *device, unsigned *mode, unsigned *pending)
{
    FAILS
    *mode = *pending = device->is_mig;
    return SUCCESS;
}

int nvmlDeviceGetMaxMigDeviceCount(struct device *device, unsigned *count)
{
    FAILS(void) device;
    *count = 7;
    return SUCCESS;
}

int nvmlDeviceGetMigDeviceHandleByIndex(struct device *device, unsigned index, struct device **instance)
{
    FAILS
    for (int i = 0; i < n_devices; i++)
        if (devices[i].is_instance && devices[i].whole == (int)(device - devices) && index-- == 0) {
            *instance = &devices[i];
            return SUCCESS;
        }
    return NOT_FOUND;
}

int nvmlDeviceGetGpuInstanceId(struct device *device, unsigned *id)
{
    FAILS
    *id = device->gpu_instance;
    return device->is_instance ? SUCCESS : INVALID_ARGUMENT;
}

int nvmlDeviceGetComputeInstanceId(struct device *device, unsigned *id)
{
    FAILS
    *id = device->compute_instance;
    return device->is_instance ? SUCCESS : INVALID_ARGUMENT;
}

/* --- load --- */

int nvmlDeviceGetUtilizationRates(struct device *device, struct utilization *utilization)
{
    FAILS
    *utilization = (struct utilization){ device->gpu_percent, device->memory_percent };
    return device->has_load ? SUCCESS : NOT_SUPPORTED;
}

int nvmlDeviceGetTemperature(struct device *device, int sensor, unsigned *temperature)
{
    FAILS(void) sensor;
    *temperature = device->temperature;
    return device->has_temperature ? SUCCESS : NOT_SUPPORTED;
}

int nvmlDeviceGetPowerUsage(struct device *device, unsigned *power)
{
    FAILS
    *power = device->power;
    return device->has_power ? SUCCESS : NOT_SUPPORTED;
}
