/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_TESTS_CUDA_DOUBLE_DEVICE_H
#define PLIMSOLL_TESTS_CUDA_DOUBLE_DEVICE_H

/*
 * A test double of a CUDA machine: just enough of the runtime, the driver and cuBLAS for the stock llama.cpp CUDA
 * build to load a model and create a context where there is no GPU. Device memory is address space (never touched),
 * kernels do nothing, copies to the host give zeros. It answers only what the 82 symbols of that build ask.
 *
 * The environment describes the machine:
 *   PLIM_DOUBLE_DEVICES=MIB[:FREE_MIB][,...]   one entry per device       (default one of 81920)
 *   PLIM_DOUBLE_CC=M.N                         compute capability         (default 8.9)
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DOUBLE_MAX_DEVICES = 16 };

struct double_device {
    uint64_t total_bytes;
    uint64_t taken_bytes; /* what others hold when the program starts */
    uint64_t used_bytes;  /* what the program under test holds now */
    uint64_t peak_bytes;
};

struct double_machine {
    int n_devices;
    int cc_major, cc_minor;
    struct double_device device[DOUBLE_MAX_DEVICES];
};

/* The machine the environment describes; read once, the same for every library of the double. */
struct double_machine *double_machine(void);

/* Reserve size bytes of device address space charged to device; NULL when the device is full. */
void *double_alloc(int device, size_t size);

/* Give back what double_alloc() returned; false for a pointer it never gave. */
bool double_free(void *pointer);

/* True when pointer lies inside device address space. */
bool double_is_device(const void *pointer);

#endif
