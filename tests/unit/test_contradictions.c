/* SPDX-License-Identifier: MIT */
/*
 * Files that contradict themselves or each other: sums over parts, names in several parts, keys that disagree. All of
 * them are refused, with the file and what it says.
 */
#include "gguf_writer.h"
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[128];
static struct plim_error error;

/* Where files of any size can be, if anywhere: tmpfs has no limit of its own. */
static int set_up(void **state)
{
    const char *usual = getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";
    (void)state;
    snprintf(folder, sizeof folder, "%s/plimsoll-parts-XXXXXX", access("/dev/shm", W_OK) ? usual : "/dev/shm");
    return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
    char command[256];
    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

/* --- parts of a split --- */

static char *part_path(uint32_t part, uint32_t count)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/m-%05u-of-%05u.gguf", folder, part, count);
    return path;
}

static void add_split(struct gguf_writer *w, uint32_t part, uint32_t count, uint32_t n_tensors)
{
    gguf_add_u32(w, "split.no", part - 1);
    gguf_add_u32(w, "split.count", count);
    gguf_add_u32(w, "split.tensors.count", n_tensors);
}

static void add_llama(struct gguf_writer *w)
{
    gguf_add_string(w, "general.architecture", "llama");
    gguf_add_u32(w, "llama.block_count", 2);
    gguf_add_u32(w, "llama.context_length", 4096);
    gguf_add_u32(w, "llama.embedding_length", 64);
    gguf_add_u32(w, "llama.attention.head_count", 2);
    gguf_add_u32(w, "llama.vocab_size", 256);
}

/* Write the file with its data as a hole; false when the file system has no files of this size. */
static bool write_part(struct gguf_writer *w, uint32_t part, uint32_t count)
{
    uint64_t header_bytes, file_bytes;
    const void *header = gguf_header(w, &header_bytes, &file_bytes);
    const int fd = open(part_path(part, count), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, header, header_bytes), header_bytes);
    const bool is_whole = ftruncate(fd, (off_t)file_bytes) == 0;
    close(fd);
    gguf_writer_done(w);
    return is_whole;
}

/* The error of opening the first part must say these words and name this part. */
static void assert_refused(int code, uint32_t count, uint32_t named, const char *words)
{
    char name[64];
    struct plim_model *model = NULL;
    error = (struct plim_error){ 0 };
    assert_int_equal(plim_model_open(part_path(1, count), &model, &error), code);
    if (!strstr(error.what, words))
        fail_msg("'%s' is not in '%s'", words, error.what);
    snprintf(name, sizeof name, "m-%05u-of-%05u.gguf", named, count);
    if (!strstr(error.where, name))
        fail_msg("'%s' is not in '%s'", name, error.where);
}

/* Every part is possible by itself; together they have 2^64 bytes. */
static void test_the_sum_of_the_parts_is_bounded(void **state)
{
    enum { PARTS = 4 };
    bool is_whole = true;
    (void)state;
    for (uint32_t part = 1; part <= PARTS && is_whole; part++) {
        struct gguf_writer w = { 0 };
        char name[64];
        if (part == 1)
            add_llama(&w);
        add_split(&w, part, PARTS, PARTS);
        snprintf(name, sizeof name, "blk.%u.big.weight", part);
        gguf_add_tensor(&w, name, PLIM_DTYPE_F32, 256, (uint64_t)1 << 52, 1);
        is_whole = write_part(&w, part, PARTS);
    }
    if (!is_whole) {
        print_message("skipped: no file system here has files of 2^62 bytes\n");
        return;
    }
    assert_refused(PLIM_E_TOO_BIG, PARTS, 1,
                   "the tensors of the model up to 'blk.1.big.weight' have more than 65536 TiB");
    assert_true(error.at != PLIM_NO_OFFSET);
}

/* Parts with one tensor each; `change` writes more keys into part 2. Returns what opening them gives. */
static int open_parts(uint32_t n_promised, uint32_t n_promised_last, void (*change)(struct gguf_writer *w),
                      const char *second)
{
    enum { PARTS = 3 };
    struct plim_model *model = NULL;
    for (uint32_t part = 1; part <= PARTS; part++) {
        struct gguf_writer w = { 0 };
        char name[64];
        if (part == 1)
            add_llama(&w);
        add_split(&w, part, PARTS, part < PARTS ? n_promised : n_promised_last);
        if (part == 2 && change)
            change(&w);
        snprintf(name, sizeof name, "blk.%u.attn_norm.weight", part);
        gguf_add_tensor(&w, part == 2 && second ? second : name, PLIM_DTYPE_F32, 64, 1, 1);
        assert_true(write_part(&w, part, PARTS));
    }
    error = (struct plim_error){ 0 };
    int result = plim_model_open(part_path(1, PARTS), &model, &error);
    plim_model_free(model);
    return result;
}

static void repeat_keys(struct gguf_writer *w)
{
    gguf_add_string(w, "general.architecture", "llama");
    gguf_add_u32(w, "llama.block_count", 2);
    gguf_add_string(w, "general.name", "another name"); /* says nothing about the model */
}

static void name_another_architecture(struct gguf_writer *w) { gguf_add_string(w, "general.architecture", "qwen2"); }

static void count_other_layers(struct gguf_writer *w) { gguf_add_u32(w, "llama.block_count", 3); }

static void test_parts_that_disagree(void **state)
{
    (void)state;
    assert_int_equal(open_parts(3, 3, NULL, NULL), 0);
    assert_int_equal(open_parts(3, 3, repeat_keys, NULL), 0);
    assert_int_equal(open_parts(3, 3, name_another_architecture, NULL), PLIM_E_CORRUPT);
    assert_string_equal(error.what, "key 'general.architecture' is not that of the first part");
    assert_non_null(strstr(error.where, "m-00002-of-00003.gguf"));
    assert_true(error.at != PLIM_NO_OFFSET);
    assert_int_equal(open_parts(3, 3, count_other_layers, NULL), PLIM_E_CORRUPT);
    assert_string_equal(error.what, "key 'llama.block_count' is not that of the first part");
}

static void test_tensors_of_parts(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 3; i++) { /* all parts, the last, or all but the last */
        assert_int_equal(open_parts(i == 1 ? 3 : 4, i == 2 ? 3 : 4, NULL, NULL), PLIM_E_CORRUPT);
        assert_non_null(strstr(error.what, "promises 4 tensors, the parts hold 3"));
    }
    assert_int_equal(open_parts(3, 2, NULL, NULL), PLIM_E_CORRUPT);
    assert_non_null(strstr(error.what, "promises 2 tensors, the parts hold 3"));
    assert_int_equal(open_parts(4, 4, NULL, NULL), PLIM_E_CORRUPT);
    assert_non_null(strstr(error.what, "promises 4 tensors, the parts hold 3"));
    assert_int_equal(open_parts(3, 3, NULL, "blk.1.attn_norm.weight"), PLIM_E_CORRUPT);
    assert_non_null(strstr(error.what, "tensor 'blk.1.attn_norm.weight' appears twice, first at byte"));
    assert_non_null(strstr(error.what, "of m-00001-of-00003.gguf"));
    assert_non_null(strstr(error.where, "m-00002-of-00003.gguf"));
}

/* --- an index and its files --- */

static void write_file(const char *name, const char *header, size_t data_bytes)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    const uint64_t length = strlen(header);
    if (data_bytes) /* safetensors */
        assert_int_equal(fwrite(&length, sizeof length, 1, file), 1);
    fputs(header, file);
    for (size_t i = 0; i < data_bytes; i++)
        fputc(0, file);
    fclose(file);
}

/* The contradiction between two files of a tensor each and this index; NULL without one. */
static const char *contradiction_of(const char *index)
{
    static char text[256];
    char path[256];
    struct plim_model *model = NULL;
    write_file("a.safetensors", "{\"a\":{\"dtype\":\"F16\",\"shape\":[6],\"data_offsets\":[0,12]}}", 12);
    write_file("b.safetensors", "{\"b\":{\"dtype\":\"F16\",\"shape\":[6],\"data_offsets\":[0,12]}}", 12);
    write_file("model.safetensors.index.json", index, 0);
    snprintf(path, sizeof path, "%s/model.safetensors.index.json", folder);
    error = (struct plim_error){ 0 };
    if (plim_model_open(path, &model, &error) < 0)
        fail_msg("%s: %s", index, error.what);
    const char *found = plim_model_contradiction(model);
    snprintf(text, sizeof text, "%s", found ? found : "");
    plim_model_free(model);
    return found ? text : NULL;
}

static void test_an_index(void **state)
{
    (void)state;
    assert_null(contradiction_of("{\"weight_map\":{\"a\":\"a.safetensors\",\"b\":\"b.safetensors\"}}"));
    assert_null(contradiction_of("{\"metadata\":{\"total_size\":24},"
                                 "\"weight_map\":{\"a\":\"a.safetensors\",\"b\":\"b.safetensors\"}}"));
    assert_string_equal(contradiction_of("{\"metadata\":{\"total_size\":26},"
                                         "\"weight_map\":{\"a\":\"a.safetensors\",\"b\":\"b.safetensors\"}}"),
                        "by the index the tensors have 26 bytes, in the files 24");
    assert_string_equal(
        contradiction_of("{\"weight_map\":{\"a\":\"a.safetensors\",\"b\":\"b.safetensors\",\"c\":\"b.safetensors\"}}"),
        "the index names tensor 'c', which no file has");
    assert_string_equal(contradiction_of("{\"weight_map\":{\"a\":\"b.safetensors\",\"b\":\"a.safetensors\"}}"),
                        "tensor 'a' is in a.safetensors, and the index names another file");
    assert_string_equal(contradiction_of("{\"weight_map\":{\"a\":\"a.safetensors\",\"a\":\"b.safetensors\"}}"),
                        "tensor 'a' is in a.safetensors, and the index names another file");
}

static void test_one_file_is_bounded(void **state)
{
    struct gguf_writer w = { 0 };
    struct plim_model *model = NULL;
    uint64_t header_bytes, file_bytes;
    (void)state;
    add_llama(&w);
    for (int i = 0; i < 3; i++) {
        char name[64];
        snprintf(name, sizeof name, "blk.%d.attn_k.weight", i);
        gguf_add_tensor(&w, name, PLIM_DTYPE_F32, (uint64_t)1 << 20, (uint64_t)1 << 33, 1); /* 2^55 bytes */
    }
    const void *header = gguf_header(&w, &header_bytes, &file_bytes);
    error = (struct plim_error){ 0 };
    assert_int_equal(plim_model_read(header, header_bytes, file_bytes, &model, &error), PLIM_E_TOO_BIG);
    assert_non_null(strstr(error.what, "up to 'blk.2.attn_k.weight' have more than 65536 TiB"));
    gguf_writer_done(&w);
}

/* --- */

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_the_sum_of_the_parts_is_bounded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_one_file_is_bounded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_parts_that_disagree, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_tensors_of_parts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_an_index, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
