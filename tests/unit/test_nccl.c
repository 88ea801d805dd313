/* SPDX-License-Identifier: MIT */
/* Ranks as processes, each on a virtual card of its own; values are checked. */
#include "vgpu/core/ledger.h"
#include "virtual.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_RANKS = 4, SMALL = 100, LARGE = 1 << 20 };
enum { SUCCESS, CUDA_ERROR, SYSTEM_ERROR, INTERNAL_ERROR, INVALID_ARGUMENT, INVALID_USAGE, REMOTE_ERROR };
enum { INT8, UINT8, INT32, UINT32, INT64, UINT64, FLOAT16, FLOAT32, FLOAT64, BFLOAT16, E4M3, E5M2 };
enum { SUM, PROD, MAX, MIN, AVG };

struct id {
    char bytes[128];
};
struct comm;

static struct {
    int (*set_device)(int);
    int (*malloc)(void **, size_t);
    int (*free)(void *);
    int (*memcpy)(void *, const void *, size_t, int);
    int (*info)(size_t *, size_t *);
    int (*host_register)(void *, size_t, unsigned);
} cuda;

static struct {
    int (*id)(struct id *);
    int (*init)(struct comm **, int, struct id, int);
    int (*init_config)(struct comm **, int, struct id, int, const void *);
    int (*init_all)(struct comm **, int, const int *);
    int (*split)(struct comm *, int, int, struct comm **, const void *);
    int (*destroy)(struct comm *);
    int (*abort)(struct comm *);
    int (*async)(struct comm *, int *);
    int (*count)(const struct comm *, int *);
    int (*rank)(const struct comm *, int *);
    int (*device)(const struct comm *, int *);
    int (*start)(void);
    int (*end)(void);
    int (*all_reduce)(const void *, void *, size_t, int, int, struct comm *, void *);
    int (*reduce)(const void *, void *, size_t, int, int, int, struct comm *, void *);
    int (*reduce_scatter)(const void *, void *, size_t, int, int, struct comm *, void *);
    int (*broadcast)(const void *, void *, size_t, int, int, struct comm *, void *);
    int (*all_gather)(const void *, void *, size_t, int, struct comm *, void *);
    int (*all_to_all)(const void *, void *, size_t, int, struct comm *, void *);
    int (*gather)(const void *, void *, size_t, int, int, struct comm *, void *);
    int (*scatter)(const void *, void *, size_t, int, int, struct comm *, void *);
    int (*send)(const void *, size_t, int, int, struct comm *, void *);
    int (*receive)(void *, size_t, int, int, struct comm *, void *);
    int (*premultiply)(int *, void *, int, int, struct comm *);
    int (*drop_reduction)(int, struct comm *);
    int (*mem_alloc)(void **, size_t);
    int (*mem_free)(void *);
    int (*version)(int *);
    int (*p_version)(int *);
    int (*window)(void);
    const char *(*text)(int);
    const char *(*last)(struct comm *);
} nccl;

static int set_up(void **state)
{
    (void)state;
    setenv("PLIM_VGPU_RAW", "64,64,64,64", 1);
    setenv("PLIM_VGPU_NCCL_TIMEOUT", "20", 1);
    open_library("libcuda.so.1");
    void *runtime = open_library("libcudart.so.13"), *library = open_library("libnccl.so.2");
    take(runtime, "cudaSetDevice", &cuda.set_device);
    take(runtime, "cudaMalloc", &cuda.malloc);
    take(runtime, "cudaFree", &cuda.free);
    take(runtime, "cudaMemcpy", &cuda.memcpy);
    take(runtime, "cudaMemGetInfo", &cuda.info);
    take(runtime, "cudaHostRegister", &cuda.host_register);
    take(library, "ncclGetUniqueId", &nccl.id);
    take(library, "ncclCommInitRank", &nccl.init);
    take(library, "ncclCommInitRankConfig", &nccl.init_config);
    take(library, "ncclCommInitAll", &nccl.init_all);
    take(library, "ncclCommSplit", &nccl.split);
    take(library, "ncclCommDestroy", &nccl.destroy);
    take(library, "ncclCommAbort", &nccl.abort);
    take(library, "ncclCommGetAsyncError", &nccl.async);
    take(library, "ncclCommCount", &nccl.count);
    take(library, "ncclCommUserRank", &nccl.rank);
    take(library, "ncclCommCuDevice", &nccl.device);
    take(library, "ncclGroupStart", &nccl.start);
    take(library, "ncclGroupEnd", &nccl.end);
    take(library, "ncclAllReduce", &nccl.all_reduce);
    take(library, "ncclReduce", &nccl.reduce);
    take(library, "ncclReduceScatter", &nccl.reduce_scatter);
    take(library, "ncclBroadcast", &nccl.broadcast);
    take(library, "ncclAllGather", &nccl.all_gather);
    take(library, "ncclAlltoAll", &nccl.all_to_all);
    take(library, "ncclGather", &nccl.gather);
    take(library, "ncclScatter", &nccl.scatter);
    take(library, "ncclSend", &nccl.send);
    take(library, "ncclRecv", &nccl.receive);
    take(library, "ncclRedOpCreatePreMulSum", &nccl.premultiply);
    take(library, "ncclRedOpDestroy", &nccl.drop_reduction);
    take(library, "ncclMemAlloc", &nccl.mem_alloc);
    take(library, "ncclMemFree", &nccl.mem_free);
    take(library, "ncclGetVersion", &nccl.version);
    take(library, "pncclGetVersion", &nccl.p_version);
    take(library, "ncclCommWindowRegister", &nccl.window);
    take(library, "ncclGetErrorString", &nccl.text);
    take(library, "ncclGetLastError", &nccl.last);
    return 0;
}

/* --- ranks --- */

/* In a rank: report the failure and exit. */
static void must(bool is_so, int line, const char *what)
{
    if (is_so)
        return;
    fprintf(stderr, "%s:%d: %s (process %d; NCCL says: %s)\n", __FILE__, line, what, (int)getpid(), nccl.last(NULL));
    _exit(1);
}
#define MUST(x)          must((x), __LINE__, #x)
#define MUST_EQUAL(a, b) must((long)(a) == (long)(b), __LINE__, #a " == " #b)

typedef void rank_function(struct comm *comm, int rank, int n_ranks);

static void run_ranks(int n_ranks, rank_function *function)
{
    struct id id;
    pid_t child[MAX_RANKS];
    assert_int_equal(nccl.id(&id), SUCCESS);
    for (int r = 0; r < n_ranks; r++) {
        child[r] = fork();
        assert_true(child[r] >= 0);
        if (child[r])
            continue;
        struct comm *comm = NULL;
        alarm(60);
        MUST_EQUAL(cuda.set_device(r), 0);
        MUST_EQUAL(nccl.init(&comm, n_ranks, id, r), SUCCESS);
        function(comm, r, n_ranks);
        MUST_EQUAL(nccl.destroy(comm), SUCCESS);
        _exit(0);
    }
    for (int r = 0; r < n_ranks; r++) {
        int status;
        assert_int_equal(waitpid(child[r], &status, 0), child[r]);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
}

/* A buffer on the card, which the host writes and reads with copies, as programs do. */
static int *device_ints(size_t n)
{
    void *p = NULL;
    MUST_EQUAL(cuda.malloc(&p, n * sizeof(int)), 0);
    return p;
}

static void put(int *to, const int *from, size_t n) { MUST_EQUAL(cuda.memcpy(to, from, n * sizeof(int), 1), 0); }
static void get(int *to, const int *from, size_t n) { MUST_EQUAL(cuda.memcpy(to, from, n * sizeof(int), 2), 0); }

static void check_reductions(struct comm *comm, int rank, int n)
{
    int host[SMALL], *send = device_ints(SMALL), *receive = device_ints(SMALL), sum = n * (n + 1) / 2;
    for (int i = 0; i < SMALL; i++)
        host[i] = (rank + 1) * (i + 1);
    put(send, host, SMALL);
    MUST_EQUAL(nccl.all_reduce(send, receive, SMALL, INT32, SUM, comm, NULL), SUCCESS);
    get(host, receive, SMALL);
    for (int i = 0; i < SMALL; i++)
        MUST_EQUAL(host[i], sum * (i + 1));
    MUST_EQUAL(nccl.all_reduce(send, receive, SMALL, INT32, MAX, comm, NULL), SUCCESS);
    get(host, receive, SMALL);
    MUST_EQUAL(host[9], n * 10);
    MUST_EQUAL(nccl.all_reduce(send, receive, SMALL, INT32, MIN, comm, NULL), SUCCESS);
    get(host, receive, SMALL);
    MUST_EQUAL(host[9], 10);
    MUST_EQUAL(nccl.all_reduce(send, receive, SMALL, INT32, AVG, comm, NULL), SUCCESS);
    get(host, receive, SMALL);
    MUST_EQUAL(host[9], sum * 10 / n);
    /* only the root gets it */
    int before[SMALL] = { 0 };
    put(receive, before, SMALL);
    MUST_EQUAL(nccl.reduce(send, receive, SMALL, INT32, SUM, n - 1, comm, NULL), SUCCESS);
    get(host, receive, SMALL);
    MUST_EQUAL(host[4], rank == n - 1 ? sum * 5 : 0);
    /* in place, many times: no values of an earlier collective */
    for (int turn = 1; turn <= 50; turn++) {
        host[0] = rank + turn;
        put(send, host, 1);
        MUST_EQUAL(nccl.all_reduce(send, send, 1, INT32, SUM, comm, NULL), SUCCESS);
        get(host, send, 1);
        MUST_EQUAL(host[0], n * turn + n * (n - 1) / 2);
    }
    int reduction, scalar = 3;
    MUST_EQUAL(nccl.premultiply(&reduction, &scalar, INT32, 1, comm), SUCCESS);
    host[0] = rank + 1;
    put(send, host, 1);
    MUST_EQUAL(nccl.all_reduce(send, receive, 1, INT32, reduction, comm, NULL), SUCCESS);
    get(host, receive, 1);
    MUST_EQUAL(host[0], 3 * sum);
    MUST_EQUAL(nccl.drop_reduction(reduction, comm), SUCCESS);
    MUST_EQUAL(nccl.all_reduce(send, receive, 1, INT32, reduction, comm, NULL), INVALID_ARGUMENT);
}

static void test_reductions(void **state)
{
    (void)state;
    for (int n = 1; n <= MAX_RANKS; n++)
        run_ranks(n, check_reductions);
}

static void check_order(struct comm *comm, int rank, int n)
{
    int host[MAX_RANKS * 3], *send = device_ints(MAX_RANKS * 3), *receive = device_ints(MAX_RANKS * 3);
    for (int i = 0; i < 3 * n; i++)
        host[i] = 100 * rank + i;
    put(send, host, 3 * (size_t)n);
    MUST_EQUAL(nccl.all_gather(send, receive, 3, INT32, comm, NULL), SUCCESS);
    get(host, receive, 3 * (size_t)n);
    for (int r = 0; r < n; r++)
        MUST_EQUAL(host[3 * r + 2], 100 * r + 2);
    MUST_EQUAL(nccl.all_to_all(send, receive, 3, INT32, comm, NULL), SUCCESS);
    get(host, receive, 3 * (size_t)n);
    for (int r = 0; r < n; r++)
        MUST_EQUAL(host[3 * r + 1], 100 * r + 3 * rank + 1);
    MUST_EQUAL(nccl.reduce_scatter(send, receive, 3, INT32, SUM, comm, NULL), SUCCESS);
    get(host, receive, 3);
    MUST_EQUAL(host[2], 100 * n * (n - 1) / 2 + n * (3 * rank + 2));
    MUST_EQUAL(nccl.broadcast(send, receive, 3, INT32, n - 1, comm, NULL), SUCCESS);
    get(host, receive, 3);
    MUST_EQUAL(host[1], 100 * (n - 1) + 1);
    MUST_EQUAL(nccl.gather(send, receive, 3, INT32, 0, comm, NULL), SUCCESS);
    get(host, receive, 3 * (size_t)n);
    for (int r = 0; rank == 0 && r < n; r++)
        MUST_EQUAL(host[3 * r], 100 * r);
    MUST_EQUAL(nccl.scatter(send, receive, 3, INT32, 0, comm, NULL), SUCCESS);
    get(host, receive, 3);
    MUST_EQUAL(host[2], 3 * rank + 2);
    MUST_EQUAL(nccl.all_gather(NULL, receive, 3, INT32, comm, NULL), INVALID_ARGUMENT);
    MUST_EQUAL(nccl.all_gather(send, receive, 3, 99, comm, NULL), INVALID_ARGUMENT);
    MUST_EQUAL(nccl.broadcast(send, receive, 3, INT32, n, comm, NULL), INVALID_ARGUMENT);
    MUST_EQUAL(nccl.all_gather(send, receive, SIZE_MAX, INT32, comm, NULL), INVALID_ARGUMENT);
}

static void test_order(void **state)
{
    (void)state;
    run_ranks(2, check_order);
    run_ranks(4, check_order);
}

/* A large buffer is not kept, and its old values become unknown. Partly known values stay so. */
static void check_known(struct comm *comm, int rank, int n)
{
    int one = 7, host[SMALL] = { 0 }, *large = device_ints(LARGE), *receive = device_ints(SMALL * MAX_RANKS);
    put(large, &one, 1);
    MUST_EQUAL(nccl.all_reduce(large, large, LARGE, INT32, SUM, comm, NULL), SUCCESS);
    get(host, large, 1);
    MUST_EQUAL(host[0], 0);
    one = rank + 1;
    put(large + 5, &one, 1); /* the rest is unknown */
    MUST_EQUAL(nccl.all_gather(large, receive, SMALL, INT32, comm, NULL), SUCCESS);
    for (int r = 0; r < n; r++) {
        get(host, receive + r * SMALL, SMALL);
        MUST_EQUAL(host[5], r + 1);
        MUST_EQUAL(host[6], 0);
    }
    MUST_EQUAL(nccl.all_reduce(large, receive, SMALL, INT32, SUM, comm, NULL), SUCCESS);
    get(host, receive, SMALL);
    MUST_EQUAL(host[5], n * (n + 1) / 2);
}

static void test_known(void **state)
{
    (void)state;
    run_ranks(3, check_known);
}

static void check_messages(struct comm *comm, int rank, int n)
{
    int value, next = (rank + 1) % n, before = (rank + n - 1) % n, *send = device_ints(LARGE),
               *receive = device_ints(LARGE);
    /* a ring, received before it is sent: only a group can do it */
    value = 10 * rank;
    put(send, &value, 1);
    nccl.start();
    MUST_EQUAL(nccl.receive(receive, 1, INT32, before, comm, NULL), SUCCESS);
    MUST_EQUAL(nccl.send(send, 1, INT32, next, comm, NULL), SUCCESS);
    MUST_EQUAL(nccl.end(), SUCCESS);
    get(&value, receive, 1);
    MUST_EQUAL(value, 10 * before);
    /* all to all, also to itself, more messages than a ring holds, in one group, with a collective among them */
    enum { N_EACH = 40 };
    for (int i = 0; i < n * N_EACH; i++) {
        value = 1000 * rank + i;
        put(send + i, &value, 1);
    }
    nccl.start();
    for (int i = 0; i < N_EACH; i++)
        for (int r = 0; r < n; r++) {
            MUST_EQUAL(nccl.send(send + r * N_EACH + i, 1, INT32, r, comm, NULL), SUCCESS);
            MUST_EQUAL(nccl.receive(receive + r * N_EACH + i, 1, INT32, r, comm, NULL), SUCCESS);
        }
    MUST_EQUAL(nccl.all_reduce(send, receive + n * N_EACH, 1, INT32, MAX, comm, NULL), SUCCESS);
    MUST_EQUAL(nccl.end(), SUCCESS);
    for (int i = 0; i < N_EACH; i++)
        for (int r = 0; r < n; r++) {
            get(&value, receive + r * N_EACH + i, 1);
            MUST_EQUAL(value, 1000 * r + rank * N_EACH + i);
        }
    get(&value, receive + n * N_EACH, 1);
    MUST_EQUAL(value, 1000 * (n - 1));
    /* large collectives carry no values and do not wait; later ones still match */
    MUST_EQUAL(nccl.receive(receive, LARGE, INT32, before, comm, NULL), SUCCESS);
    MUST_EQUAL(nccl.send(send, LARGE, INT32, next, comm, NULL), SUCCESS);
    value = rank;
    put(send, &value, 1);
    MUST_EQUAL(nccl.send(send, 1, INT32, next, comm, NULL), SUCCESS);
    MUST_EQUAL(nccl.receive(receive, 1, INT32, before, comm, NULL), SUCCESS);
    get(&value, receive, 1);
    MUST_EQUAL(value, before);
}

static void test_messages(void **state)
{
    (void)state;
    run_ranks(2, check_messages);
    run_ranks(4, check_messages);
}

/* The host's memory is written up to the end of its registration, or not at all. */
static void check_registered(struct comm *comm, int rank, int n)
{
    int mine[8], back[8], *sent = device_ints(8);
    (void)rank, (void)n;
    for (int i = 0; i < 8; i++)
        mine[i] = 7;
    put(sent, mine, 8);
    mine[3] = mine[4] = 1;
    MUST_EQUAL(cuda.host_register(mine, 4 * sizeof(int), 0), 0);
    MUST_EQUAL(nccl.broadcast(sent, mine, 8, INT32, 0, comm, NULL), SUCCESS);
    MUST(mine[3] == 1 && mine[4] == 1);
    MUST_EQUAL(nccl.broadcast(sent, mine, 4, INT32, 0, comm, NULL), SUCCESS);
    MUST(mine[3] == 7 && mine[4] == 1);
    /* nor is it read beyond */
    MUST_EQUAL(nccl.broadcast(mine, sent, 5, INT32, 0, comm, NULL), SUCCESS);
    get(back, sent, 5);
    MUST(back[0] == 0 && back[4] == 0);
}

static void test_registered(void **state)
{
    (void)state;
    run_ranks(1, check_registered);
    run_ranks(2, check_registered);
}

static void check_split(struct comm *comm, int rank, int n)
{
    struct comm *half = NULL, *none = comm;
    int value = rank, count = 0, new_rank = -1, *p = device_ints(MAX_RANKS);
    /* odd and even ones, in reverse */
    MUST_EQUAL(nccl.split(comm, rank % 2, -rank, &half, NULL), SUCCESS);
    MUST_EQUAL(nccl.count(half, &count), SUCCESS);
    MUST_EQUAL(count, n / 2);
    MUST_EQUAL(nccl.rank(half, &new_rank), SUCCESS);
    MUST_EQUAL(new_rank, n / 2 - 1 - rank / 2);
    put(p, &value, 1);
    MUST_EQUAL(nccl.all_reduce(p, p, 1, INT32, SUM, half, NULL), SUCCESS);
    get(&value, p, 1);
    MUST_EQUAL(value, n == 4 ? 2 + 2 * (rank % 2) : rank);
    MUST_EQUAL(nccl.split(comm, rank == 0 ? -1 : 0, 0, &none, NULL), SUCCESS);
    MUST(rank != 0 || !none);
    if (none) {
        MUST_EQUAL(nccl.count(none, &count), SUCCESS);
        MUST_EQUAL(count, n - 1);
        MUST_EQUAL(nccl.destroy(none), SUCCESS);
    }
    MUST_EQUAL(nccl.destroy(half), SUCCESS);
    value = 1;
    put(p, &value, 1);
    MUST_EQUAL(nccl.all_reduce(p, p, 1, INT32, SUM, comm, NULL), SUCCESS);
    get(&value, p, 1);
    MUST_EQUAL(value, n);
}

static void test_split(void **state)
{
    (void)state;
    run_ranks(4, check_split);
    run_ranks(2, check_split);
}

/* --- failures --- */

static void check_dead(struct comm *comm, int rank, int n)
{
    int error = -1, *p = device_ints(1);
    struct timespec begin, end;
    (void)n;
    MUST_EQUAL(nccl.all_reduce(p, p, 1, INT32, SUM, comm, NULL), SUCCESS);
    if (rank == 1)
        _exit(0); /* without cleanup */
    clock_gettime(CLOCK_MONOTONIC, &begin);
    MUST_EQUAL(nccl.all_reduce(p, p, 1, INT32, SUM, comm, NULL), REMOTE_ERROR);
    clock_gettime(CLOCK_MONOTONIC, &end);
    MUST(end.tv_sec - begin.tv_sec < 5);
    MUST_EQUAL(nccl.async(comm, &error), SUCCESS);
    MUST_EQUAL(error, REMOTE_ERROR);
    MUST(strstr(nccl.last(NULL), "rank 1") != NULL);
    MUST_EQUAL(nccl.receive(p, 1, INT32, 1, comm, NULL), REMOTE_ERROR);
}

static void test_a_rank_that_dies(void **state)
{
    (void)state;
    run_ranks(3, check_dead);
}

static void check_left(struct comm *comm, int rank, int n)
{
    int *p = device_ints(1);
    (void)n;
    if (rank == 0)
        return; /* destroys the communicator, but goes on */
    MUST_EQUAL(nccl.receive(p, 1, INT32, 0, comm, NULL), REMOTE_ERROR);
}

static void test_a_rank_that_leaves(void **state)
{
    (void)state;
    run_ranks(2, check_left);
}

static void check_mismatch(struct comm *comm, int rank, int n)
{
    int *p = device_ints(SMALL);
    (void)n;
    MUST_EQUAL(nccl.all_reduce(p, p, rank ? 1 : 2, INT32, SUM, comm, NULL), INVALID_USAGE);
}

static void test_ranks_that_disagree(void **state)
{
    (void)state;
    run_ranks(2, check_mismatch);
}

/* No other rank joins, and the maker of the id is alive: the wait ends by the timeout. */
static void test_missing_rank(void **state)
{
    (void)state;
    struct id id, stale;
    int status, pipes[2];
    assert_int_equal(nccl.id(&id), SUCCESS);
    assert_int_equal(pipe(pipes), 0);
    pid_t maker = fork(); /* makes an id and exits */
    assert_true(maker >= 0);
    if (!maker)
        _exit(nccl.id(&stale) || write(pipes[1], &stale, sizeof stale) != sizeof stale);
    assert_int_equal(read(pipes[0], &stale, sizeof stale), sizeof stale);
    assert_int_equal(waitpid(maker, &status, 0), maker);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        struct comm *comm = NULL;
        alarm(60);
        setenv("PLIM_VGPU_NCCL_TIMEOUT", "1", 1);
        MUST_EQUAL(cuda.set_device(0), 0);
        MUST_EQUAL(nccl.init(&comm, 2, id, 0), SYSTEM_ERROR);
        MUST(comm == NULL);
        MUST_EQUAL(nccl.init(&comm, 2, stale, 0), REMOTE_ERROR);
        MUST_EQUAL(nccl.init(&comm, 2, id, 2), INVALID_ARGUMENT);
        MUST_EQUAL(nccl.init(&comm, 0, id, 0), INVALID_ARGUMENT);
        memset(&id, 0xff, sizeof id);
        MUST_EQUAL(nccl.init(&comm, 2, id, 0), REMOTE_ERROR);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void test_configurations(void **state)
{
    (void)state;
    struct {
        size_t size;
        unsigned magic, version;
        int blocking, cga, min_ctas, max_ctas;
        char rest[128];
    } config = { 24, 0xcafebeef, 21400, 1, 0, 0, 0, { 0 } };
    struct id id;
    int status;
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        struct comm *comm = NULL;
        alarm(60);
        MUST_EQUAL(cuda.set_device(1), 0);
        MUST_EQUAL(nccl.id(&id), SUCCESS);
        MUST_EQUAL(nccl.init_config(&comm, 1, id, 0, &config), SUCCESS); /* of 2.14, which ends after `blocking` */
        int device = -1;
        MUST_EQUAL(nccl.device(comm, &device), SUCCESS);
        MUST_EQUAL(device, 1);
        MUST_EQUAL(nccl.destroy(comm), SUCCESS);
        MUST_EQUAL(nccl.id(&id), SUCCESS);
        config.size = sizeof config; /* of a later version, longer */
        config.version = 29900;
        MUST_EQUAL(nccl.init_config(&comm, 1, id, 0, &config), INVALID_ARGUMENT); /* min_ctas 0 */
        config.min_ctas = config.max_ctas = INT32_MIN;
        MUST_EQUAL(nccl.init_config(&comm, 1, id, 0, &config), SUCCESS);
        MUST_EQUAL(nccl.destroy(comm), SUCCESS);
        config.magic = 1;
        MUST_EQUAL(nccl.init_config(&comm, 1, id, 0, &config), INVALID_ARGUMENT);
        MUST_EQUAL(nccl.destroy(NULL), SUCCESS);
        MUST_EQUAL(nccl.destroy((struct comm *)&config), INVALID_ARGUMENT);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* --- charges --- */

/* A rank on its card, with limits on channels: each amount follows from NCCL's source. */
static void charged_rank(const struct plim_ledger *ledger, struct id id, int rank)
{
    struct {
        size_t size;
        unsigned magic, version;
        int blocking, cga, min_ctas, max_ctas;
    } config = { sizeof config, 0xcafebeef, 22700, INT32_MIN, INT32_MIN, 4, 4 };
    const uint64_t *held = &ledger->card[rank].kind_bytes[PLIM_KIND_NCCL];
    const uint64_t unit = 2 << 20, start = 3 * 4 * unit + 2 * unit, connection = 4 * (10 + 2) * (unit / 2);
    struct comm *comm = NULL;
    alarm(60);
    MUST_EQUAL(cuda.set_device(rank), 0);
    int *p = device_ints(LARGE);
    MUST_EQUAL(nccl.init_config(&comm, 2, id, rank, &config), SUCCESS);
    MUST_EQUAL(*held, start);
    MUST_EQUAL(nccl.all_reduce(p, p, LARGE, INT32, SUM, comm, NULL), SUCCESS);
    MUST_EQUAL(*held, start + connection); /* at the first collective, and only then */
    MUST_EQUAL(nccl.all_reduce(p, p, LARGE, INT32, SUM, comm, NULL), SUCCESS);
    MUST_EQUAL(*held, start + connection);
    MUST(ledger->card[rank].nccl.low_bytes == start && ledger->card[rank].nccl.high_bytes >= start + connection);
    MUST_EQUAL(nccl.destroy(comm), SUCCESS);
    MUST_EQUAL(*held, 0);
    _exit(0);
}

static void test_charges(void **state)
{
    (void)state;
    struct id id;
    char path[64];
    const int fd = memfd_create("ledger", 0);
    assert_true(fd >= 0);
    struct plim_ledger *ledger = plim_ledger_create(fd);
    assert_non_null(ledger);
    ledger->n_cards = 2;
    for (int r = 0; r < 2; r++) {
        snprintf(ledger->card[r].name, sizeof ledger->card[r].name, "NVIDIA RTX A6000");
        ledger->card[r].total_bytes = (uint64_t)1 << 30;
        ledger->card[r].compute_capability = 86;
    }
    assert_int_equal(nccl.id(&id), SUCCESS);
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), fd);
    for (int r = 0; r < 2; r++) {
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child)
            continue;
        setenv("PLIM_VGPU_LEDGER", path, 1);
        charged_rank(ledger, id, r);
    }
    for (int r = 0, status; r < 2; r++) {
        assert_true(wait(&status) > 0);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    assert_true(ledger->card[0].peak_bytes >= ledger->card[0].nccl.bytes);
    plim_ledger_close(ledger);
    close(fd);
}

/* --- one process --- */

static void put_float(void *to, float value) { assert_int_equal(cuda.memcpy(to, &value, sizeof value, 1), 0); }

static void test_one_process_with_all_cards(void **state)
{
    (void)state;
    struct comm *comms[MAX_RANKS] = { NULL };
    void *p[MAX_RANKS];
    assert_int_equal(nccl.init_all(comms, MAX_RANKS, NULL), SUCCESS);
    for (int r = 0; r < MAX_RANKS; r++) {
        assert_int_equal(cuda.set_device(r), 0);
        assert_int_equal(cuda.malloc(&p[r], 64), 0);
        put_float(p[r], 0.5f + (float)r);
    }
    for (int turn = 0; turn < 3; turn++) {
        nccl.start();
        for (int r = 0; r < MAX_RANKS; r++) /* two in a row of each */
            assert_int_equal(nccl.all_reduce(p[r], p[r], 1, FLOAT32, SUM, comms[r], NULL) |
                                 nccl.all_reduce(p[r], p[r], 1, FLOAT32, AVG, comms[r], NULL),
                             SUCCESS);
        assert_int_equal(nccl.end(), SUCCESS);
    }
    float value = 0;
    assert_int_equal(cuda.memcpy(&value, p[2], sizeof value, 2), 0);
    assert_float_equal(value, 8 * 4 * 4, 0);
    for (int r = 0; r < MAX_RANKS; r++)
        assert_int_equal(nccl.destroy(comms[r]), SUCCESS);
    assert_int_equal(nccl.destroy(comms[0]), INVALID_ARGUMENT);
    assert_int_equal(nccl.all_reduce(p[1], p[1], 1, FLOAT32, SUM, comms[1], NULL), INVALID_ARGUMENT);
    assert_int_equal(nccl.init_all(comms, MAX_RANKS + 1, NULL), INVALID_ARGUMENT);
    assert_int_equal(nccl.init_all(comms, 2, (int[]){ 1, 1 }), INVALID_USAGE);
    assert_int_equal(nccl.end(), INVALID_USAGE);
}

/* Sums of small floats against their exact values; 1 + 2^-n is rounded where it must be. */
static void check_small_float(int type, size_t width, unsigned one, unsigned two, unsigned largest, unsigned infinity)
{
    struct comm *comms[2];
    void *p[2];
    const unsigned a[] = { one, one, largest, infinity, 1, 0 }, b[] = { one, 1, largest, one, 1, 0 };
    const unsigned expected[] = { two, one, infinity, infinity, 2, 0 };
    enum { N = sizeof a / sizeof *a };
    assert_int_equal(nccl.init_all(comms, 2, NULL), SUCCESS);
    for (int r = 0; r < 2; r++) {
        uint8_t host[2 * N];
        for (int i = 0; i < N; i++) {
            const unsigned code = r ? b[i] : a[i];
            memcpy(host + (size_t)i * width, &code, width);
        }
        assert_int_equal(cuda.set_device(r), 0);
        assert_int_equal(cuda.malloc(&p[r], sizeof host), 0);
        assert_int_equal(cuda.memcpy(p[r], host, N * width, 1), 0);
    }
    nccl.start();
    for (int r = 0; r < 2; r++)
        assert_int_equal(nccl.all_reduce(p[r], p[r], N, type, SUM, comms[r], NULL), SUCCESS);
    assert_int_equal(nccl.end(), SUCCESS);
    for (int i = 0; i < N; i++) {
        unsigned code = 0;
        assert_int_equal(cuda.memcpy(&code, (char *)p[0] + (size_t)i * width, width, 2), 0);
        assert_int_equal(code, expected[i]);
    }
    for (int r = 0; r < 2; r++) {
        assert_int_equal(cuda.free(p[r]), 0);
        assert_int_equal(nccl.destroy(comms[r]), SUCCESS);
    }
}

static void test_small_floats(void **state)
{
    (void)state;
    check_small_float(FLOAT16, 2, 0x3c00, 0x4000, 0x7bff, 0x7c00);
    check_small_float(BFLOAT16, 2, 0x3f80, 0x4000, 0x7f7f, 0x7f80);
    check_small_float(E5M2, 1, 0x3c, 0x40, 0x7b, 0x7c);
    check_small_float(E4M3, 1, 0x38, 0x40, 0x7e, 0x7f); /* has no infinity: NaN */
}

static void test_unsupported_calls(void **state)
{
    (void)state;
    int version = 0, p_version = 0;
    void *p = NULL;
    size_t before, after, total;
    assert_int_equal(nccl.version(&version), SUCCESS);
    assert_int_equal(nccl.p_version(&p_version), SUCCESS);
    assert_true(version >= 22700 && version == p_version);
    assert_string_equal(nccl.text(REMOTE_ERROR), "remote process exited or there was a network error");
    assert_string_equal(nccl.text(-1), "unknown result code");
    assert_string_equal(nccl.text(1000), "unknown result code");
    assert_int_equal(cuda.set_device(0), 0);
    assert_int_equal(cuda.info(&before, &total), 0);
    assert_int_equal(nccl.mem_alloc(&p, 1000), SUCCESS);
    assert_int_equal(cuda.info(&after, &total), 0);
    assert_int_equal(before - after, 2 << 20);
    assert_int_equal(nccl.mem_free(p), SUCCESS);
    assert_int_equal(nccl.mem_free(p), CUDA_ERROR);
    assert_int_equal(cuda.info(&after, &total), 0);
    assert_int_equal(before, after);
    assert_int_equal(nccl.mem_alloc(&p, (size_t)1 << 40), CUDA_ERROR);
    assert_string_equal(nccl.last(NULL), "Cuda failure 2 'out of memory'");
    assert_int_equal(nccl.mem_alloc(&p, SIZE_MAX), INVALID_ARGUMENT); /* rounding would overflow */
    assert_int_equal(nccl.mem_alloc(&p, 0), INVALID_ARGUMENT);
    assert_int_equal(nccl.window(), INVALID_USAGE); /* not supported, with a remark */
}

/* The file of the shared memory is closed once all ranks have joined. */
static int n_open_files(void)
{
    int n = 0;
    for (int fd = 0; fd < 256; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

static void test_nothing_stays_open(void **state)
{
    (void)state;
    struct comm *comms[2];
    const int before = n_open_files();
    for (int i = 0; i < 5; i++) {
        assert_int_equal(nccl.init_all(comms, 2, NULL), SUCCESS);
        assert_int_equal(nccl.abort(comms[0]), SUCCESS);
        assert_int_equal(nccl.abort(comms[1]), SUCCESS);
    }
    assert_int_equal(n_open_files(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        /* with processes: before this one uses CUDA, which a child could not use then */
        cmocka_unit_test(test_reductions),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_registered),
        cmocka_unit_test(test_split),
        cmocka_unit_test(test_a_rank_that_dies),
        cmocka_unit_test(test_a_rank_that_leaves),
        cmocka_unit_test(test_ranks_that_disagree),
        cmocka_unit_test(test_missing_rank),
        cmocka_unit_test(test_configurations),
        cmocka_unit_test(test_charges),
        cmocka_unit_test(test_one_process_with_all_cards),
        cmocka_unit_test(test_small_floats),
        cmocka_unit_test(test_unsupported_calls),
        cmocka_unit_test(test_nothing_stays_open),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
