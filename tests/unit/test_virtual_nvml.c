/* SPDX-License-Identifier: MIT */
/* The virtual libnvidia-ml.so.1, opened as programs do: cards and processes are those of a ledger. */
#include "vgpu/core/ledger.h"
#include "virtual.h"

#include <sys/mman.h>
#include <unistd.h>

enum { MIB = 1 << 20, N_CARDS = 2 };
enum { OK = 0, UNINITIALIZED = 1, INVALID = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6, TOO_SMALL = 7, OTHER_VERSION = 25 };

struct memory {
    unsigned long long total, free, used;
};
struct memory_v2 {
    unsigned version;
    unsigned long long total, reserved, free, used;
};
struct process {
    unsigned pid;
    unsigned long long used;
    unsigned gpu_instance, compute_instance;
};

struct old_process {
    unsigned pid;
    unsigned long long used;
};
struct detail {
    unsigned pid;
    unsigned long long used;
    unsigned gpu_instance, compute_instance;
    unsigned long long protected_bytes;
};
struct details {
    unsigned version, mode, n;
    struct detail *process;
};
struct utilization {
    unsigned gpu, memory;
};
struct load {
    unsigned pid;
    unsigned long long time_us;
    unsigned sm, memory, encoder, decoder;
};
struct load_v1 {
    unsigned long long time_us;
    unsigned pid, sm, memory, encoder, decoder, jpeg, ofa;
};
struct loads_v1 {
    unsigned version, n;
    unsigned long long last_seen_us;
    struct load_v1 *process;
};
struct accounting {
    unsigned gpu, memory;
    unsigned long long max_bytes, time_ms, start_us;
    unsigned is_running, reserved[5];
};

static struct {
    int (*init)(void);
    int (*count)(unsigned *);
    int (*by_index)(unsigned, void **);
    int (*by_uuid)(const char *, void **);
    int (*by_bus)(const char *, void **);
    int (*index)(void *, unsigned *);
    int (*name)(void *, char *, unsigned);
    int (*uuid)(void *, char *, unsigned);
    int (*memory)(void *, struct memory *);
    int (*memory_v2)(void *, struct memory_v2 *);
    int (*processes)(void *, unsigned *, struct process *);
    int (*serial)(void *, char *, unsigned);
    int (*power)(void *, unsigned *);
    int (*old_processes)(void *, unsigned *, struct old_process *);
    int (*details)(void *, struct details *);
    int (*load)(void *, struct utilization *);
    int (*loads)(void *, struct load *, unsigned *, unsigned long long);
    int (*loads_v1)(void *, struct loads_v1 *);
    int (*encoder)(void *, unsigned *, unsigned *);
    int (*accounted)(void *, unsigned *, unsigned *);
    int (*accounting)(void *, unsigned, struct accounting *);
    int (*is_instance)(void *, unsigned *);
    const char *(*text)(int);
} nvml;

static struct plim_ledger *ledger;

static int set_up(void **state)
{
    char path[64];
    (void)state;
    void *library = open_library("libnvidia-ml.so.1");
    take(library, "nvmlInit_v2", &nvml.init);
    take(library, "nvmlDeviceGetCount_v2", &nvml.count);
    take(library, "nvmlDeviceGetHandleByIndex_v2", &nvml.by_index);
    take(library, "nvmlDeviceGetHandleByUUID", &nvml.by_uuid);
    take(library, "nvmlDeviceGetHandleByPciBusId_v2", &nvml.by_bus);
    take(library, "nvmlDeviceGetIndex", &nvml.index);
    take(library, "nvmlDeviceGetName", &nvml.name);
    take(library, "nvmlDeviceGetUUID", &nvml.uuid);
    take(library, "nvmlDeviceGetMemoryInfo", &nvml.memory);
    take(library, "nvmlDeviceGetMemoryInfo_v2", &nvml.memory_v2);
    take(library, "nvmlDeviceGetComputeRunningProcesses_v3", &nvml.processes);
    take(library, "nvmlDeviceGetComputeRunningProcesses", &nvml.old_processes);
    take(library, "nvmlDeviceGetRunningProcessDetailList", &nvml.details);
    take(library, "nvmlDeviceGetUtilizationRates", &nvml.load);
    take(library, "nvmlDeviceGetProcessUtilization", &nvml.loads);
    take(library, "nvmlDeviceGetProcessesUtilizationInfo", &nvml.loads_v1);
    take(library, "nvmlDeviceGetEncoderUtilization", &nvml.encoder);
    take(library, "nvmlDeviceGetAccountingPids", &nvml.accounted);
    take(library, "nvmlDeviceGetAccountingStats", &nvml.accounting);
    take(library, "nvmlDeviceIsMigDeviceHandle", &nvml.is_instance);
    take(library, "nvmlDeviceGetPowerUsage", &nvml.power);
    take(library, "nvmlDeviceGetSerial", &nvml.serial); /* without a body */
    take(library, "nvmlErrorString", &nvml.text);
    assert_int_equal(nvml.serial(NULL, NULL, 0), UNINITIALIZED);
    const int fd = memfd_create("ledger", 0);
    ledger = plim_ledger_create(fd);
    assert_non_null(ledger);
    ledger->n_cards = N_CARDS;
    for (int i = 0; i < N_CARDS; i++) {
        strcpy(ledger->card[i].name, i ? "NVIDIA GeForce RTX 3060" : "NVIDIA GeForce RTX 4060");
        ledger->card[i].total_bytes = (uint64_t)(8192 + 4096 * i) * MIB;
        ledger->card[i].reserved_bytes = 300 * MIB;
    }
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    setenv("PLIM_VGPU_LEDGER", path, 1);
    assert_int_equal(nvml.init(), OK);
    return 0;
}

static void *card(unsigned i)
{
    void *handle = NULL;
    assert_int_equal(nvml.by_index(i, &handle), OK);
    return handle;
}

static void test_cards(void **state)
{
    unsigned n = 0;
    void *handle;
    (void)state;
    assert_int_equal(nvml.count(&n), OK);
    assert_int_equal(n, N_CARDS);
    assert_int_equal(nvml.count(NULL), INVALID);
    assert_int_equal(nvml.by_index(N_CARDS, &handle), INVALID);
    assert_int_equal(nvml.by_bus("00000000:02:00.0", &handle), OK);
    assert_ptr_equal(handle, card(1));
    assert_int_equal(nvml.by_bus("00000000:03:00.0", &handle), NOT_FOUND);
    assert_int_equal(nvml.by_bus("00000000:00:00.0", &handle), NOT_FOUND);
    assert_int_equal(nvml.index(card(1), &n), OK);
    assert_int_equal(n, 1);
}

/* What is no card is refused: the card behind the last one, too, for which the ledger has room. */
static void test_what_is_no_card(void **state)
{
    unsigned n;
    char text[96];
    struct memory memory;
    struct plim_ledger_card *const first = card(0); /* as the library has it */
    void *const others[] = { NULL, &n, first + N_CARDS, first + PLIM_LEDGER_MAX_CARDS, first - 1 };
    (void)state;
    for (size_t i = 0; i < COUNT(others); i++) {
        assert_int_equal(nvml.index(others[i], &n), INVALID);
        assert_int_equal(nvml.name(others[i], text, sizeof text), INVALID);
        assert_int_equal(nvml.memory(others[i], &memory), INVALID);
    }
}

static void test_texts(void **state)
{
    char text[96];
    void *handle;
    (void)state;
    assert_int_equal(nvml.name(card(0), text, sizeof text), OK);
    assert_string_equal(text, "NVIDIA GeForce RTX 4060");
    memset(text, 'x', sizeof text);
    assert_int_equal(nvml.name(card(0), text, 23), TOO_SMALL); /* one byte less than it takes */
    assert_int_equal(text[0], 'x');
    assert_int_equal(text[23], 'x');
    assert_int_equal(nvml.name(card(0), text, 24), OK);
    assert_int_equal(nvml.name(card(0), NULL, 24), INVALID);
    assert_int_equal(nvml.uuid(card(1), text, sizeof text), OK);
    assert_string_equal(text, "GPU-706c696d-736f-6c6c-2d76-697274756101");
    assert_int_equal(nvml.by_uuid(text, &handle), OK);
    assert_ptr_equal(handle, card(1));
    assert_int_equal(nvml.by_uuid("GPU-706c696d-736f-6c6c-2d76-697274756102", &handle), NOT_FOUND);
    assert_string_equal(nvml.text(OTHER_VERSION), "Argument version mismatch");
    assert_string_equal(nvml.text(4711), "Unknown Error");
}

/* The first call counts the reserve as used, the second has it apart. */
static void test_memory(void **state)
{
    struct memory plain;
    struct memory_v2 memory = { .version = sizeof memory | 2u << 24 };
    uint32_t record;
    (void)state;
    const int me = plim_ledger_join(ledger);
    assert_int_equal(plim_ledger_take(ledger, me, 0, PLIM_KIND_VMM, 100 * MIB, 0, &record), PLIM_LEDGER_TAKEN);
    assert_int_equal(nvml.memory(card(0), &plain), OK);
    assert_int_equal(plain.total, 8192ull * MIB);
    assert_int_equal(plain.free, (8192ull - 300 - 100) * MIB);
    assert_int_equal(plain.used, 400 * MIB);
    assert_int_equal(nvml.memory_v2(card(0), &memory), OK);
    assert_int_equal(memory.total, plain.total);
    assert_int_equal(memory.reserved, 300 * MIB);
    assert_int_equal(memory.used, 100 * MIB);
    assert_int_equal(memory.free, plain.free);
    for (unsigned version = 0; version < 3; version++) {
        memory.version = version;
        assert_int_equal(nvml.memory_v2(card(0), &memory), OTHER_VERSION);
    }
    plim_ledger_give(ledger, record);
}

/* Of each card those that have memory on it; what there is no room for is only counted. */
static void test_processes(void **state)
{
    struct process found[3];
    uint32_t record[3];
    unsigned n;
    (void)state;
    for (int i = 0; i < 2; i++) {
        const int slot = plim_ledger_join(ledger);
        assert_int_equal(plim_ledger_take(ledger, slot, 1, PLIM_KIND_VMM, (uint64_t)(i + 1) * MIB, 0, &record[i]),
                         PLIM_LEDGER_TAKEN);
    }
    const int other = plim_ledger_join(ledger);
    assert_int_equal(plim_ledger_take(ledger, other, 0, PLIM_KIND_VMM, 5 * MIB, 0, &record[2]), PLIM_LEDGER_TAKEN);
    n = 0;
    assert_int_equal(nvml.processes(card(1), &n, NULL), TOO_SMALL);
    assert_int_equal(n, 2);
    memset(found, 0xa5, sizeof found);
    n = 1;
    assert_int_equal(nvml.processes(card(1), &n, found), TOO_SMALL);
    assert_int_equal(n, 2);
    assert_int_equal(found[0].used, MIB);
    assert_int_equal(found[1].pid, 0xa5a5a5a5); /* not written */
    n = 3;
    assert_int_equal(nvml.processes(card(1), &n, found), OK);
    assert_int_equal(n, 2);
    assert_int_equal(found[1].used, 2 * MIB);
    assert_int_equal(found[1].pid, getpid());
    n = 3;
    assert_int_equal(nvml.processes(card(0), &n, found), OK);
    assert_int_equal(n, 1);
    for (int i = 0; i < 3; i++)
        plim_ledger_give(ledger, record[i]);
}

/* The same list in the layouts of other functions. */
static void test_layouts_of_the_list(void **state)
{
    struct old_process old[2];
    struct detail detail[2];
    struct details list = { .version = sizeof list | 1u << 24, .n = 2, .process = detail };
    uint32_t record;
    unsigned n = 2;
    (void)state;
    const int slot = plim_ledger_join(ledger);
    assert_int_equal(plim_ledger_take(ledger, slot, 1, PLIM_KIND_VMM, 7 * MIB, 0, &record), PLIM_LEDGER_TAKEN);
    assert_int_equal(nvml.old_processes(card(1), &n, old), OK);
    assert_int_equal(n, 1);
    assert_int_equal(old[0].pid, getpid());
    assert_int_equal(old[0].used, 7 * MIB);
    assert_int_equal(nvml.details(card(1), &list), OK);
    assert_int_equal(list.n, 1);
    assert_int_equal(detail[0].pid, getpid());
    assert_int_equal(detail[0].used, 7 * MIB);
    assert_int_equal(detail[0].gpu_instance, UINT32_MAX);
    assert_int_equal(detail[0].protected_bytes, 0);
    list.mode = 1; /* graphics */
    assert_int_equal(nvml.details(card(1), &list), OK);
    assert_int_equal(list.n, 0);
    list.version = 1;
    assert_int_equal(nvml.details(card(1), &list), OTHER_VERSION);
    assert_int_equal(nvml.old_processes(card(1), NULL, old), INVALID);
    plim_ledger_give(ledger, record);
}

/* A process that holds memory on card 0 and ran work in these ticks, counted back from now. */
static int busy_process(const uint64_t *ticks_ago, size_t n, uint32_t *ret_record)
{
    const int slot = plim_ledger_join(ledger);
    assert_int_equal(plim_ledger_take(ledger, slot, 0, PLIM_KIND_VMM, 9 * MIB, 0, ret_record), PLIM_LEDGER_TAKEN);
    const uint64_t now = plim_activity_tick_of(plim_ledger_now_us(ledger));
    for (size_t i = 0; i < n; i++)
        plim_activity_note(&ledger->process[slot].activity[0], plim_activity_tick_start_us(now - ticks_ago[i]));
    return slot;
}

/* An hour and half a second: what is told of the last second is in two of the ledger's. */
static void start_an_hour_ago(void) { ledger->start_us -= 3600ull * 1000000 + 500000; }

/* Work of the last second is the load of the card; of a process, that since the time that the caller names. */
static void test_load(void **state)
{
    static const uint64_t ago[] = { 1, 2, 3, 100, 200, 300 };
    struct utilization load;
    struct load found[2];
    struct load_v1 found_v1[2];
    struct loads_v1 list = { .version = sizeof list | 1u << 24, .n = 2, .process = found_v1 };
    uint32_t record;
    unsigned n = 2;
    (void)state;
    start_an_hour_ago();
    assert_int_equal(nvml.loads(card(0), found, &n, 0), NOT_FOUND);
    assert_int_equal(nvml.load(card(0), &load), OK);
    assert_int_equal(load.gpu, 0);
    const int slot = busy_process(ago, COUNT(ago), &record);
    ledger->process[slot].joined_us = 0;
    assert_int_equal(nvml.load(card(0), &load), OK);
    assert_int_equal(load.gpu, 7); /* 3 of 48 ticks, rounded up */
    assert_int_equal(load.memory, 0);
    assert_int_equal(nvml.load(card(1), &load), OK);
    assert_int_equal(load.gpu, 0);
    n = 0;
    assert_int_equal(nvml.loads(card(0), NULL, &n, 0), TOO_SMALL);
    assert_int_equal(n, 1);
    n = 2;
    assert_int_equal(nvml.loads(card(0), found, &n, 0), OK);
    assert_int_equal(n, 1);
    assert_int_equal(found[0].pid, getpid());
    assert_int_equal(found[0].sm, 1); /* 6 of 3,024 ticks */
    assert_int_equal(nvml.loads_v1(card(0), &list), OK);
    assert_int_equal(list.n, 1);
    assert_int_equal(found_v1[0].pid, getpid());
    assert_int_equal(found_v1[0].sm, 1);
    /* The wall's clock is asked for each call: a tick of 20 ms does not notice. */
    assert_true(found_v1[0].time_us / 20000 - found[0].time_us / 20000 <= 1);
    n = 2;
    assert_int_equal(nvml.loads(card(0), found, &n, found[0].time_us), NOT_FOUND);
    assert_int_equal(n, 0);
    list.version = 2;
    assert_int_equal(nvml.loads_v1(card(0), &list), OTHER_VERSION);
    plim_ledger_give(ledger, record);
    n = 2;
    assert_int_equal(nvml.loads(card(0), found, &n, 0), NOT_FOUND); /* it holds nothing any more */
}

/* Whatever part of a second has gone by: the last 48 ticks. Those to come are marked too, so that no time is lost. */
static void test_full_load(void **state)
{
    enum { TO_COME = 200 };
    uint64_t ago[PLIM_ACTIVITY_TICKS + TO_COME];
    struct utilization load;
    uint32_t record;
    (void)state;
    for (uint64_t i = 0; i < COUNT(ago); i++)
        ago[i] = PLIM_ACTIVITY_TICKS - i;
    const int slot = busy_process(ago, COUNT(ago), &record);
    assert_int_equal(nvml.load(card(0), &load), OK);
    assert_int_equal(load.gpu, 100);
    memset(&ledger->process[slot].activity[0], 0, sizeof ledger->process[slot].activity[0]);
    plim_ledger_give(ledger, record);
}

/* The peak of a process stays when its memory is given back, and when it has ended. */
static void test_accounting(void **state)
{
    struct accounting stats;
    uint32_t record;
    unsigned n = 0, pids[PLIM_LEDGER_MAX_PROCESSES];
    (void)state;
    const int slot = plim_ledger_join(ledger);
    struct plim_ledger_process *process = &ledger->process[slot];
    process->pid = 0x7ffffffe;
    process->pid_namespace = 0; /* unknown: nobody looks for it here */
    assert_int_equal(plim_ledger_take(ledger, slot, 1, PLIM_KIND_VMM, 30 * MIB, 0, &record), PLIM_LEDGER_TAKEN);
    plim_ledger_give(ledger, record);
    assert_int_equal(plim_ledger_take(ledger, slot, 1, PLIM_KIND_VMM, 20 * MIB, 0, &record), PLIM_LEDGER_TAKEN);
    assert_int_equal(nvml.accounted(card(1), &n, NULL), TOO_SMALL);
    const unsigned n_all = n;
    n = COUNT(pids);
    assert_int_equal(nvml.accounted(card(1), &n, pids), OK);
    assert_int_equal(n, n_all);
    unsigned n_times = 0;
    for (unsigned i = 0; i < n; i++)
        n_times += pids[i] == 0x7ffffffe;
    assert_int_equal(n_times, 1);
    assert_int_equal(nvml.accounting(card(1), 0x7ffffffe, &stats), OK);
    assert_int_equal(stats.max_bytes, 30 * MIB);
    assert_int_equal(stats.is_running, 1);
    assert_int_equal(stats.time_ms, 0);
    assert_int_equal(stats.gpu, 0);
    assert_int_equal(stats.memory, UINT32_MAX); /* not available */
    assert_int_equal(nvml.accounting(card(0), 0x7ffffffe, &stats), NOT_FOUND);
    process->is_ended = 1;
    assert_int_equal(nvml.accounting(card(1), 0x7ffffffe, &stats), OK);
    assert_int_equal(stats.max_bytes, 30 * MIB);
    assert_int_equal(stats.is_running, 0);
    assert_int_equal(ledger->card[1].used_bytes, 0);
}

/* Of a process in a pid namespace that cannot be seen from here there is no pid that means it: it is not listed. */
static void test_a_process_of_another_namespace(void **state)
{
    struct process found[2];
    uint32_t record;
    unsigned n = 2;
    (void)state;
    const int slot = plim_ledger_join(ledger);
    assert_int_equal(plim_ledger_take(ledger, slot, 1, PLIM_KIND_VMM, 3 * MIB, 0, &record), PLIM_LEDGER_TAKEN);
    assert_int_equal(nvml.processes(card(1), &n, found), OK);
    assert_int_equal(n, 1);
    ledger->process[slot].pid_namespace = 1;
    assert_int_equal(nvml.processes(card(1), &n, found), OK);
    assert_int_equal(n, 0);
    plim_ledger_give(ledger, record);
}

/* A virtual card has no sensors and no parts, and the receipt does not remark on it. */
static void test_what_a_card_lacks(void **state)
{
    unsigned value = 7, period_us = 0;
    (void)state;
    assert_int_equal(nvml.power(card(0), &value), NOT_SUPPORTED);
    assert_int_equal(value, 7);
    assert_int_equal(nvml.power(card(0), NULL), INVALID);
    assert_int_equal(nvml.is_instance(card(0), &value), OK);
    assert_int_equal(value, 0);
    assert_int_equal(nvml.encoder(card(0), &value, &period_us), OK);
    assert_int_equal(value, 0);
    assert_int_equal(period_us, 1000000);
    assert_int_equal(ledger->n_warnings, 0);
}

/* The ticks that are remembered are those of the last 64 seconds. */
static void test_activity(void **state)
{
    static struct plim_activity activity;
    uint64_t latest = 0;
    (void)state;
    plim_activity_note(&activity, 0);
    plim_activity_note(&activity, 20000); /* in the same tick of 20,833 us */
    plim_activity_note(&activity, 20834);
    plim_activity_note(&activity, 999999);
    plim_activity_note(&activity, 1000000);
    assert_int_equal(activity.n_ticks, 4);
    assert_int_equal(plim_activity_count(&activity, 0, 48, &latest), 4);
    assert_int_equal(latest, 48);
    assert_int_equal(plim_activity_count(&activity, 1, 47, &latest), 2);
    assert_int_equal(latest, 47);
    assert_int_equal(plim_activity_count(&activity, 2, 46, &latest), 0);
    plim_activity_note(&activity, 64 * 1000000ull); /* where second 0 was */
    assert_int_equal(plim_activity_of_second(&activity, 0), 0);
    assert_int_equal(plim_activity_of_second(&activity, 64), 1);
    assert_int_equal(plim_activity_count(&activity, 0, 64 * 48, &latest), 2); /* tick 48 and the new one */
    for (uint64_t tick = 0; tick < 100; tick++) {
        assert_int_equal(plim_activity_tick_of(plim_activity_tick_start_us(tick)), tick);
        assert_int_equal(plim_activity_tick_of(plim_activity_tick_start_us(tick + 1) - 1), tick);
    }
}

/* A function without a body says so, to the program and in the receipt. */
static void test_functions_without_a_body(void **state)
{
    char text[8] = "7";
    (void)state;
    assert_int_equal(nvml.serial(card(0), text, sizeof text), NOT_SUPPORTED);
    assert_string_equal(text, "7");
    assert_int_equal(ledger->n_warnings, 1);
    assert_string_equal(ledger->warning[0].what, "nvmlDeviceGetSerial");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cards),
        cmocka_unit_test(test_what_is_no_card),
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_processes),
        cmocka_unit_test(test_layouts_of_the_list),
        cmocka_unit_test(test_activity),
        cmocka_unit_test(test_load),
        cmocka_unit_test(test_full_load),
        cmocka_unit_test(test_accounting),
        cmocka_unit_test(test_a_process_of_another_namespace),
        cmocka_unit_test(test_what_a_card_lacks),
        cmocka_unit_test(test_functions_without_a_body),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
