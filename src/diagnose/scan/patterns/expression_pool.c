/* SPDX-License-Identifier: MIT */
#include "diagnose/scan/patterns/expression_pool.h"

#include "base/mem.h"

struct plim_pooled_expression {
    const char *text;
    struct plim_expression expression;
    struct plim_pooled_expression *next;
};

void plim_expression_pool_done(struct plim_expression_pool *pool)
{
    for (size_t i = 0; i < PLIM_EXPRESSION_POOL_LISTS; i++)
        while (pool->lists[i]) {
            struct plim_pooled_expression *first = pool->lists[i];
            pool->lists[i] = first->next;
            plim_expression_done(&first->expression);
            plim_free(first);
        }
}

struct plim_expression *plim_expression_pool_get(struct plim_expression_pool *pool, const char *text)
{
    /* Texts stand one behind the other in the program, and hardly any is shorter than a row of 16 bytes. */
    struct plim_pooled_expression **list = &pool->lists[(uintptr_t)text / 16 % PLIM_EXPRESSION_POOL_LISTS];
    for (struct plim_pooled_expression *e = *list; e; e = e->next)
        if (e->text == text)
            return &e->expression;
    struct plim_pooled_expression *new = plim_alloc(1, sizeof *new);
    if (!new)
        return NULL;
    new->text = text;
    new->next = *list;
    *list = new;
    return &new->expression;
}
