/* SPDX-License-Identifier: MIT */
#include "cli_world.h"

#include "fuzz.h"
#include "gguf_writer.h"

#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_FILES = 64, MAX_OPEN = 16 };

/* What is written at each reset. */
static struct {
    const char *name;
    void *bytes;
    size_t size;
    uint64_t file_bytes; /* the rest is a hole */
} files[MAX_FILES];
static size_t n_files;
static const char *const folders[] = { "empty", "several", "hf", "hf2" };
static char root[64];
static int inside = -1, outside = -1;

/* --- contents --- */

static void list(const char *name, const void *bytes, size_t size, uint64_t file_bytes)
{
    void *copy = malloc(size ? size : 1);
    if (!copy || n_files == MAX_FILES)
        abort();
    if (size)
        memcpy(copy, bytes, size);
    files[n_files].name = name;
    files[n_files].bytes = copy;
    files[n_files].size = size;
    files[n_files++].file_bytes = file_bytes > size ? file_bytes : size;
}

static void list_text(const char *name, const char *text) { list(name, text, strlen(text), 0); }

static void list_safetensors(const char *name, const char *header, uint64_t data_bytes)
{
    char bytes[1024];
    const uint64_t size = strlen(header);
    memcpy(bytes, &size, sizeof size);
    memcpy(bytes + sizeof size, header, size);
    list(name, bytes, sizeof size + size, sizeof size + size + data_bytes);
}

struct shape {
    const char *name;
    uint64_t ne0, ne1;
};

static void add_layers(struct gguf_writer *w, unsigned first, unsigned n, unsigned width)
{
    const struct shape shapes[] = { { "attn_norm", width, 1 },        { "attn_q", width, width },
                                    { "attn_k", width, width / 2 },   { "attn_v", width, width / 2 },
                                    { "attn_output", width, width },  { "ffn_norm", width, 1 },
                                    { "ffn_gate", width, 2 * width }, { "ffn_up", width, 2 * width },
                                    { "ffn_down", 2 * width, width } };
    for (unsigned layer = first; layer < first + n; layer++)
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
            char name[64];
            snprintf(name, sizeof name, "blk.%u.%s.weight", layer, shapes[i].name);
            gguf_add_tensor(w, name, shapes[i].ne1 == 1 ? PLIM_DTYPE_F32 : PLIM_DTYPE_Q4_K, shapes[i].ne0,
                            shapes[i].ne1, 1);
        }
}

static void add_keys(struct gguf_writer *w, unsigned n_layers, unsigned width)
{
    const struct {
        const char *key;
        uint32_t value;
    } keys[] = { { "llama.context_length", 8192 },     { "llama.embedding_length", width },
                 { "llama.block_count", n_layers },    { "llama.feed_forward_length", 2 * width },
                 { "llama.attention.head_count", 4 },  { "llama.attention.head_count_kv", 2 },
                 { "llama.rope.dimension_count", 64 }, { "llama.vocab_size", 1024 } };
    gguf_add_string(w, "general.architecture", "llama");
    gguf_add_string(w, "general.name", "Sm\xc3\xa5ll \x1b[1m");
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        gguf_add_u32(w, keys[i].key, keys[i].value);
    gguf_add_f32(w, "llama.attention.layer_norm_rms_epsilon", 1e-5f);
}

static void list_gguf(const char *name, struct gguf_writer *w)
{
    uint64_t header_bytes, file_bytes;
    const void *header = gguf_header(w, &header_bytes, &file_bytes);
    list(name, header, (size_t)header_bytes, file_bytes);
    gguf_writer_done(w);
}

static void list_model(const char *name, unsigned n_layers, unsigned width)
{
    struct gguf_writer w = { 0 };
    add_keys(&w, n_layers, width);
    gguf_add_tensor(&w, "token_embd.weight", PLIM_DTYPE_Q4_K, width, 1024, 1);
    gguf_add_tensor(&w, "output_norm.weight", PLIM_DTYPE_F32, width, 1, 1);
    add_layers(&w, 0, n_layers, width);
    list_gguf(name, &w);
}

static void list_parts(void)
{
    static const char *const names[] = { "s-00001-of-00002.gguf", "s-00002-of-00002.gguf" };
    for (unsigned i = 0; i < 2; i++) {
        struct gguf_writer w = { 0 };
        if (i == 0)
            add_keys(&w, 2, 256);
        gguf_add_u32(&w, "split.no", i);
        gguf_add_u32(&w, "split.count", 2);
        gguf_add_u32(&w, "split.tensors.count", 20);
        if (i == 0) {
            gguf_add_tensor(&w, "token_embd.weight", PLIM_DTYPE_Q4_K, 256, 1024, 1);
            gguf_add_tensor(&w, "output_norm.weight", PLIM_DTYPE_F32, 256, 1, 1);
        }
        add_layers(&w, i, 1, 256);
        list_gguf(names[i], &w);
    }
}

static const char config[] = "{\"architectures\":[\"LlamaForCausalLM\"],\"dtype\":\"bfloat16\",\"num_hidden_layers\":2,"
                             "\"hidden_size\":8,\"intermediate_size\":16,\"vocab_size\":10,\"num_attention_heads\":2,"
                             "\"num_key_value_heads\":1}";
static const char tensor_header[] = "{\"a\":{\"dtype\":\"F16\",\"shape\":[2,4],\"data_offsets\":[0,16]}}";
static const char log_text[] =
    "load_tensors:        CUDA0 model buffer size =   373.73 MiB\n"
    "llama_kv_cache:      CUDA0 KV buffer size =    96.00 MiB\n"
    "llama_context: n_ctx         = 8192\n"
    "sched_reserve:      CUDA0 compute buffer size =   298.50 MiB\n"
    "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 298.50 MiB on device 0: cudaMalloc failed: out of memory\n"
    "llama_init_from_model: failed to initialize the context: failed to allocate compute pp buffers\n";
static const char trace_text[] =
    "Traceback (most recent call last):\n  File \"train.py\", line 7, in step\n    loss.backward()\n"
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 7.63 GiB of "
    "which 1.10 GiB is free. Including non-PyTorch memory, this process has 6.52 GiB memory in use. Of the allocated "
    "memory 6.02 GiB is allocated by PyTorch, and 120.50 MiB is reserved by PyTorch but unallocated.\n";

static void list_files(void)
{
    list_model("m.gguf", 3, 256);
    list_model("d.gguf", 1, 256);
    list_model("several/a.gguf", 1, 256);
    list_model("several/b.gguf", 2, 512);
    list_model("\x1b[31m\xc2\x9b.gguf", 1, 256);
    list_model("it's a.gguf", 1, 256);
    list_parts();
    list("cut.gguf", files[0].bytes, 200, 0);
    list("nothing.gguf", "", 0, 0);
    list_text("text.gguf", "this is no model\n");
    list_text("hf/config.json", config);
    list_safetensors("hf/model.safetensors", tensor_header, 16);
    list_text("hf2/config.json", config);
    list_text("hf2/model.safetensors.index.json",
              "{\"metadata\":{\"total_size\":16},\"weight_map\":{\"a\":\"m-1.safetensors\"}}");
    list_safetensors("hf2/m-1.safetensors", tensor_header, 16);
    list_text("log", log_text);
    list_text("trace", trace_text);
    list_text("in", log_text);
}

/* --- the folder --- */

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *position)
{
    (void)status, (void)type;
    if (position->level > 0)
        remove(path);
    return 0;
}

static void empty(void) { nftw(".", remove_entry, MAX_OPEN, FTW_DEPTH | FTW_PHYS); }

static void remove_all(void)
{
    if (chdir(root) == 0)
        empty();
    rmdir(root);
}

static void put(const char *name, const void *bytes, size_t size, uint64_t file_bytes)
{
    const int fd = open(name, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    FUZZ_REQUIRE(fd >= 0 && write(fd, bytes, size) == (ssize_t)size && ftruncate(fd, (off_t)file_bytes) == 0);
    close(fd);
}

void cli_world_put(const char *name, const void *bytes, size_t size) { put(name, bytes, size, size); }

void cli_world_keep(const char *name, const void *bytes, size_t size)
{
    list(name, bytes, size, 0);
    cli_world_put(name, bytes, size);
}

void cli_world_reset(void)
{
    empty();
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        FUZZ_REQUIRE(mkdir(folders[i], 0700) == 0);
    for (size_t i = 0; i < n_files; i++)
        put(files[i].name, files[i].bytes, files[i].size, files[i].file_bytes);
}

void cli_world_enter(void) { FUZZ_REQUIRE(fchdir(inside) == 0); }
void cli_world_leave(void) { FUZZ_REQUIRE(fchdir(outside) == 0); }

void cli_world_make(void)
{
    char here[32];
    snprintf(here, sizeof here, "%s", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
    snprintf(root, sizeof root, "%s/fuzz_cli.XXXXXX", here);
    outside = open(".", O_PATH | O_CLOEXEC);
    inside = mkdtemp(root) ? open(root, O_PATH | O_CLOEXEC) : -1;
    atexit(remove_all);
    cli_world_enter();
    list_files();
    cli_world_reset();
}

static size_t n_entries;
static uint64_t n_bytes;

static int count_entry(const char *path, const struct stat *status, int type, struct FTW *position)
{
    (void)path, (void)type, (void)position;
    n_entries++;
    n_bytes += (uint64_t)status->st_blocks * 512;
    return 0;
}

size_t cli_world_count(uint64_t *ret_bytes)
{
    n_entries = 0;
    n_bytes = 0;
    nftw(".", count_entry, MAX_OPEN, FTW_PHYS);
    *ret_bytes = n_bytes;
    return n_entries;
}
