/* SPDX-License-Identifier: MIT */
/* User objects (cuUserObject...): destroyed with their last reference. */
#include "vgpu/driver/graphs/users.h"

#include "vgpu/core/cuda_api.h"
#include "vgpu/driver/graphs/nodes.h"

#include <stdlib.h>

/* A reference of a graph (cuGraphRetainUserObject). */
struct plim_cuda_graph_user {
    struct plim_object *user;
    unsigned count;
    struct plim_cuda_graph_user *next;
};

struct user {
    void *data;
    void (*destroy)(void *);
    unsigned n_references;
};

/* The destructor runs without the lock. */
static void user_drop(struct plim_object *object, unsigned count)
{
    plim_objects_lock();
    struct user *user = PLIM_BODY(object, user);
    user->n_references -= count < user->n_references ? count : user->n_references;
    const struct user old = *user;
    if (old.n_references == 0)
        plim_object_drop(object);
    plim_objects_unlock();
    if (old.n_references == 0 && old.destroy)
        old.destroy(old.data);
}

void plim_cuda_graph_users_free(struct plim_cuda_graph_user *users)
{
    while (users) {
        struct plim_cuda_graph_user *next = users->next;
        user_drop(users->user, users->count);
        free(users);
        users = next;
    }
}

bool plim_cuda_graph_users_copy(struct plim_cuda_graph_user **to, const struct plim_cuda_graph_user *from)
{
    for (; from; from = from->next) {
        struct plim_cuda_graph_user *copy = malloc(sizeof *copy);
        if (!copy)
            return false;
        *copy = (struct plim_cuda_graph_user){ from->user, from->count, *to };
        PLIM_BODY(from->user, user)->n_references += from->count;
        *to = copy;
    }
    return true;
}

status cuUserObjectCreate(void **ret_user, void *data, void (*destroy)(void *), unsigned n, unsigned flags)
{
    (void)flags;
    if (!ret_user || !destroy || n == 0)
        return PLIM_CUDA_INVALID_VALUE;
    struct plim_object *object = plim_object_make(PLIM_OBJECT_USER);
    if (!object)
        return PLIM_CUDA_OUT_OF_MEMORY;
    *PLIM_BODY(object, user) = (struct user){ data, destroy, n };
    *ret_user = object;
    return PLIM_CUDA_SUCCESS;
}

status cuUserObjectRetain(void *handle, unsigned count)
{
    struct plim_object *object = plim_object_of(handle, PLIM_OBJECT_USER);
    if (!object || count == 0)
        return PLIM_CUDA_INVALID_VALUE;
    plim_objects_lock();
    PLIM_BODY(object, user)->n_references += count;
    plim_objects_unlock();
    return PLIM_CUDA_SUCCESS;
}

status cuUserObjectRelease(void *handle, unsigned count)
{
    struct plim_object *object = plim_object_of(handle, PLIM_OBJECT_USER);
    if (!object || count == 0)
        return PLIM_CUDA_INVALID_VALUE;
    user_drop(object, count);
    return PLIM_CUDA_SUCCESS;
}

status cuGraphRetainUserObject(void *graph_handle, void *handle, unsigned count, unsigned flags)
{
    enum { MOVE = 1 };
    struct plim_cuda_graph *graph = plim_cuda_graph_of(graph_handle);
    struct plim_object *object = plim_object_of(handle, PLIM_OBJECT_USER);
    struct plim_cuda_graph_user *link = graph && object && count ? malloc(sizeof *link) : NULL;
    if (!link)
        return graph && object && count ? PLIM_CUDA_OUT_OF_MEMORY : PLIM_CUDA_INVALID_VALUE;
    plim_objects_lock();
    *link = (struct plim_cuda_graph_user){ object, count, graph->users };
    graph->users = link;
    if (!(flags & MOVE))
        PLIM_BODY(object, user)->n_references += count;
    plim_objects_unlock();
    return PLIM_CUDA_SUCCESS;
}

status cuGraphReleaseUserObject(void *graph_handle, void *handle, unsigned count)
{
    struct plim_cuda_graph *graph = plim_cuda_graph_of(graph_handle);
    struct plim_object *object = plim_object_of(handle, PLIM_OBJECT_USER);
    if (!graph || !object || count == 0)
        return PLIM_CUDA_INVALID_VALUE;
    plim_objects_lock();
    struct plim_cuda_graph_user **link = &graph->users, *found;
    while (*link && ((*link)->user != object || (*link)->count < count))
        link = &(*link)->next;
    if ((found = *link) && (found->count -= count) == 0)
        *link = found->next;
    plim_objects_unlock();
    if (!found)
        return PLIM_CUDA_INVALID_VALUE;
    if (found->count == 0)
        free(found);
    user_drop(object, count);
    return PLIM_CUDA_SUCCESS;
}
