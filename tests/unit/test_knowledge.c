/* SPDX-License-Identifier: MIT */
/* The knowledge base: every cause has an entry, messages find theirs, and what guides get wrong is put right. */
#include "diagnose/remedy/knowledge.h"
#include "diagnose/scan/patterns/pattern.h"
#include "unit.h"

static void test_entries(void **state)
{
    (void)state;
    struct plim_knowledge_entry entry;
    assert_true(plim_knowledge_size() >= 60);
    for (size_t i = 0; i < plim_knowledge_size(); i++) {
        entry = plim_knowledge_entry(i);
        assert_non_null(plim_entry_field(&entry, PLIM_FIELD_TITLE, 0).text);
        assert_non_null(plim_entry_field(&entry, PLIM_FIELD_FIX, 0).text);
        assert_null(plim_entry_field(&entry, PLIM_FIELD_TITLE, 1).text);
    }
    for (int cause = PLIM_CAUSE_MODEL_TOO_BIG; cause < PLIM_CAUSE_MAX_; cause++) {
        assert_true(plim_knowledge_by_id(plim_cause_name((enum plim_cause)cause), &entry));
        assert_true(plim_knowledge_for("no-such-kind", (enum plim_cause)cause, &entry));
    }
    assert_false(plim_knowledge_by_id("no-such-entry", &entry));
    assert_false(plim_knowledge_for("no-such-kind", PLIM_CAUSE_UNKNOWN, &entry));
}

/* Every form of message has an entry that was written for it. */
static void test_every_pattern_has_its_entry(void **state)
{
    (void)state;
    for (uint16_t i = 0; i < plim_n_patterns; i++) {
        const struct plim_pattern *pattern = &plim_patterns[i];
        struct plim_knowledge_entry entry;
        if (pattern->role == PLIM_PATTERN_ROLE_NEIGHBOUR || pattern->role == PLIM_PATTERN_ROLE_SERIES ||
            pattern->role == PLIM_PATTERN_ROLE_PROGRAM)
            continue;
        if (!plim_knowledge_for(pattern->id, PLIM_CAUSE_UNKNOWN, &entry))
            fail_msg("no entry for %s", pattern->id);
    }
}

/* What an entry says that a message prints leads back to it. */
static void test_messages_find_their_entry(void **state)
{
    (void)state;
    struct plim_search_result hits[PLIM_MAX_SEARCH_RESULTS];
    size_t n_messages = 0, n_first = 0;
    for (size_t i = 0; i < plim_knowledge_size(); i++) {
        struct plim_knowledge_entry entry = plim_knowledge_entry(i);
        struct plim_field_text text;
        for (size_t k = 0; (text = plim_entry_field(&entry, PLIM_FIELD_PRINTS, k)).text; k++) {
            size_t n = plim_knowledge_search(text.text, hits), at = 0;
            n_messages++;
            while (at < n && strcmp(hits[at].entry.id, entry.id) != 0)
                at++;
            if (at >= 3)
                fail_msg("'%s' finds %s, not %s", text.text, n ? hits[0].entry.id : "nothing", entry.id);
            n_first += at == 0;
        }
    }
    assert_true(n_first * 20 >= n_messages * 19);
}

static void test_questions(void **state)
{
    (void)state;
    static const struct {
        const char *query, *id;
    } questions[] = {
        { "No available memory for the cache blocks", "vllm-no-blocks" },
        { "exit code 137", "exit-137" },
        { "OOMKilled", "kubernetes-oomkilled" },
        { "PYTORCH_CUDA_ALLOC_CONF", "pytorch-alloc-conf" },
        { "gpu layers ollama", "ollama-settings" },
        { "CUBLAS_STATUS_ALLOC_FAILED", "cublas-alloc-failed" },
        { "device-side assert triggered", "device-assert" },
        { "insufficient shared memory (shm)", "dataloader-bus-error" },
        { "17179869184.00 GiB", "wsl-2to64" },
    };
    struct plim_search_result hits[PLIM_MAX_SEARCH_RESULTS];
    for (size_t i = 0; i < COUNT(questions); i++) {
        size_t n = plim_knowledge_search(questions[i].query, hits);
        if (n == 0 || strcmp(hits[0].entry.id, questions[i].id))
            fail_msg("'%s' finds %s", questions[i].query, n ? hits[0].entry.id : "nothing");
        for (size_t k = 1; k < n; k++)
            assert_true(hits[k].score <= hits[k - 1].score);
    }
    assert_int_equal(plim_knowledge_search("qqqzzz wwwxxx", hits), 0);
    assert_int_equal(plim_knowledge_search("", hits), 0);
    assert_int_equal(plim_knowledge_search("()[]{} 1 2 3", hits), 0);
}

static bool says(enum plim_field field, const char *claim, const char *truth)
{
    for (size_t i = 0; i < plim_knowledge_size(); i++) {
        struct plim_knowledge_entry entry = plim_knowledge_entry(i);
        struct plim_field_text text;
        for (size_t k = 0; (text = plim_entry_field(&entry, field, k)).text; k++)
            if (strstr(text.text, claim) && strstr(text.rest, truth))
                return true;
    }
    return false;
}

/* Wrong beliefs that are common, each with what is so. */
static void test_beliefs(void **state)
{
    (void)state;
    static const struct {
        const char *claim, *truth;
    } beliefs[] = {
        { "nvidia-smi shows free memory now", "later moment" },
        { "Reserved but unallocated memory is wasted", "already tried" },
        { "hint about fragmentation is printed", "every message" },
        { "Two cards of 24 GB", "split" },
        { "20.00 MiB", "smallest of the large pool" },
        { "0.9 leaves 10 %", "of the total" },
        { "whenever memory runs out", "opposite" },
        { "4-bit 7B model needs 3.5 GB", "KV cache" },
        { "shorter context makes the weights fit", "loaded first" },
        { "is a stranger", "container" },
        { "RAM is free, so the worker was not killed", "/dev/shm" },
        { "\"Killed\" is an out-of-memory error of the GPU", "never" },
        { "CUBLAS_STATUS_ALLOC_FAILED is always", "Labels" },
        { "It loaded, so it fits", "first long prompt" },
        { "Allocated 12 GiB on a card of 8 GiB", "spill" },
        { "inside the script fixes it", "before torch is imported" },
        { "Batch size 1 fails", "optimizer" },
        { "kill -9 frees the card", "children" },
        { "Rank 3 ran out of memory", "first in time" },
        { "More swap helps", "not swapped" },
        { "square of the context", "in proportion" },
        { "plus 12 of its own", "master copy" },
        { "--gpu-layers 20", "num_gpu" },
        { "is the size of the tensor", "segment" },
    };
    for (size_t i = 0; i < COUNT(beliefs); i++)
        if (!says(PLIM_FIELD_BELIEF, beliefs[i].claim, beliefs[i].truth))
            fail_msg("nothing puts right: %s (%s)", beliefs[i].claim, beliefs[i].truth);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_entries),
        cmocka_unit_test(test_every_pattern_has_its_entry),
        cmocka_unit_test(test_messages_find_their_entry),
        cmocka_unit_test(test_questions),
        cmocka_unit_test(test_beliefs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
