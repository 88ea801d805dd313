/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CARD_NVML_LIBRARY_H
#define PLIMSOLL_CARD_NVML_LIBRARY_H

/*
 * The file that NVIDIA's driver installs NVML in (NVML API reference, "Overview"). Under Linux with its version: a file
 * without can be the stub of a toolkit.
 */
#ifdef _WIN32
#define PLIM_NVML_LIBRARY "nvml.dll"
#else
#define PLIM_NVML_LIBRARY "libnvidia-ml.so.1"
#endif

#endif
