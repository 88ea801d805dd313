/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_KERNELS_MATRIX_PRODUCT_H
#define PLIMSOLL_VGPU_KERNELS_MATRIX_PRODUCT_H

/* Products of matrices, which libraries compute: C = alpha A B + beta C (+ bias), for each of a batch. */

#include "vgpu/kernels/element.h"

#include "vgpu/core/session.h"

enum { PLIM_PRODUCT_MOST = 1 << 20 /* multiplications; of more, C is forgotten */ };

/* Steps are in elements: of A for its row, column and batch, of B and C the same; A is m x k, B k x n, C m x n. */
struct plim_product {
    const void *a, *b, *bias; /* bias: NULL, or a number for each row of C */
    void *c;
    int64_t m, n, k, n_batches;
    int64_t a_step[3], b_step[3], c_step[3];
    double alpha, beta;
    bool is_plain;         /* nothing else is done, and alpha and beta are known; otherwise C is forgotten */
    bool is_indirect;      /* a, b and c are arrays in device memory, of an address for each of the batch */
    unsigned char c_bytes; /* of an element of C, which may be complex */
    unsigned char a_type, b_type, c_type, bias_type; /* enum plim_element; of complex ones NONE */
};

PLIM_VGPU_EXPORT void plim_product_apply(const struct plim_product *product);

/* As the libraries' functions spell a cudaDataType (library_types.h). */
PLIM_VGPU_EXPORT enum plim_element plim_product_type(int cuda_type, unsigned *ret_bytes);

/* A number of that type on the host. False: NULL, or of a type that is not read. */
PLIM_VGPU_EXPORT bool plim_product_scale(int cuda_type, const void *from, double *ret_value);

#endif
