/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_DRIVER_GRAPHS_USERS_H
#define PLIMSOLL_VGPU_DRIVER_GRAPHS_USERS_H

/* User objects: what a graph keeps alive for the program until the graph and all that came from it are gone. */

#include <stdbool.h>

struct plim_cuda_graph_user;

/* Drop the references of a list. Without the lock of the objects: the program's destructors run. */
void plim_cuda_graph_users_free(struct plim_cuda_graph_user *users);

/* The same references once more, in front of *to. With the lock; false: no memory. */
bool plim_cuda_graph_users_copy(struct plim_cuda_graph_user **to, const struct plim_cuda_graph_user *from);

/* Put a list at the end of another. */
void plim_cuda_graph_users_join(struct plim_cuda_graph_user **to, struct plim_cuda_graph_user *more);

#endif
