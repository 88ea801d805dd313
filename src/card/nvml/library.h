/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CARD_NVML_LIBRARY_H
#define PLIMSOLL_CARD_NVML_LIBRARY_H

/*
 * NVML, which is opened at run time: Plimsoll neither needs a driver to be built nor to run. Only the parts of NVML's
 * documented interface that are called are declared here, with the sizes it documents (nvml.h of the 12.x and 13.x
 * toolkits). The one table of its functions, for all that ask NVIDIA's driver.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The file that NVIDIA's driver installs NVML in (NVML API reference, "Overview"). Under Linux with its version: a file
 * without can be the stub of a toolkit.
 */
#ifdef _WIN32
#define PLIM_NVML_LIBRARY "nvml.dll"
#else
#define PLIM_NVML_LIBRARY "libnvidia-ml.so.1"
#endif

typedef struct nvml_device *plim_nvml_device;

/* nvmlReturn_t, those that mean something to us. */
enum {
    PLIM_NVML_SUCCESS = 0,
    PLIM_NVML_NOT_SUPPORTED = 3,
    PLIM_NVML_NO_PERMISSION = 4,
    PLIM_NVML_NOT_FOUND = 6,
    PLIM_NVML_INSUFFICIENT_SIZE = 7,
    PLIM_NVML_FUNCTION_NOT_FOUND = 13,
    PLIM_NVML_UNKNOWN = 999,
};

struct plim_nvml_memory {
    unsigned long long total, free, used;
};

struct plim_nvml_memory_v2 {
    unsigned version;
    unsigned long long total, reserved, free, used;
};

struct plim_nvml_pci {
    char bus_id_legacy[16];
    unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
    char bus_id[32];
};

struct plim_nvml_utilization {
    unsigned gpu, memory;
};

struct plim_nvml_process_utilization {
    unsigned pid;
    unsigned long long timestamp_us; /* of the wall */
    unsigned sm_percent, memory_percent, encoder_percent, decoder_percent;
};

struct plim_nvml_accounting {
    unsigned gpu_percent, memory_percent;
    unsigned long long max_memory_bytes, time_ms, start_time_us;
    unsigned is_running, reserved[5];
};

_Static_assert(sizeof(struct plim_nvml_memory) == 24, "nvmlMemory_t");
_Static_assert(sizeof(struct plim_nvml_memory_v2) == 40, "nvmlMemory_v2_t");
_Static_assert(sizeof(struct plim_nvml_pci) == 68, "nvmlPciInfo_t");
_Static_assert(sizeof(struct plim_nvml_process_utilization) == 32, "nvmlProcessUtilizationSample_t");
_Static_assert(sizeof(struct plim_nvml_accounting) == 56, "nvmlAccountingStats_t");

enum {
    PLIM_NVML_NAME_BYTES = 96,
    PLIM_NVML_MEMORY_V2 = sizeof(struct plim_nvml_memory_v2) | 2u << 24, /* not plain 2, as the manual has it */
};

/* Compute, graphics and MPS processes: the lists that a driver keeps. */
enum { PLIM_NVML_LISTS = 3 };

typedef int (*plim_nvml_list)(plim_nvml_device, unsigned *count, void *processes);

struct plim_nvml {
    void *library;
    int (*init)(void);
    int (*shutdown)(void);
    const char *(*error_string)(int);
    int (*count)(unsigned *);
    int (*by_index)(unsigned, plim_nvml_device *);
    int (*name)(plim_nvml_device, char *, unsigned);
    int (*uuid)(plim_nvml_device, char *, unsigned);
    int (*memory)(plim_nvml_device, struct plim_nvml_memory *);
    /* NULL in drivers that do not have them */
    int (*memory_v2)(plim_nvml_device, struct plim_nvml_memory_v2 *);
    int (*capability)(plim_nvml_device, int *, int *);
    int (*pci)(plim_nvml_device, struct plim_nvml_pci *);
    int (*by_pci)(const char *, plim_nvml_device *);
    plim_nvml_list list[PLIM_NVML_LISTS][3]; /* compute, graphics, MPS; their third version, second, first */
    int (*process_utilization)(plim_nvml_device, struct plim_nvml_process_utilization *, unsigned *,
                               unsigned long long);
    int (*accounting_mode)(plim_nvml_device, unsigned *);
    int (*accounting)(plim_nvml_device, unsigned, struct plim_nvml_accounting *);
    int (*mig_mode)(plim_nvml_device, unsigned *, unsigned *);
    int (*mig_max)(plim_nvml_device, unsigned *);
    int (*mig_by_index)(plim_nvml_device, unsigned, plim_nvml_device *);
    int (*gpu_instance)(plim_nvml_device, unsigned *);
    int (*compute_instance)(plim_nvml_device, unsigned *);
    int (*utilization)(plim_nvml_device, struct plim_nvml_utilization *);
    int (*temperature)(plim_nvml_device, int, unsigned *);
    int (*power)(plim_nvml_device, unsigned *);
};

/*
 * Open NVML from `path` (NULL: the driver's own) and its functions. False: there is none, or one that is none; when it
 * is there and cannot be loaded, ret_why has the system's words, else "".
 */
bool plim_nvml_open(const char *path, struct plim_nvml *ret_nvml, char *ret_why, size_t why_bytes);

void plim_nvml_close(struct plim_nvml *nvml);

#endif
