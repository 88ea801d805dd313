/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_LIBS_CUDNN_CUDNN_RNN_H
#define PLIMSOLL_VGPU_LIBS_CUDNN_CUDNN_RNN_H

/* A recurrent layer as a program described it. */
#include "vgpu/libs/cudnn/cudnn.h"

enum { RNN_RELU = 0, RNN_TANH = 1, RNN_LSTM = 2, RNN_GRU = 3 };
enum { RNN_BIAS_NONE = 0, RNN_BIAS_SINGLE_INPUT = 1, RNN_BIAS_DOUBLE = 2, RNN_BIAS_SINGLE_RECURRENT = 3 };

struct plim_cudnn_rnn {
    bool is_set;
    int cell, bias, type, skips_input;
    int64_t n_directions, input, hidden, projection, n_layers;
};

/* Bytes for n_rows inputs of all steps together: of the workspace, and of what training keeps. Assumed. */
size_t plim_cudnn_rnn_work(const struct plim_cudnn_rnn *r, size_t n_rows);
size_t plim_cudnn_rnn_reserve(const struct plim_cudnn_rnn *r, size_t n_rows);

#endif
