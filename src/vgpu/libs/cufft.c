/* SPDX-License-Identifier: MIT */
/*
 * libcufft: plans and their work areas. Their size depends on NVIDIA's library: its manual gives the size of the data
 * or less as typical, and eight times that as the maximum. They are assumed as large as the data, and the receipt says
 * so. Transforms compute nothing. One source serves libcufft.so.10, .11 and .12 (PLIM_MAJOR).
 */
#include "vgpu/libs/cufft_api.h"
#include "vgpu/libs/library.h"

#include <string.h>

enum {
    SUCCESS = 0,
    INVALID_PLAN = 1,
    ALLOC_FAILED = 2,
    INVALID_TYPE = 3,
    INVALID_VALUE = 4,
    SETUP_FAILED = 7,
    INVALID_SIZE = 8
};
enum { PLAN = 1, MAX_PLANS = 1 << 16, MAX_RANK = 3 };

struct fft_plan {
    int device;
    bool is_made, has_no_area;
    size_t work_bytes;
    void *stream;
    struct plim_library_charge area;
};

/* A plan is a number to the program. */
static void *plans[MAX_PLANS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct fft_plan *plan_of(int number)
{
    return number > 0 && number < MAX_PLANS ? plim_handle_body(plans[number], PLAN) : NULL;
}

status cufftCreate(int *ret_plan)
{
    const int device = plim_library_device();
    if (!ret_plan)
        return INVALID_VALUE;
    if (device < 0)
        return SETUP_FAILED;
    struct fft_plan *plan;
    void *handle = plim_handle_make(PLAN, sizeof *plan, (void **)&plan);
    int number = 0;
    pthread_mutex_lock(&lock);
    for (int i = 1; handle && i < MAX_PLANS && !number; i++)
        number = plans[i] ? 0 : i;
    if (number)
        plans[number] = handle;
    pthread_mutex_unlock(&lock);
    if (!number) {
        plim_handle_drop(handle);
        return ALLOC_FAILED;
    }
    plan->device = device;
    *ret_plan = number;
    return SUCCESS;
}

status cufftDestroy(int number)
{
    pthread_mutex_lock(&lock);
    struct fft_plan *plan = plan_of(number);
    if (plan) {
        plim_library_uncharge(&plan->area);
        plim_handle_drop(plans[number]);
        plans[number] = NULL;
    }
    pthread_mutex_unlock(&lock);
    return plan ? SUCCESS : INVALID_PLAN;
}

/* --- sizes --- */

/* Bytes of one complex element, by cufftType: single 0x29, 0x2a, 0x2c, double 0x69, 0x6a, 0x6c. 0: no such type. */
static size_t element_of_type(int type)
{
    return type == 0x29 || type == 0x2a || type == 0x2c ? 8 : type == 0x69 || type == 0x6a || type == 0x6c ? 16 : 0;
}

/* The same by the cudaDataType in which it is computed: half (2, 6), bfloat16 (14, 15), float (0, 4), double (1, 5). */
static size_t element_of_data(int type)
{
    return type == 2 || type == 6 || type == 14 || type == 15 ? 4
           : type == 0 || type == 4                           ? 8
           : type == 1 || type == 5                           ? 16
                                                              : 0;
}

/* As large as the data. */
static status work_size(int rank, const long long *n, long long count, size_t element, size_t *ret_bytes)
{
    unsigned long long bytes = element;
    if (!element)
        return INVALID_TYPE;
    if (rank < 1 || rank > MAX_RANK || !n || count < 1)
        return INVALID_VALUE;
    for (int i = 0; i < rank; i++)
        if (n[i] < 1 || __builtin_mul_overflow(bytes, (unsigned long long)n[i], &bytes))
            return INVALID_SIZE;
    if (__builtin_mul_overflow(bytes, (unsigned long long)count, &bytes) || bytes > (1ULL << 50))
        return INVALID_SIZE;
    *ret_bytes = bytes;
    return SUCCESS;
}

static status size_of_many(int rank, const int *n, long long count, size_t element, size_t *ret_bytes)
{
    long long wide[MAX_RANK] = { 0 };
    for (int i = 0; n && i < rank && i < MAX_RANK; i++)
        wide[i] = n[i];
    return work_size(rank, n ? wide : NULL, count, element, ret_bytes);
}

/* Without automatic allocation the program provides the area. */
static status make(int number, status sized, size_t bytes, size_t *ret_bytes)
{
    struct fft_plan *plan = plan_of(number);
    if (!plan || plan->is_made)
        return INVALID_PLAN;
    if (sized != SUCCESS)
        return sized;
    if (!plan->has_no_area && !plim_library_charge(&plan->area, plan->device, PLIM_KIND_LIBRARY, bytes))
        return ALLOC_FAILED;
    plim_vgpu_remark("assumed",
                     "the work area of a cuFFT plan is as large as its data; the real one has 0 to 8 times that");
    plan->is_made = true;
    plan->work_bytes = bytes;
    if (ret_bytes)
        *ret_bytes = bytes;
    return SUCCESS;
}

#define IGNORE_LAYOUT                                                                                                  \
    (void)in_embed, (void)in_step, (void)in_distance, (void)out_embed, (void)out_step, (void)out_distance

status cufftMakePlan1d(int plan, int nx, int type, int count, size_t *ret_bytes)
{
    size_t bytes = 0;
    const status sized = size_of_many(1, &nx, count, element_of_type(type), &bytes);
    return make(plan, sized, bytes, ret_bytes);
}

status cufftMakePlan2d(int plan, int nx, int ny, int type, size_t *ret_bytes)
{
    size_t bytes = 0;
    const status sized = size_of_many(2, (const int[]){ nx, ny }, 1, element_of_type(type), &bytes);
    return make(plan, sized, bytes, ret_bytes);
}

status cufftMakePlan3d(int plan, int nx, int ny, int nz, int type, size_t *ret_bytes)
{
    size_t bytes = 0;
    const status sized = size_of_many(3, (const int[]){ nx, ny, nz }, 1, element_of_type(type), &bytes);
    return make(plan, sized, bytes, ret_bytes);
}

status cufftMakePlanMany(int plan, int rank, const int *n, CUFFT_LAYOUT(int), int type, int count, size_t *ret_bytes)
{
    size_t bytes = 0;
    IGNORE_LAYOUT;
    const status sized = size_of_many(rank, n, count, element_of_type(type), &bytes);
    return make(plan, sized, bytes, ret_bytes);
}

status cufftMakePlanMany64(int plan, int rank, const long long *n, CUFFT_LAYOUT(long long), int type, long long count,
                           size_t *ret_bytes)
{
    size_t bytes = 0;
    IGNORE_LAYOUT;
    const status sized = work_size(rank, n, count, element_of_type(type), &bytes);
    return make(plan, sized, bytes, ret_bytes);
}

status cufftXtMakePlanMany(int plan, int rank, const long long *n, const long long *in_embed, long long in_step,
                           long long in_distance, int in_type, const long long *out_embed, long long out_step,
                           long long out_distance, int out_type, long long count, size_t *ret_bytes, int type)
{
    size_t bytes = 0;
    IGNORE_LAYOUT;
    (void)in_type, (void)out_type;
    const status sized = work_size(rank, n, count, element_of_data(type), &bytes);
    return make(plan, sized, bytes, ret_bytes);
}

/* A plan made in one call. */
static status plan_at_once(int *ret_plan, int rank, const int *n, int type, int count)
{
    size_t bytes = 0;
    const status sized = size_of_many(rank, n, count, element_of_type(type), &bytes);
    status done = sized == SUCCESS ? cufftCreate(ret_plan) : sized;
    if (done == SUCCESS && (done = make(*ret_plan, sized, bytes, NULL)) != SUCCESS)
        cufftDestroy(*ret_plan);
    return done;
}

status cufftPlan1d(int *ret_plan, int nx, int type, int count) { return plan_at_once(ret_plan, 1, &nx, type, count); }

status cufftPlan2d(int *ret_plan, int nx, int ny, int type)
{
    return plan_at_once(ret_plan, 2, (const int[]){ nx, ny }, type, 1);
}

status cufftPlan3d(int *ret_plan, int nx, int ny, int nz, int type)
{
    return plan_at_once(ret_plan, 3, (const int[]){ nx, ny, nz }, type, 1);
}

status cufftPlanMany(int *ret_plan, int rank, const int *n, CUFFT_LAYOUT(int), int type, int count)
{
    IGNORE_LAYOUT;
    return plan_at_once(ret_plan, rank, n, type, count);
}

/* --- estimates: the same figure --- */

status cufftEstimate1d(int nx, int type, int count, size_t *ret_bytes)
{
    return ret_bytes ? size_of_many(1, &nx, count, element_of_type(type), ret_bytes) : INVALID_VALUE;
}

status cufftEstimate2d(int nx, int ny, int type, size_t *ret_bytes)
{
    return ret_bytes ? size_of_many(2, (const int[]){ nx, ny }, 1, element_of_type(type), ret_bytes) : INVALID_VALUE;
}

status cufftEstimate3d(int nx, int ny, int nz, int type, size_t *ret_bytes)
{
    return ret_bytes ? size_of_many(3, (const int[]){ nx, ny, nz }, 1, element_of_type(type), ret_bytes)
                     : INVALID_VALUE;
}

status cufftEstimateMany(int rank, const int *n, CUFFT_LAYOUT(int), int type, int count, size_t *ret_bytes)
{
    IGNORE_LAYOUT;
    return ret_bytes ? size_of_many(rank, n, count, element_of_type(type), ret_bytes) : INVALID_VALUE;
}

status cufftGetSize(int number, size_t *ret_bytes)
{
    const struct fft_plan *plan = plan_of(number);
    if (!plan || !ret_bytes)
        return plan ? INVALID_VALUE : INVALID_PLAN;
    *ret_bytes = plan->work_bytes;
    return SUCCESS;
}

/* --- state and work --- */

status cufftSetAutoAllocation(int number, int is_automatic)
{
    struct fft_plan *plan = plan_of(number);
    if (plan)
        plan->has_no_area = !is_automatic;
    return plan ? SUCCESS : INVALID_PLAN;
}

/* The library's own area is freed. */
status cufftSetWorkArea(int number, void *area)
{
    struct fft_plan *plan = plan_of(number);
    (void)area;
    if (plan)
        plim_library_uncharge(&plan->area);
    return plan ? SUCCESS : INVALID_PLAN;
}

status cufftSetStream(int number, void *stream)
{
    struct fft_plan *plan = plan_of(number);
    if (plan)
        plan->stream = stream;
    return plan ? SUCCESS : INVALID_PLAN;
}

static status run(int number, const void *in, const void *out)
{
    const struct fft_plan *plan = plan_of(number);
    return !plan || !plan->is_made                                      ? INVALID_PLAN
           : plim_library_write_to(plan->device, plan->stream, in, out) ? SUCCESS
                                                                        : ALLOC_FAILED;
}

/* Transforms to real numbers may overwrite their input. */
status cufftExecC2C(int plan, void *in, void *out)
{
    (void)in;
    return run(plan, NULL, out);
}
status cufftExecR2C(int plan, void *in, void *out)
{
    (void)in;
    return run(plan, NULL, out);
}
status cufftExecC2R(int plan, void *in, void *out) { return run(plan, in, out); }
status cufftExecZ2Z(int plan, void *in, void *out)
{
    (void)in;
    return run(plan, NULL, out);
}
status cufftExecD2Z(int plan, void *in, void *out)
{
    (void)in;
    return run(plan, NULL, out);
}
status cufftExecZ2D(int plan, void *in, void *out) { return run(plan, in, out); }
status cufftXtExec(int plan, void *in, void *out) { return run(plan, in, out); }

static const int version[] = { PLIM_MAJOR, PLIM_MINOR, PLIM_PATCH };

status cufftGetVersion(int *ret_version)
{
    if (!ret_version)
        return INVALID_VALUE;
    *ret_version = version[0] * 1000 + version[1] * 100 + version[2];
    return SUCCESS;
}

status cufftGetProperty(int part, int *value)
{
    if (part < 0 || part > 2 || !value)
        return INVALID_VALUE;
    *value = version[part];
    return SUCCESS;
}
