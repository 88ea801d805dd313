/* SPDX-License-Identifier: MIT */
#include "vgpu/kernels/random/philox.h"

#include "vgpu/kernels/view.h"

#include <math.h>
#include <string.h>

struct plim_philox plim_philox_of(const void *parameter)
{
    struct {
        uint64_t seed, offset;
        uint32_t offset_in_graph; /* the low half of it in later versions */
    } state;
    struct plim_philox philox = { .known = PLIM_SHADOW_KNOWN };
    memcpy(&state, parameter, 2 * sizeof state.seed + sizeof state.offset_in_graph);
    const void *seed = (const void *)(uintptr_t)state.seed, *offset = (const void *)(uintptr_t)state.offset;
    philox.seed = state.seed;
    philox.offset = state.offset;
    if (plim_view_is_memory(seed) && plim_view_is_memory(offset)) {
        philox.known = plim_less_known(plim_shadow_read(&philox.seed, seed, sizeof philox.seed),
                                       plim_shadow_read(&philox.offset, offset, sizeof philox.offset));
        philox.offset += state.offset_in_graph;
    }
    return philox;
}

/* The constants are those of the paper. */
static void encrypt(const uint32_t counter[4], uint64_t seed, uint32_t ret[4])
{
    enum { ROUNDS = 10 };
    uint32_t key[2] = { (uint32_t)seed, (uint32_t)(seed >> 32) };
    memcpy(ret, counter, 4 * sizeof *ret);
    for (int i = 0; i < ROUNDS; i++) {
        const uint64_t a = (uint64_t)0xD2511F53 * ret[0], b = (uint64_t)0xCD9E8D57 * ret[2];
        const uint32_t next[4] = { (uint32_t)(b >> 32) ^ ret[1] ^ key[0], (uint32_t)b,
                                   (uint32_t)(a >> 32) ^ ret[3] ^ key[1], (uint32_t)a };
        memcpy(ret, next, sizeof next);
        key[0] += 0x9E3779B9;
        key[1] += 0xBB67AE85;
    }
}

/* The counter: 64 bits for the place in the stream, 64 for the stream. */
static void block_of(const struct plim_philox *philox, uint64_t stream, uint64_t block, uint32_t ret[4])
{
    const uint32_t counter[4] = { (uint32_t)block, (uint32_t)(block >> 32), (uint32_t)stream,
                                  (uint32_t)(stream >> 32) };
    encrypt(counter, philox->seed, ret);
}

void plim_philox_four(const struct plim_philox *philox, uint64_t stream, uint64_t from, uint32_t ret_numbers[4])
{
    uint32_t two_blocks[8];
    const uint64_t first = philox->offset + from;
    block_of(philox, stream, first / 4, two_blocks);
    if (first % 4)
        block_of(philox, stream, first / 4 + 1, two_blocks + 4);
    memcpy(ret_numbers, two_blocks + first % 4, 4 * sizeof *ret_numbers);
}

/* _curand_uniform() of curand_uniform.h: the number, in float, times 2^-32, plus 2^-33. */
float plim_philox_uniform(uint32_t number) { return (float)number * 0x1p-32f + 0x1p-33f; }

/* _curand_uniform_double_hq() of curand_uniform.h. */
double plim_philox_uniform_double(uint32_t low, uint32_t high)
{
    const uint64_t bits = low ^ (uint64_t)high << 21;
    return (double)bits * 0x1p-53 + 0x1p-54;
}

/* Box and Muller, as _curand_box_muller() of curand_normal.h has it: the sine first. */
static void box_muller(double uniform, double turns, double ret_normals[2])
{
    const double radius = sqrt(-2 * log(uniform)), angle = 2 * acos(-1) * turns;
    ret_normals[0] = radius * sin(angle);
    ret_normals[1] = radius * cos(angle);
}

void plim_philox_normal(const uint32_t numbers[4], double ret_normals[4])
{
    for (int i = 0; i < 4; i += 2)
        box_muller((double)plim_philox_uniform(numbers[i]), (double)plim_philox_uniform(numbers[i + 1]),
                   ret_normals + i);
}

void plim_philox_normal_double(const uint32_t numbers[4], double ret_normals[2])
{
    box_muller(plim_philox_uniform_double(numbers[0], numbers[1]), plim_philox_uniform_double(numbers[2], numbers[3]),
               ret_normals);
}
