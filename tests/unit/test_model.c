/* SPDX-License-Identifier: MIT */
/* Models of every format: what recognises them, what they are under the field's names, and configs that are wrong. */
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "model/model_impl.h"
#include "unit.h"

#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[128];
static struct plim_error error;

#define SIZES                                                                                                          \
    "\"num_hidden_layers\":2,\"hidden_size\":8,\"intermediate_size\":16,\"vocab_size\":10,\"num_attention_heads\":2,"  \
    "\"num_key_value_heads\":1"
#define LLAMA   "{\"architectures\":[\"LlamaForCausalLM\"],\"model_type\":\"llama\",\"dtype\":\"bfloat16\"," SIZES "}"
#define STRANGE "{\"architectures\":[\"StrangeForCausalLM\"],\"model_type\":\"strange\"," SIZES "}"

static int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "%s/plimsoll-model-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
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

static void make_folder(const char *name) { assert_int_equal(mkdir(in_folder(name), 0755), 0); }

static void write_bytes(const char *name, const void *bytes, size_t n)
{
    FILE *file = fopen(in_folder(name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    fclose(file);
}

static void write_text(const char *name, const char *text) { write_bytes(name, text, strlen(text)); }

/* A safetensors file of one BF16 tensor of 2 x 3. */
static void write_safetensors(const char *name, const char *tensor)
{
    char bytes[256] = { 0 };
    int n = snprintf(bytes + 8, sizeof bytes - 8,
                     "{\"__metadata__\":{\"format\":\"pt\"},\"%s\":{\"dtype\":\"BF16\",\"shape\":[2,3],"
                     "\"data_offsets\":[0,12]}}",
                     tensor);
    bytes[0] = (char)n;
    write_bytes(name, bytes, 8 + (size_t)n + 12);
}

static void write_index(const char *name)
{
    write_text(name,
               "{\"metadata\":{\"total_size\":24},\"weight_map\":{\"model.embed_tokens.weight\":\"a.safetensors\","
               "\"model.norm.weight\":\"b.safetensors\"}}");
}

static struct plim_model *open_it(const char *path)
{
    struct plim_model *model = NULL;
    error = (struct plim_error){ 0 };
    if (plim_model_open(path, &model, &error) < 0)
        fail_msg("%s: %s", path, error.what);
    return model;
}

static void assert_fails(const char *path, int code, const char *what)
{
    struct plim_model *model = NULL;
    error = (struct plim_error){ 0 };
    const int result = plim_model_open(path, &model, &error);
    if (result != code || !strstr(error.what, what))
        fail_msg("%s: code %d, expected %d: \"%s\"", path, result, code, error.what);
    assert_true(error.where[0]);
}

/* --- formats --- */

static void assert_checkpoint(const char *path, const char *name)
{
    size_t n;
    struct plim_model *model = open_it(path);
    const struct plim_tensor *tensors = plim_model_tensors(model, &n);
    assert_int_equal(plim_model_format(model), PLIM_FORMAT_SAFETENSORS);
    assert_int_equal(plim_model_kind(model), PLIM_MODEL_LANGUAGE);
    assert_string_equal(plim_model_name(model), name);
    assert_string_equal(plim_model_arch(model), "llama");
    assert_string_equal(plim_model_file_type(model), "BF16");
    assert_int_equal(n, 2);
    assert_int_equal(plim_model_n_shards(model), 2);
    assert_int_equal(tensors[1].shard, 1);
    assert_int_equal(tensors[1].ne[0], 3);
    assert_int_equal(plim_model_n_params(model), 12);
    assert_int_equal(plim_model_tensor_bytes(model), 24);
    assert_true(strstr(plim_model_shard(model, 1)->path, "b.safetensors") != NULL);
    assert_int_equal(plim_model_shard(model, 1)->file_bytes, plim_model_shard(model, 1)->data_at + 12);
    assert_null(plim_model_shard(model, 2));
    assert_int_equal(plim_model_hyperparameters(model)->n_layer, 2);
    assert_true(plim_model_hyperparameters(model)->tie_word_embeddings); /* there is no lm_head */
    assert_int_equal(plim_model_require_tensors(model, &error), 0);
    plim_model_free(model);
}

/* The content decides, not the name; of a directory, what lies in it. */
static void test_recognised(void **state)
{
    uint64_t number;
    (void)state;
    make_folder("hf");
    write_index("hf/model.safetensors.index.json");
    write_safetensors("hf/a.safetensors", "model.embed_tokens.weight");
    write_safetensors("hf/b.safetensors", "model.norm.weight");
    write_text("hf/config.json", LLAMA);
    assert_checkpoint(in_folder("hf"), "hf");
    assert_checkpoint(in_folder("hf/"), "hf");
    assert_checkpoint(in_folder("hf/model.safetensors.index.json"), "hf");
    write_index("hf/model.strange");
    assert_checkpoint(in_folder("hf/model.strange"), "hf");

    write_safetensors("weights.gguf", "x.lora_A.weight");
    struct plim_model *model = open_it(in_folder("weights.gguf"));
    assert_int_equal(plim_model_format(model), PLIM_FORMAT_SAFETENSORS);
    assert_int_equal(plim_model_kind(model), PLIM_MODEL_ADAPTER);
    assert_string_equal(plim_model_name(model), "weights.gguf");
    assert_string_equal(plim_model_arch(model), "");
    plim_model_free(model);

    /* parts of pipelines have a config.json that names no architecture */
    make_folder("dense");
    write_safetensors("dense/model.safetensors", "linear.weight");
    write_text("dense/config.json", "{\"in_features\":2,\"out_features\":3}");
    model = open_it(in_folder("dense"));
    assert_int_equal(plim_model_format(model), PLIM_FORMAT_SAFETENSORS);
    assert_int_equal(plim_model_n_params(model), 6);
    assert_string_equal(plim_model_arch(model), "");
    plim_model_free(model);
    write_text("dense/config.json", "{\"in_features\":2,");
    assert_fails(in_folder("dense"), PLIM_E_TRUNCATED, "the JSON text ends");
    assert_non_null(strstr(error.where, "dense/config.json"));

    write_text("a.gguf", LLAMA);
    model = open_it(in_folder("a.gguf"));
    assert_int_equal(plim_model_format(model), PLIM_FORMAT_HF_CONFIG);
    assert_true(plim_model_u64(model, "hidden_size", &number) && number == 8);
    assert_string_equal(plim_model_string(model, "architectures.0"), "LlamaForCausalLM");
    assert_int_equal(plim_model_array_length(model, "architectures"), 1);
    plim_model_free(model);
}

static void test_config_alone(void **state)
{
    size_t n;
    (void)state;
    make_folder("Tiny-Llama");
    write_text("Tiny-Llama/config.json", LLAMA);
    struct plim_model *model = open_it(in_folder("Tiny-Llama"));
    assert_int_equal(plim_model_format(model), PLIM_FORMAT_HF_CONFIG);
    assert_string_equal(plim_model_format_name(plim_model_format(model)), "hf_config");
    assert_string_equal(plim_model_name(model), "Tiny-Llama");
    assert_int_equal(plim_model_n_shards(model), 0);
    /* 2 embeddings of 10 x 8, a norm of 8, and 2 layers of 2 norms, q, k, v, o and three matrices of 16 x 8 */
    assert_int_equal(plim_model_n_params(model), 2 * 80 + 8 + 2 * (16 + 64 + 32 + 32 + 64 + 3 * 128));
    assert_int_equal(plim_model_tensor(model, "model.layers.1.self_attn.k_proj.weight")->ne[1], 4);
    plim_model_free(model);

    write_text("Tiny-Llama/config.json", STRANGE);
    model = open_it(in_folder("Tiny-Llama"));
    plim_model_tensors(model, &n);
    assert_int_equal(n, 0);
    assert_int_equal(plim_model_hyperparameters(model)->n_embd, 8);
    assert_string_equal(plim_model_arch(model), "strange");
    assert_int_equal(plim_model_require_tensors(model, &error), PLIM_E_UNSUPPORTED);
    assert_non_null(strstr(error.what, "'StrangeForCausalLM' are not known"));
    assert_non_null(strstr(error.where, "config.json"));
    plim_model_free(model);
}

static void link_to(const char *name, const char *model)
{
    assert_int_equal(symlink(zoo_path(model), in_folder(name)), 0);
}

static void test_folders_of_gguf(void **state)
{
    (void)state;
    make_folder("one");
    assert_fails(in_folder("one"), PLIM_E_NOT_FOUND, "there is no model");
    write_text("one/notes.json", "{\"a\":1}");
    assert_fails(in_folder("one"), PLIM_E_NOT_FOUND, "there is no model");
    assert_fails(in_folder("one/notes.json"), PLIM_E_UNSUPPORTED, "does not name one architecture");
    link_to("one/b.gguf", "zoo/qwen3-0.6b-Q4_K_M.gguf");
    write_text("one/config.json", LLAMA); /* weights count before what only describes them */
    struct plim_model *model = open_it(in_folder("one"));
    assert_int_equal(plim_model_format(model), PLIM_FORMAT_GGUF);
    plim_model_free(model);
    link_to("one/a.gguf", "zoo/llama-3.2-1b-Q4_K_M.gguf");
    assert_fails(in_folder("one"), PLIM_E_USAGE, "there are 2 GGUF models");
    assert_non_null(strstr(error.hint, "a.gguf"));
    write_safetensors("one/model.safetensors", "x");
    model = open_it(in_folder("one"));
    assert_int_equal(plim_model_format(model), PLIM_FORMAT_SAFETENSORS);
    plim_model_free(model);
}

static void test_ollama(void **state)
{
    static const char digest[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    char text[512], blob[128];
    const char *stores[2];
    const struct plim_source_roots roots = { .ollama = stores, .n_ollama = 2 };
    struct plim_model *model = NULL;
    (void)state;
    make_folder("store");
    make_folder("store/blobs");
    make_folder("store/manifests");
    make_folder("store/manifests/registry.ollama.ai");
    make_folder("store/manifests/registry.ollama.ai/library");
    make_folder("store/manifests/registry.ollama.ai/library/qwen3");
    snprintf(
        text, sizeof text,
        "{\"schemaVersion\":2,\"layers\":[{\"mediaType\":\"application/vnd.ollama.image.license\",\"digest\":\"x\"},"
        "{\"mediaType\":\"application/vnd.ollama.image.model\",\"digest\":\"sha256:%s\",\"size\":1}]}",
        digest);
    write_text("store/manifests/registry.ollama.ai/library/qwen3/0.6b", text);
    snprintf(blob, sizeof blob, "store/blobs/sha256-%s", digest);
    link_to(blob, "zoo/qwen3-0.6b-Q4_K_M.gguf");
    stores[0] = "/nonexistent";
    stores[1] = folder; /* no store either */
    error = (struct plim_error){ 0 };
    assert_int_equal(plim_model_find("qwen3:0.6b", &roots, &model, &error), PLIM_E_NOT_FOUND);
    assert_non_null(strstr(error.what, "no Ollama model of this name"));
    char store[256];
    snprintf(store, sizeof store, "%s", in_folder("store"));
    stores[1] = store;
    error = (struct plim_error){ 0 };
    assert_int_equal(plim_model_find("qwen3:0.6b", &roots, &model, &error), 0);
    assert_string_equal(plim_model_arch(model), "qwen3");
    assert_string_equal(plim_model_path(model), in_folder(blob));
    plim_model_free(model);
    /* a path is one, whatever stores there are */
    assert_int_equal(plim_model_find(in_folder(blob), &roots, &model, &error), 0);
    plim_model_free(model);
    assert_int_equal(plim_model_find("qwen3:0.6b", NULL, &model, NULL), PLIM_E_NOT_FOUND);
}

/* --- hyperparameters --- */

static void test_hyperparameters_of_gguf(void **state)
{
    (void)state;
    struct plim_model *model = open_it(zoo_path("zoo/llama-3.1-8b-Q4_K_M.gguf"));
    const struct plim_hyperparameters *hp = plim_model_hyperparameters(model);
    assert_true(hp->n_layer == 32 && hp->n_embd == 4096 && hp->n_head == 32 && hp->n_head_kv == 8);
    assert_true(hp->n_embd_head_k == 128 && hp->n_embd_head_v == 128 && hp->n_ff == 14336);
    assert_true(hp->n_vocab == 128256 && hp->n_ctx_train == 131072 && hp->n_expert == 0 && hp->n_swa == 0);
    assert_true(hp->rope_freq_base == 500000 && hp->has_tie_word_embeddings && !hp->tie_word_embeddings);
    plim_model_free(model);
    model = open_it(zoo_path("zoo/deepseek-v2-lite-Q4_K_M.gguf"));
    hp = plim_model_hyperparameters(model);
    assert_true(hp->n_embd_kv_lora == 512 && hp->n_embd_head_k == 192 && hp->n_embd_head_v == 128);
    assert_true(hp->n_expert == 64 && hp->n_expert_used == 6 && hp->n_expert_shared == 2 && hp->n_ff_expert == 1408);
    plim_model_free(model);
    model = open_it(zoo_path("zoo/gemma-3-4b-Q4_K_M.gguf"));
    hp = plim_model_hyperparameters(model);
    assert_true(hp->n_swa == 1024 && hp->tie_word_embeddings && hp->n_embd_head_k == 256);
    plim_model_free(model);
}

#define U(field, value)                                                                                                \
    {                                                                                                                  \
        offsetof(struct plim_hyperparameters, field), value                                                            \
    }

/* The published configs, cut to the fields at hand. */
static void test_hyperparameters_of_configs(void **state)
{
    static const struct {
        const char *config;
        struct {
            size_t field;
            uint32_t value;
        } expect[9];
    } rows[] = {
        { "{\"model_type\":\"gpt2\",\"n_layer\":12,\"n_embd\":768,\"n_head\":12,\"n_positions\":1024,\"vocab_size\":"
          "50257}",
          { U(n_layer, 12), U(n_embd, 768), U(n_head, 12), U(n_head_kv, 12), U(n_embd_head_k, 64), U(n_ctx_train, 1024),
            U(n_vocab, 50257) } },
        { "{\"model_type\":\"deepseek_v3\",\"hidden_size\":7168,\"num_attention_heads\":128,\"kv_lora_rank\":512,"
          "\"qk_nope_head_dim\":128,\"qk_rope_head_dim\":64,\"v_head_dim\":128,\"n_routed_experts\":256,"
          "\"num_experts_per_tok\":8,\"n_shared_experts\":1,\"moe_intermediate_size\":2048}",
          { U(n_embd_head_k, 192), U(n_embd_head_v, 128), U(n_embd_kv_lora, 512), U(n_expert, 256), U(n_expert_used, 8),
            U(n_expert_shared, 1), U(n_ff_expert, 2048), U(n_layer, 0) } },
        { "{\"model_type\":\"gemma3\",\"text_config\":{\"hidden_size\":2560,\"num_hidden_layers\":34,\"sliding_"
          "window\":1024,"
          "\"head_dim\":256},\"vision_config\":{\"hidden_size\":1152}}",
          { U(n_embd, 2560), U(n_layer, 34), U(n_swa, 1024), U(n_embd_head_k, 256), U(n_embd_head_v, 256) } },
        { "{\"model_type\":\"qwen2\",\"hidden_size\":3584,\"num_attention_heads\":28,\"num_key_value_heads\":4,"
          "\"sliding_window\":131072,\"use_sliding_window\":false}",
          { U(n_swa, 0), U(n_head_kv, 4), U(n_embd_head_k, 128) } },
        { "{\"model_type\":\"falcon\",\"hidden_size\":4544,\"num_attention_heads\":71,\"multi_query\":true}",
          { U(n_head_kv, 1), U(n_embd_head_k, 64) } },
        { "{\"model_type\":\"openelm\",\"num_kv_heads\":[3,4,5],\"vocab_size\":-1,\"num_hidden_layers\":1.5}",
          { U(n_head_kv, 5), U(n_vocab, 0), U(n_layer, 0) } },
        { "{\"model_type\":\"a\",\"vocab_size\":1099511627777,\"hidden_size\":1073741824,\"num_experts\":true}",
          { U(n_vocab, 0), U(n_embd, 1 << 30), U(n_expert, 0) } }, /* what is no count is absent */
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        write_text("config.json", rows[i].config);
        struct plim_model *model = open_it(in_folder("config.json"));
        const char *hp = (const char *)plim_model_hyperparameters(model);
        for (size_t k = 0; k < COUNT(rows[i].expect); k++) {
            uint32_t value = 0;
            memcpy(&value, hp + rows[i].expect[k].field, sizeof value);
            if (rows[i].expect[k].field && value != rows[i].expect[k].value)
                fail_msg("row %zu, field %zu: %u", i, k, value);
        }
        plim_model_free(model);
    }
}

static void test_rope_and_types(void **state)
{
    static const struct {
        const char *config;
        double base, scale;
        const char *scaling, *type, *quantization;
    } rows[] = {
        { "{\"model_type\":\"a\",\"rope_theta\":500000.0,\"rope_scaling\":{\"factor\":8.0,\"rope_type\":\"llama3\"},"
          "\"torch_dtype\":\"bfloat16\"}",
          500000, 8, "llama3", "bfloat16", NULL },
        { "{\"model_type\":\"a\",\"rope_parameters\":{\"rope_theta\":1e6,\"rope_type\":\"default\"},\"dtype\":"
          "\"float16\","
          "\"quantization_config\":{\"quant_method\":\"fp8\"},\"rope_scaling\":null}",
          1e6, 0, NULL, "float16", "fp8" },
        { "{\"model_type\":\"a\",\"rope_theta\":10000,\"rope_scaling\":{\"type\":\"yarn\",\"factor\":40}}", 10000, 40,
          "yarn", NULL, NULL },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        write_text("config.json", rows[i].config);
        struct plim_model *model = open_it(in_folder("config.json"));
        const struct plim_hyperparameters *hp = plim_model_hyperparameters(model);
        assert_true(hp->rope_freq_base == rows[i].base && hp->rope_scale == rows[i].scale);
        const char *const texts[][2] = { { hp->rope_scaling, rows[i].scaling },
                                         { hp->type, rows[i].type },
                                         { hp->quantization, rows[i].quantization } };
        for (size_t k = 0; k < COUNT(texts); k++)
            if ((texts[k][0] == NULL) != (texts[k][1] == NULL) || (texts[k][0] && strcmp(texts[k][0], texts[k][1])))
                fail_msg("row %zu, text %zu: %s", i, k, texts[k][0]);
        plim_model_free(model);
    }
}

/* --- keys --- */

static void test_keys(void **state)
{
    uint64_t u;
    double f;
    bool b;
    int64_t numbers[4];
    (void)state;
    write_text("config.json", "{\"model_type\":\"a\",\"x\":{\"y\":[1,-2,true],\"z\":[1,\"two\",{\"w\":2.5}],\"n\":null,"
                              "\"big\":18446744073709551615,\"b\":false,\"e\":[]}}");
    struct plim_model *model = open_it(in_folder("config.json"));
    assert_int_equal(plim_model_array(model, "x.y", numbers, 4), 3);
    assert_true(numbers[0] == 1 && numbers[1] == -2 && numbers[2] == 1);
    assert_false(plim_model_u64(model, "x.y.0", &u));
    assert_int_equal(plim_model_array_length(model, "x.z"), 3);
    assert_int_equal(plim_model_array(model, "x.z", numbers, 4), 0);
    assert_true(plim_model_u64(model, "x.z.0", &u) && u == 1);
    assert_string_equal(plim_model_string(model, "x.z.1"), "two");
    assert_true(plim_model_f64(model, "x.z.2.w", &f) && f == 2.5);
    assert_false(plim_model_u64(model, "x.n", &u));
    assert_true(plim_model_u64(model, "x.big", &u) && u == UINT64_MAX);
    assert_true(plim_model_bool(model, "x.b", &b) && !b);
    assert_int_equal(plim_model_array_length(model, "x.e"), 0);
    assert_null(plim_model_string(model, "x"));
    plim_model_free(model);
    /* Python writes these */
    write_text(
        "config.json",
        "{\"model_type\":\"a\",\"x\":[0.5,Infinity,-Infinity],\"y\":-Infinity,\"z\":NaN,\"w\":[-Infinity],\"v\":2}");
    model = open_it(in_folder("config.json"));
    assert_true(plim_model_f64(model, "x.0", &f) && f == 0.5);
    assert_int_equal(plim_model_array_length(model, "x"), 3);
    assert_int_equal(plim_model_array_length(model, "w"), 1);
    assert_false(plim_model_f64(model, "x.1", &f) || plim_model_f64(model, "y", &f) || plim_model_f64(model, "z", &f));
    assert_true(plim_model_u64(model, "v", &u) && u == 2);
    plim_model_free(model);
}

/* Of a list that is too long to be kept, the numbers before its first text are those of the file. */
static void test_long_lists(void **state)
{
    enum { LONGER = PLIM_MAX_KEPT_ARRAY + 10 };
    static char text[16 * LONGER];
    uint64_t number;
    (void)state;
    size_t n = (size_t)sprintf(text, "{\"model_type\":\"a\",\"x\":[");
    for (int i = 0; i < LONGER; i++)
        n += (size_t)sprintf(text + n, "%d,", i);
    sprintf(text + n, "\"end\"]}");
    write_text("config.json", text);
    struct plim_model *model = open_it(in_folder("config.json"));
    assert_int_equal(plim_model_array_length(model, "x"), LONGER + 1);
    assert_true(plim_model_u64(model, "x.2047", &number) && number == 2047);
    assert_false(plim_model_u64(model, "x.2048", &number));
    plim_model_free(model);
}

/* --- what is wrong --- */

/* Quotes are ' here. The error points at the ^. */
static void test_wrong_configs(void **state)
{
    /* clang-format off */
    static const struct {
        const char *text, *caret;
        int code;
        const char *what;
    } rows[] = {
        { "{'model_type':'a','b':1,'b':2}",
          "                         ^",
          PLIM_E_CORRUPT, "key 'b' appears twice" },
        { "{'model_type':'a','b':{'c':1},'b.c':2}",
          "                               ^",
          PLIM_E_CORRUPT, "key 'b.c' appears twice" },
        { "{'model_type':'a','b':01}",
          "                        ^",
          PLIM_E_CORRUPT, "expected a value" },
        { "{'model_type':'a','b':tru}",
          "                      ^",
          PLIM_E_CORRUPT, "expected true or false" },
        { "{'model_type':'a','b':[1,]}",
          "                         ^",
          PLIM_E_CORRUPT, "expected a value" },
        { "{'model_type':'a','b':Inf}",
          "                      ^",
          PLIM_E_CORRUPT, "expected a value" },
        { "{'model_type':'a','b':1e}",
          "                        ^",
          PLIM_E_CORRUPT, "expected a value" },
        { "{'model_type':'a','b':'\\x'}",
          "                       ^",
          PLIM_E_CORRUPT, "an escape that JSON does not have" },
        { "{'model_type':'a','b':{'c':",
          "                           ^",
          PLIM_E_TRUNCATED, "the JSON text ends" },
        { "{'model_type':'a'} x",
          "                   ^",
          PLIM_E_CORRUPT, "expected the end" },
        { "['model_type']",
          "^",
          PLIM_E_CORRUPT, "expected an object" },
    };
    /* clang-format on */
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[128];
        snprintf(text, sizeof text, "%s", rows[i].text);
        for (char *quote = strchr(text, '\''); quote; quote = strchr(quote, '\''))
            *quote = '"';
        write_text("config.json", text);
        assert_fails(in_folder("config.json"), rows[i].code, rows[i].what);
        if (error.at != strlen(rows[i].caret) - 1)
            fail_msg("row %zu: at %llu: %s", i, (unsigned long long)error.at, error.what);
    }
}

static void test_limits(void **state)
{
    enum { BYTES = PLIM_MAX_CONFIG_BYTES };
    static char text[BYTES + 2];
    (void)state;
    memset(text, ' ', sizeof text);
    memcpy(text, "{\"model_type\":\"a\"}", 18);
    write_bytes("config.json", text, BYTES);
    plim_model_free(open_it(in_folder("config.json")));
    write_bytes("config.json", text, BYTES + 1);
    assert_fails(in_folder("config.json"), PLIM_E_TOO_BIG, "at most 1048576 are read");
    for (int depth = 20; depth < 20000; depth *= 30) {
        size_t n = (size_t)sprintf(text, "{\"model_type\":\"a\",\"b\":");
        memset(text + n, '[', (size_t)depth);
        memset(text + n + depth, ']', (size_t)depth);
        text[n + 2 * (size_t)depth] = '}';
        write_bytes("config.json", text, n + 2 * (size_t)depth + 1);
        if (depth < PLIM_MAX_JSON_DEPTH - 1)
            plim_model_free(open_it(in_folder("config.json")));
        else
            assert_fails(in_folder("config.json"), PLIM_E_TOO_BIG, "nested deeper");
    }
    /* long names under long names: what is kept stays below the limit, or the file is refused */
    size_t n = (size_t)sprintf(text, "{\"model_type\":\"a\",\"%0900d\":{", 0);
    while (n + 32 < BYTES)
        n += (size_t)sprintf(text + n, "\"%zx\":1,", n);
    n += (size_t)sprintf(text + n, "\"z\":1}}");
    write_bytes("config.json", text, n);
    assert_fails(in_folder("config.json"), PLIM_E_TOO_BIG, "MiB of names and values");
}

/* An index of more files than a model may have is refused before any is opened. */
static void test_too_many_shards(void **state)
{
    static char text[1 << 16];
    size_t n = (size_t)sprintf(text, "{\"weight_map\":{");
    (void)state;
    for (int i = 0; i <= PLIM_MAX_SAFETENSORS_FILES; i++)
        n += (size_t)sprintf(text + n, "%s\"%d\":\"f%d\"", i ? "," : "", i, i);
    n += (size_t)sprintf(text + n, "}}");
    write_text("model.safetensors.index.json", text);
    assert_fails(in_folder("model.safetensors.index.json"), PLIM_E_TOO_BIG, "more than 1024 files");
}

/* Whichever allocation fails: an error that says so. */
static void test_memory_runs_out(void **state)
{
    static const char *const paths[] = { "hf", "config.json" };
    (void)state;
    make_folder("hf");
    write_index("hf/model.safetensors.index.json");
    write_safetensors("hf/a.safetensors", "model.embed_tokens.weight");
    write_safetensors("hf/b.safetensors", "model.norm.weight");
    write_text("hf/config.json", LLAMA);
    write_text("config.json", LLAMA);
    for (size_t i = 0; i < COUNT(paths); i++) {
        long n = 0;
        for (int result = -1; result < 0; n++) {
            struct plim_model *model = NULL;
            plim_alloc_fail_after(n);
            result = plim_model_open(in_folder(paths[i]), &model, NULL);
            plim_alloc_fail_after(-1);
            assert_true(result == 0 || result == PLIM_E_NOMEM);
            plim_model_free(model);
        }
        assert_true(n > 5);
    }
}

/* --- numbers --- */

static void test_json_numbers(void **state)
{
    static const char *const reals[] = { "0.1",
                                         "1e5",
                                         "1.5e-7",
                                         "-2.25",
                                         "123456789012345678901",
                                         "3.14159265358979",
                                         "1e308",
                                         "1e-300",
                                         "0.000001",
                                         "500000.0",
                                         "1e400",
                                         "-1e-400",
                                         "1E+2",
                                         "0e0" };
    struct plim_json json;
    struct plim_json_number number;
    (void)state;
    for (size_t i = 0; i < COUNT(reals); i++) {
        const double expected = strtod(reals[i], NULL);
        plim_json_init(&json, plim_cursor(reals[i], strlen(reals[i])), NULL);
        assert_int_equal(plim_json_number(&json, &number), 0);
        assert_int_equal(plim_json_end(&json), 0);
        assert_int_equal(number.type, PLIM_JSON_REAL);
        if (number.f != expected && !(fabs(number.f - expected) <= fabs(expected) * 1e-14))
            fail_msg("%s: %.17g", reals[i], number.f);
    }
    const char *const edges[] = { "18446744073709551615", "-9223372036854775808", "-0" };
    for (size_t i = 0; i < COUNT(edges); i++) {
        plim_json_init(&json, plim_cursor(edges[i], strlen(edges[i])), NULL);
        assert_int_equal(plim_json_number(&json, &number), 0);
        assert_true(i == 0   ? number.type == PLIM_JSON_UNSIGNED && number.u == UINT64_MAX
                    : i == 1 ? number.type == PLIM_JSON_SIGNED && number.i == INT64_MIN
                             : number.type == PLIM_JSON_UNSIGNED && number.u == 0);
    }
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_recognised),
        IN_FOLDER(test_config_alone),
        IN_FOLDER(test_folders_of_gguf),
        IN_FOLDER(test_ollama),
        cmocka_unit_test(test_hyperparameters_of_gguf),
        IN_FOLDER(test_hyperparameters_of_configs),
        IN_FOLDER(test_rope_and_types),
        IN_FOLDER(test_keys),
        IN_FOLDER(test_long_lists),
        IN_FOLDER(test_wrong_configs),
        IN_FOLDER(test_limits),
        IN_FOLDER(test_too_many_shards),
        IN_FOLDER(test_memory_runs_out),
        cmocka_unit_test(test_json_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
