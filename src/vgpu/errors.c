/* SPDX-License-Identifier: MIT */
/* The names and words of errors, which programs print: driver and runtime share the numbers. */
#include "vgpu/session.h"

static const struct error_words {
    int error;
    const char *driver, *runtime, *text;
} errors[] = {
#define BOTH(number, driver, runtime, text) { number, "CUDA_" driver, "cuda" runtime, text },
#define RUNTIME(number, runtime, text) { number, "unrecognized error code", "cuda" runtime, text },
    BOTH(0, "SUCCESS", "Success", "no error")
    BOTH(1, "ERROR_INVALID_VALUE", "ErrorInvalidValue", "invalid argument")
    BOTH(2, "ERROR_OUT_OF_MEMORY", "ErrorMemoryAllocation", "out of memory")
    BOTH(3, "ERROR_NOT_INITIALIZED", "ErrorInitializationError", "initialization error")
    BOTH(4, "ERROR_DEINITIALIZED", "ErrorCudartUnloading", "driver shutting down")
    BOTH(5, "ERROR_PROFILER_DISABLED", "ErrorProfilerDisabled", "profiler disabled while using external profiling tool")
    RUNTIME(9, "ErrorInvalidConfiguration", "invalid configuration argument")
    RUNTIME(12, "ErrorInvalidPitchValue", "invalid pitch argument")
    RUNTIME(13, "ErrorInvalidSymbol", "invalid device symbol")
    RUNTIME(17, "ErrorInvalidDevicePointer", "invalid device pointer")
    RUNTIME(21, "ErrorInvalidMemcpyDirection", "invalid copy direction for memcpy")
    RUNTIME(35, "ErrorInsufficientDriver", "CUDA driver version is insufficient for CUDA runtime version")
    BOTH(46, "ERROR_DEVICE_UNAVAILABLE", "ErrorDevicesUnavailable", "CUDA-capable device(s) is/are busy or unavailable")
    RUNTIME(52, "ErrorMissingConfiguration", "__global__ function call is not configured")
    RUNTIME(98, "ErrorInvalidDeviceFunction", "invalid device function")
    BOTH(100, "ERROR_NO_DEVICE", "ErrorNoDevice", "no CUDA-capable device is detected")
    BOTH(101, "ERROR_INVALID_DEVICE", "ErrorInvalidDevice", "invalid device ordinal")
    BOTH(200, "ERROR_INVALID_IMAGE", "ErrorInvalidKernelImage", "device kernel image is invalid")
    BOTH(201, "ERROR_INVALID_CONTEXT", "ErrorDeviceUninitialized", "invalid device context")
    BOTH(209, "ERROR_NO_BINARY_FOR_GPU", "ErrorNoKernelImageForDevice",
         "no kernel image is available for execution on the device")
    BOTH(215, "ERROR_UNSUPPORTED_LIMIT", "ErrorUnsupportedLimit", "limit is not supported on this architecture")
    BOTH(217, "ERROR_PEER_ACCESS_UNSUPPORTED", "ErrorPeerAccessUnsupported",
         "peer access is not supported between these two devices")
    BOTH(218, "ERROR_INVALID_PTX", "ErrorInvalidPtx", "a PTX JIT compilation failed")
    BOTH(221, "ERROR_JIT_COMPILER_NOT_FOUND", "ErrorJitCompilerNotFound", "PTX JIT compiler library not found")
    BOTH(222, "ERROR_UNSUPPORTED_PTX_VERSION", "ErrorUnsupportedPtxVersion",
         "the provided PTX was compiled with an unsupported toolchain.")
    BOTH(300, "ERROR_INVALID_SOURCE", "ErrorInvalidSource", "device kernel image is invalid")
    BOTH(301, "ERROR_FILE_NOT_FOUND", "ErrorFileNotFound", "file not found")
    BOTH(302, "ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND", "ErrorSharedObjectSymbolNotFound",
         "shared object symbol not found")
    BOTH(303, "ERROR_SHARED_OBJECT_INIT_FAILED", "ErrorSharedObjectInitFailed", "shared object initialization failed")
    BOTH(304, "ERROR_OPERATING_SYSTEM", "ErrorOperatingSystem", "OS call failed or operation not supported on this OS")
    BOTH(400, "ERROR_INVALID_HANDLE", "ErrorInvalidResourceHandle", "invalid resource handle")
    BOTH(401, "ERROR_ILLEGAL_STATE", "ErrorIllegalState", "the operation cannot be performed in the present state")
    BOTH(500, "ERROR_NOT_FOUND", "ErrorSymbolNotFound", "named symbol not found")
    BOTH(600, "ERROR_NOT_READY", "ErrorNotReady", "device not ready")
    BOTH(700, "ERROR_ILLEGAL_ADDRESS", "ErrorIllegalAddress", "an illegal memory access was encountered")
    BOTH(701, "ERROR_LAUNCH_OUT_OF_RESOURCES", "ErrorLaunchOutOfResources", "too many resources requested for launch")
    BOTH(702, "ERROR_LAUNCH_TIMEOUT", "ErrorLaunchTimeout", "the launch timed out and was terminated")
    BOTH(704, "ERROR_PEER_ACCESS_ALREADY_ENABLED", "ErrorPeerAccessAlreadyEnabled", "peer access is already enabled")
    BOTH(705, "ERROR_PEER_ACCESS_NOT_ENABLED", "ErrorPeerAccessNotEnabled", "peer access has not been enabled")
    BOTH(708, "ERROR_PRIMARY_CONTEXT_ACTIVE", "ErrorSetOnActiveProcess",
         "cannot set while device is active in this process")
    BOTH(709, "ERROR_CONTEXT_IS_DESTROYED", "ErrorContextIsDestroyed", "context is destroyed")
    BOTH(710, "ERROR_ASSERT", "ErrorAssert", "device-side assert triggered")
    BOTH(712, "ERROR_HOST_MEMORY_ALREADY_REGISTERED", "ErrorHostMemoryAlreadyRegistered",
         "part or all of the requested memory range is already mapped")
    BOTH(713, "ERROR_HOST_MEMORY_NOT_REGISTERED", "ErrorHostMemoryNotRegistered",
         "pointer does not correspond to a registered memory region")
    BOTH(716, "ERROR_MISALIGNED_ADDRESS", "ErrorMisalignedAddress", "misaligned address")
    BOTH(719, "ERROR_LAUNCH_FAILED", "ErrorLaunchFailure", "unspecified launch failure")
    BOTH(720, "ERROR_COOPERATIVE_LAUNCH_TOO_LARGE", "ErrorCooperativeLaunchTooLarge",
         "too many blocks in cooperative launch")
    BOTH(800, "ERROR_NOT_PERMITTED", "ErrorNotPermitted", "operation not permitted")
    BOTH(801, "ERROR_NOT_SUPPORTED", "ErrorNotSupported", "operation not supported")
    BOTH(802, "ERROR_SYSTEM_NOT_READY", "ErrorSystemNotReady", "system not yet initialized")
    BOTH(803, "ERROR_SYSTEM_DRIVER_MISMATCH", "ErrorSystemDriverMismatch",
         "system has unsupported display driver / cuda driver combination")
    BOTH(900, "ERROR_STREAM_CAPTURE_UNSUPPORTED", "ErrorStreamCaptureUnsupported",
         "operation not permitted when stream is capturing")
    BOTH(901, "ERROR_STREAM_CAPTURE_INVALIDATED", "ErrorStreamCaptureInvalidated",
         "operation failed due to a previous error during capture")
    BOTH(902, "ERROR_STREAM_CAPTURE_MERGE", "ErrorStreamCaptureMerge",
         "operation would result in a merge of separate capture sequences")
    BOTH(903, "ERROR_STREAM_CAPTURE_UNMATCHED", "ErrorStreamCaptureUnmatched",
         "capture was not ended in the same stream as it began")
    BOTH(904, "ERROR_STREAM_CAPTURE_UNJOINED", "ErrorStreamCaptureUnjoined",
         "capturing stream has unjoined work")
    BOTH(905, "ERROR_STREAM_CAPTURE_ISOLATION", "ErrorStreamCaptureIsolation",
         "dependency created on uncaptured work in another stream")
    BOTH(906, "ERROR_STREAM_CAPTURE_IMPLICIT", "ErrorStreamCaptureImplicit",
         "operation would make the legacy stream depend on a capturing blocking stream")
    BOTH(907, "ERROR_CAPTURED_EVENT", "ErrorCapturedEvent",
         "operation not permitted on an event last recorded in a capturing stream")
    BOTH(908, "ERROR_STREAM_CAPTURE_WRONG_THREAD", "ErrorStreamCaptureWrongThread",
         "attempt to terminate a thread-local capture sequence from another thread")
    BOTH(909, "ERROR_TIMEOUT", "ErrorTimeout", "wait operation timed out")
    BOTH(910, "ERROR_GRAPH_EXEC_UPDATE_FAILURE", "ErrorGraphExecUpdateFailure",
         "the graph update was not performed because it included changes which violated constraints specific to "
         "instantiated graph update")
    BOTH(912, "ERROR_INVALID_CLUSTER_SIZE", "ErrorInvalidClusterSize", "invalid cluster size")
    BOTH(913, "ERROR_FUNCTION_NOT_LOADED", "ErrorFunctionNotLoaded", "function not loaded")
    BOTH(999, "ERROR_UNKNOWN", "ErrorUnknown", "unknown error")
#undef BOTH
#undef RUNTIME
};

static const struct error_words *words_for(int error)
{
    static const char unknown[] = "unrecognized error code";
    static const struct error_words none = { -1, unknown, unknown, unknown };
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
