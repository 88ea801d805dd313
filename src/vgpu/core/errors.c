/* SPDX-License-Identifier: MIT */
/* Names and texts of errors, which programs print; driver and runtime share the numbers. */
#include "vgpu/core/session.h"

#define UNKNOWN "unrecognized error code"

static const struct error_words {
    int error;
    const char *driver, *runtime, *text;
} errors[] = {
    { 0, "CUDA_SUCCESS", "cudaSuccess", "no error" },
    { 1, "CUDA_ERROR_INVALID_VALUE", "cudaErrorInvalidValue", "invalid argument" },
    { 2, "CUDA_ERROR_OUT_OF_MEMORY", "cudaErrorMemoryAllocation", "out of memory" },
    { 3, "CUDA_ERROR_NOT_INITIALIZED", "cudaErrorInitializationError", "initialization error" },
    { 4, "CUDA_ERROR_DEINITIALIZED", "cudaErrorCudartUnloading", "driver shutting down" },
    { 5, "CUDA_ERROR_PROFILER_DISABLED", "cudaErrorProfilerDisabled",
      "profiler disabled while using external profiling tool" },
    { 9, UNKNOWN, "cudaErrorInvalidConfiguration", "invalid configuration argument" },
    { 12, UNKNOWN, "cudaErrorInvalidPitchValue", "invalid pitch argument" },
    { 13, UNKNOWN, "cudaErrorInvalidSymbol", "invalid device symbol" },
    { 17, UNKNOWN, "cudaErrorInvalidDevicePointer", "invalid device pointer" },
    { 21, UNKNOWN, "cudaErrorInvalidMemcpyDirection", "invalid copy direction for memcpy" },
    { 35, UNKNOWN, "cudaErrorInsufficientDriver", "CUDA driver version is insufficient for CUDA runtime version" },
    { 46, "CUDA_ERROR_DEVICE_UNAVAILABLE", "cudaErrorDevicesUnavailable",
      "CUDA-capable device(s) is/are busy or unavailable" },
    { 52, UNKNOWN, "cudaErrorMissingConfiguration", "__global__ function call is not configured" },
    { 98, UNKNOWN, "cudaErrorInvalidDeviceFunction", "invalid device function" },
    { 100, "CUDA_ERROR_NO_DEVICE", "cudaErrorNoDevice", "no CUDA-capable device is detected" },
    { 101, "CUDA_ERROR_INVALID_DEVICE", "cudaErrorInvalidDevice", "invalid device ordinal" },
    { 200, "CUDA_ERROR_INVALID_IMAGE", "cudaErrorInvalidKernelImage", "device kernel image is invalid" },
    { 201, "CUDA_ERROR_INVALID_CONTEXT", "cudaErrorDeviceUninitialized", "invalid device context" },
    { 209, "CUDA_ERROR_NO_BINARY_FOR_GPU", "cudaErrorNoKernelImageForDevice",
      "no kernel image is available for execution on the device" },
    { 215, "CUDA_ERROR_UNSUPPORTED_LIMIT", "cudaErrorUnsupportedLimit", "limit is not supported on this architecture" },
    { 217, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED", "cudaErrorPeerAccessUnsupported",
      "peer access is not supported between these two devices" },
    { 218, "CUDA_ERROR_INVALID_PTX", "cudaErrorInvalidPtx", "a PTX JIT compilation failed" },
    { 221, "CUDA_ERROR_JIT_COMPILER_NOT_FOUND", "cudaErrorJitCompilerNotFound", "PTX JIT compiler library not found" },
    { 222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "cudaErrorUnsupportedPtxVersion",
      "the provided PTX was compiled with an unsupported toolchain." },
    { 300, "CUDA_ERROR_INVALID_SOURCE", "cudaErrorInvalidSource", "device kernel image is invalid" },
    { 301, "CUDA_ERROR_FILE_NOT_FOUND", "cudaErrorFileNotFound", "file not found" },
    { 302, "CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND", "cudaErrorSharedObjectSymbolNotFound",
      "shared object symbol not found" },
    { 303, "CUDA_ERROR_SHARED_OBJECT_INIT_FAILED", "cudaErrorSharedObjectInitFailed",
      "shared object initialization failed" },
    { 304, "CUDA_ERROR_OPERATING_SYSTEM", "cudaErrorOperatingSystem",
      "OS call failed or operation not supported on this OS" },
    { 400, "CUDA_ERROR_INVALID_HANDLE", "cudaErrorInvalidResourceHandle", "invalid resource handle" },
    { 401, "CUDA_ERROR_ILLEGAL_STATE", "cudaErrorIllegalState",
      "the operation cannot be performed in the present state" },
    { 500, "CUDA_ERROR_NOT_FOUND", "cudaErrorSymbolNotFound", "named symbol not found" },
    { 600, "CUDA_ERROR_NOT_READY", "cudaErrorNotReady", "device not ready" },
    { 700, "CUDA_ERROR_ILLEGAL_ADDRESS", "cudaErrorIllegalAddress", "an illegal memory access was encountered" },
    { 701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "cudaErrorLaunchOutOfResources",
      "too many resources requested for launch" },
    { 702, "CUDA_ERROR_LAUNCH_TIMEOUT", "cudaErrorLaunchTimeout", "the launch timed out and was terminated" },
    { 704, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED", "cudaErrorPeerAccessAlreadyEnabled",
      "peer access is already enabled" },
    { 705, "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED", "cudaErrorPeerAccessNotEnabled", "peer access has not been enabled" },
    { 708, "CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE", "cudaErrorSetOnActiveProcess",
      "cannot set while device is active in this process" },
    { 709, "CUDA_ERROR_CONTEXT_IS_DESTROYED", "cudaErrorContextIsDestroyed", "context is destroyed" },
    { 710, "CUDA_ERROR_ASSERT", "cudaErrorAssert", "device-side assert triggered" },
    { 712, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED", "cudaErrorHostMemoryAlreadyRegistered",
      "part or all of the requested memory range is already mapped" },
    { 713, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED", "cudaErrorHostMemoryNotRegistered",
      "pointer does not correspond to a registered memory region" },
    { 716, "CUDA_ERROR_MISALIGNED_ADDRESS", "cudaErrorMisalignedAddress", "misaligned address" },
    { 719, "CUDA_ERROR_LAUNCH_FAILED", "cudaErrorLaunchFailure", "unspecified launch failure" },
    { 720, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE", "cudaErrorCooperativeLaunchTooLarge",
      "too many blocks in cooperative launch" },
    { 800, "CUDA_ERROR_NOT_PERMITTED", "cudaErrorNotPermitted", "operation not permitted" },
    { 801, "CUDA_ERROR_NOT_SUPPORTED", "cudaErrorNotSupported", "operation not supported" },
    { 802, "CUDA_ERROR_SYSTEM_NOT_READY", "cudaErrorSystemNotReady", "system not yet initialized" },
    { 803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "cudaErrorSystemDriverMismatch",
      "system has unsupported display driver / cuda driver combination" },
    { 900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "cudaErrorStreamCaptureUnsupported",
      "operation not permitted when stream is capturing" },
    { 901, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", "cudaErrorStreamCaptureInvalidated",
      "operation failed due to a previous error during capture" },
    { 902, "CUDA_ERROR_STREAM_CAPTURE_MERGE", "cudaErrorStreamCaptureMerge",
      "operation would result in a merge of separate capture sequences" },
    { 903, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED", "cudaErrorStreamCaptureUnmatched",
      "capture was not ended in the same stream as it began" },
    { 904, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED", "cudaErrorStreamCaptureUnjoined",
      "capturing stream has unjoined work" },
    { 905, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION", "cudaErrorStreamCaptureIsolation",
      "dependency created on uncaptured work in another stream" },
    { 906, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT", "cudaErrorStreamCaptureImplicit",
      "operation would make the legacy stream depend on a capturing blocking stream" },
    { 907, "CUDA_ERROR_CAPTURED_EVENT", "cudaErrorCapturedEvent",
      "operation not permitted on an event last recorded in a capturing stream" },
    { 908, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD", "cudaErrorStreamCaptureWrongThread",
      "attempt to terminate a thread-local capture sequence from another thread" },
    { 909, "CUDA_ERROR_TIMEOUT", "cudaErrorTimeout", "wait operation timed out" },
    { 910, "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE", "cudaErrorGraphExecUpdateFailure",
      "the graph update was not performed because it included changes which violated constraints specific to "
      "instantiated graph update" },
    { 912, "CUDA_ERROR_INVALID_CLUSTER_SIZE", "cudaErrorInvalidClusterSize", "invalid cluster size" },
    { 913, "CUDA_ERROR_FUNCTION_NOT_LOADED", "cudaErrorFunctionNotLoaded", "function not loaded" },
    { 999, "CUDA_ERROR_UNKNOWN", "cudaErrorUnknown", "unknown error" },
};

static const struct error_words *words_for(int error)
{
    static const struct error_words none = { -1, UNKNOWN, UNKNOWN, UNKNOWN };
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].error == error)
            return &errors[i];
    return &none;
}

bool plim_vgpu_is_error(int error) { return words_for(error)->error == error; }

const char *plim_vgpu_error_text(int error) { return words_for(error)->text; }

const char *plim_vgpu_error_name(int error, bool is_runtime)
{
    return is_runtime ? words_for(error)->runtime : words_for(error)->driver;
}
