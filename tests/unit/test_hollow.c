/* SPDX-License-Identifier: MIT */
/*
 * Writing hollow models: the header is the same byte for byte, the rest takes no room, and what goes wrong leaves
 * nothing behind. System calls that fail are the linker's --wrap of those in hollow_write.c.
 */
#include "emit/hollow.h"
#include "unit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[128];
static volatile sig_atomic_t stop;

static bool is_stopped(void) { return stop != 0; }
static struct plim_error error;

/* --- what can be made to fail --- */

static struct {
    int write_error, truncate_error, rename_error, no_replace_error; /* errno, 0: works */
    int n_good;                                                      /* calls that still work */
    bool has_no_holes, has_no_seek, stops;
    const char *appears; /* a file that another program makes while we write */
} broken;

int __real_ftruncate64(int fd, off_t size);
ssize_t __real_write(int fd, const void *bytes, size_t n);
int __real_fstat64(int fd, struct stat *status);
off_t __real_lseek64(int fd, off_t at, int whence);
int __real_renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned flags);
int __wrap_ftruncate64(int fd, off_t size);
ssize_t __wrap_write(int fd, const void *bytes, size_t n);
int __wrap_fstat64(int fd, struct stat *status);
off_t __wrap_lseek64(int fd, off_t at, int whence);
int __wrap_renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned flags);

/* True when this call is the one to fail. */
static bool fails(int with)
{
    if (!with || broken.n_good-- > 0)
        return false;
    errno = with;
    return true;
}

int __wrap_ftruncate64(int fd, off_t size) { return fails(broken.truncate_error) ? -1 : __real_ftruncate64(fd, size); }

ssize_t __wrap_write(int fd, const void *bytes, size_t n)
{
    stop |= broken.stops;
    if (broken.appears && access(broken.appears, F_OK) < 0) {
        const int other = open(broken.appears, O_WRONLY | O_CREAT | O_EXCL, 0600);
        if (other < 0 || __real_write(other, "precious", 8) != 8 || close(other) < 0)
            return -1;
    }
    return fails(broken.write_error) ? -1 : __real_write(fd, bytes, n > 700 ? 700 : n);
}

int __wrap_fstat64(int fd, struct stat *status)
{
    int result = __real_fstat64(fd, status);
    if (broken.has_no_holes)
        status->st_blocks = status->st_size / 512;
    return result;
}

off_t __wrap_lseek64(int fd, off_t at, int whence)
{
    return broken.has_no_seek && whence == SEEK_DATA ? at : __real_lseek64(fd, at, whence);
}

int __wrap_renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned flags)
{
    if (flags && broken.no_replace_error) {
        errno = broken.no_replace_error;
        return -1;
    }
    return fails(broken.rename_error) ? -1 : __real_renameat2(from_fd, from, to_fd, to, flags);
}

/* --- */

static int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "%s/plimsoll-hollow-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
    char command[256];
    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

static const char *in_folder(const char *name)
{
    static char paths[4][512];
    static unsigned turn;
    char *path = paths[turn++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static unsigned entries(const char *path)
{
    unsigned n = 0;
    DIR *dir = opendir(path);
    for (const struct dirent *entry = dir ? readdir(dir) : NULL; entry; entry = readdir(dir))
        n += strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
    if (dir)
        closedir(dir);
    return n;
}

static int hollow(const char *model, const char *out, bool may_replace)
{
    struct plim_hollow files;
    error = (struct plim_error){ 0 };
    stop = 0;
    int result = plim_hollow_plan(model, out, NULL, &files, &error);
    if (result == 0)
        result = plim_hollow_write(&files, may_replace, is_stopped, &error);
    plim_hollow_done(&files);
    memset(&broken, 0, sizeof broken);
    return result;
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* The header is the same, the size too, and the rest is a hole. */
static void assert_hollow(const char *path, const char *original)
{
    static char a[1 << 16], b[1 << 16];
    struct stat x, y;
    FILE *left = fopen(path, "rb"), *right = fopen(original, "rb");
    assert_non_null(left);
    assert_non_null(right);
    assert_true(fread(a, 1, sizeof a, left) == fread(b, 1, sizeof b, right));
    assert_memory_equal(a, b, sizeof a);
    fclose(left);
    fclose(right);
    assert_true(stat(path, &x) == 0 && stat(original, &y) == 0);
    assert_true(x.st_size == y.st_size && x.st_size > 100 << 20);
    assert_true(x.st_blocks * 512 < 1 << 20);
}

/* --- */

static void test_gguf(void **state)
{
    const char *model = zoo_path("zoo/llama-3.1-8b-Q4_K_M.gguf");
    (void)state;
    assert_int_equal(hollow(model, in_folder("8b.gguf"), false), 0);
    assert_hollow(in_folder("8b.gguf"), model);
    assert_int_equal(hollow(model, in_folder("made/"), false), 0);
    assert_hollow(in_folder("made/llama-3.1-8b-Q4_K_M.gguf"), model);
    assert_int_equal(hollow(model, in_folder("made"), false), PLIM_E_USAGE);
    assert_string_equal(error.hint, "--force replaces it");
    assert_int_equal(hollow(model, in_folder("made"), true), 0);
    assert_int_equal(entries(in_folder("made")), 1);
}

static void test_the_model_itself_stays(void **state)
{
    char target[256];
    const char *copy = in_folder("copy.gguf");
    (void)state;
    assert_int_equal(hollow(zoo_path("zoo/llama-3.1-8b-Q4_K_M.gguf"), copy, false), 0);
    snprintf(target, sizeof target, "%s", in_folder("link.gguf"));
    assert_int_equal(symlink("copy.gguf", target), 0);
    assert_int_equal(hollow(copy, copy, true), PLIM_E_USAGE);
    assert_non_null(strstr(error.what, "belongs to the model itself"));
    assert_int_equal(hollow(copy, target, true), PLIM_E_USAGE);
    assert_int_equal(hollow(target, copy, true), PLIM_E_USAGE);
    assert_int_equal(hollow(copy, folder, true), PLIM_E_USAGE);
}

#define LLAMA                                                                                                          \
    "{\"architectures\":[\"LlamaForCausalLM\"],\"dtype\":\"float16\",\"num_hidden_layers\":2,\"hidden_size\":4096,"    \
    "\"intermediate_size\":14336,\"vocab_size\":32000,\"num_attention_heads\":32}"

/* What lies beside a config.json is its checkpoint: no path, link or spelling leads to it, and --force does not help.
 */
static void test_the_weights_beside_stay(void **state)
{
    static const char *const targets[] = {
        "cfg/model.safetensors",
        "cfg/model-00001-of-00002.safetensors",
        "cfg/named.safetensors",
        "same/model.safetensors",
        "cfg/../same//named.safetensors",
        "hard.safetensors",
        "soft.safetensors",
        "cfg",
    };
    char command[600];
    (void)state;
    snprintf(command, sizeof command,
             "cd '%s' && mkdir cfg && ln -s cfg same && ln -s cfg/config.json config.json && cd cfg &&"
             "echo real | tee model.safetensors model-00001-of-00002.safetensors >named.safetensors &&"
             "ln model.safetensors ../hard.safetensors && ln -s cfg/named.safetensors ../soft.safetensors",
             folder);
    assert_int_equal(system(command), 0);
    write_text(in_folder("cfg/model.safetensors.index.json"), "{\"weight_map\":{\"x\":\"named.safetensors\"}}");
    write_text(in_folder("cfg/config.json"), LLAMA);
    for (size_t i = 0; i < 2 * COUNT(targets); i++) {
        const char *config = in_folder(i % 2 ? "config.json" : "cfg/config.json");
        if (i % 2 && !strcmp(targets[i / 2], "cfg"))
            break;
        assert_int_equal(hollow(config, in_folder(targets[i / 2]), true), PLIM_E_USAGE);
        assert_non_null(strstr(error.what, "belongs to the model itself"));
    }
    /* a copy of another name may lie there, and be made again */
    assert_int_equal(hollow(in_folder("cfg/config.json"), in_folder("cfg/mine.safetensors"), false), 0);
    assert_int_equal(hollow(in_folder("cfg/config.json"), in_folder("cfg/mine.safetensors"), true), 0);
}

static void test_split(void **state)
{
    const char *second = zoo_path("zoo-split/qwen3-0.6b-Q4_K_M-00002-of-00003.gguf");
    (void)state;
    assert_int_equal(hollow(second, in_folder("parts"), false), 0);
    assert_int_equal(entries(in_folder("parts")), 3);
    assert_hollow(in_folder("parts/qwen3-0.6b-Q4_K_M-00001-of-00003.gguf"),
                  zoo_path("zoo-split/qwen3-0.6b-Q4_K_M-00001-of-00003.gguf"));
    assert_int_equal(hollow(second, in_folder("new-00001-of-00003.gguf"), false), 0);
    assert_int_equal(access(in_folder("new-00003-of-00003.gguf"), F_OK), 0);
    write_text(in_folder("file"), "");
    assert_int_equal(hollow(second, in_folder("file"), true), PLIM_E_USAGE);
    assert_non_null(strstr(error.what, "is not a folder"));
}

#define SMALL                                                                                                          \
    "\x35\0\0\0\0\0\0\0"                                                                                               \
    "{\"y\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}"

static void test_folders(void **state)
{
    char source[256], index[256];
    (void)state;
    snprintf(source, sizeof source, "%s", in_folder("hf"));
    assert_int_equal(mkdir(source, 0755), 0);
    write_text(in_folder("hf/config.json"), LLAMA);
    write_text(in_folder("hf/tokenizer.json"), "{}");
    write_text(in_folder("hf/empty.txt"), "");
    write_text(in_folder("hf/pytorch_model.bin"), "weights");
    write_text(in_folder("hf/pytorch_model.bin.index.json"), "{}");
    assert_int_equal(hollow(source, in_folder("a"), false), 0); /* of the config alone */
    assert_int_equal(entries(in_folder("a")), 4);
    assert_int_equal(hollow(in_folder("hf/config.json"), in_folder("b.safetensors"), false), 0);
    assert_int_equal(hollow(in_folder("hf/config.json"), in_folder("c"), false), 0);
    assert_int_equal(entries(in_folder("c")), 2);
    assert_hollow(in_folder("b.safetensors"), in_folder("c/model.safetensors"));
    assert_int_equal(hollow(in_folder("a"), in_folder("d"), false), 0); /* of a hollow folder */
    assert_hollow(in_folder("d/model.safetensors"), in_folder("a/model.safetensors"));

    /* an index leads to its files, and to nothing else */
    snprintf(index, sizeof index, "%s", in_folder("hf/model.safetensors.index.json"));
    write_text(index, "{\"weight_map\":{\"x\":\"one.safetensors\",\"y\":\"two.safetensors\"}}");
    assert_int_equal(link(in_folder("b.safetensors"), in_folder("hf/one.safetensors")), 0);
    assert_int_equal(hollow(index, in_folder("e"), false), PLIM_E_NOT_FOUND);
    assert_non_null(strstr(error.where, "two.safetensors"));
    assert_int_equal(access(in_folder("e"), F_OK), -1);
    assert_int_equal(link(in_folder("b.safetensors"), in_folder("hf/two.safetensors")), 0);
    assert_int_equal(hollow(index, in_folder("e"), false), PLIM_E_CORRUPT); /* the same tensors in both */
    assert_int_equal(unlink(in_folder("hf/two.safetensors")), 0);
    FILE *two = fopen(in_folder("hf/two.safetensors"), "wb");
    assert_non_null(two);
    assert_int_equal(fwrite(SMALL, 1, sizeof SMALL, two), sizeof SMALL); /* its last byte is the data */
    fclose(two);
    assert_int_equal(hollow(index, in_folder("e"), false), 0);
    assert_int_equal(entries(in_folder("e")), 3);
    assert_int_equal(hollow(source, in_folder("f"), false), 0);
    assert_int_equal(entries(in_folder("f")), 6);
    write_text(index, "{\"weight_map\":{\"x\":\"../b.safetensors\"}}");
    assert_int_equal(hollow(source, in_folder("g"), false), PLIM_E_CORRUPT);
}

static void test_what_is_no_model(void **state)
{
    (void)state;
    write_text(in_folder("text.safetensors"), "this is no model");
    write_text(in_folder("text.gguf"), "this is no model");
    write_text(in_folder("text.json"), "this is no model");
    assert_int_equal(mkdir(in_folder("nothing"), 0755), 0);
    assert_int_equal(hollow(in_folder("text.safetensors"), in_folder("z"), false), PLIM_E_UNSUPPORTED);
    assert_int_equal(hollow(in_folder("text.gguf"), in_folder("z"), false), PLIM_E_UNSUPPORTED);
    assert_int_equal(hollow(in_folder("text.json"), in_folder("z"), false), PLIM_E_CORRUPT);
    assert_int_equal(hollow(in_folder("nothing"), in_folder("z"), false), PLIM_E_NOT_FOUND);
    assert_int_equal(hollow(in_folder("nowhere"), in_folder("z"), false), PLIM_E_NOT_FOUND);
    assert_int_equal(access(in_folder("z"), F_OK), -1);
}

/* Of three files, whatever fails and whenever: neither a file nor the new folder stays. */
static void test_failures_leave_nothing(void **state)
{
    const char *model = zoo_path("zoo-split/qwen3-0.6b-Q4_K_M-00001-of-00003.gguf");
    const unsigned before = entries(folder);
    (void)state;
    for (int n = 0; n < 5; n++) {
        static const int writing[] = { ENOSPC, EDQUOT, EIO };
        broken.write_error = writing[n % 3];
        broken.n_good = n;
        assert_int_equal(hollow(model, in_folder("x"), false), PLIM_E_IO);
        broken.truncate_error = EFBIG;
        broken.n_good = n % 4;
        assert_int_equal(hollow(model, in_folder("x/"), false), PLIM_E_IO);
        assert_non_null(strstr(error.hint, "ulimit"));
        broken.rename_error = EIO;
        broken.n_good = n % 3;
        assert_int_equal(hollow(model, in_folder("x"), n % 2), PLIM_E_IO);
        broken.rename_error = EEXIST; /* another was faster */
        broken.n_good = n % 3;
        assert_int_equal(hollow(model, in_folder("y-00001-of-00003.gguf"), false), PLIM_E_IO);
        broken.stops = true;
        assert_int_equal(hollow(model, in_folder("x"), false), PLIM_E_IO);
        assert_non_null(strstr(error.what, "interrupted"));
        assert_int_equal(entries(folder), before);
    }
}

static void test_memory_runs_out(void **state)
{
    static const char *const models[] = { "zoo-split/qwen3-0.6b-Q4_K_M-00002-of-00003.gguf", "config.json" };
    (void)state;
    write_text(in_folder("config.json"), LLAMA);
    for (size_t i = 0; i < COUNT(models); i++) {
        char model[512];
        snprintf(model, sizeof model, "%s", i ? in_folder(models[i]) : zoo_path(models[i]));
        long n = 0;
        for (int result = -1; result < 0; n++) {
            assert_int_equal(entries(folder), 1);
            plim_alloc_fail_after(n);
            result = hollow(model, in_folder("x"), false);
            plim_alloc_fail_after(-1);
            if (result && result != PLIM_E_NOMEM)
                fail_msg("%s: %s", error.where, error.what);
        }
        assert_true(n > 4);
        assert_int_equal(hollow(model, in_folder("x"), false), PLIM_E_USAGE);
        tear_down(state);
        assert_int_equal(mkdir(folder, 0755), 0);
        write_text(in_folder("config.json"), LLAMA);
    }
}

static void test_file_systems_without_holes(void **state)
{
    const char *model = zoo_path("zoo/llama-3.1-8b-Q4_K_M.gguf");
    const unsigned before = entries(folder);
    (void)state;
    for (int i = 0; i < 2; i++) {
        broken.has_no_holes = i == 0;
        broken.has_no_seek = i == 1;
        assert_int_equal(hollow(model, in_folder("x.gguf"), false), PLIM_E_UNSUPPORTED);
        assert_non_null(strstr(error.what, "does not support sparse files: 16.0")); /* and not gigabytes of them */
        assert_int_equal(plim_error_exit_status(error.code), 3);
        assert_int_equal(entries(folder), before);
    }
}

/* File systems on which rename cannot promise to replace nothing. */
static void assert_text(const char *path, const char *text)
{
    char found[64] = "";
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    found[fread(found, 1, sizeof found - 1, file)] = '\0';
    fclose(file);
    assert_string_equal(found, text);
}

/* What stands in the place of our temporary file is not ours: a file, a link to one, a link that leads nowhere. */
static void test_what_is_in_the_way(void **state)
{
    const char *model = zoo_path("zoo/llama-3.1-8b-Q4_K_M.gguf");
    char name[3][48];
    (void)state;
    for (int i = 0; i < 3; i++)
        snprintf(name[i], sizeof name[i], ".plimsoll-%ld-0-%d", (long)getpid(), i);
    write_text(in_folder("victim"), "precious");
    write_text(in_folder(name[0]), "precious");
    assert_int_equal(symlink("victim", in_folder(name[1])), 0);
    assert_int_equal(symlink("nothing", in_folder(name[2])), 0);
    const unsigned before = entries(folder);
    assert_int_equal(hollow(model, in_folder("way.gguf"), false), 0);
    assert_hollow(in_folder("way.gguf"), model);
    assert_text(in_folder("victim"), "precious");
    assert_text(in_folder(name[0]), "precious");
    assert_int_equal(access(in_folder("nothing"), F_OK), -1);
    assert_int_equal(entries(folder), before + 1);
    for (int i = 0; i < 3; i++)
        unlink(in_folder(name[i]));
    unlink(in_folder("victim"));
    unlink(in_folder("way.gguf"));
}

/* A file of this name that another program makes while we write stays, on file systems without RENAME_NOREPLACE, too.
 */
static void test_another_was_faster(void **state)
{
    const char *model = zoo_path("zoo/llama-3.1-8b-Q4_K_M.gguf");
    (void)state;
    for (int is_plain = 0; is_plain < 2; is_plain++) {
        broken.appears = in_folder("late.gguf");
        broken.no_replace_error = is_plain ? EINVAL : 0;
        assert_true(hollow(model, in_folder("late.gguf"), false) < 0);
        assert_text(in_folder("late.gguf"), "precious");
        unlink(in_folder("late.gguf"));
    }
}

/* With --force: when a later file of several cannot be put in its place, those before it are what they were. */
static void test_replaced_files_come_back(void **state)
{
    static const char *const names[] = { "r-00001-of-00003.gguf", "r-00002-of-00003.gguf", "r-00003-of-00003.gguf" };
    const char *model = zoo_path("zoo-split/qwen3-0.6b-Q4_K_M-00001-of-00003.gguf");
    (void)state;
    for (size_t i = 0; i < COUNT(names); i++)
        write_text(in_folder(names[i]), names[i]);
    const unsigned before = entries(folder);
    for (int n_good = 0; n_good < 3; n_good++) {
        broken.rename_error = EIO;
        broken.n_good = n_good;
        assert_true(hollow(model, in_folder(names[0]), true) < 0);
        for (size_t i = 0; i < COUNT(names); i++)
            assert_text(in_folder(names[i]), names[i]);
        assert_int_equal(entries(folder), before);
    }
    for (size_t i = 0; i < COUNT(names); i++)
        unlink(in_folder(names[i]));
}

/* A model that grows between the look at it and its copy is not the one that was looked at. */
static void test_a_model_that_changes(void **state)
{
    struct plim_hollow files;
    char model[300];
    (void)state;
    snprintf(model, sizeof model, "%s/source.gguf", folder);
    assert_int_equal(hollow(zoo_path("zoo/qwen3-0.6b-Q4_K_M.gguf"), model, false), 0);
    assert_int_equal(plim_hollow_plan(model, in_folder("copy.gguf"), NULL, &files, NULL), 0);
    struct stat status;
    assert_int_equal(stat(model, &status), 0);
    assert_int_equal(truncate(model, status.st_size + 1), 0);
    const unsigned before = entries(folder);
    error = (struct plim_error){ 0 };
    assert_int_equal(plim_hollow_write(&files, false, is_stopped, &error), PLIM_E_IO);
    assert_non_null(strstr(error.what, "changed"));
    assert_int_equal(entries(folder), before);
    plim_hollow_done(&files);
    unlink(model);
}

static void test_plain_rename(void **state)
{
    const char *model = zoo_path("zoo/llama-3.1-8b-Q4_K_M.gguf");
    (void)state;
    broken.no_replace_error = EINVAL;
    assert_int_equal(hollow(model, in_folder("plain.gguf"), false), 0);
    assert_hollow(in_folder("plain.gguf"), model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_gguf, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_the_model_itself_stays, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_the_weights_beside_stay, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_split, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_folders, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_is_no_model, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_failures_leave_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_memory_runs_out, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_file_systems_without_holes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_plain_rename, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_is_in_the_way, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_another_was_faster, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_replaced_files_come_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_model_that_changes, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
