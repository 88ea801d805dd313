/* SPDX-License-Identifier: MIT */
/* nvidia-smi without options, and nvidia-smi -L. The layout is that since driver 550: programs cut it by columns. */
#include "vgpu/programs/nvidia_smi.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { MIB = 1 << 20 };

void plim_smi_list(const struct plim_smi *smi)
{
    for (unsigned i = 0; i < smi->n_cards; i++) {
        char name[PLIM_SMI_TEXT] = "", uuid[PLIM_SMI_TEXT] = "";
        nvmlDeviceGetName(smi->card[i].handle, name, sizeof name);
        nvmlDeviceGetUUID(smi->card[i].handle, uuid, sizeof uuid);
        printf("GPU %u: %s (UUID: %s)\n", smi->card[i].index, name, uuid);
    }
}

static void print_head(void)
{
    char now[40], driver[PLIM_SMI_TEXT] = "", cuda[32];
    const time_t seconds = time(NULL);
    struct tm local;
    int version = 0;
    localtime_r(&seconds, &local);
    strftime(now, sizeof now, "%a %b %e %H:%M:%S %Y", &local);
    nvmlSystemGetDriverVersion(driver, sizeof driver);
    nvmlSystemGetCudaDriverVersion_v2(&version);
    snprintf(cuda, sizeof cuda, "%d.%d", version / 1000, version % 1000 / 10);
    printf("%s       \n", now);
    printf("+-----------------------------------------------------------------------------------------+\n"
           "| NVIDIA-SMI %-22.22s Driver Version: %-14.14s CUDA Version: %-9.9s|\n"
           "|-----------------------------------------+------------------------+----------------------+\n"
           "| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |\n"
           "| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |\n"
           "|                                         |                        |               MIG M. |\n"
           "|=========================================+========================+======================|\n",
           driver, driver, cuda);
}

static void print_card(const struct plim_smi_card *card)
{
    char name[PLIM_SMI_TEXT] = "", used[32], total[32];
    struct nvml_pci pci = { 0 };
    struct nvml_utilization load = { 0, 0 };
    struct nvml_memory_info_v2 memory = { .version = sizeof memory | 2u << 24 };
    int state = 0;
    nvmlDeviceGetName(card->handle, name, sizeof name);
    nvmlDeviceGetPciInfo_v3(card->handle, &pci);
    nvmlDeviceGetMemoryInfo_v2(card->handle, &memory);
    nvmlDeviceGetPerformanceState(card->handle, &state);
    nvmlDeviceGetUtilizationRates(card->handle, &load);
    snprintf(used, sizeof used, "%lluMiB", memory.used / MIB);
    snprintf(total, sizeof total, "%lluMiB", memory.total / MIB);
    if (strlen(name) > 25)
        strcpy(name + 22, "...");
    printf("| %3u  %-25s      On  |   %16.16s Off |                  N/A |\n", card->index, name, pci.id);
    printf("| N/A   N/A    P%-2d             N/A /  N/A |  %9s / %9s |    %3u%%      Default |\n", state, used, total,
           load.gpu);
    printf("|                                         |                        |                  N/A |\n"
           "+-----------------------------------------+------------------------+----------------------+\n");
}

static void print_process(unsigned index, const struct nvml_process_info *process)
{
    enum { MOST = 36 };
    char name[PLIM_SMI_TEXT], used[32];
    plim_smi_process_name(process->pid, name);
    const size_t n = strlen(name);
    char *shown = n > MOST ? name + n - MOST : name; /* the end of a path tells more */
    if (n > MOST)
        memcpy(shown, "...", 3);
    snprintf(used, sizeof used, "%lluMiB", process->used / MIB);
    printf("| %4u   N/A  N/A %15u      C   %-36s %9s |\n", index, process->pid, shown, used);
}

void plim_smi_table(const struct plim_smi *smi)
{
    static struct nvml_process_info list[PLIM_SMI_MAX_PROCESSES];
    unsigned n_all = 0;
    print_head();
    for (unsigned i = 0; i < smi->n_cards; i++)
        print_card(&smi->card[i]);
    printf("%89s\n", "");
    printf("+-----------------------------------------------------------------------------------------+\n"
           "| Processes:                                                                              |\n"
           "|  GPU   GI   CI              PID   Type   Process name                        GPU Memory |\n"
           "|        ID   ID                                                               Usage      |\n"
           "|=========================================================================================|\n");
    for (unsigned i = 0; i < smi->n_cards; i++) {
        const unsigned n = plim_smi_processes(smi->card[i].handle, list);
        for (unsigned k = 0; k < n; k++)
            print_process(smi->card[i].index, &list[k]);
        n_all += n;
    }
    if (!n_all)
        printf("|  No running processes found                                                             |\n");
    printf("+-----------------------------------------------------------------------------------------+\n");
}
