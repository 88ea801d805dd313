/* SPDX-License-Identifier: MIT */
/* libcudnn: convolutions with the interface of descriptors, and the loss of CTC. */
#include "vgpu/libs/cudnn/cudnn.h"
#include "vgpu/libs/cudnn/cudnn_api.h"

#include <string.h>

struct convolution {
    int n, mode, compute_type, math_type, n_groups;
    int pad[CUDNN_MAX_DIMENSIONS], stride[CUDNN_MAX_DIMENSIONS], dilation[CUDNN_MAX_DIMENSIONS];
};

status cudnnCreateConvolutionDescriptor(void **ret_object)
{
    return plim_cudnn_make(ret_object, CUDNN_CONVOLUTION, sizeof(struct convolution));
}
status cudnnDestroyConvolutionDescriptor(void *object) { return plim_cudnn_drop(object, CUDNN_CONVOLUTION); }

status cudnnSetConvolutionNdDescriptor(const void *object, int n, const int *pad, const int *stride,
                                       const int *dilation, int mode, int compute_type)
{
    struct convolution *c = plim_handle_body(object, CUDNN_CONVOLUTION);
    if (!c || n < 1 || n > CUDNN_MAX_DIMENSIONS - 2 || !pad || !stride || !dilation)
        return CUDNN_BAD_PARAM;
    *c = (struct convolution){ .n = n, .mode = mode, .compute_type = compute_type, .n_groups = 1 };
    memcpy(c->pad, pad, (size_t)n * sizeof *pad);
    memcpy(c->stride, stride, (size_t)n * sizeof *stride);
    memcpy(c->dilation, dilation, (size_t)n * sizeof *dilation);
    return CUDNN_SUCCESS;
}

#define STATE(name, member)                                                                                            \
    status cudnnSetConvolution##name(const void *object, int value)                                                    \
    {                                                                                                                  \
        struct convolution *c = plim_handle_body(object, CUDNN_CONVOLUTION);                                           \
        if (c)                                                                                                         \
            c->member = value;                                                                                         \
        return c ? CUDNN_SUCCESS : CUDNN_BAD_PARAM;                                                                    \
    }                                                                                                                  \
    status cudnnGetConvolution##name(const void *object, int *ret_value)                                               \
    {                                                                                                                  \
        const struct convolution *c = plim_handle_body(object, CUDNN_CONVOLUTION);                                     \
        if (!c || !ret_value)                                                                                          \
            return CUDNN_BAD_PARAM;                                                                                    \
        *ret_value = c->member;                                                                                        \
        return CUDNN_SUCCESS;                                                                                          \
    }

STATE(GroupCount, n_groups)
STATE(MathType, math_type)

/* --- workspaces --- */

void plim_cudnn_assume_workspace(void)
{
    plim_vgpu_remark("assumed",
                     "cuDNN's workspaces are what a change of layout needs: the real sizes are not published");
}

/* The bytes of the tensor, or 0 if its channels are last. */
static size_t layout_bytes(const struct plim_cudnn_tensor *t, bool is_filter)
{
    size_t bytes = plim_cudnn_element(t->type);
    if (is_filter ? t->format == 1 : t->n < 2 || t->step[1] == 1)
        return 0;
    for (int i = 0; i < t->n; i++)
        bytes *= (size_t)t->size[i];
    return bytes;
}

/*
 * The algorithms that the manual describes as products "without actually explicitly forming the matrix" and without a
 * workspace for indices: number 0 in each of the three lists.
 */
enum { LEAN_ALGORITHM = 0, ALGORITHM = 1 };

static status workspace(int algorithm, const void *handle, const void *x, const void *w, const void *convolution,
                        const void *y, size_t *ret_bytes)
{
    const struct plim_cudnn_tensor *in = plim_handle_body(x, CUDNN_TENSOR), *out = plim_handle_body(y, CUDNN_TENSOR);
    const struct plim_cudnn_tensor *filter = plim_handle_body(w, CUDNN_FILTER);
    if (!plim_handle_body(handle, CUDNN_HANDLE) || !plim_handle_body(convolution, CUDNN_CONVOLUTION) || !in || !out ||
        !filter || !ret_bytes)
        return CUDNN_BAD_PARAM;
    plim_cudnn_assume_workspace();
    *ret_bytes = algorithm == LEAN_ALGORITHM
                     ? 0
                     : layout_bytes(in, false) + layout_bytes(filter, true) + layout_bytes(out, false);
    return CUDNN_SUCCESS;
}

status cudnnGetConvolutionForwardWorkspaceSize(const void *h, const void *x, const void *w, const void *c,
                                               const void *y, int algorithm, size_t *ret_bytes)
{
    return workspace(algorithm, h, x, w, c, y, ret_bytes);
}

status cudnnGetConvolutionBackwardDataWorkspaceSize(const void *h, const void *w, const void *dy, const void *c,
                                                    const void *dx, int algorithm, size_t *ret_bytes)
{
    return workspace(algorithm, h, dx, w, c, dy, ret_bytes);
}

status cudnnGetConvolutionBackwardFilterWorkspaceSize(const void *h, const void *x, const void *dy, const void *c,
                                                      const void *dw, int algorithm, size_t *ret_bytes)
{
    return workspace(algorithm, h, x, dw, c, dy, ret_bytes);
}

/* --- algorithms: the implicit product with precomputed indices; if that has a workspace, the lean one behind it --- */

static status perform(status sized, size_t bytes, const void *convolution, int n_wanted, int *ret_n,
                      struct cudnn_performance *results)
{
    const struct convolution *c = plim_handle_body(convolution, CUDNN_CONVOLUTION);
    if (sized != CUDNN_SUCCESS)
        return sized;
    if (n_wanted < 1 || !ret_n || !results)
        return CUDNN_BAD_PARAM;
    *ret_n = bytes && n_wanted > 1 ? 2 : 1;
    results[0] = (struct cudnn_performance){ ALGORITHM, CUDNN_SUCCESS, 1, bytes, 1, c->math_type, { 0 } };
    if (*ret_n > 1)
        results[1] = (struct cudnn_performance){ LEAN_ALGORITHM, CUDNN_SUCCESS, 1000, 0, 1, c->math_type, { 0 } };
    return CUDNN_SUCCESS;
}

status cudnnGetConvolutionForwardAlgorithm_v7(const void *h, const void *x, const void *w, const void *c, const void *y,
                                              int n_wanted, int *ret_n, struct cudnn_performance *results)
{
    size_t bytes = 0;
    const status sized = workspace(ALGORITHM, h, x, w, c, y, &bytes);
    return perform(sized, bytes, c, n_wanted, ret_n, results);
}

status cudnnGetConvolutionBackwardDataAlgorithm_v7(const void *h, const void *w, const void *dy, const void *c,
                                                   const void *dx, int n_wanted, int *ret_n,
                                                   struct cudnn_performance *results)
{
    size_t bytes = 0;
    const status sized = workspace(ALGORITHM, h, dx, w, c, dy, &bytes);
    return perform(sized, bytes, c, n_wanted, ret_n, results);
}

status cudnnGetConvolutionBackwardFilterAlgorithm_v7(const void *h, const void *x, const void *dy, const void *c,
                                                     const void *dw, int n_wanted, int *ret_n,
                                                     struct cudnn_performance *results)
{
    size_t bytes = 0;
    const status sized = workspace(ALGORITHM, h, x, dw, c, dy, &bytes);
    return perform(sized, bytes, c, n_wanted, ret_n, results);
}

status cudnnFindConvolutionForwardAlgorithmEx(const void *h, const void *x, const void *x_data, const void *w,
                                              const void *w_data, const void *c, const void *y, void *y_data,
                                              int n_wanted, int *ret_n, struct cudnn_performance *results, void *work,
                                              size_t size)
{
    (void)x_data, (void)w_data, (void)y_data, (void)work, (void)size;
    return cudnnGetConvolutionForwardAlgorithm_v7(h, x, w, c, y, n_wanted, ret_n, results);
}

status cudnnFindConvolutionBackwardDataAlgorithmEx(const void *h, const void *w, const void *w_data, const void *dy,
                                                   const void *dy_data, const void *c, const void *dx, void *dx_data,
                                                   int n_wanted, int *ret_n, struct cudnn_performance *results,
                                                   void *work, size_t size)
{
    (void)w_data, (void)dy_data, (void)dx_data, (void)work, (void)size;
    return cudnnGetConvolutionBackwardDataAlgorithm_v7(h, w, dy, c, dx, n_wanted, ret_n, results);
}

status cudnnFindConvolutionBackwardFilterAlgorithmEx(const void *h, const void *x, const void *x_data, const void *dy,
                                                     const void *dy_data, const void *c, const void *dw, void *dw_data,
                                                     int n_wanted, int *ret_n, struct cudnn_performance *results,
                                                     void *work, size_t size)
{
    (void)x_data, (void)dy_data, (void)dw_data, (void)work, (void)size;
    return cudnnGetConvolutionBackwardFilterAlgorithm_v7(h, x, dy, c, dw, n_wanted, ret_n, results);
}

/* The word that is the result, and that of the workspace, by the signatures in the manual. */
#define CONVOLUTION(name, result, workspace)                                                                           \
    status cudnn##name(const void *handle, PLIM_WORDS)                                                                 \
    {                                                                                                                  \
        const uintptr_t *words = PLIM_WORDS_GIVEN;                                                                     \
        return plim_cudnn_write_to(handle, words[(result)-1], words[(workspace)-1]);                                   \
    }
CONVOLUTION(ConvolutionForward, 12, 8)
CONVOLUTION(ConvolutionBiasActivationForward, 17, 8)
CONVOLUTION(ConvolutionBackwardData, 12, 8)
CONVOLUTION(ConvolutionBackwardFilter, 12, 8)
CONVOLUTION(ConvolutionBackwardBias, 6, 6)

/* --- CTC: two tables of probabilities over the labels and the blanks between them --- */

struct ctc {
    int max_label_length;
};

status cudnnCreateCTCLossDescriptor(void **ret_object)
{
    return plim_cudnn_make(ret_object, CUDNN_CTC, sizeof(struct ctc));
}
status cudnnDestroyCTCLossDescriptor(void *object) { return plim_cudnn_drop(object, CUDNN_CTC); }

status cudnnSetCTCLossDescriptorEx(const void *object, int type, int norm, int gradient)
{
    (void)type, (void)norm, (void)gradient;
    return plim_handle_body(object, CUDNN_CTC) ? CUDNN_SUCCESS : CUDNN_BAD_PARAM;
}

status cudnnSetCTCLossDescriptor_v9(const void *object, int type, int norm, int gradient, int max_label_length)
{
    struct ctc *ctc = plim_handle_body(object, CUDNN_CTC);
    (void)type, (void)norm, (void)gradient;
    if (!ctc || max_label_length < 0)
        return CUDNN_BAD_PARAM;
    ctc->max_label_length = max_label_length;
    return CUDNN_SUCCESS;
}

#if PLIM_MAJOR < 9
status cudnnSetCTCLossDescriptor_v8(const void *object, int type, int norm, int gradient, int max_label_length)
{
    return cudnnSetCTCLossDescriptor_v9(object, type, norm, gradient, max_label_length);
}
#endif

static status ctc_workspace(const void *handle, const void *probabilities, int longest, size_t *ret_bytes)
{
    const struct plim_cudnn_tensor *t = plim_handle_body(probabilities, CUDNN_TENSOR);
    if (!plim_handle_body(handle, CUDNN_HANDLE) || !t || t->n < 2 || longest < 0 || !ret_bytes)
        return CUDNN_BAD_PARAM;
    plim_vgpu_remark("assumed", "the workspace of cuDNN's CTC loss is two tables over labels and blanks");
    *ret_bytes = 2 * sizeof(float) * (size_t)t->size[0] * (size_t)t->size[1] * (2 * (size_t)longest + 1);
    return CUDNN_SUCCESS;
}

status cudnnGetCTCLossWorkspaceSize(const void *handle, const void *probabilities, const void *gradients,
                                    const int *labels, const int *label_lengths, const int *input_lengths,
                                    int algorithm, const void *object, size_t *ret_bytes)
{
    const struct plim_cudnn_tensor *t = plim_handle_body(probabilities, CUDNN_TENSOR);
    int longest = 0;
    (void)gradients, (void)labels, (void)input_lengths, (void)algorithm, (void)object;
    for (int i = 0; t && label_lengths && i < t->size[1]; i++)
        longest = label_lengths[i] > longest ? label_lengths[i] : longest;
    return ctc_workspace(handle, probabilities, longest, ret_bytes);
}

status cudnnGetCTCLossWorkspaceSize_v8(const void *handle, int algorithm, const void *object, const void *probabilities,
                                       const void *gradients, size_t *ret_bytes)
{
    const struct ctc *ctc = plim_handle_body(object, CUDNN_CTC);
    (void)algorithm, (void)gradients;
    return ctc ? ctc_workspace(handle, probabilities, ctc->max_label_length, ret_bytes) : CUDNN_BAD_PARAM;
}

status cudnnCTCLoss(const void *handle, PLIM_WORDS) { return plim_cudnn_write(handle, PLIM_WORDS_GIVEN); }
status cudnnCTCLoss_v8(const void *handle, PLIM_WORDS) { return plim_cudnn_write(handle, PLIM_WORDS_GIVEN); }
