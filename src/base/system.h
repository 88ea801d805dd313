/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_BASE_SYSTEM_H
#define PLIMSOLL_BASE_SYSTEM_H

/*
 * The operating system beyond C11, as far as reading models, cards and logs needs it. system_windows.c is one
 * implementation; Linux and macOS share system_unix.c, WASI has system_wasi.c, and the three have system_posix.c in
 * common. Rehearsals (vgpu, rehearse) and the writing of hollow models need Linux and call it themselves.
 *
 * Functions that return int return 0 or an errno; ENOSYS means that this system cannot do it, for which
 * plim_fail_errno() has PLIM_E_UNSUPPORTED. Result parameters are never NULL. Paths are UTF-8.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- files --- */

enum plim_file_kind {
    PLIM_KIND_FILE,
    PLIM_KIND_FOLDER,
    PLIM_KIND_PIPE,
    PLIM_KIND_SOCKET,
    PLIM_KIND_LINK, /* only of plim_system_look() that does not follow links */
    PLIM_KIND_DEVICE,
};

struct plim_file_status {
    enum plim_file_kind kind;
    uint64_t bytes;
    uint64_t volume, number; /* the same two numbers: the same file, under whatever name */
    int64_t written_unix_s;  /* when its contents were last changed */
};

enum plim_opening {
    PLIM_OPEN_NOW,  /* opening a FIFO does not wait for its writer */
    PLIM_OPEN_WAIT, /* it does, as `cat` would */
};

/* For reading, in binary; a child process does not inherit it, and no terminal becomes the controlling one. */
int plim_system_open(const char *path, enum plim_opening opening, int *ret_file);
void plim_system_close(int file);
int plim_system_status(int file, struct plim_file_status *ret_status);

/* The status of a name. */
int plim_system_look(const char *path, bool follows_links, struct plim_file_status *ret_status);

/* The target of a symbolic link, cut off when there is no room for it. EINVAL: the name is of something else. */
int plim_system_link(const char *path, char *ret_target, size_t size);

/* Each symbolic link in a folder, in any order, until `visit` returns false. Cheaper than a list and its links. */
int plim_system_visit_links(const char *folder, bool (*visit)(void *context, const char *name, const char *target),
                            void *context);

/* Up to n bytes; *ret_n is 0 at the end only. read_at() does not move the offset of read(). */
int plim_system_read(int file, void *buffer, size_t n, size_t *ret_n);
int plim_system_read_at(int file, void *buffer, size_t n, uint64_t at, size_t *ret_n);

/* The offset at which read() continues; pipes have no offset and fail. */
int plim_system_place(int file, uint64_t *ret_at);
int plim_system_move(int file, uint64_t at);

/* Wait until a pipe or a terminal has something to read, or has ended; at most ms, for ever when ms is negative. */
bool plim_system_wait(int file, int ms);

bool plim_system_is_terminal(int file);

/* --- folders --- */

/* The names in a folder but "." and "..", in the order of their bytes; of a folder with more, the first
 * PLIM_MAX_FOLDER_NAMES. */
struct plim_names {
    char **names;
    size_t n, n_left_out;
};

int plim_system_list(const char *folder, struct plim_names *ret_names);
void plim_names_done(struct plim_names *names);

/* --- libraries, opened while the program runs --- */

/* The library; NULL when it is not found, or when the system has no libraries. One that is there and cannot be loaded:
 * NULL, and the system's words for it in ret_why, which is "" else. */
enum { PLIM_LIBRARY_WHY_BYTES = 160 };
void *plim_system_library(const char *path, char ret_why[PLIM_LIBRARY_WHY_BYTES]);
void plim_system_library_close(void *library);

/* Copy the address of a symbol, a function or data, into the pointer at ret_slot; NULL when it is not there. */
void plim_system_symbol(void *library, const char *name, void *ret_slot);

/* --- the rest --- */

/* A clock that only goes forward. */
uint64_t plim_system_now_us(void);
void plim_system_sleep_ms(unsigned ms);

/* The clock of the wall. */
int64_t plim_system_wall_ms(void);

/* 0 when a process of this number is there, ESRCH when not. */
int plim_system_has_process(int64_t pid);

/* The name of a user; ENOENT when the system does not know one. */
int plim_system_user(int64_t uid, char *ret_name, size_t size);

uint64_t plim_system_page_bytes(void);

/* The RAM of the machine, and how much of it is available to programs. */
int plim_system_ram(uint64_t *ret_total_bytes, uint64_t *ret_free_bytes);

/* "NAME=value" of each variable; the last is NULL. */
char **plim_system_environment(void);

#endif
