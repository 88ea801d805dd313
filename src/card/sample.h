/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CARD_SAMPLE_H
#define PLIMSOLL_CARD_SAMPLE_H

/*
 * A sample: one look at the cards of this machine and at the processes that hold memory on them, from NVML, DRM, /proc
 * and the control groups. It says only what was there at that moment; what follows from several of them is in watch/.
 *
 * Unknown numbers are -1, unknown texts are empty, never NULL. Texts come from other programs: they are as those wrote
 * them, and may hold anything but a NUL.
 */

#include "plimsoll/card.h"

#include <stdbool.h>
#include <stdint.h>

/* The lists of the driver that a process was on. */
enum plim_context {
    PLIM_CONTEXT_COMPUTE = 1,
    PLIM_CONTEXT_GRAPHICS = 2,
    PLIM_CONTEXT_MPS = 4, /* a client of the MPS server */
    PLIM_CONTEXT_DRM = 8, /* a client of a DRM driver (AMD, Intel), which has no such lists */
};

/* How much a card says of its processes. */
enum plim_sample_listing {
    PLIM_LISTING_FULL = 0,      /* each with its bytes */
    PLIM_LISTING_WITHOUT_BYTES, /* WSL, WDDM: at least one process whose bytes the driver does not say */
    PLIM_LISTING_PARTIAL,       /* DRM: processes of other users are not permitted */
    PLIM_LISTING_NONE,          /* the driver does not support it, or failed: `why` of the card */
};

struct plim_sample_card {
    struct plim_card card;                   /* name, UUID, vendor, total, reserved */
    char id[16];                             /* "gpu0"; the second MIG instance of that card "gpu0:1" */
    char pci[16];                            /* "0000:01:00.0" */
    char parent[80];                         /* of a MIG instance, the name of the card; that is not in the sample */
    uint32_t gpu_instance, compute_instance; /* MIG; else UINT32_MAX */
    int64_t used_bytes, free_bytes;          /* used: without the reserved part */
    enum plim_sample_listing listing;
    bool is_asleep; /* suspended: was not asked, so that it goes on sleeping */
    int32_t gpu_percent, memory_percent, temperature_c;
    int64_t power_mw;
    int64_t activity_ms; /* for how long back the driver's activity figures speak, so that silence means "idle"; 0: they
                          * tell who was active and not who was idle; -1: the driver has none */
    char why[160];       /* what the card did not say, as a sentence for people */
};

enum { PLIM_SAMPLE_MODELS = 4 };

/* A process, once for all cards. Identity is (pid, start_ticks): pids are reused. */
struct plim_sample_process {
    int64_t pid;          /* as the driver said it */
    int64_t inner_pid;    /* in its own pid namespace, when that is another than ours */
    int64_t parent;       /* pid */
    int64_t session;      /* the pid of its leader */
    int64_t group;        /* of processes, the pid of its leader */
    uint64_t start_ticks; /* since boot, as in /proc/PID/stat; 0: unknown */
    int64_t started_unix_s;
    int64_t uid;
    int64_t cpu_ms; /* user and system, since the start; that of its children as well, as of some seconds ago */
    int64_t rss_bytes;
    int64_t log_written_unix_s;
    const char *command;        /* the command line, words parted by a space; of a kernel or defunct process "[name]" */
    const char *program;        /* the file name of the executable: "python3.11"; else the name the process has */
    const char *folder;         /* its working directory */
    const char *parent_program; /* the name that the parent process has */
    const char *container;      /* its id or name, from the control group */
    const char *pod;            /* Kubernetes: the uid */
    const char *slurm_job;
    const char *unit;     /* of systemd, from the control group: "ollama.service", "session-3.scope" */
    const char *launcher; /* by what that set in its environment: "torchrun", "mpirun", "jupyter" */
    const char *runtime;  /* by the libraries that it has mapped: "PyTorch", "llama.cpp" */
    const char *log;      /* where its standard output goes, when that is a file */
    /* Files of models (.gguf, .safetensors ...) that it has open or mapped; then those that its command line names. */
    const char *models[PLIM_SAMPLE_MODELS];
    uint32_t n_models;
    int32_t n_threads;      /* in state 'Z' more than one: only the main thread has ended */
    char user[33];          /* its number where the system does not know the name */
    char state;             /* as /proc has it: 'R' 'S' 'D' 'T' 'Z'; 0: unknown */
    int8_t listens;         /* a socket waits for connections: 1, 0; -1: unknown */
    bool is_gone;           /* no such process: its memory has no owner */
    bool is_outside;        /* of another pid namespace: cannot be seen from here; then nothing else is known */
    bool has_terminal;      /* a controlling terminal */
    bool is_session_left;   /* the leader of its session has ended */
    bool ignores_hangup;    /* SIGHUP, as under nohup */
    bool is_limited;        /* its open files may not be read (another user's) */
    bool is_container_gone; /* its control group was deleted */
};

/* Memory of one process on one card. */
struct plim_holding {
    uint32_t card, process; /* indexes */
    unsigned contexts;      /* enum plim_context */
    int64_t bytes;
    int64_t peak_bytes;          /* the driver's accounting; -1: accounting is off */
    int32_t gpu_percent;         /* in the driver's samples since the sample before */
    int64_t last_active_unix_ms; /* the last moment at which the driver saw work of it */
    int64_t gpu_busy_ms;         /* on the card since its start (DRM); NVML does not say it */
};

struct plim_sample {
    int64_t taken_unix_ms, taken_ms; /* the clock of the wall, and one that only goes forward */
    uint32_t n_cards, n_processes, n_holdings;
    struct plim_sample_card *card;
    struct plim_sample_process *process; /* by pid */
    struct plim_holding *holding;        /* by card, then by bytes, largest first; unknown bytes last */
    bool is_contained;                   /* in a container: processes outside are invisible */
    char why[208];                       /* a driver that is there and does not answer; else empty */
};

/* True when a user of this name and number is the one that a person calls by `wanted`: the name or the number. */
bool plim_sample_is_user(const char *user, int64_t uid, const char *wanted);

struct plim_sampler; /* keeps the drivers open */

struct plim_sampler_options {
    const char *nvml;    /* NULL: the driver's own */
    const char *sysroot; /* NULL: "/" */
    bool wants_load;     /* load, temperature, power: slower calls, for `top` */
};

/* Nothing is asked yet: finding no card, or a driver that does not answer, is no error here. */
int plim_sampler_open(const struct plim_sampler_options *options, struct plim_sampler **ret_sampler,
                      struct plim_error *reterr);

/*
 * The sample belongs to the sampler and holds until the next call. Never forks, never wakes a card. Finding no card is
 * no error, and a driver that does not answer is none: its cards are absent then, and `why` of the sample says it.
 */
int plim_sampler_read(struct plim_sampler *sampler, const struct plim_sample **ret_sample, struct plim_error *reterr);

void plim_sampler_close(struct plim_sampler *sampler); /* NULL is fine */

#endif
