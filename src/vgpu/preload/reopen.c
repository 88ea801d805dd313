/* SPDX-License-Identifier: MIT */
/*
 * Preloaded with preload.c. A loaded library serves later requests for its name, but not those for a path: PyTorch
 * opens the libraries of NVIDIA's wheels by path. A request for a path that ends in the name of a virtual library is
 * changed into one for that name.
 *
 * Every other request reaches libc's dlopen() unchanged. dlopen() searches folders by its caller, so this jumps to it
 * and does not call it.
 */
#include "vgpu/preload/preload.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define HIDDEN __attribute__((visibility("hidden"), used))

HIDDEN void *(*plim_next_dlopen)(const char *path, int flags);

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char folder[PATH_MAX]; /* of this library, with its slash; empty: unknown */

static void find_out(void)
{
    Dl_info info;
    *(void **)&plim_next_dlopen = dlsym(RTLD_NEXT, "dlopen");
    if (!dladdr(&plim_next_dlopen, &info) || !info.dli_fname || strlen(info.dli_fname) >= sizeof folder)
        return;
    strcpy(folder, info.dli_fname);
    char *slash = strrchr(folder, '/');
    folder[slash ? slash + 1 - folder : 0] = '\0';
}

/* The name to open instead of path: the bare name of a virtual library, or path. Threads may open libraries at once. */
HIDDEN const char *plim_opened_name(const char *path)
{
    char ours[PATH_MAX];
    const char *slash = path ? strrchr(path, '/') : NULL;
    pthread_once(&once, find_out);
    if (!slash || !slash[1] || strncmp(slash + 1, "lib", 3) != 0 || !folder[0])
        return path;
    const int n = snprintf(ours, sizeof ours, "%s%s", folder, slash + 1);
    return n > 0 && n < (int)sizeof ours && access(ours, F_OK) == 0 ? slash + 1 : path;
}

#if defined(__x86_64__)
__asm__(".text\n"
        ".globl dlopen\n"
        ".type dlopen, @function\n"
        "dlopen:\n"
        "    .cfi_startproc\n"
        "    pushq %rsi\n"
        "    .cfi_adjust_cfa_offset 8\n"
        "    call plim_opened_name\n"
        "    popq %rsi\n"
        "    .cfi_adjust_cfa_offset -8\n"
        "    movq %rax, %rdi\n"
        "    jmp *plim_next_dlopen(%rip)\n"
        "    .cfi_endproc\n"
        ".size dlopen, .-dlopen\n");
#elif defined(__aarch64__)
__asm__(".text\n"
        ".globl dlopen\n"
        ".type dlopen, %function\n"
        "dlopen:\n"
        "    .cfi_startproc\n"
        "    stp x30, x1, [sp, #-16]!\n"
        "    .cfi_adjust_cfa_offset 16\n"
        "    .cfi_offset 30, -16\n"
        "    bl plim_opened_name\n"
        "    ldp x30, x1, [sp], #16\n"
        "    .cfi_adjust_cfa_offset -16\n"
        "    .cfi_restore 30\n"
        "    adrp x16, plim_next_dlopen\n"
        "    ldr x16, [x16, #:lo12:plim_next_dlopen]\n"
        "    br x16\n"
        "    .cfi_endproc\n"
        ".size dlopen, .-dlopen\n");
#endif
