/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_KERNELS_RANDOM_PHILOX_H
#define PLIMSOLL_VGPU_KERNELS_RANDOM_PHILOX_H

/*
 * The generator of PyTorch's random numbers on a card: Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random
 * numbers: as easy as 1, 2, 3; 2011), as cuRAND's device API arranges it. Each thread has a stream of 32-bit numbers.
 */

#include "vgpu/values/shadow.h"

/*
 * What a kernel gets: at::PhiloxCudaState (ATen/cuda/detail/PhiloxCudaStateRaw.cuh): seed, offset, the offset in a
 * graph, and a flag, which is at another place in PyTorch 2.5 than later. While a graph is captured, and then only,
 * seed and offset are pointers to device memory.
 */
struct plim_philox {
    uint64_t seed, offset; /* of each stream: the numbers that are left out */
    enum plim_shadow_known known;
};

/* A tensor with more random numbers is not worth its memory: nobody decides by that many. */
enum { PLIM_PHILOX_MAX_NUMBERS = 1 << 16 };

struct plim_philox plim_philox_of(const void *parameter);

/* Four numbers of a stream, from number `from` on behind the offset. */
void plim_philox_four(const struct plim_philox *philox, uint64_t stream, uint64_t from, uint32_t ret_numbers[4]);

/* As curand_uniform(): from (0, 1]. */
float plim_philox_uniform(uint32_t number);

/* As curand_uniform2_double() of two of four numbers. */
double plim_philox_uniform_double(uint32_t low, uint32_t high);

/*
 * As curand_normal4() of four numbers, and curand_normal2_double(), which gives two. A card takes fast functions for
 * float: its values differ by some 1e-6.
 */
void plim_philox_normal(const uint32_t numbers[4], double ret_normals[4]);
void plim_philox_normal_double(const uint32_t numbers[4], double ret_normals[2]);

#endif
