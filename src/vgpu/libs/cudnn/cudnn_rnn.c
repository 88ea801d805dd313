/* SPDX-License-Identifier: MIT */
/*
 * libcudnn: recurrent layers. The weights of a layer are the matrices and biases that the manual describes, one after
 * the other: their sizes and offsets follow from the parameters of the layer. Workspaces are assumed.
 */
#include "vgpu/libs/cudnn/cudnn_rnn.h"

#include "vgpu/libs/cudnn/cudnn_api.h"

#include <string.h>

struct rnn_data {
    int type, max_length, batch, vector;
};

status cudnnCreateRNNDescriptor(void **ret_object)
{
    return plim_cudnn_make(ret_object, CUDNN_RNN, sizeof(struct plim_cudnn_rnn));
}
status cudnnDestroyRNNDescriptor(void *object) { return plim_cudnn_drop(object, CUDNN_RNN); }
status cudnnCreateRNNDataDescriptor(void **ret_object)
{
    return plim_cudnn_make(ret_object, CUDNN_RNN_DATA, sizeof(struct rnn_data));
}
status cudnnDestroyRNNDataDescriptor(void *object) { return plim_cudnn_drop(object, CUDNN_RNN_DATA); }

status cudnnSetRNNDescriptor_v8(const void *object, int algorithm, int cell, int bias, int direction, int input_mode,
                                int type, int precision, int math_type, int32_t input, int32_t hidden,
                                int32_t projection, int32_t n_layers, const void *dropout, uint32_t flags)
{
    struct plim_cudnn_rnn *r = plim_handle_body(object, CUDNN_RNN);
    (void)algorithm, (void)precision, (void)math_type, (void)dropout, (void)flags;
    if (!r || cell < RNN_RELU || cell > RNN_GRU || bias < RNN_BIAS_NONE || bias > RNN_BIAS_SINGLE_RECURRENT ||
        !plim_cudnn_element(type) || input < 1 || hidden < 1 || projection < 0 || projection > hidden || n_layers < 1)
        return CUDNN_BAD_PARAM;
    *r = (struct plim_cudnn_rnn){ .is_set = true,
                                  .cell = cell,
                                  .bias = bias,
                                  .type = type,
                                  .skips_input = input_mode == 1,
                                  .n_directions = direction == 1 ? 2 : 1,
                                  .input = input,
                                  .hidden = hidden,
                                  .projection = projection == hidden ? 0 : projection,
                                  .n_layers = n_layers };
    return CUDNN_SUCCESS;
}

status cudnnSetRNNDataDescriptor(const void *object, int type, int layout, int max_length, int batch, int vector,
                                 const int *lengths, const void *fill)
{
    struct rnn_data *d = plim_handle_body(object, CUDNN_RNN_DATA);
    (void)layout, (void)fill;
    if (!d || !plim_cudnn_element(type) || max_length < 1 || batch < 1 || vector < 1 || !lengths)
        return CUDNN_BAD_PARAM;
    *d = (struct rnn_data){ type, max_length, batch, vector };
    return CUDNN_SUCCESS;
}

/* --- weights --- */

static const struct plim_cudnn_rnn *rnn_of(const void *object)
{
    const struct plim_cudnn_rnn *r = plim_handle_body(object, CUDNN_RNN);
    return r && r->is_set ? r : NULL;
}

static int64_t n_gates(const struct plim_cudnn_rnn *r) { return r->cell == RNN_LSTM ? 4 : r->cell == RNN_GRU ? 3 : 1; }
static int64_t output_of(const struct plim_cudnn_rnn *r) { return r->projection ? r->projection : r->hidden; }
static int64_t input_of(const struct plim_cudnn_rnn *r, int64_t layer)
{
    return layer ? output_of(r) * r->n_directions : r->skips_input ? 0 : r->input;
}
static int64_t n_biases(const struct plim_cudnn_rnn *r)
{
    return n_gates(r) * (r->bias == RNN_BIAS_NONE ? 0 : r->bias == RNN_BIAS_DOUBLE ? 2 : 1);
}

/* Elements of the matrices of one direction of a layer: gates of the input, gates of the state, projection. */
static int64_t matrices_of(const struct plim_cudnn_rnn *r, int64_t layer)
{
    return n_gates(r) * r->hidden * (input_of(r, layer) + output_of(r)) + r->projection * r->hidden;
}

static int64_t all_matrices(const struct plim_cudnn_rnn *r, int64_t n_pseudo)
{
    int64_t n = 0;
    for (int64_t i = 0; i < n_pseudo; i++)
        n += matrices_of(r, i / r->n_directions);
    return n;
}

status cudnnGetRNNWeightSpaceSize(const void *handle, const void *object, size_t *ret_bytes)
{
    const struct plim_cudnn_rnn *r = rnn_of(object);
    if (!plim_handle_body(handle, CUDNN_HANDLE) || !r || !ret_bytes)
        return CUDNN_BAD_PARAM;
    const int64_t n_pseudo = r->n_layers * r->n_directions;
    *ret_bytes = (size_t)(all_matrices(r, n_pseudo) + n_pseudo * n_biases(r) * r->hidden) * plim_cudnn_element(r->type);
    return CUDNN_SUCCESS;
}

/* A matrix as a tensor of three dimensions, the first of them 1; without rows: no matrix. */
static void describe(struct plim_cudnn_tensor *t, int type, int64_t n_rows, int64_t n_columns)
{
    *t = (struct plim_cudnn_tensor){ .type = type, .n = n_rows ? 3 : 0 };
    if (n_rows) {
        const int size[] = { 1, (int)n_rows, (int)n_columns };
        const int step[] = { (int)(n_rows * n_columns), (int)n_columns, 1 };
        memcpy(t->size, size, sizeof size);
        memcpy(t->step, step, sizeof step);
    }
}

/* The index of a bias: those of the input come first. Negative: no such bias. */
static int64_t bias_of(const struct plim_cudnn_rnn *r, int64_t linear)
{
    const int64_t gates = n_gates(r);
    if (linear >= 2 * gates || r->bias == RNN_BIAS_NONE)
        return -1;
    if (r->bias == RNN_BIAS_DOUBLE)
        return linear;
    const bool is_input = linear < gates;
    return is_input == (r->bias == RNN_BIAS_SINGLE_INPUT) ? linear % gates : -1;
}

status cudnnGetRNNWeightParams(const void *handle, const void *object, int32_t pseudo, size_t size, void *space,
                               int32_t linear, const void *matrix, void **ret_matrix, const void *bias, void **ret_bias)
{
    const struct plim_cudnn_rnn *r = rnn_of(object);
    struct plim_cudnn_tensor *m = plim_handle_body(matrix, CUDNN_TENSOR), *b = plim_handle_body(bias, CUDNN_TENSOR);
    size_t needed = 0;
    status done = cudnnGetRNNWeightSpaceSize(handle, object, &needed);
    if (done != CUDNN_SUCCESS)
        return done;
    const int64_t n_pseudo = r->n_layers * r->n_directions, gates = n_gates(r);
    const int64_t n_linear = 2 * gates + (r->projection ? 1 : 0);
    if ((matrix && !m) || (bias && !b) || pseudo < 0 || pseudo >= n_pseudo || linear < 0 || linear >= n_linear)
        return CUDNN_BAD_PARAM;
    if (size < needed)
        return CUDNN_SIZE_INSUFFICIENT;
    const int64_t layer = pseudo / r->n_directions, in = input_of(r, layer), out = output_of(r);
    const bool is_input = linear < gates, is_projection = linear == 2 * gates;
    const int64_t n_rows = is_projection ? r->projection : is_input && !in ? 0 : r->hidden;
    const int64_t n_columns = is_projection ? r->hidden : is_input ? in : out;
    const int64_t before =
        is_input ? linear * r->hidden * in : gates * r->hidden * in + (linear - gates) * r->hidden * out;
    const int64_t at = all_matrices(r, pseudo) + before, which = bias_of(r, linear);
    const int64_t bias_at = all_matrices(r, n_pseudo) + (pseudo * n_biases(r) + which) * r->hidden;
    const size_t element = plim_cudnn_element(r->type);
    /* either of the two may be NULL */
    if (m)
        describe(m, r->type, n_rows, n_columns);
    if (b)
        describe(b, r->type, which < 0 ? 0 : r->hidden, 1);
    if (ret_matrix)
        *ret_matrix = n_rows && space ? (char *)space + (size_t)at * element : NULL;
    if (ret_bias)
        *ret_bias = which >= 0 && space ? (char *)space + (size_t)bias_at * element : NULL;
    return CUDNN_SUCCESS;
}

/* --- workspaces --- */

static void assume(void)
{
    plim_vgpu_remark(
        "assumed", "cuDNN's recurrent layers have workspaces for the gates of a layer, and of all layers for training");
}

static size_t states_bytes(const struct plim_cudnn_rnn *r, size_t n_rows)
{
    return n_rows * (size_t)(r->n_directions * r->hidden) * plim_cudnn_element(r->type);
}

/* The gates of a layer for all steps. */
size_t plim_cudnn_rnn_work(const struct plim_cudnn_rnn *r, size_t n_rows)
{
    assume();
    return states_bytes(r, n_rows) * (size_t)n_gates(r);
}

/* Gates, cell and output of every layer. */
size_t plim_cudnn_rnn_reserve(const struct plim_cudnn_rnn *r, size_t n_rows)
{
    assume();
    return states_bytes(r, n_rows) * (size_t)((n_gates(r) + 2) * r->n_layers);
}

status cudnnGetRNNTempSpaceSizes(const void *handle, const void *object, int mode, const void *data, size_t *ret_work,
                                 size_t *ret_reserve)
{
    const struct plim_cudnn_rnn *r = rnn_of(object);
    const struct rnn_data *d = plim_handle_body(data, CUDNN_RNN_DATA);
    if (!plim_handle_body(handle, CUDNN_HANDLE) || !r || !d || !ret_work)
        return CUDNN_BAD_PARAM;
    const size_t n_rows = (size_t)d->max_length * (size_t)d->batch;
    *ret_work = plim_cudnn_rnn_work(r, n_rows);
    if (ret_reserve)
        *ret_reserve = mode ? plim_cudnn_rnn_reserve(r, n_rows) : 0;
    return CUDNN_SUCCESS;
}

status cudnnRNNForward(const void *handle, PLIM_WORDS) { return plim_cudnn_write(handle, PLIM_WORDS_GIVEN); }
status cudnnRNNBackwardData_v8(const void *handle, PLIM_WORDS) { return plim_cudnn_write(handle, PLIM_WORDS_GIVEN); }
status cudnnRNNBackwardWeights_v8(const void *handle, PLIM_WORDS) { return plim_cudnn_write(handle, PLIM_WORDS_GIVEN); }
