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
    int (*power)(void *, unsigned *);
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
    take(library, "nvmlDeviceGetPowerUsage", &nvml.power); /* without a body */
    take(library, "nvmlErrorString", &nvml.text);
    assert_int_equal(nvml.power(NULL, NULL), UNINITIALIZED);
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

/* A function without a body says so, to the program and in the receipt. */
static void test_functions_without_a_body(void **state)
{
    unsigned watts = 7;
    (void)state;
    assert_int_equal(nvml.power(card(0), &watts), NOT_SUPPORTED);
    assert_int_equal(watts, 7);
    assert_int_equal(ledger->n_warnings, 1);
    assert_string_equal(ledger->warning[0].what, "nvmlDeviceGetPowerUsage");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cards),     cmocka_unit_test(test_what_is_no_card),
        cmocka_unit_test(test_texts),     cmocka_unit_test(test_memory),
        cmocka_unit_test(test_processes), cmocka_unit_test(test_functions_without_a_body),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
