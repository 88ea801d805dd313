/* SPDX-License-Identifier: MIT */
/* The shared memory of the virtual NCCL's ranks: who may join it, and how long they wait for each other. */
#include "unit.h"
#include "vgpu/nccl/shm.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

static struct plim_nccl_shm_id room(void)
{
    struct plim_nccl_shm_id id;
    assert_true(plim_nccl_shm_make(&id));
    return id;
}

static enum plim_nccl_shm_result join(const struct plim_nccl_shm_id *id, int n_ranks, int rank)
{
    struct plim_nccl_shm *shm = NULL;
    const enum plim_nccl_shm_result result = plim_nccl_shm_join(id, n_ranks, rank, 0, &shm);
    if (result == PLIM_NCCL_SHM_OK)
        plim_nccl_shm_leave(shm);
    return result;
}

/* Another room, a device or a file that is none of ours is not joined, whatever its descriptor. */
static void test_only_this_room(void **state)
{
    struct plim_nccl_shm_id a = room(), b = room(), id;
    const int zero = open("/dev/zero", O_RDWR);
    (void)state;
    id = a;
    id.fd = b.fd;
    assert_int_equal(join(&id, 2, 0), PLIM_NCCL_SHM_GONE); /* the number of the room differs */
    id = a;
    id.nonce++;
    assert_int_equal(join(&id, 2, 0), PLIM_NCCL_SHM_GONE);
    id = a;
    id.magic++;
    assert_int_equal(join(&id, 2, 0), PLIM_NCCL_SHM_GONE);
    id = a;
    id.fd = zero;
    assert_int_equal(join(&id, 2, 0), PLIM_NCCL_SHM_GONE);
    assert_int_equal(join(&a, 2, 0), PLIM_NCCL_SHM_OK);
    plim_nccl_shm_forget(&a);
    assert_int_equal(join(&a, 2, 1), PLIM_NCCL_SHM_GONE);
    plim_nccl_shm_forget(&b);
    close(zero);
}

static void test_ranks(void **state)
{
    struct plim_nccl_shm_id id = room();
    (void)state;
    assert_int_equal(join(&id, 2, 0), PLIM_NCCL_SHM_OK);
    assert_int_equal(join(&id, 2, 0), PLIM_NCCL_SHM_TAKEN);
    assert_int_equal(join(&id, 3, 1), PLIM_NCCL_SHM_OTHER_N);
    assert_int_equal(join(&id, 2, 1), PLIM_NCCL_SHM_OK);
    plim_nccl_shm_forget(&id);
}

static bool never(struct plim_nccl_shm *shm, void *about, int *ret_lacks)
{
    (void)shm;
    *ret_lacks = *(int *)about;
    return false;
}

/* A rank that left, or whose process ended, will not come: nobody waits for it until the time is over. */
static void test_who_will_not_come(void **state)
{
    static const atomic_bool is_aborted;
    struct plim_nccl_shm_id id = room();
    struct plim_nccl_shm *mine = NULL;
    int lacks = 1, rank = -1;
    (void)state;
    setenv("PLIM_VGPU_NCCL_TIMEOUT", "1", 1);
    assert_int_equal(plim_nccl_shm_join(&id, 3, 0, 0, &mine), PLIM_NCCL_SHM_OK);
    assert_int_equal(join(&id, 3, 1), PLIM_NCCL_SHM_OK); /* joins, and leaves at once */
    assert_int_equal(plim_nccl_shm_wait(mine, never, &lacks, &is_aborted, &rank), PLIM_NCCL_SHM_DEAD);
    assert_int_equal(rank, 1);
    const pid_t child = fork();
    if (child == 0) {
        struct plim_nccl_shm *theirs;
        _exit(plim_nccl_shm_join(&id, 3, 2, 0, &theirs) != PLIM_NCCL_SHM_OK);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    lacks = 2;
    assert_int_equal(plim_nccl_shm_wait(mine, never, &lacks, &is_aborted, &rank), PLIM_NCCL_SHM_DEAD);
    lacks = -1; /* nobody in particular: that ends with the time */
    assert_int_equal(plim_nccl_shm_wait(mine, never, &lacks, &is_aborted, &rank), PLIM_NCCL_SHM_TIMEOUT);
    plim_nccl_shm_leave(mine);
    plim_nccl_shm_forget(&id);
}

static void test_turns(void **state)
{
    struct plim_nccl_shm_id id = room();
    struct plim_nccl_shm *mine = NULL;
    (void)state;
    assert_int_equal(plim_nccl_shm_join(&id, 2, 0, 0, &mine), PLIM_NCCL_SHM_OK);
    assert_ptr_equal(plim_nccl_shm_slot(mine, 0, 1) + 1, plim_nccl_shm_slot(mine, 1, 0));
    assert_ptr_equal(plim_nccl_shm_slot(mine, 1, 2), plim_nccl_shm_slot(mine, 1, 0));
    assert_ptr_not_equal(plim_nccl_shm_slot(mine, 1, 3), plim_nccl_shm_slot(mine, 1, 2));
    assert_ptr_equal(plim_nccl_shm_pair(mine, 0, 1) + 1, plim_nccl_shm_pair(mine, 1, 0));
    plim_nccl_shm_leave(mine);
    plim_nccl_shm_forget(&id);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_only_this_room),
        cmocka_unit_test(test_ranks),
        cmocka_unit_test(test_who_will_not_come),
        cmocka_unit_test(test_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
