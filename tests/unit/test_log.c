/* SPDX-License-Identifier: MIT */
#include "base/limits.h"
#include "base/units.h"
#include "engine/log.h"
#include "engine/log_text.h"
#include "unit.h"

/* What a log says, fed in pieces of this size. */
static bool read_log(const char *text, size_t piece, struct plim_receipt *ret_receipt)
{
    struct plim_error error = { 0 };
    struct plim_log *log = plim_log_new();
    size_t length = strlen(text);
    assert_non_null(log);
    for (size_t i = 0; i < length; i += piece)
        plim_log_feed(log, text + i, length - i < piece ? length - i : piece);
    int result = plim_log_receipt(log, ret_receipt, &error);
    plim_log_free(log);
    if (result < 0)
        assert_true(error.code == PLIM_E_UNSUPPORTED && error.hint[0]);
    return result == 0;
}

/* "gpu0 KV buffer=1024.00" in MiB to two places; "" when the line is not there. */
static void assert_line(const struct plim_receipt *receipt, const char *id, const char *label, const char *mib)
{
    char text[32] = "";
    struct plim_receipt_device *device = (struct plim_receipt_device *)(uintptr_t)plim_receipt_find(receipt, id);
    const struct plim_receipt_line *line = device ? plim_receipt_line(device, label) : NULL;
    if (line) {
        snprintf(text, sizeof text, "%.2f", (double)line->bytes / (double)PLIM_MIB);
        assert_true(line->low_bytes <= line->bytes && line->bytes <= line->high_bytes);
    }
    if (strcmp(text, mib) != 0)
        fail_msg("%s %s: '%s', expected '%s'", id, label, text, mib);
}

static void test_sizes(void **state)
{
    static const struct {
        const char *text;
        uint64_t bytes, half_bytes;
    } rows[] = {
        { " 4403.49 MiB", 4617393930, 5243 }, { "636,18 MiB", 667083080, 5243 },
        { "1.9 GiB", 2040109466, 53687092 },  { "0 B", 0, 0 },
        { "8.3215 GiB", 8935142588, 53688 },  { "12KiB", 12288, 513 },
    };
    static const char *const refused[] = {
        "", "MiB", "-1 MiB", "1", "1 apples", "99999999999999999999 B", "9999999999 GiB"
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct plim_log_size size = { 0 };
        if (!plim_log_size(rows[i].text, &size) || size.bytes != rows[i].bytes || size.half_bytes != rows[i].half_bytes)
            fail_msg("'%s': %llu +- %llu", rows[i].text, (unsigned long long)size.bytes,
                     (unsigned long long)size.half_bytes);
    }
    for (size_t i = 0; i < COUNT(refused); i++) {
        struct plim_log_size size;
        if (plim_log_size(refused[i], &size))
            fail_msg("'%s' is read", refused[i]);
    }
}

static void test_devices(void **state)
{
    static const char *const rows[][2] = {
        { "CUDA0", "gpu0" },      { "CUDA11", "gpu11" },
        { "CUDA_Host", "host" },  { "CPU_Mapped", "host" },
        { "CPU_REPACK", "host" }, { "ROCm1", "gpu1" },
        { "Vulkan0", "gpu0" },    { "Vulkan_Host", "host" },
        { "Metal", "gpu0" },      { "MTL0_Mapped", "gpu0" },
        { "SYCL0", "gpu0" },      { "BLAS", "host" },
        { "Host", "host" },       { "CUDA0_Split", "gpu0" },
        { "AMX", "host" },        { "RPC[192.168.62.35:50052]", "rpc" },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char id[PLIM_RECEIPT_ID_BYTES];
        plim_log_device_id(rows[i][0], strlen(rows[i][0]), id, sizeof id);
        assert_string_equal(id, rows[i][1]);
    }
}

/* Every name the function had, and what may stand before it. */
static void test_forms_of_a_buffer_line(void **state)
{
    static const struct {
        const char *line, *id, *label, *mib;
    } rows[] = {
        { "load_tensors:        CUDA0 model buffer size =  4403.49 MiB", "gpu0", "model buffer", "4403.49" },
        { "llm_load_tensors:      CUDA1 buffer size =    23,64 MiB", "gpu1", "model buffer", "23.64" },
        { "llm_load_tensors: RPC[10.0.0.1:50052] buffer size = 19142.56 MiB", "rpc", "model buffer", "19142.56" },
        { "llama_kv_cache_init:  CUDA_Host KV buffer size =    64.00 MiB", "host", "KV buffer", "64.00" },
        { "llama_kv_cache_unified:      CUDA0 KV buffer size = 1.00 MiB", "gpu0", "KV buffer", "1.00" },
        { "llama_kv_cache:      ROCm0 KV buffer size = 1.00 MiB", "gpu0", "KV buffer", "1.00" },
        { "llama_memory_recurrent:    Vulkan0 RS buffer size =    95.00 MiB", "gpu0", "RS buffer", "95.00" },
        { "0.01.752.330 I llama_context:  CUDA_Host  output buffer size =     1.96 MiB", "host", "output buffer",
          "1.96" },
        { "[llama Info]: llama_init_from_model:      CUDA0 compute buffer size =   300.75 MiB", "gpu0",
          "compute buffer", "300.75" },
        { "{\"log\":\"sched_reserve:      CUDA0 compute buffer size =   300.75 MiB\\n\"}", "gpu0", "compute buffer",
          "300.75" },
        { "\033[34m0.1 I \033[0msched_reserve:  CUDA0 compute buffer size = 300.75 MiB", "gpu0", "compute buffer",
          "300.75" },
        { "llama_adapter_lora_init_impl:      CUDA0 LoRA buffer size =    13.00 MiB", "gpu0", "LoRA buffer", "13.00" },
        { "alloc_compute_meta:      CUDA0 compute buffer size =   248.10 MiB", "gpu0", "mmproj compute buffer",
          "248.10" },
    };
    static const char *const others[] = {
        "",
        "model buffer size = 3 MiB",
        "f: CUDA0 model buffer size",
        "f: CUDA0 model buffer size = lots",
        "output_reserve: reallocating output buffer from size 1.00 MiB to 2.00 MiB",
        "CUDA0 KV buffer size = 1.00 MiB",
        "f: CUDA0 model buffer size = -1.00 MiB",
        "f: buffer size = 1.00 MiB",
    };
    struct plim_receipt receipt;
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (!read_log(rows[i].line, 1000, &receipt))
            fail_msg("not read: %s", rows[i].line);
        assert_line(&receipt, rows[i].id, rows[i].label, rows[i].mib);
    }
    for (size_t i = 0; i < COUNT(others); i++)
        if (read_log(others[i], 1000, &receipt))
            fail_msg("read: %s", others[i]);
}

#define MODEL(mib)   "load_tensors:  CUDA0 model buffer size = " mib " MiB\n"
#define KV(mib)      "llama_kv_cache:  CUDA0 KV buffer size = " mib " MiB\n"
#define COMPUTE(mib) "sched_reserve:  CUDA0 compute buffer size = " mib " MiB\n"
#define GRAPH        "sched_reserve: graph: nodes = 502, splits = 2\n"
#define HEADER       "x: | memory breakdown [MiB] | total free self model context compute unaccounted |\n"

static void test_loads(void **state)
{
    static const struct {
        const char *name, *log;
        const char *model, *kv, *compute, *draft_model, *draft_kv, *mtp_kv, *mtp_compute;
    } rows[] = {
        { "two caches add up", MODEL("100") KV("10") KV("5") COMPUTE("7") GRAPH, "100.00", "15.00", "7.00", "", "", "",
          "" },
        { "reserved anew", MODEL("100") KV("10") COMPUTE("7") GRAPH COMPUTE("9") GRAPH, "100.00", "10.00", "9.00", "",
          "", "", "" },
        { "a trial of --fit", MODEL("0.00") KV("0.00") COMPUTE("7") GRAPH MODEL("100") KV("10") COMPUTE("7") GRAPH,
          "100.00", "10.00", "7.00", "", "", "", "" },
        { "a draft model", MODEL("100") KV("10") COMPUTE("7") GRAPH MODEL("50") KV("5") COMPUTE("3") GRAPH, "100.00",
          "10.00", "7.00", "50.00", "5.00", "", "" },
        { "a second context", MODEL("100") KV("10") COMPUTE("7") GRAPH KV("1") COMPUTE("2") GRAPH, "100.00", "10.00",
          "7.00", "", "", "1.00", "2.00" },
        { "started again",
          "build: 1 (a) with\n" MODEL("9") KV("9") COMPUTE("9") "build: 1 (a) with\n" MODEL("100") KV("10"), "100.00",
          "10.00", "", "", "", "", "" },
        { "started again, for nothing", MODEL("100") KV("10") "srv load_model: loading model 'x'\n", "100.00", "10.00",
          "", "", "", "", "" },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        for (size_t piece = 1; piece < 100; piece += 31) {
            struct plim_receipt receipt;
            if (!read_log(rows[i].log, piece, &receipt))
                fail_msg("%s: nothing is read", rows[i].name);
            assert_line(&receipt, "gpu0", "model buffer", rows[i].model);
            assert_line(&receipt, "gpu0", "KV buffer", rows[i].kv);
            assert_line(&receipt, "gpu0", "compute buffer", rows[i].compute);
            assert_line(&receipt, "gpu0", "draft model buffer", rows[i].draft_model);
            assert_line(&receipt, "gpu0", "draft KV buffer", rows[i].draft_kv);
            assert_line(&receipt, "gpu0", "MTP KV buffer", rows[i].mtp_kv);
            assert_line(&receipt, "gpu0", "MTP compute buffer", rows[i].mtp_compute);
            assert_int_equal(receipt.is_whole, rows[i].compute[0] != '\0');
        }
}

static void test_table(void **state)
{
    struct plim_receipt receipt;
    (void)state;
    assert_true(read_log(HEADER
                         "x: |   - CUDA0 (RTX 4060)   | 7806 = 6487 + (1086 =   762 +     256 +      68) + 232 |\n"
                         "x: |   - Host               |                  221 =   205 +       0 +      16       |\n",
                         7, &receipt));
    assert_line(&receipt, "gpu0", "model buffer", "762.00");
    assert_line(&receipt, "gpu0", "context", "256.00");
    assert_line(&receipt, "gpu0", "unaccounted", "232.00");
    assert_line(&receipt, "host", "compute buffer", "16.00");
    assert_string_equal(receipt.device[0].name, "RTX 4060");
    assert_true(receipt.device[0].total_bytes == 7806 * PLIM_MIB && receipt.is_whole && !receipt.is_estimate);
    /* a trial: before anything was allocated */
    assert_true(read_log(HEADER "x: |   - CUDA0 (X)   | 7806 = 7700 + (1086 =   762 +     256 +      68) + -980 |\n", 7,
                         &receipt));
    assert_line(&receipt, "gpu0", "unaccounted", "");
    assert_true(receipt.is_estimate);
    /* a difference that has wrapped around */
    assert_true(read_log(HEADER "x: |   - CUDA0 (X) | 16196 = 16062 + (7052 = 6824 + 228 + 0) + 17592186037496 |\n", 7,
                         &receipt));
    assert_line(&receipt, "gpu0", "unaccounted", "");
    /* buffers are better than whole MiB */
    assert_true(read_log(MODEL("762.81") COMPUTE("68.01") HEADER
                         "x: |   - CUDA0 (X) | 7806 = 6487 + (1086 = 762 + 256 + 68) + 232 |\n",
                         7, &receipt));
    assert_line(&receipt, "gpu0", "model buffer", "762.81");
    assert_line(&receipt, "gpu0", "context", "");
    assert_line(&receipt, "gpu0", "unaccounted", "232.00");
    /* no table without its head */
    assert_false(read_log("x: |   - CUDA0 (X) | 7806 = 6487 + (1086 = 762 + 256 + 68) + 232 |\n", 7, &receipt));
}

static void test_settings(void **state)
{
    struct plim_receipt receipt;
    (void)state;
    assert_true(read_log(
        "build: 6115 (9c35706b) with GNU 13\n"
        "print_info: general.name          = a \033[1mname\033[0m\n"
        "x: using device CUDA0 (NVIDIA GeForce RTX 4060) (0000:01:00.0) - 7806 MiB free\n"
        "load_tensors: offloaded 31/33 layers to GPU\n" MODEL(
            "100") "llama_context: n_seq_max = 4\nllama_context: n_ctx   = 8192\nllama_context: n_ctx_seq = 2048\n"
                   "llama_context: flash_attn = auto\nllama_context: kv_unified = false\n" KV(
                       "10") "llama_kv_cache: size = 1 MiB ( 8 cells), K (q8_0): 1 MiB, V (f16): 1 MiB\n"
                             "sched_reserve: Flash Attention was auto, set to enabled\n" COMPUTE(
                                 "1") "llama_context: n_ctx = 77\n",
        13, &receipt));
    assert_string_equal(receipt.model, "a name");
    assert_string_equal(receipt.version, "b6115");
    assert_string_equal(receipt.device[0].name, "NVIDIA GeForce RTX 4060");
    assert_true(receipt.device[0].free_bytes == 7806 * PLIM_MIB);
    assert_int_equal(plim_settings_find(&receipt.settings, "n_ctx")->integer, 8192);
    assert_int_equal(plim_settings_find(&receipt.settings, "n_seq")->integer, 4);
    assert_int_equal(plim_settings_find(&receipt.settings, "n_gpu_layers")->integer, 31);
    assert_int_equal(plim_settings_find(&receipt.settings, "flash_attn")->integer, 1);
    assert_int_equal(plim_settings_find(&receipt.settings, "kv_unified")->integer, 0);
    assert_string_equal(plim_settings_find(&receipt.settings, "type_k")->text, "q8_0");
    assert_string_equal(plim_settings_find(&receipt.settings, "type_v")->text, "f16");
    assert_null(plim_settings_find(&receipt.settings, "n_batch"));
}

static void test_other_engines(void **state)
{
    struct plim_receipt receipt;
    (void)state;
    assert_true(read_log(
        "INFO 08-12 [worker.py:295] model weights take 0.52GiB; non_torch_memory takes 0.08GiB; PyTorch activation "
        "peak memory takes 1.78GiB; the rest of the memory reserved for KV Cache is 34.81GiB.\n"
        "(VllmWorker rank=1 pid=8) Model loading took 8.0000 GB and 3 seconds\n",
        9, &receipt));
    assert_line(&receipt, "gpu0", "model weights", "532.48");
    assert_line(&receipt, "gpu0", "activation peak", "1822.72");
    assert_line(&receipt, "gpu0", "KV cache", "35645.44");
    assert_line(&receipt, "gpu1", "model weights", "8192.00");
    assert_true(read_log("source=ggml.go:377 msg=\"model weights\" buffer=ROCm0 size=\"16.2 GiB\"\n"
                         "source=ggml.go:666 msg=\"compute graph\" backend=ROCm0 buffer_type=ROCm0 size=\"1.1 GiB\"\n"
                         "source=ggml.go:666 msg=\"compute graph\" backend=ROCm0 buffer_type=ROCm0 size=\"1.2 GiB\"\n"
                         "source=ggml.go:666 msg=\"compute graph\" backend=CPU buffer_type=CPU size=\"0 B\"\n",
                         9, &receipt));
    assert_line(&receipt, "gpu0", "model buffer", "16588.80");
    assert_line(&receipt, "gpu0", "compute buffer", "1228.80");
    assert_string_equal(receipt.engine, "ollama");
}

/* Long lines are cut, many devices and labels are dropped, sums stay in range. */
static void test_hostile_logs(void **state)
{
    enum { LINES = 3000 };
    struct plim_receipt receipt;
    struct plim_error error = { 0 };
    char line[256];
    (void)state;
    struct plim_log *log = plim_log_new();
    for (size_t i = 0; i < 10 * PLIM_MAX_LOG_LINE_BYTES; i++)
        plim_log_feed(log, "x", 1);
    plim_log_feed(log, "\n", 1);
    for (int i = 0; i < LINES; i++) {
        int n = snprintf(line, sizeof line, "f: CUDA%d model buffer size = 4000000000.00 MiB\n%s", i,
                         i % 7 ? "" : "f: CUDA0 KV buffer size = 1 MiB\nllama_model_loader: loaded meta data with\n");
        plim_log_feed(log, line, (size_t)n);
    }
    assert_int_equal(plim_log_receipt(log, &receipt, &error), 0);
    assert_true(receipt.n_devices <= PLIM_RECEIPT_MAX_DEVICES);
    for (uint32_t i = 0; i < receipt.n_devices; i++)
        for (uint32_t k = 0; k < receipt.device[i].n_lines; k++)
            assert_true(receipt.device[i].line[k].high_bytes <= PLIM_RECEIPT_MAX_BYTES);
    plim_log_free(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_devices),
        cmocka_unit_test(test_forms_of_a_buffer_line),
        cmocka_unit_test(test_loads),
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_settings),
        cmocka_unit_test(test_other_engines),
        cmocka_unit_test(test_hostile_logs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
