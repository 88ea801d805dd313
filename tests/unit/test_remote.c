/* SPDX-License-Identifier: MIT */
/* Models on servers, without a server: names, heads of answers, lists of files. */
#include "source/remote/answer.h"
#include "source/remote/listing.h"
#include "unit.h"

#include <string.h>

static const char hub[] = "https://hub.example";

/* --- names --- */

static void test_names(void **state)
{
    static const struct {
        const char *name, *repository, *quantization, *file, *url;
    } rows[] = {
        { "hf:a/b", "a/b", "", "", "" },
        { "hf://a/b:Q4_K_M", "a/b", "Q4_K_M", "", "" },
        { "hf:a/b-GGUF:UD-IQ2_XXS", "a/b-GGUF", "UD-IQ2_XXS", "", "" },
        { "hf:a/b/c/d e.gguf", "a/b", "", "c/d e.gguf", "" },
        { "hf:a/b/c:d.gguf", "a/b", "", "c:d.gguf", "" },
        { "https://x.example/a.gguf", "", "", "", "https://x.example/a.gguf" },
        { "HTTPS://x.example/a.gguf?download=true", "", "", "", "HTTPS://x.example/a.gguf" },
        { "https://x.example/a.gguf?key=1#top", "", "", "", "https://x.example/a.gguf?key=1" },
        { "https://hub.example/a/b", "a/b", "", "", "https://hub.example/a/b" },
        { "https://hub.example/a/b/tree/main", "a/b", "", "", "https://hub.example/a/b/tree/main" },
        { "https://huggingface.co/a/b", "a/b", "", "", "https://huggingface.co/a/b" },
        { "https://hub.example/a/b/blob/main/c/d.gguf", "", "", "", "https://hub.example/a/b/resolve/main/c/d.gguf" },
        { "https://hub.example/a/b.gguf", "", "", "", "https://hub.example/a/b.gguf" },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct plim_remote_address address;
        struct plim_error error = { 0 };
        assert_int_equal(plim_remote_address_read(rows[i].name, hub, &address, &error), 0);
        assert_string_equal(address.repository, rows[i].repository);
        assert_string_equal(address.quantization, rows[i].quantization);
        assert_string_equal(address.file, rows[i].file);
        if (!*rows[i].repository)
            assert_string_equal(address.url, rows[i].url);
    }
}

static void test_names_that_are_none(void **state)
{
    static const char *const names[] = {
        "hf:",          "hf:a",          "hf:a/",         "hf:/b",        "hf:a/b:",         "hf:a/b:Q4/x",
        "hf:a/b/",      "hf:a/b/../c",   "hf:a/b//c",     "hf:a/..",      "hf:../b",         "hf:a/b/.",
        "hf:.a/b",      "hf:a/b-",       "hf:a--b/c",     "hf:a/b?c",     "hf:a/b:Q4 K",     "https://",
        "https:///a",   "https://u@h/a", "https://h/a b", "https://h/\n", "https://h/\"",    "http://:80/a",
        "https://h\\a", "hf:a/b/c\\d",   "hf:a/b/c\nd",   "http://?",     "https://u:p@h/a", "hf:a/b:\x7f",
    };
    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        struct plim_remote_address address;
        struct plim_error error = { 0 };
        assert_true(plim_remote_is_address(names[i]));
        assert_int_equal(plim_remote_address_read(names[i], hub, &address, &error), PLIM_E_USAGE);
        assert_string_not_equal(error.hint, "");
    }
    assert_false(plim_remote_is_address("a/b"));
    assert_false(plim_remote_is_address("./hf:a"));
}

static void test_paths_stay_inside(void **state)
{
    static const char *const bad[] = { "",    "/a",   "a/",   "..",   "../a", "a/../b", "a/..",
                                       "./a", "a//b", "a\\b", "a\nb", "\x1b", "a/./b",  "\x7f" };
    static const char *const good[] = { "a", "a/b.gguf", "..a", "a..b/c", "a b", "a%2e%2e/b", "\xc3\xa4" };
    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_false(plim_remote_path_is_plain(bad[i]));
    for (size_t i = 0; i < COUNT(good); i++)
        assert_true(plim_remote_path_is_plain(good[i]));
}

static void test_urls_of_files(void **state)
{
    char url[PLIM_URL_BYTES], path[PLIM_URL_BYTES];
    (void)state;
    assert_true(plim_remote_file_url(hub, "a/b", "c/d e?#%\xc3\xa4.gguf", url));
    assert_string_equal(url, "https://hub.example/a/b/resolve/main/c/d%20e%3F%23%25%C3%A4.gguf");
    memset(path, ' ', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    assert_false(plim_remote_file_url(hub, "a/b", path, url));
}

static void test_origins(void **state)
{
    static const struct {
        const char *url, *other;
        bool is_same;
    } rows[] = {
        { "https://h.example/a", "https://h.example", true },
        { "https://H.example/a", "https://h.example/b", true },
        { "https://h.example?x", "https://h.example", true },
        { "https://h.example.evil/a", "https://h.example", false },
        { "https://h.example/a", "https://h.example.evil", false },
        { "https://h.example:444/a", "https://h.example", false },
        { "http://h.example/a", "https://h.example", false },
        { "https://h.example@evil/a", "https://h.example", false },
        { "https://evil/https://h.example", "https://h.example", false },
        { "", "", false },
    };
    static const struct {
        const char *url;
        bool is_private;
    } privacy[] = {
        { "https://h/a", true },          { "http://h/a", false },        { "http://127.0.0.1:80/a", true },
        { "http://localhost/a", true },   { "http://[::1]:1/a", true },   { "http://localhost.evil/a", false },
        { "http://127.0.0.10/a", false }, { "ftp://localhost/a", false },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_int_equal(plim_url_is_same_origin(rows[i].url, rows[i].other), rows[i].is_same);
    for (size_t i = 0; i < COUNT(privacy); i++)
        assert_int_equal(plim_url_is_private(privacy[i].url), privacy[i].is_private);
}

/* --- answers --- */

static struct plim_http_answer answer_of(const char *head)
{
    struct plim_http_answer answer = { 0 };
    while (*head) {
        const size_t n = strcspn(head, "\n");
        plim_http_answer_add(&answer, head, n);
        head += n + (head[n] == '\n');
    }
    return answer;
}

static void test_heads(void **state)
{
    (void)state;
    struct plim_http_answer a =
        answer_of("HTTP/2 206 \r\ncontent-range: bytes 5-9/100\r\nContent-Length:5\nETag: \"x\"\r\n"
                  "link: <https://h/p>; rel=\"prev\", <https://h/n?a=1>; rel=\"next\"\r\n");
    assert_int_equal(a.status, 206);
    assert_true(a.has_range && a.has_total && a.has_length && !a.is_range_broken);
    assert_int_equal(a.first, 5);
    assert_int_equal(a.last, 9);
    assert_int_equal(a.total, 100);
    assert_string_equal(a.etag, "\"x\"");
    assert_string_equal(a.next, "https://h/n?a=1");
    a = answer_of(
        "HTTP/1.1 103 Early\nEtag: \"old\"\nHTTP/1.1 429 Slow\nRetry-After: 7\nX-Error-Code: Gated\x01Repo\n");
    assert_int_equal(a.status, 429);
    assert_string_equal(a.etag, ""); /* of the answer before */
    assert_int_equal(a.retry_after_s, 7);
    assert_string_equal(a.error_code, ""); /* with a control character */
    a = answer_of("HTTP/1.1 503 x\nRetry-After: Wed, 21 Oct 2065 07:28:00 GMT\n");
    assert_int_equal(a.retry_after_s, 100000);
}

static void test_parts(void **state)
{
    static const struct {
        const char *head;
        uint64_t from, n, total;
        int result;
        uint64_t size, bytes;
    } rows[] = {
        { "HTTP/1.1 206 x\nContent-Range: bytes 0-9/100\n", 0, 10, 0, 0, 100, 10 },
        { "HTTP/1.1 206 x\nContent-Range: bytes 0-4/100\n", 0, 10, 0, 0, 100, 5 },
        { "HTTP/1.1 206 x\nContent-Range: bytes 90-99/100\n", 90, 20, 100, 0, 100, 10 },
        { "HTTP/1.1 206 x\nContent-Range: bytes 0-10/100\n", 0, 10, 0, PLIM_E_NETWORK, 0, 0 },
        { "HTTP/1.1 206 x\nContent-Range: bytes 1-9/100\n", 0, 10, 0, PLIM_E_NETWORK, 0, 0 },
        { "HTTP/1.1 206 x\nContent-Range: bytes 0-9/9\n", 0, 10, 0, PLIM_E_NETWORK, 0, 0 },
        { "HTTP/1.1 206 x\nContent-Range: bytes 9-0/100\n", 9, 10, 0, PLIM_E_NETWORK, 0, 0 },
        { "HTTP/1.1 206 x\nContent-Range: bytes 0-9/*\n", 0, 10, 0, PLIM_E_NETWORK, 0, 0 },
        { "HTTP/1.1 206 x\nContent-Range: bytes 0-18446744073709551616/99\n", 0, 10, 0, PLIM_E_NETWORK, 0, 0 },
        { "HTTP/1.1 206 x\nContent-Range: bits 0-9/100\n", 0, 10, 0, PLIM_E_NETWORK, 0, 0 },
        { "HTTP/1.1 206 x\n", 0, 10, 0, PLIM_E_NETWORK, 0, 0 },
        { "HTTP/1.1 206 x\nContent-Range: bytes 0-9/100\nContent-Length: 11\n", 0, 10, 0, PLIM_E_NETWORK, 0, 0 },
        { "HTTP/1.1 206 x\nContent-Range: bytes 0-9/100\n", 0, 10, 101, PLIM_E_NETWORK, 0, 0 },
        { "HTTP/1.1 206 x\nContent-Range: bytes 0-9/100\nContent-Encoding: gzip\n", 0, 10, 0, PLIM_E_NETWORK, 0, 0 },
        { "HTTP/1.1 200 x\nContent-Length: 10\n", 0, 10, 0, 0, 10, 10 },
        { "HTTP/1.1 200 x\nContent-Length: 11\n", 0, 10, 0, PLIM_E_UNSUPPORTED, 0, 0 },
        { "HTTP/1.1 200 x\nContent-Length: 5\n", 5, 10, 0, PLIM_E_UNSUPPORTED, 0, 0 },
        { "HTTP/1.1 200 x\n", 0, 10, 0, 0, UINT64_MAX, UINT64_MAX },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct plim_http_answer a = answer_of(rows[i].head);
        struct plim_error error = { 0 };
        uint64_t size = 0, bytes = 0;
        assert_int_equal(plim_http_answer_check(&a, rows[i].from, rows[i].n, rows[i].total, &size, &bytes, &error),
                         rows[i].result);
        assert_int_equal(size, rows[i].size);
        assert_int_equal(bytes, rows[i].bytes);
    }
}

/* --- lists --- */

static struct plim_listing listing_of(const char *json, int result)
{
    struct plim_listing listing;
    struct plim_error error = { 0 };
    plim_listing_init(&listing);
    assert_int_equal(plim_listing_read(&listing, plim_cursor(json, strlen(json)), &error), result);
    return listing;
}

static void test_lists(void **state)
{
    (void)state;
    struct plim_listing l = listing_of(
        "[{\"type\":\"directory\",\"path\":\"x.gguf\",\"oid\":\"1\",\"size\":0},"
        "{\"type\":\"file\",\"oid\":\"blob\",\"size\":7,\"path\":\"a/"
        "b-Q4_0.gguf\",\"lfs\":{\"oid\":\"sum\",\"size\":7}},"
        "{\"type\":\"file\",\"path\":\"config.json\",\"size\":\"7\",\"oid\":\"c\",\"lfs\":null},"
        "{\"type\":\"file\",\"path\":\"../x.gguf\",\"size\":7},{\"type\":\"file\",\"path\":\"a.bin\",\"size\":7}]",
        0);
    assert_int_equal(l.n, 2);
    assert_string_equal(l.files[0].path, "a/b-Q4_0.gguf");
    assert_string_equal(l.files[0].oid, "sum"); /* of the content, not of the pointer to it */
    assert_int_equal(l.files[0].bytes, 7);
    assert_string_equal(l.files[1].oid, "c");
    assert_int_equal(l.files[1].bytes, 0);
    plim_listing_done(&l);
    l = listing_of("[{\"type\":\"file\",\"path\":\"a.gguf\",\"oid\":\"1\\nnext x\"},"
                   "{\"type\":\"file\",\"path\":\"a/config.json\"}]",
                   0);
    assert_int_equal(l.n, 2);                /* the config of a model in a folder is looked for there */
    assert_string_equal(l.files[0].oid, ""); /* it is written into a line of the cache */
    plim_listing_done(&l);
    l = listing_of("{}", PLIM_E_CORRUPT);
    plim_listing_done(&l);
    l = listing_of("[] []", PLIM_E_CORRUPT);
    plim_listing_done(&l);
}

static void test_choices(void **state)
{
    static const struct {
        const char *files[6], *quantization, *file;
        int result;
        const char *model, *projector;
    } rows[] = {
        { { "a-Q4_K_M.gguf", "a-Q8_0.gguf" }, "q8_0", "", 0, "a-Q8_0.gguf", NULL },
        { { "a-UD-Q4_K_M.gguf", "a-Q4_K_M.gguf" }, "Q4_K_M", "", 0, "a-Q4_K_M.gguf", NULL },
        { { "a-UD-Q4_K_M.gguf", "a-Q8_0.gguf" }, "Q4_K_M", "", 0, "a-UD-Q4_K_M.gguf", NULL },
        { { "a-IQ4_XS.gguf", "a-Q4_K_S.gguf" }, "Q4_K", "", PLIM_E_NOT_FOUND, NULL, NULL },
        { { "Q4_0/a-00001-of-00002.gguf", "Q4_0/a-00002-of-00002.gguf" },
          "",
          "",
          0,
          "Q4_0/a-00001-of-00002.gguf",
          NULL },
        { { "a-Q4_0-00001-of-00002.gguf", "a-Q4_0-00002-of-00002.gguf" },
          "Q4_0",
          "",
          0,
          "a-Q4_0-00001-of-00002.gguf",
          NULL },
        { { "a-F16.gguf", "a-Q8_0.gguf", "a-UD-Q4_K_M.gguf", "a-Q4_K_M.gguf" },
          "latest",
          "",
          0,
          "a-Q4_K_M.gguf",
          NULL },
        { { "a-F16.gguf", "a-Q8_0.gguf" }, "latest", "", 0, "a-Q8_0.gguf", NULL },
        { { "b-F16.gguf", "a-F32.gguf" }, "latest", "", 0, "b-F16.gguf", NULL },
        { { "config.json" }, "latest", "", PLIM_E_NOT_FOUND, NULL, NULL },
        { { "a.Q4_0.gguf", "b.Q4_0.gguf" }, "Q4_0", "", PLIM_E_USAGE, NULL, NULL },
        { { "a-Q4_0.gguf", "mmproj-F16.gguf", "mmproj-Q8_0.gguf" }, "", "", 0, "a-Q4_0.gguf", "mmproj-Q8_0.gguf" },
        { { "x/a-Q4_0.gguf", "mmproj-F16.gguf", "x/mmproj-F32.gguf", "y/mmproj-Q4_0.gguf" },
          "",
          "",
          0,
          "x/a-Q4_0.gguf",
          "x/mmproj-F32.gguf" },
        { { "mmproj/F16.gguf" }, "latest", "", 0, "mmproj/F16.gguf", NULL }, /* not its own projector */
        { { "a-Q4_0.gguf", "imatrix.gguf", "mtp-a-Q4_0.gguf" }, "", "", 0, "a-Q4_0.gguf", NULL },
        { { "a-Q4_0.gguf", "b.gguf" }, "", "b.gguf", 0, "b.gguf", NULL },
        { { "a-Q4_0.gguf" }, "", "b.gguf", PLIM_E_NOT_FOUND, NULL, NULL },
        { { "config.json", "model.safetensors.index.json", "model-00001-of-00001.safetensors" },
          "",
          "",
          0,
          "model.safetensors.index.json",
          NULL },
        { { "config.json", "adapter_model.safetensors" }, "", "", 0, "adapter_model.safetensors", NULL },
        { { "config.json", "a.safetensors", "b.safetensors" }, "", "", 0, "config.json", NULL },
        { { "config.json" }, "Q4_0", "", PLIM_E_NOT_FOUND, NULL, NULL },
        { { NULL }, "", "", PLIM_E_NOT_FOUND, NULL, NULL },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct plim_listing l;
        struct plim_error error = { 0 };
        const struct plim_listed_file *model = NULL, *projector = NULL;
        plim_listing_init(&l);
        for (size_t k = 0; k < COUNT(rows[i].files) && rows[i].files[k]; k++)
            assert_int_equal(plim_listing_add(&l, rows[i].files[k], 1, "", &error), 0);
        assert_int_equal(plim_listing_choose(&l, rows[i].quantization, rows[i].file, &model, &projector, &error),
                         rows[i].result);
        if (rows[i].model)
            assert_string_equal(model->path, rows[i].model);
        assert_int_equal(projector != NULL, rows[i].projector != NULL);
        if (rows[i].projector)
            assert_string_equal(projector->path, rows[i].projector);
        plim_listing_done(&l);
    }
}

static void test_whole_splits(void **state)
{
    struct plim_listing l;
    struct plim_error error = { 0 };
    (void)state;
    plim_listing_init(&l);
    assert_int_equal(plim_listing_add(&l, "a-00001-of-00002.gguf", 1, "", &error), 0);
    assert_false(plim_listing_is_complete(&l, &l.files[0]));
    assert_int_equal(plim_listing_add(&l, "a-00002-of-00002.gguf", 1, "", &error), 0);
    assert_true(plim_listing_is_complete(&l, &l.files[0]));
    plim_listing_done(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_names_that_are_none),
        cmocka_unit_test(test_paths_stay_inside),
        cmocka_unit_test(test_urls_of_files),
        cmocka_unit_test(test_origins),
        cmocka_unit_test(test_heads),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_choices),
        cmocka_unit_test(test_whole_splits),
    };
    return cmocka_run_group_tests_name("remote", tests, NULL, NULL);
}
