/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_LIBS_CUDNN_CUDNN_API_H
#define PLIMSOLL_VGPU_LIBS_CUDNN_CUDNN_API_H

/*
 * The functions of the cuDNN API that have a body in libcudnn.so.8 and .9: our own declarations after the manuals
 * of 8.9 and 9. Those that both have are alike.
 */

#include "vgpu/core/cuda_api.h"
#include "vgpu/libs/words.h"

/* cudnnConvolutionFwdAlgoPerf_t and its two siblings. */
struct cudnn_performance {
    int algorithm, status;
    float time_ms;
    size_t memory_bytes;
    int determinism, math_type, reserved[3];
};
_Static_assert(sizeof(struct cudnn_performance) == 48, "cudnnConvolutionFwdAlgoPerf_t");

/* --- handles, tensors, layers --- */

status cudnnCreate(void **ret_handle);
status cudnnDestroy(void *handle);
status cudnnSetStream(const void *handle, void *stream);
status cudnnGetStream(const void *handle, void **ret_stream);
size_t cudnnGetVersion(void);
status cudnnGraphVersionCheck(void);
status cudnnOpsVersionCheck(void);
status cudnnCnnVersionCheck(void);
status cudnnAdvVersionCheck(void);
size_t cudnnGetMaxDeviceVersion(void);
size_t cudnnGetCudartVersion(void);
status cudnnGetProperty(int part, int *value);
const char *cudnnGetErrorString(status code);
void cudnnGetLastErrorString(char *message, size_t size);
status cudnnSetTensorNdDescriptor(const void *object, int type, int n, const int *size, const int *step);
status cudnnSetTensor4dDescriptor(const void *object, int format, int type, int n, int c, int h, int w);
status cudnnSetTensor4dDescriptorEx(const void *object, int type, int n, int c, int h, int w, int n_step, int c_step,
                                    int h_step, int w_step);
status cudnnGetTensorNdDescriptor(const void *object, int n_wanted, int *ret_type, int *ret_n, int *size, int *step);
status cudnnSetFilterNdDescriptor(const void *object, int type, int format, int n, const int *size);
status cudnnSetFilter4dDescriptor(const void *object, int type, int format, int k, int c, int h, int w);
status cudnnGetFilterNdDescriptor(const void *object, int n_wanted, int *ret_type, int *ret_format, int *ret_n,
                                  int *size);
status cudnnDropoutGetStatesSize(const void *handle, size_t *ret_bytes);
status cudnnSetDropoutDescriptor(const void *object, const void *handle, float rate, void *states, size_t size,
                                 unsigned long long seed);
status cudnnRestoreDropoutDescriptor(const void *object, const void *handle, float rate, void *states, size_t size,
                                     unsigned long long seed);
status cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(const void *handle, int mode, int operation,
                                                                const void *x, const void *z, const void *y,
                                                                const void *scale, const void *activation,
                                                                size_t *ret_bytes);
status cudnnGetBatchNormalizationBackwardExWorkspaceSize(const void *handle, int mode, int operation, const void *x,
                                                         const void *y, const void *dy, const void *dz, const void *dx,
                                                         const void *scale, const void *activation, size_t *ret_bytes);
status cudnnGetBatchNormalizationTrainingExReserveSpaceSize(const void *handle, int mode, int operation,
                                                            const void *activation, const void *x, size_t *ret_bytes);

/* Descriptions: X(name, kind, bytes). */
#define CUDNN_DESCRIPTIONS(X)                                                                                          \
    X(Tensor, CUDNN_TENSOR, sizeof(struct plim_cudnn_tensor))                                                          \
    X(Filter, CUDNN_FILTER, sizeof(struct plim_cudnn_tensor))                                                          \
    X(Pooling, CUDNN_POOLING, 1)                                                                                       \
    X(Activation, CUDNN_ACTIVATION, 1)                                                                                 \
    X(Dropout, CUDNN_DROPOUT, 1)                                                                                       \
    X(SpatialTransformer, CUDNN_SPATIAL, 1)
#define CUDNN_CREATE(name)  status cudnnCreate##name##Descriptor(void **ret_object)
#define CUDNN_DESTROY(name) status cudnnDestroy##name##Descriptor(void *object)
#define DECLARE(name, kind, size)                                                                                      \
    CUDNN_CREATE(name);                                                                                                \
    CUDNN_DESTROY(name);
CUDNN_DESCRIPTIONS(DECLARE)
#undef DECLARE

status cudnnSetPooling2dDescriptor(const void *object);
status cudnnSetPoolingNdDescriptor(const void *object);
status cudnnSetActivationDescriptor(const void *object);
status cudnnSetSpatialTransformerNdDescriptor(const void *object);

/* Layers that write device memory only. */
#define CUDNN_LAYERS(X)                                                                                                \
    X(ActivationForward)                                                                                               \
    X(ActivationBackward)                                                                                              \
    X(AddTensor)                                                                                                       \
    X(OpTensor)                                                                                                        \
    X(ScaleTensor)                                                                                                     \
    X(SetTensor)                                                                                                       \
    X(TransformTensor)                                                                                                 \
    X(SoftmaxForward)                                                                                                  \
    X(SoftmaxBackward)                                                                                                 \
    X(PoolingForward)                                                                                                  \
    X(PoolingBackward)                                                                                                 \
    X(DropoutForward)                                                                                                  \
    X(DropoutBackward)                                                                                                 \
    X(SpatialTfGridGeneratorForward)                                                                                   \
    X(SpatialTfGridGeneratorBackward)                                                                                  \
    X(SpatialTfSamplerForward)                                                                                         \
    X(SpatialTfSamplerBackward)                                                                                        \
    X(BatchNormalizationForwardInference)                                                                              \
    X(BatchNormalizationForwardTraining)                                                                               \
    X(BatchNormalizationForwardTrainingEx)                                                                             \
    X(BatchNormalizationBackward)                                                                                      \
    X(BatchNormalizationBackwardEx)
#define DECLARE(name) status cudnn##name(const void *handle, PLIM_WORDS);
CUDNN_LAYERS(DECLARE)
#undef DECLARE

/* --- convolutions, CTC --- */

status cudnnCreateConvolutionDescriptor(void **ret_object);
status cudnnDestroyConvolutionDescriptor(void *object);
status cudnnSetConvolutionNdDescriptor(const void *object, int n, const int *pad, const int *stride,
                                       const int *dilation, int mode, int compute_type);
status cudnnGetConvolutionForwardWorkspaceSize(const void *h, const void *x, const void *w, const void *c,
                                               const void *y, int algorithm, size_t *ret_bytes);
status cudnnGetConvolutionBackwardDataWorkspaceSize(const void *h, const void *w, const void *dy, const void *c,
                                                    const void *dx, int algorithm, size_t *ret_bytes);
status cudnnGetConvolutionBackwardFilterWorkspaceSize(const void *h, const void *x, const void *dy, const void *c,
                                                      const void *dw, int algorithm, size_t *ret_bytes);
status cudnnGetConvolutionForwardAlgorithm_v7(const void *h, const void *x, const void *w, const void *c, const void *y,
                                              int n_wanted, int *ret_n, struct cudnn_performance *results);
status cudnnGetConvolutionBackwardDataAlgorithm_v7(const void *h, const void *w, const void *dy, const void *c,
                                                   const void *dx, int n_wanted, int *ret_n,
                                                   struct cudnn_performance *results);
status cudnnGetConvolutionBackwardFilterAlgorithm_v7(const void *h, const void *x, const void *dy, const void *c,
                                                     const void *dw, int n_wanted, int *ret_n,
                                                     struct cudnn_performance *results);
status cudnnFindConvolutionForwardAlgorithmEx(const void *h, const void *x, const void *x_data, const void *w,
                                              const void *w_data, const void *c, const void *y, void *y_data,
                                              int n_wanted, int *ret_n, struct cudnn_performance *results, void *work,
                                              size_t size);
status cudnnFindConvolutionBackwardDataAlgorithmEx(const void *h, const void *w, const void *w_data, const void *dy,
                                                   const void *dy_data, const void *c, const void *dx, void *dx_data,
                                                   int n_wanted, int *ret_n, struct cudnn_performance *results,
                                                   void *work, size_t size);
status cudnnFindConvolutionBackwardFilterAlgorithmEx(const void *h, const void *x, const void *x_data, const void *dy,
                                                     const void *dy_data, const void *c, const void *dw, void *dw_data,
                                                     int n_wanted, int *ret_n, struct cudnn_performance *results,
                                                     void *work, size_t size);
status cudnnConvolutionForward(const void *handle, PLIM_WORDS);
status cudnnConvolutionBiasActivationForward(const void *handle, PLIM_WORDS);
status cudnnConvolutionBackwardData(const void *handle, PLIM_WORDS);
status cudnnConvolutionBackwardFilter(const void *handle, PLIM_WORDS);
status cudnnConvolutionBackwardBias(const void *handle, PLIM_WORDS);
status cudnnCreateCTCLossDescriptor(void **ret_object);
status cudnnDestroyCTCLossDescriptor(void *object);
status cudnnSetCTCLossDescriptorEx(const void *object, int type, int norm, int gradient);
status cudnnSetCTCLossDescriptor_v9(const void *object, int type, int norm, int gradient, int max_label_length);
status cudnnGetCTCLossWorkspaceSize(const void *handle, const void *probabilities, const void *gradients,
                                    const int *labels, const int *label_lengths, const int *input_lengths,
                                    int algorithm, const void *object, size_t *ret_bytes);
status cudnnGetCTCLossWorkspaceSize_v8(const void *handle, int algorithm, const void *object, const void *probabilities,
                                       const void *gradients, size_t *ret_bytes);
status cudnnCTCLoss(const void *handle, PLIM_WORDS);
status cudnnCTCLoss_v8(const void *handle, PLIM_WORDS);

status cudnnSetConvolutionGroupCount(const void *object, int value);
status cudnnGetConvolutionGroupCount(const void *object, int *ret_value);
status cudnnSetConvolutionMathType(const void *object, int value);
status cudnnGetConvolutionMathType(const void *object, int *ret_value);

/* --- recurrent layers --- */

status cudnnCreateRNNDescriptor(void **ret_object);
status cudnnDestroyRNNDescriptor(void *object);
status cudnnCreateRNNDataDescriptor(void **ret_object);
status cudnnDestroyRNNDataDescriptor(void *object);
status cudnnSetRNNDescriptor_v8(const void *object, int algorithm, int cell, int bias, int direction, int input_mode,
                                int type, int precision, int math_type, int32_t input, int32_t hidden,
                                int32_t projection, int32_t n_layers, const void *dropout, uint32_t flags);
status cudnnSetRNNDataDescriptor(const void *object, int type, int layout, int max_length, int batch, int vector,
                                 const int *lengths, const void *fill);
status cudnnGetRNNWeightSpaceSize(const void *handle, const void *object, size_t *ret_bytes);
status cudnnGetRNNWeightParams(const void *handle, const void *object, int32_t pseudo, size_t size, void *space,
                               int32_t linear, const void *matrix, void **ret_matrix, const void *bias,
                               void **ret_bias);
status cudnnGetRNNTempSpaceSizes(const void *handle, const void *object, int mode, const void *data, size_t *ret_work,
                                 size_t *ret_reserve);
status cudnnRNNForward(const void *handle, PLIM_WORDS);
status cudnnRNNBackwardData_v8(const void *handle, PLIM_WORDS);
status cudnnRNNBackwardWeights_v8(const void *handle, PLIM_WORDS);

/* --- what only 8 has --- */

#if PLIM_MAJOR < 9
status cudnnSetRNNDescriptor_v6(const void *handle, const void *object, int hidden, int n_layers, const void *dropout,
                                int input_mode, int direction, int cell, int algorithm, int precision);
status cudnnSetRNNMatrixMathType(const void *object, int math_type);
status cudnnSetRNNPaddingMode(const void *object, unsigned mode);
status cudnnSetRNNBiasMode(const void *object, int bias);
status cudnnSetRNNProjectionLayers(const void *handle, const void *object, int recurrent, int output);
status cudnnGetRNNParamsSize(const void *handle, const void *object, const void *x, size_t *ret_bytes, int type);
status cudnnGetRNNWorkspaceSize(const void *handle, const void *object, int n_steps, const void *const *x,
                                size_t *ret_bytes);
status cudnnGetRNNTrainingReserveSize(const void *handle, const void *object, int n_steps, const void *const *x,
                                      size_t *ret_bytes);
status cudnnGetRNNLinLayerMatrixParams(const void *handle, const void *object, int pseudo, const void *x, const void *w,
                                       void *space, int linear, const void *matrix, void **ret_matrix);
status cudnnGetRNNLinLayerBiasParams(const void *handle, const void *object, int pseudo, const void *x, const void *w,
                                     void *space, int linear, const void *bias, void **ret_bias);
status cudnnRNNForwardInference(const void *handle, PLIM_WORDS);
status cudnnRNNForwardTraining(const void *handle, PLIM_WORDS);
status cudnnRNNBackwardData(const void *handle, PLIM_WORDS, size_t work_bytes, uintptr_t reserve, size_t reserve_bytes);
status cudnnRNNBackwardWeights(const void *handle, PLIM_WORDS);
status cudnnSetCTCLossDescriptor_v8(const void *object, int type, int norm, int gradient, int max_label_length);
#endif

/* --- the backend --- */

status cudnnBackendCreateDescriptor(int type, void **ret_descriptor);
status cudnnBackendInitialize(const void *descriptor);
status cudnnBackendDestroyDescriptor(void *descriptor);
status cudnnBackendSetAttribute(const void *descriptor, int name, int type, int64_t count, const void *values);
status cudnnBackendFinalize(const void *descriptor);
status cudnnBackendGetAttribute(const void *descriptor, int name, int type, int64_t n_wanted, int64_t *ret_count,
                                void *values);
status cudnnBackendExecute(const void *handle, const void *plan, const void *pack);

#endif
