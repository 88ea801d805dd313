/* SPDX-License-Identifier: MIT */
/*
 * Which sockets wait for connections, from /proc/PID/net/tcp and tcp6 (proc_pid_net(5)), which are the same for all
 * processes of a network namespace. The kernel lists sockets that listen before all others
 * (net/ipv4/tcp_ipv4.c, tcp_seq_start()): reading ends at the first that does not.
 */
#include "base/limits.h"
#include "base/mem.h"
#include "base/system.h"
#include "card/proc/entry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LISTENING = 1 << 10, LISTEN_STATE = 0x0A /* TCP_LISTEN, include/net/tcp_states.h */ };

/* "0: 00000000:1F90 00000000:0000 0A 0:0 00:0 0 1000 0 INODE ...". False: not a line of a socket that listens. */
static bool read_line(const char *line, uint64_t *ret_socket)
{
    unsigned state;
    unsigned long long socket;
    if (sscanf(line, " %*u: %*s %*s %x %*s %*s %*s %*u %*d %llu", &state, &socket) != 2 || state != LISTEN_STATE)
        return false;
    *ret_socket = socket;
    return true;
}

/* The lines in a text, but for the head; false when one of them ends the list. */
static bool read_lines(struct plim_proc_reader *reader, char *text)
{
    for (char *rest, *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        uint64_t socket;
        if (strstr(line, "local_address"))
            continue;
        if (!read_line(line, &socket))
            return false;
        if (reader->n_listening < MAX_LISTENING)
            reader->listening[reader->n_listening++] = socket;
    }
    return true;
}

/* False when it cannot be read. */
static bool read_table(struct plim_proc_reader *reader, int64_t pid, const char *name)
{
    char path[PLIM_PROC_PATH_BYTES], window[4096 + 1];
    size_t n = 0, got = 1, total = 0;
    int file;
    bool goes_on = true;
    plim_proc_path(reader, pid, name, path);
    if (plim_system_open(path, PLIM_OPEN_NOW, &file) != 0)
        return false;
    while (goes_on && total < PLIM_MAX_PROC_FILE_BYTES) {
        if (plim_system_read(file, window + n, sizeof window - 1 - n, &got) != 0 || got == 0)
            break;
        n += got;
        total += got;
        window[n] = '\0';
        char *end = strrchr(window, '\n');
        if (!end)
            break; /* no line is as long */
        *end = '\0';
        const size_t used = (size_t)(end + 1 - window);
        goes_on = read_lines(reader, window);
        memmove(window, window + used, n - used);
        n -= used;
    }
    plim_system_close(file);
    return true;
}

int8_t plim_proc_listens(struct plim_proc_reader *reader, int64_t pid, const uint64_t *socket, uint32_t n)
{
    char path[PLIM_PROC_PATH_BYTES], network[sizeof reader->network] = "";
    if (n == 0)
        return 0;
    plim_proc_path(reader, pid, "ns/net", path);
    if (plim_system_link(path, network, sizeof network) != 0)
        network[0] = '\0';
    if (!reader->listening)
        reader->listening = plim_alloc(MAX_LISTENING, sizeof *reader->listening);
    if (!reader->listening)
        return -1;
    if (!network[0] || strcmp(network, reader->network) != 0 || reader->network_ms != reader->now_ms) {
        memcpy(reader->network, network, sizeof network);
        reader->network_ms = reader->now_ms;
        reader->n_listening = 0;
        const bool has_four = read_table(reader, pid, "net/tcp"), has_six = read_table(reader, pid, "net/tcp6");
        if (!has_four && !has_six) {
            reader->network_ms = 0;
            return -1;
        }
    }
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < reader->n_listening; k++)
            if (reader->listening[k] == socket[i])
                return 1;
    return 0;
}
