/* SPDX-License-Identifier: MIT */
/* Which files a command line means: folders of models, parts of a split, names in a store of Ollama. */
#include "base/limits.h"
#include "source/file.h"
#include "source/gguf_split.h"
#include "source/paths.h"
#include "source/roots.h"
#include "unit.h"

#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];

static int make_root(void **state)
{
    (void)state;
    strcpy(folder, "plimsoll-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *place)
{
    (void)status, (void)type, (void)place;
    return remove(path);
}

static int remove_root(void **state)
{
    (void)state;
    return nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

/* A path below the folder; four calls share no buffer. */
static const char *at(const char *name)
{
    static char paths[4][1024];
    static unsigned turn;
    char *path = paths[turn++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static void write_bytes(const char *name, const char *text, size_t n)
{
    char path[1024];
    snprintf(path, sizeof path, "%s", at(name));
    for (char *slash = strchr(path + strlen(folder) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0755);
        *slash = '/';
    }
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, n, file), n);
    fclose(file);
}

static void write_text(const char *name, const char *text) { write_bytes(name, text, strlen(text)); }

/* --- names --- */

static void test_parts(void **state)
{
    static const struct {
        const char *path;
        uint32_t part, count; /* 0: no part */
    } rows[] = {
        { "m-00001-of-00003.gguf", 1, 3 },
        { "-00003-of-00003.gguf", 3, 3 },
        { "dir/m-00001-of-99999.gguf", 1, 99999 },
        { "m-00000-of-00003.gguf", 0, 0 },
        { "m-00004-of-00003.gguf", 0, 0 },
        { "m-00001-of-00000.gguf", 0, 0 },
        { "m-0000a-of-00003.gguf", 0, 0 },
        { "m-0000:-of-00003.gguf", 0, 0 }, /* the character behind '9' */
        { "m-0000/-of-00003.gguf", 0, 0 }, /* and the one before '0' */
        { "m-00001-of-0000x.gguf", 0, 0 },
        { "m-00001-of-00003.GGUF", 0, 0 },
        { "m-00001_of-00003.gguf", 0, 0 },
        { "m00001-of-00003.gguf", 0, 0 },
        { ".gguf", 0, 0 },
        { "", 0, 0 },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const size_t n = strlen(rows[i].path) + 1;
        char *path = malloc(n); /* and not one byte before it */
        uint32_t part = 77, count = 77;
        assert_non_null(path);
        memcpy(path, rows[i].path, n);
        assert_int_equal(plim_split_parse(path, &part, &count), rows[i].part != 0);
        assert_int_equal(part, rows[i].part ? rows[i].part : 77);
        assert_int_equal(count, rows[i].count ? rows[i].count : 77);
        free(path);
    }
}

/* --- files --- */

/* A text is ended within its buffer, however long the file is. */
static void test_text(void **state)
{
    (void)state;
    write_text("text", "0123456789");
    for (size_t size = 1; size <= 12; size++) {
        char *buffer = malloc(size);
        assert_non_null(buffer);
        const long n = plim_file_read_text(at("text"), buffer, size);
        assert_int_equal(n, size - 1 < 10 ? size - 1 : 10);
        assert_int_equal(strlen(buffer), n);
        free(buffer);
    }
    assert_int_equal(plim_file_read_text(at("nothing"), (char[4]){ 0 }, 4), PLIM_E_NOT_FOUND);
}

/* No more of a file is read than was asked for. */
static void test_cursor_ends_at_the_limit(void **state)
{
    struct plim_file file;
    const unsigned char *bytes;
    (void)state;
    write_text("text", "0123456789");
    assert_int_equal(plim_file_open(at("text"), &file, NULL), 0);
    struct plim_cursor c = plim_file_cursor(&file, 4);
    assert_true(plim_cursor_take(&c, 4, &bytes));
    assert_memory_equal(bytes, "0123", 4);
    assert_false(plim_cursor_take(&c, 1, &bytes));
    plim_file_close(&file);
}

/* A file whose bytes cannot be read says why: that is not its end. */
static void test_what_cannot_be_read(void **state)
{
    struct plim_file file;
    const unsigned char *bytes;
    int ends[2];
    (void)state;
    write_text("text", "0123456789");
    assert_int_equal(plim_file_open(at("text"), &file, NULL), 0);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(dup2(ends[0], file.fd), file.fd); /* pread() of a pipe fails */
    struct plim_cursor c = plim_file_cursor(&file, 10);
    assert_false(plim_cursor_peek(&c, 1, &bytes));
    assert_int_not_equal(c.error, 0);
    plim_file_close(&file);
    close(ends[0]);
    close(ends[1]);
}

static void test_only_files_are_opened(void **state)
{
    struct plim_file file;
    struct plim_error error = { 0 };
    (void)state;
    assert_int_equal(plim_file_open(folder, &file, &error), PLIM_E_UNSUPPORTED);
    assert_non_null(strstr(error.what, "a directory"));
    assert_int_equal(plim_file_open("/dev/null", &file, NULL), PLIM_E_UNSUPPORTED);
    write_text("nothing", "");
    assert_int_equal(plim_file_open(at("nothing"), &file, NULL), PLIM_E_TRUNCATED);
    assert_int_equal(unlink(at("nothing")), 0);
}

/* --- folders --- */

static const struct plim_source_roots no_roots;

static int expand(const char *const *given, size_t n, struct plim_paths *paths)
{
    struct plim_error error = { 0 };
    const int result = plim_paths_expand(given, n, &no_roots, paths, &error);
    assert_int_equal(result, error.code);
    return result;
}

static void test_folder(void **state)
{
    static const char *const names[] = { "d/a.gguf", "d/sub/b.GGUF", "d/sub/sub/m-00001-of-00002.gguf" };
    struct plim_paths paths;
    char deep[512];
    (void)state;
    for (size_t i = 0; i < COUNT(names); i++)
        write_text(names[i], "x");
    write_text("d/sub/sub/m-00002-of-00002.gguf", "x"); /* a later part */
    write_text("d/.hidden.gguf", "x");
    write_text("d/.cache/c.gguf", "x");
    write_text("d/notes.txt", "x");
    write_text("d/sha256-aa", "GGUF");
    write_text("d/sha256-bb", "text");
    mkdir(at("d/folder.gguf"), 0755);
    assert_int_equal(symlink("..", at("d/sub/up")), 0); /* leads back up */
    assert_int_equal(symlink("a.gguf", at("d/link.gguf")), 0);
    assert_int_equal(symlink("nowhere", at("d/broken.gguf")), 0);
    int n = snprintf(deep, sizeof deep, "d");
    for (int i = 0; i < 9; i++)
        n += snprintf(deep + n, sizeof deep - (size_t)n, "/%d", i);
    snprintf(deep + n, sizeof deep - (size_t)n, "/deep.gguf");
    write_text(deep, "x"); /* ten folders down */
    assert_int_equal(expand((const char *const[]){ at("d/") }, 1, &paths), 0);
    assert_true(paths.has_directory);
    size_t n_links = 0, n_blobs = 0;
    for (size_t i = 0; i < paths.n; i++) {
        assert_true(paths.paths[i].is_found);
        assert_null(strstr(paths.paths[i].text, "/up/"));
        n_links += strstr(paths.paths[i].text, "/link.gguf") != NULL;
        n_blobs += strstr(paths.paths[i].text, "/sha256-aa") != NULL;
    }
    assert_int_equal(n_links, 1);
    assert_int_equal(n_blobs, 1);
    assert_int_equal(paths.n, COUNT(names) + 2);
    plim_paths_done(&paths);
    assert_int_equal(expand((const char *const[]){ at("d/.cache") }, 1, &paths), 0); /* named, it counts */
    assert_int_equal(paths.n, 1);
    plim_paths_done(&paths);
    assert_int_equal(expand((const char *const[]){ at("d/folder.gguf") }, 1, &paths), PLIM_E_NOT_FOUND);
    plim_paths_done(&paths);
}

/* A later part counts when its first part is not named. */
static void test_named_parts(void **state)
{
    const char *both[] = { "d/m-00002-of-00002.gguf", "d/m-00001-of-00002.gguf" };
    struct plim_paths paths;
    (void)state;
    assert_int_equal(expand(both, 2, &paths), 0);
    assert_int_equal(paths.n, 1);
    assert_string_equal(paths.paths[0].text, both[1]);
    plim_paths_done(&paths);
    assert_int_equal(expand(both, 1, &paths), 0);
    assert_int_equal(paths.n, 1);
    plim_paths_done(&paths);
}

static void test_too_many_models(void **state)
{
    static const char *given[PLIM_MAX_FILES + 1];
    struct plim_paths paths;
    (void)state;
    for (size_t i = 0; i < COUNT(given); i++)
        given[i] = "a.gguf";
    assert_int_equal(expand(given, PLIM_MAX_FILES, &paths), 0);
    assert_int_equal(paths.n, PLIM_MAX_FILES);
    assert_int_equal(paths.n_left_out, 0);
    plim_paths_done(&paths);
    assert_int_equal(expand(given, PLIM_MAX_FILES + 1, &paths), 0); /* the first are answered for */
    assert_int_equal(paths.n, PLIM_MAX_FILES);
    assert_int_equal(paths.n_left_out, 1);
    plim_paths_done(&paths);
}

/* --- Ollama's store --- */

#define MODEL(digest) "{\"layers\":[{\"mediaType\":\"application/vnd.ollama.image.model\",\"digest\":\"" digest "\"}]}"

static int ask(const char *name, struct plim_stored_model *model)
{
    static char store[1024];
    const char *stores[] = { store };
    const struct plim_source_roots roots = { .ollama = stores, .n_ollama = 1 };
    snprintf(store, sizeof store, "%s", at("store"));
    return plim_ollama_find(name, &roots, model, NULL);
}

#define LIBRARY "store/manifests/registry.ollama.ai/library/"

static void test_names_in_a_store(void **state)
{
    static const char *const found[] = { "one",
                                         "one:latest",
                                         "one:8b",
                                         "library/one",
                                         "me/two",
                                         "me/two:q4",
                                         "one:",
                                         "host:5000/me/three",
                                         "host:5000/me/three:x",
                                         "registry.ollama.ai/library/one" };
    static const char *const refused[] = { "two",   "one:9b", "../manifests/registry.ollama.ai/library/one", "me//two",
                                           "/one",  ".one",   "registry.ollama.ai/me/../library/one",        "one two",
                                           "one\n", "" };
    struct plim_stored_model model;
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        write_text(i ? LIBRARY "one/latest" : LIBRARY "one/8b", MODEL("sha256:00ff"));
        write_text(i ? "store/manifests/registry.ollama.ai/me/two/latest"
                     : "store/manifests/registry.ollama.ai/me/two/q4",
                   MODEL("sha256:00ff"));
        write_text(i ? "store/manifests/host:5000/me/three/latest" : "store/manifests/host:5000/me/three/x",
                   MODEL("sha256:00ff"));
    }
    for (size_t i = 0; i < COUNT(found); i++) {
        if (ask(found[i], &model) != 0)
            fail_msg("'%s' is not found", found[i]);
        assert_non_null(strstr(model.model, "/store/blobs/sha256-00ff"));
        assert_string_equal(model.engine, "ollama");
        assert_int_equal(model.num_gpu, -1);
    }
    for (size_t i = 0; i < COUNT(refused); i++)
        if (ask(refused[i], &model) != PLIM_E_NOT_FOUND)
            fail_msg("'%s' is found", refused[i]);
}

/* A manifest comes from elsewhere: what it names stays in the store, and its size and numbers have limits. */
static void test_manifests(void **state)
{
    static const struct {
        const char *manifest;
        bool is_found;
    } rows[] = {
        { MODEL("sha256:00ff"), true },
        { MODEL("sha256:../../../../etc/passwd"), false },
        { MODEL("sha256:00/ff"), false },
        { MODEL("sha256:00FF"), false },
        { MODEL("sha512:00ff"), false },
        { MODEL("sha256:00\\u0000ff"), false },
        { MODEL("sha256:00000000000000000000000000000000000000000000000000000000000000000000000000000000000000"),
          false },
        { "{\"layers\":[]}", false },
        { "{}", false },
        { "[]", false },
        { "", false },
        { MODEL("sha256:00ff") " x", false },
        { "{\"layers\":[{\"digest\":\"sha256:00ff\",\"mediaType\":\"application/vnd.ollama.image.model.and.more\"}]}",
          false },
        { "{\"layers\":[{\"digest\":3,\"mediaType\":\"application/vnd.ollama.image.model\"}]}", false },
    };
    static char large[PLIM_MAX_MANIFEST_BYTES + 2];
    struct plim_stored_model model;
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        write_text(LIBRARY "m/latest", rows[i].manifest);
        if ((ask("m", &model) == 0) != rows[i].is_found)
            fail_msg("%s is %s", rows[i].manifest, rows[i].is_found ? "not found" : "found");
    }
    memset(large, ' ', sizeof large);
    memcpy(large, rows[0].manifest, strlen(rows[0].manifest));
    write_bytes(LIBRARY "m/latest", large, PLIM_MAX_MANIFEST_BYTES);
    assert_int_equal(ask("m", &model), 0);
    write_bytes(LIBRARY "m/latest", large, PLIM_MAX_MANIFEST_BYTES + 1);
    assert_int_equal(ask("m", &model), PLIM_E_CORRUPT);
}

/* The store of a service whose home is closed to others is passed over; a file that is there and closed is told. */
static void test_closed_stores(void **state)
{
    const uid_t own = geteuid();
    struct plim_stored_model model;
    (void)state;
    write_text(LIBRARY "closed/latest", MODEL("sha256:00ff"));
    assert_int_equal(chmod(folder, 0755), 0);
    assert_int_equal(chmod(at("store"), 0755), 0);
    assert_int_equal(chmod(at(LIBRARY "closed/latest"), 0), 0);
    if (own == 0 && seteuid(65534) != 0) /* root may read everything, and here it cannot be another user */
        skip();
    const int of_file = ask("closed", &model);
    assert_int_equal(seteuid(own), 0);
    assert_int_equal(chmod(at("store"), 0), 0);
    if (own == 0)
        assert_int_equal(seteuid(65534), 0);
    const int of_store = ask("closed", &model);
    assert_int_equal(seteuid(own), 0);
    assert_int_equal(chmod(at("store"), 0755), 0);
    assert_int_equal(chmod(at(LIBRARY "closed/latest"), 0644), 0);
    assert_int_equal(of_file, PLIM_E_DENIED);
    assert_int_equal(of_store, PLIM_E_NOT_FOUND);
}

static void test_parameters(void **state)
{
    static const struct {
        const char *json;
        uint32_t num_ctx, num_batch;
        int32_t num_gpu;
    } rows[] = {
        { "{\"num_ctx\":65536,\"num_batch\":256,\"num_gpu\":7,\"stop\":[\"x\"]}", 65536, 256, 7 },
        { "{\"num_ctx\":1073741823}", 1073741823, 0, -1 },
        { "{\"num_ctx\":1073741824,\"num_batch\":1099511627776,\"num_gpu\":100000}", 0, 0, -1 },
        { "{\"num_ctx\":1099511631872}", 0, 0, -1 }, /* its lower half is 4096 */
        { "{\"num_ctx\":-1,\"num_batch\":1.5,\"num_gpu\":\"7\"}", 0, 0, -1 },
    };
    struct plim_stored_model model;
    (void)state;
    write_text(LIBRARY "p/latest",
               "{\"layers\":[{\"mediaType\":\"application/vnd.ollama.image.model\",\"digest\":\"sha256:aa\"},"
               "{\"mediaType\":\"application/vnd.ollama.image.projector\",\"digest\":\"sha256:bb\"},"
               "{\"mediaType\":\"application/vnd.ollama.image.params\",\"digest\":\"sha256:cc\"}]}");
    for (size_t i = 0; i < COUNT(rows); i++) {
        write_text("store/blobs/sha256-cc", rows[i].json);
        assert_int_equal(ask("p", &model), 0);
        assert_non_null(strstr(model.projector, "/blobs/sha256-bb"));
        assert_int_equal(model.num_ctx, rows[i].num_ctx);
        assert_int_equal(model.num_batch, rows[i].num_batch);
        assert_int_equal(model.num_gpu, rows[i].num_gpu);
    }
}

/* --- where stores are --- */

static const char *given_store;

static char *variable(const char *name)
{
    static char home[] = "/home/me", given[] = "/data/ollama";
    return !strcmp(name, "HOME") ? home : !strcmp(name, "OLLAMA_MODELS") && given_store ? given : NULL;
}

static void test_roots(void **state)
{
    (void)state;
    const struct plim_source_roots *roots = plim_source_roots(variable);
    assert_int_equal(roots->n_ollama, 2);
    assert_string_equal(roots->ollama[0], "/home/me/.ollama/models");
    given_store = "yes";
    roots = plim_source_roots(variable);
    assert_int_equal(roots->n_ollama, 1); /* it takes the place of the others */
    assert_string_equal(roots->ollama[0], "/data/ollama");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_cursor_ends_at_the_limit),
        cmocka_unit_test(test_what_cannot_be_read),
        cmocka_unit_test(test_only_files_are_opened),
        cmocka_unit_test(test_folder),
        cmocka_unit_test(test_named_parts),
        cmocka_unit_test(test_too_many_models),
        cmocka_unit_test(test_names_in_a_store),
        cmocka_unit_test(test_manifests),
        cmocka_unit_test(test_closed_stores),
        cmocka_unit_test(test_parameters),
        cmocka_unit_test(test_roots),
    };
    return cmocka_run_group_tests(tests, make_root, remove_root);
}
