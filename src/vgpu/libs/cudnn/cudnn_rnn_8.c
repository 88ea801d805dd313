/* SPDX-License-Identifier: MIT */
/*
 * libcudnn.so.8: the recurrent layers that cuDNN 9 dropped, after the manual of 8.9. A layer is described without the
 * size and type of its input, which come with each call; the weights are placed as those of the newer interface.
 */
#include "vgpu/libs/cudnn/cudnn_api.h"
#include "vgpu/libs/cudnn/cudnn_rnn.h"

static struct plim_cudnn_rnn *rnn_of(const void *object) { return plim_handle_body(object, CUDNN_RNN); }

status cudnnSetRNNDescriptor_v6(const void *handle, const void *object, int hidden, int n_layers, const void *dropout,
                                int input_mode, int direction, int cell, int algorithm, int precision)
{
    const status done = cudnnSetRNNDescriptor_v8(object, algorithm, cell, RNN_BIAS_DOUBLE, direction, input_mode,
                                                 precision, precision, 0, 1, hidden, 0, n_layers, dropout, 0);
    return plim_handle_body(handle, CUDNN_HANDLE) ? done : CUDNN_BAD_PARAM;
}

/* Settings without an effect here. */
status cudnnSetRNNMatrixMathType(const void *object, int math_type)
{
    (void)math_type;
    return rnn_of(object) ? CUDNN_SUCCESS : CUDNN_BAD_PARAM;
}

status cudnnSetRNNPaddingMode(const void *object, unsigned mode)
{
    (void)mode;
    return rnn_of(object) ? CUDNN_SUCCESS : CUDNN_BAD_PARAM;
}

status cudnnSetRNNBiasMode(const void *object, int bias)
{
    struct plim_cudnn_rnn *r = rnn_of(object);
    if (!r || bias < RNN_BIAS_NONE || bias > RNN_BIAS_SINGLE_RECURRENT)
        return CUDNN_BAD_PARAM;
    r->bias = bias;
    return CUDNN_SUCCESS;
}

/* A projection of the output alone must be off: 0. */
status cudnnSetRNNProjectionLayers(const void *handle, const void *object, int recurrent, int output)
{
    struct plim_cudnn_rnn *r = rnn_of(object);
    if (!plim_handle_body(handle, CUDNN_HANDLE) || !r || output || recurrent < 0 || recurrent > r->hidden)
        return CUDNN_BAD_PARAM;
    r->projection = recurrent == r->hidden ? 0 : recurrent;
    return CUDNN_SUCCESS;
}

/* The layer with the input of this call: a tensor of batch, elements, 1. NULL: one of the two is none. */
static struct plim_cudnn_rnn *with_input(const void *object, const void *x)
{
    struct plim_cudnn_rnn *r = rnn_of(object);
    const struct plim_cudnn_tensor *t = plim_handle_body(x, CUDNN_TENSOR);
    if (!r || !r->is_set || !t || t->n < 2)
        return NULL;
    r->input = t->size[1];
    r->type = t->type;
    return r;
}

status cudnnGetRNNParamsSize(const void *handle, const void *object, const void *x, size_t *ret_bytes, int type)
{
    struct plim_cudnn_rnn *r = with_input(object, x);
    if (!r || !plim_cudnn_element(type))
        return CUDNN_BAD_PARAM;
    r->type = type;
    return cudnnGetRNNWeightSpaceSize(handle, object, ret_bytes);
}

/* The inputs of all steps together; each step has a description, and the batch may get smaller. */
static size_t n_rows_of(int n_steps, const void *const *x)
{
    size_t n_rows = 0;
    for (int i = 0; i < n_steps; i++) {
        const struct plim_cudnn_tensor *t = plim_handle_body(x[i], CUDNN_TENSOR);
        n_rows += t ? (size_t)t->size[0] : 0;
    }
    return n_rows;
}

static status space_of(const void *handle, const void *object, int n_steps, const void *const *x, size_t *ret_bytes,
                       size_t (*bytes)(const struct plim_cudnn_rnn *r, size_t n_rows))
{
    const struct plim_cudnn_rnn *r = n_steps > 0 && x ? with_input(object, x[0]) : NULL;
    if (!plim_handle_body(handle, CUDNN_HANDLE) || !r || !ret_bytes)
        return CUDNN_BAD_PARAM;
    *ret_bytes = bytes(r, n_rows_of(n_steps, x));
    return CUDNN_SUCCESS;
}

status cudnnGetRNNWorkspaceSize(const void *handle, const void *object, int n_steps, const void *const *x,
                                size_t *ret_bytes)
{
    return space_of(handle, object, n_steps, x, ret_bytes, plim_cudnn_rnn_work);
}

status cudnnGetRNNTrainingReserveSize(const void *handle, const void *object, int n_steps, const void *const *x,
                                      size_t *ret_bytes)
{
    return space_of(handle, object, n_steps, x, ret_bytes, plim_cudnn_rnn_reserve);
}

/* A matrix and a bias are described by filters, which the newer interface takes as tensors: one for the time of the
 * call. */
static status place(const void *handle, const void *object, int pseudo, const void *x, void *space, int linear,
                    const void *filter, bool is_bias, void **ret_start)
{
    struct plim_cudnn_tensor *f = plim_handle_body(filter, CUDNN_FILTER), *t;
    if (!with_input(object, x) || !f || !ret_start)
        return CUDNN_BAD_PARAM;
    void *tensor = plim_handle_make(CUDNN_TENSOR, sizeof *t, (void **)&t);
    if (!tensor)
        return CUDNN_ALLOCATION_FAILED;
    void *other;
    const status done =
        cudnnGetRNNWeightParams(handle, object, pseudo, SIZE_MAX, space, linear, is_bias ? NULL : tensor,
                                is_bias ? &other : ret_start, is_bias ? tensor : NULL, is_bias ? ret_start : &other);
    if (done == CUDNN_SUCCESS)
        *f = *t;
    plim_handle_drop(tensor);
    return done;
}

status cudnnGetRNNLinLayerMatrixParams(const void *handle, const void *object, int pseudo, const void *x, const void *w,
                                       void *space, int linear, const void *matrix, void **ret_matrix)
{
    (void)w;
    return place(handle, object, pseudo, x, space, linear, matrix, false, ret_matrix);
}

status cudnnGetRNNLinLayerBiasParams(const void *handle, const void *object, int pseudo, const void *x, const void *w,
                                     void *space, int linear, const void *bias, void **ret_bias)
{
    (void)w;
    return place(handle, object, pseudo, x, space, linear, bias, true, ret_bias);
}

status cudnnRNNForwardInference(const void *handle, PLIM_WORDS) { return plim_cudnn_write(handle, PLIM_WORDS_GIVEN); }
status cudnnRNNForwardTraining(const void *handle, PLIM_WORDS) { return plim_cudnn_write(handle, PLIM_WORDS_GIVEN); }
status cudnnRNNBackwardWeights(const void *handle, PLIM_WORDS) { return plim_cudnn_write(handle, PLIM_WORDS_GIVEN); }

status cudnnRNNBackwardData(const void *handle, PLIM_WORDS, size_t work_bytes, uintptr_t reserve, size_t reserve_bytes)
{
    (void)work_bytes, (void)reserve_bytes;
    const status done = plim_cudnn_write(handle, PLIM_WORDS_GIVEN);
    return done == CUDNN_SUCCESS ? plim_cudnn_write_to(handle, reserve, 0) : done;
}
