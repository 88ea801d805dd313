/* SPDX-License-Identifier: MIT */
/* User objects (cuUserObject...): destroyed with their last reference. */
#include "vgpu/driver/graphs/users.h"

#include "vgpu/core/cuda_api.h"
#include "vgpu/driver/graphs/nodes.h"

#include <stdlib.h>

/* A reference of a graph (cuGraphRetainUserObject). The program may release more references than are its own. */
struct plim_cuda_graph_user {
    struct plim_object *user;
    uint64_t id; /* of the user object: its slot may have another one by now */
    unsigned count;
    struct plim_cuda_graph_user *next;
};

struct user {
    void *data;
    void (*destroy)(void *);
    unsigned n_references;
};

/* A call of the destructor is returned: it runs without the lock. */
static struct user drop_locked(struct plim_object *object, unsigned count)
{
    struct user *user = PLIM_BODY(object, user);
    user->n_references -= count < user->n_references ? count : user->n_references;
    const struct user old = *user;
    if (old.n_references == 0)
        plim_object_drop(object);
    return old;
}

static void destroy_unused(const struct user *user)
{
    if (user->n_references == 0 && user->destroy)
        user->destroy(user->data);
}

/* With the lock held. NULL: it is gone. */
static struct plim_object *user_of(const struct plim_cuda_graph_user *link)
{
    struct plim_object *object = plim_object_of(link->user, PLIM_OBJECT_USER);
    return object && object->id == link->id ? object : NULL;
}

static void user_drop(const struct plim_cuda_graph_user *link)
{
    plim_objects_lock();
    struct plim_object *object = user_of(link);
    const struct user old = object ? drop_locked(object, link->count) : (struct user){ .n_references = 1 };
    plim_objects_unlock();
    destroy_unused(&old);
}

void plim_cuda_graph_users_free(struct plim_cuda_graph_user *users)
{
    while (users) {
        struct plim_cuda_graph_user *next = users->next;
        user_drop(users);
        free(users);
        users = next;
    }
}

void plim_cuda_graph_users_join(struct plim_cuda_graph_user **to, struct plim_cuda_graph_user *more)
{
    while (*to)
        to = &(*to)->next;
    *to = more;
}

bool plim_cuda_graph_users_copy(struct plim_cuda_graph_user **to, const struct plim_cuda_graph_user *from)
{
    for (; from; from = from->next) {
        struct plim_object *object = user_of(from);
        struct plim_cuda_graph_user *copy = object ? malloc(sizeof *copy) : NULL;
        if (!object)
            continue;
        if (!copy)
            return false;
        *copy = (struct plim_cuda_graph_user){ object, from->id, from->count, *to };
        PLIM_BODY(object, user)->n_references += from->count;
        *to = copy;
    }
    return true;
}

status cuUserObjectCreate(void **ret_user, void *data, void (*destroy)(void *), unsigned n, unsigned flags)
{
    (void)flags;
    if (!ret_user || !destroy || n == 0)
        return PLIM_CUDA_INVALID_VALUE;
    const struct user user = { data, destroy, n };
    struct plim_object *object = plim_object_make(PLIM_OBJECT_USER, &user, sizeof user);
    if (!object)
        return PLIM_CUDA_OUT_OF_MEMORY;
    *ret_user = object;
    return PLIM_CUDA_SUCCESS;
}

status cuUserObjectRetain(void *handle, unsigned count)
{
    PLIM_OBJECTS_LOCKED;
    struct plim_object *object = plim_object_of(handle, PLIM_OBJECT_USER);
    if (!object || count == 0)
        return PLIM_CUDA_INVALID_VALUE;
    PLIM_BODY(object, user)->n_references += count;
    return PLIM_CUDA_SUCCESS;
}

status cuUserObjectRelease(void *handle, unsigned count)
{
    plim_objects_lock();
    struct plim_object *object = plim_object_of(handle, PLIM_OBJECT_USER);
    const bool is_right = object && count > 0;
    const struct user old = is_right ? drop_locked(object, count) : (struct user){ .n_references = 1 };
    plim_objects_unlock();
    destroy_unused(&old);
    return is_right ? PLIM_CUDA_SUCCESS : PLIM_CUDA_INVALID_VALUE;
}

status cuGraphRetainUserObject(void *graph_handle, void *handle, unsigned count, unsigned flags)
{
    enum { MOVE = 1 };
    PLIM_OBJECTS_LOCKED;
    struct plim_cuda_graph *graph = plim_cuda_graph_of(graph_handle);
    struct plim_object *object = plim_object_of(handle, PLIM_OBJECT_USER);
    if (!graph || !object || count == 0)
        return PLIM_CUDA_INVALID_VALUE;
    struct plim_cuda_graph_user *link = malloc(sizeof *link);
    if (!link)
        return PLIM_CUDA_OUT_OF_MEMORY;
    *link = (struct plim_cuda_graph_user){ object, object->id, count, graph->users };
    graph->users = link;
    if (!(flags & MOVE))
        PLIM_BODY(object, user)->n_references += count;
    return PLIM_CUDA_SUCCESS;
}

status cuGraphReleaseUserObject(void *graph_handle, void *handle, unsigned count)
{
    struct user old = { .n_references = 1 };
    struct plim_cuda_graph_user *found = NULL;
    plim_objects_lock();
    struct plim_cuda_graph *graph = plim_cuda_graph_of(graph_handle);
    struct plim_object *object = plim_object_of(handle, PLIM_OBJECT_USER);
    if (graph && object && count > 0) {
        struct plim_cuda_graph_user **link = &graph->users;
        while (*link && (user_of(*link) != object || (*link)->count < count))
            link = &(*link)->next;
        if ((found = *link)) {
            old = drop_locked(object, count);
            if ((found->count -= count) == 0) {
                *link = found->next;
                free(found);
            }
        }
    }
    plim_objects_unlock();
    destroy_unused(&old);
    return found ? PLIM_CUDA_SUCCESS : PLIM_CUDA_INVALID_VALUE;
}
