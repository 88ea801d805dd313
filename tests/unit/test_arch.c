/* SPDX-License-Identifier: MIT */
/* The table of architectures; each one called exact is compared with the engine: it has a model in the zoo. */
#include "engine/llamacpp/arch.h"
#include "unit.h"

enum { MAX_ARCHS = 256 };

struct seen {
    const struct plim_arch *table;
    int n;
    bool has_model[MAX_ARCHS];
};

static void visit(const char *path, void *data)
{
    struct seen *seen = data;
    struct plim_error error = { 0 };
    struct plim_model *model;
    if (plim_model_open(path, &model, &error) < 0)
        fail_msg("%s: %s", path, error.what);
    const struct plim_arch *arch = plim_arch_find(plim_model_arch(model));
    if (arch)
        seen->has_model[arch - seen->table] = true;
    plim_model_free(model);
}

static void test_every_graph_has_a_model(void **state)
{
    (void)state;
    static struct seen seen;
    seen.table = plim_arch_table(&seen.n);
    assert_in_range(seen.n, 1, MAX_ARCHS);
    zoo_each(visit, &seen);
    for (int i = 0; i < seen.n; i++)
        if (seen.table[i].build && !seen.has_model[i])
            fail_msg("%s builds a graph, but no model of the zoo compares it with the engine", seen.table[i].name);
}

static void test_the_table_is_sorted(void **state)
{
    (void)state;
    int n;
    const struct plim_arch *table = plim_arch_table(&n);
    for (int i = 1; i < n; i++)
        assert_true(strcmp(table[i - 1].name, table[i].name) < 0);
    for (int i = 0; i < n; i++)
        assert_ptr_equal(plim_arch_find(table[i].name), &table[i]);
    assert_null(plim_arch_find("an architecture that nobody made"));
    assert_null(plim_arch_find(""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_graph_has_a_model),
        cmocka_unit_test(test_the_table_is_sorted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
