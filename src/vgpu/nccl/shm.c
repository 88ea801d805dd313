/* SPDX-License-Identifier: MIT */
/*
 * The file is a memfd; others open it as /proc/PID/fd/N of the process that made it. After the head come two slots per
 * rank, used in turn, and a ring of messages for each pair of ranks. The file is sparse: only used pages take memory.
 */
#include "vgpu/nccl/shm.h"

#include "vgpu/core/process.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const uint64_t magic = 0x706c696d73686d31; /* "plimshm1" */

/* The shared memories that this process made and others may still open. */
struct made {
    struct plim_nccl_shm_id id;
    struct made *next;
};
static struct made *all_made;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* --- making --- */

bool plim_nccl_shm_make(struct plim_nccl_shm_id *ret_id)
{
    struct plim_nccl_shm_head head = { .magic = magic };
    struct made *made = calloc(1, sizeof *made);
    int fd = made ? memfd_create("plimsoll-nccl", MFD_CLOEXEC) : -1;
    const bool is_made = fd >= 0 && getrandom(&head.nonce, sizeof head.nonce, 0) == sizeof head.nonce &&
                         pwrite(fd, &head, sizeof head, 0) == sizeof head;
    if (!is_made) {
        if (fd >= 0)
            close(fd);
        free(made);
        return false;
    }
    *ret_id = made->id = (struct plim_nccl_shm_id){ magic, head.nonce, getpid(), fd };
    pthread_mutex_lock(&lock);
    made->next = all_made;
    all_made = made;
    pthread_mutex_unlock(&lock);
    return true;
}

void plim_nccl_shm_forget(const struct plim_nccl_shm_id *id)
{
    struct made *found = NULL;
    pthread_mutex_lock(&lock);
    for (struct made **link = &all_made; *link && !found; link = found ? link : &(*link)->next)
        if ((*link)->id.nonce == id->nonce && (*link)->id.pid == getpid()) {
            found = *link;
            *link = found->next;
        }
    pthread_mutex_unlock(&lock);
    if (found)
        close(found->id.fd);
    free(found);
}

/* --- joining and leaving --- */

static size_t slots_offset(void) { return (sizeof(struct plim_nccl_shm_head) + 4095) / 4096 * 4096; }

static size_t size_for(int n_ranks)
{
    const size_t n = (size_t)n_ranks;
    return slots_offset() + 2 * n * sizeof(struct plim_nccl_shm_slot) + n * n * sizeof(struct plim_nccl_shm_pair);
}

struct plim_nccl_shm_slot *plim_nccl_shm_slot(struct plim_nccl_shm *shm, int rank, uint64_t turn)
{
    struct plim_nccl_shm_slot *slots = (struct plim_nccl_shm_slot *)((char *)shm->head + slots_offset());
    return &slots[2 * (size_t)rank + turn % 2];
}

struct plim_nccl_shm_pair *plim_nccl_shm_pair(struct plim_nccl_shm *shm, int from, int to)
{
    struct plim_nccl_shm_pair *pairs = (struct plim_nccl_shm_pair *)plim_nccl_shm_slot(shm, shm->n_ranks, 0);
    return &pairs[(size_t)from * (size_t)shm->n_ranks + (size_t)to];
}

/* Start time of a process; 0: it has ended. */
static uint64_t began(int pid)
{
    struct plim_process process;
    return plim_process_read(pid, &process) && !process.is_ended ? process.start_ticks : 0;
}

static bool is_gone(const struct plim_nccl_shm_rank *rank)
{
    const int pid = atomic_load(&rank->pid);
    if (!pid || pid == getpid())
        return false;
    const uint64_t ticks = began(pid);
    return !ticks || ticks != rank->start_ticks;
}

static int open_room(const struct plim_nccl_shm_id *id)
{
    char path[64];
    struct plim_nccl_shm_head head;
    struct stat status;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", id->pid, id->fd);
    int fd = id->magic == magic ? open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK) : -1;
    const bool is_room = fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
                         pread(fd, &head, sizeof head, 0) == sizeof head && head.magic == magic &&
                         head.nonce == id->nonce;
    if (fd >= 0 && !is_room)
        close(fd);
    return is_room ? fd : -1;
}

enum plim_nccl_shm_result plim_nccl_shm_join(const struct plim_nccl_shm_id *id, int n_ranks, int rank, int card,
                                             struct plim_nccl_shm **ret_room)
{
    const size_t size = size_for(n_ranks);
    struct stat status;
    struct plim_nccl_shm *shm = calloc(1, sizeof *shm);
    int fd = shm ? open_room(id) : -1;
    void *start = MAP_FAILED;
    if (fd >= 0 && fstat(fd, &status) == 0 &&
        (status.st_size >= (off_t)size || ftruncate(fd, (off_t)size) == 0)) /* it only grows */
        start = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    if (fd >= 0)
        close(fd);
    if (start == MAP_FAILED) {
        free(shm);
        return shm && fd < 0 ? PLIM_NCCL_SHM_GONE : PLIM_NCCL_SHM_NO_MEMORY;
    }
    *shm = (struct plim_nccl_shm){ start, size, *id, n_ranks, rank };
    struct plim_nccl_shm_rank *me = &shm->head->rank[rank];
    int before = 0, nobody = 0;
    const bool is_same_n = atomic_compare_exchange_strong(&shm->head->n_ranks, &before, n_ranks) || before == n_ranks;
    bool is_mine = false;
    if (is_same_n && atomic_load(&me->pid) == 0) {
        me->start_ticks = began(getpid());
        me->card = card;
        is_mine = atomic_compare_exchange_strong(&me->pid, &nobody, getpid());
    }
    if (!is_mine) {
        munmap(start, size);
        free(shm);
        return is_same_n ? PLIM_NCCL_SHM_TAKEN : PLIM_NCCL_SHM_OTHER_N;
    }
    plim_nccl_shm_ring(shm);
    *ret_room = shm;
    return PLIM_NCCL_SHM_OK;
}

void plim_nccl_shm_leave(struct plim_nccl_shm *shm)
{
    if (!shm)
        return;
    atomic_store(&shm->head->rank[shm->rank].has_left, true);
    plim_nccl_shm_ring(shm);
    munmap(shm->head, shm->size);
    free(shm);
}

/* --- waiting --- */

void plim_nccl_shm_ring(struct plim_nccl_shm *shm)
{
    atomic_fetch_add(&shm->head->bell, 1);
    syscall(SYS_futex, &shm->head->bell, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

/* PyTorch's default timeout of a collective, unless the environment sets another. */
static uint64_t patience_ms(void)
{
    const char *text = getenv("PLIM_VGPU_NCCL_TIMEOUT");
    const uint64_t seconds = text ? strtoull(text, NULL, 10) : 600;
    return (seconds && seconds < 1000000 ? seconds : 600) * 1000;
}

static uint64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* The rank that will not arrive: it has ended or, if it never joined, the process that made the shared memory has. */
static bool is_hopeless(struct plim_nccl_shm *shm, int rank)
{
    const struct plim_nccl_shm_rank *r = &shm->head->rank[rank];
    if (atomic_load(&r->pid) == 0)
        return began(shm->id.pid) == 0;
    return atomic_load(&r->has_left) || is_gone(r);
}

enum plim_nccl_shm_result plim_nccl_shm_wait(struct plim_nccl_shm *shm, plim_nccl_shm_condition *is_so, void *about,
                                             const atomic_bool *is_aborted, int *ret_rank)
{
    static const struct timespec look_around = { 0, 100 * 1000 * 1000 };
    const uint64_t until_ms = now_ms() + patience_ms();
    bool is_first = true;
    for (;;) {
        int lacks = -1;
        const unsigned heard = atomic_load(&shm->head->bell);
        if (is_so(shm, about, &lacks))
            return PLIM_NCCL_SHM_OK;
        *ret_rank = lacks;
        if (atomic_load(is_aborted))
            return PLIM_NCCL_SHM_ABORTED;
        /* It may have arrived and left since the check. */
        if (!is_first && lacks >= 0 && is_hopeless(shm, lacks))
            return is_so(shm, about, &lacks) ? PLIM_NCCL_SHM_OK : PLIM_NCCL_SHM_DEAD;
        if (now_ms() >= until_ms)
            return PLIM_NCCL_SHM_TIMEOUT;
        syscall(SYS_futex, &shm->head->bell, FUTEX_WAIT, heard, &look_around, NULL, 0);
        is_first = false;
    }
}
