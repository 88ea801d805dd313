/* SPDX-License-Identifier: MIT */
/* Remedies: values that are computed, what is left out because it frees too little, and commands that can be pasted. */
#include "base/units.h"
#include "diagnose/remedy/knowledge.h"
#include "diagnose/remedy/remedy.h"
#include "diagnose/scan/patterns/pattern.h"
#include "unit.h"

#define GIB(x) ((int64_t)((x) * (double)PLIM_GIB))

static struct plim_pattern pattern;
static struct plim_finding finding;
static struct plim_log_context context;
static struct plim_cause_answer answer;
static struct plim_remedies remedies;

static void begin(const char *framework, const char *stage)
{
    memset(&pattern, 0, sizeof pattern);
    memset(&finding, 0, sizeof finding);
    memset(&context, 0, sizeof context);
    pattern.id = "test";
    pattern.framework = finding.framework = framework;
    pattern.stage = stage;
    pattern.note = "";
    finding.pattern = &pattern;
    plim_numbers_init(&finding.numbers);
    plim_numbers_init(&context.numbers);
}

static void set(enum plim_number which, int64_t value) { finding.numbers.value[which] = value; }

static void find(void)
{
    plim_cause_find(&finding, &context, &answer);
    plim_remedies_find(&finding, &context, &answer, &remedies);
}

static bool has_command(const char *text)
{
    bool has = false;
    for (uint32_t i = 0; i < remedies.n; i++)
        has = has || strstr(remedies.item[i].command, text) != NULL;
    return has;
}

static bool is_useless(const char *text)
{
    bool is = false;
    for (uint32_t i = 0; i < remedies.n_useless; i++)
        is = is || strstr(remedies.useless[i].what, text) != NULL;
    return is;
}

static void message(double tried, double total, double free_gib, double allocated, double unallocated)
{
    begin("pytorch", "");
    set(PLIM_N_TRIED_BYTES, GIB(tried));
    set(PLIM_N_TOTAL_BYTES, GIB(total));
    set(PLIM_N_FREE_BYTES, GIB(free_gib));
    set(PLIM_N_ALLOCATED_BYTES, GIB(allocated));
    set(PLIM_N_RESERVED_UNALLOCATED_BYTES, GIB(unallocated));
}

static void test_the_process_to_look_at(void **state)
{
    (void)state;
    message(2.0, 31.36, 0.46, 15.70, 0.31);
    set(PLIM_N_PROCESS_BYTES, GIB(16.62));
    finding.others[finding.n_others++] = (struct plim_other){ 19239, GIB(14.26) };
    find();
    assert_string_equal(remedies.item[0].command, "ps -o pid,user,etime,args -p 19239    # then: kill 19239");
    assert_int_equal(remedies.item[0].frees_bytes, GIB(14.26));
    assert_true(is_useless("smaller batch"));
    assert_true(is_useless("expandable_segments"));
}

static void test_pieces(void **state)
{
    (void)state;
    message(2.0, 23.69, 0.5, 14.0, 8.3);
    find();
    assert_string_equal(remedies.item[0].command, "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True");
    assert_true(is_useless("empty_cache()"));
    strcpy(context.words.text[PLIM_W_TORCH_VERSION], "2.10.0+cu128");
    find();
    assert_string_equal(remedies.item[0].command, "export PYTORCH_ALLOC_CONF=expandable_segments:True");
    snprintf(finding.evidence[finding.n_evidence++].text, PLIM_EVIDENCE_BYTES,
             "try setting PYTORCH_CUDA_ALLOC_CONF=expandable");
    strcpy(context.frames[0].file, "/home/me/train.py");
    context.frames[0].is_user = true;
    context.n_frames = 1;
    find(); /* the message's own name for it, before the program that failed */
    assert_string_equal(remedies.item[0].command, "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True python train.py");
    strcpy(finding.words.text[PLIM_W_PLATFORM], "wsl");
    find();
    assert_false(has_command("expandable_segments"));
}

static void test_nothing_reserved(void **state)
{
    (void)state;
    message(2.0, 23.69, 0.5, 22.5, 0.1);
    find();
    assert_int_equal(answer.best.cause, PLIM_CAUSE_UNKNOWN);
    assert_int_equal(answer.advised, PLIM_CAUSE_BATCH_OR_ACTIVATION);
    assert_true(is_useless("expandable_segments"));
    assert_true(is_useless("empty_cache()"));
}

/* Settings that this PyTorch does not have, or that the platform refused, are no advice. */
static void test_settings_of_versions(void **state)
{
    (void)state;
    message(2.0, 23.69, 0.5, 15.0, 7.0);
    find();
    assert_int_equal(answer.best.cause, PLIM_CAUSE_FRAGMENTATION);
    assert_true(has_command("expandable_segments:True"));
    strcpy(context.words.text[PLIM_W_ALLOC_CONF], "expandable_segments:refused");
    find();
    assert_false(has_command("expandable_segments:True"));
    context.words.text[PLIM_W_ALLOC_CONF][0] = '\0';
    strcpy(context.words.text[PLIM_W_TORCH_VERSION], "2.0.1");
    find();
    assert_false(has_command("expandable_segments:True"));
    assert_true(has_command("max_split_size_mb"));
    strcpy(context.words.text[PLIM_W_TORCH_VERSION], "2.1.0");
    find();
    assert_true(has_command("expandable_segments:True"));
    context.words.text[PLIM_W_TORCH_VERSION][0] = '\0';
    set(PLIM_N_RESERVED_BYTES, GIB(22.0)); /* the message of 1.4 to 2.0 */
    find();
    assert_false(has_command("expandable_segments:True"));
}

/* An Xid is NVIDIA's. */
static void test_words_of_drivers(void **state)
{
    (void)state;
    static const char *const makers[][2] = { { "CUDA", "xid" }, { "HIP", "amdgpu" }, { "XPU", "i915" } };
    for (size_t i = 0; i < COUNT(makers); i++) {
        message(1.0, 16.0, 8.0, 7.0, 0.1);
        strcpy(finding.words.text[PLIM_W_BACKEND], makers[i][0]);
        find();
        assert_int_equal(answer.best.cause, PLIM_CAUSE_DRIVER_OR_CONTEXT);
        assert_true(has_command(makers[i][1]));
        assert_true(i == 0 || !has_command("xid"));
    }
}

/* A function that trains makes it training, whatever the rest of the log says. */
static void test_frames_that_train(void **state)
{
    (void)state;
    message(2.0, 23.69, 0.5, 22.5, 0.1);
    context.n_frames = 2;
    strcpy(context.frames[0].file, "run.py");
    strcpy(context.frames[0].name, "train_one_epoch");
    strcpy(context.frames[1].file, "torch/nn/modules/linear.py");
    strcpy(context.frames[1].name, "forward");
    find();
    assert_false(has_command("inference_mode"));
    strcpy(context.frames[0].name, "from_pretrained_x");
    find();
    assert_true(has_command("inference_mode"));
}

static void test_shares(void **state)
{
    (void)state;
    begin("vllm", "startup");
    set(PLIM_N_TOTAL_BYTES, GIB(23.57));
    set(PLIM_N_FREE_BYTES, GIB(22.9));
    set(PLIM_N_UTILIZATION, 990000);
    strcpy(context.words.text[PLIM_W_MODEL], "Qwen/Qwen2.5-7B");
    find();
    assert_string_equal(remedies.item[0].command, "vllm serve Qwen/Qwen2.5-7B --gpu-memory-utilization 0.95");
    set(PLIM_N_FREE_BYTES, GIB(17.5));
    find();
    assert_true(has_command("--gpu-memory-utilization 0.72"));

    begin("vllm", "fraction");
    context.numbers.value[PLIM_N_AVAILABLE_BYTES] = GIB(-1.2);
    context.numbers.value[PLIM_N_TOTAL_BYTES] = GIB(23.57);
    context.numbers.value[PLIM_N_UTILIZATION] = 600000;
    find();
    assert_string_equal(remedies.item[0].change,
                        "a share of the card between 0.68 and 0.95 instead of 0.60: 0.68 leaves half "
                        "a GiB for the cache");
    context.numbers.value[PLIM_N_TOTAL_BYTES] = PLIM_UNKNOWN; /* at least (27.67 - 1.42) / 0.6 GiB */
    context.numbers.value[PLIM_N_AVAILABLE_BYTES] = GIB(-1.42);
    context.numbers.value[PLIM_N_MODEL_BYTES] = GIB(27.67);
    find();
    assert_non_null(strstr(remedies.item[0].change, "between 0.65 and 0.95"));
    assert_true(is_useless("a lower share"));
}

static void test_context_lengths(void **state)
{
    (void)state;
    begin("vllm", "kv");
    set(PLIM_N_MAX_SEQ_LEN, 131072);
    set(PLIM_N_NEEDED_BYTES, GIB(16));
    set(PLIM_N_AVAILABLE_BYTES, GIB(3.57));
    set(PLIM_N_ESTIMATED_MAX_LEN, 29239);
    find();
    assert_string_equal(remedies.item[0].command, "vllm serve MODEL --max-model-len 29232");
    assert_false(has_command("fp8")); /* frees 8 GiB of the 12.43 that are missing */
    finding.numbers.value[PLIM_N_ESTIMATED_MAX_LEN] = PLIM_UNKNOWN;
    find(); /* floor(131072 * 3.57 / 16 / 16) * 16 = 29232, less what 5 MiB of rounding are */
    assert_string_equal(remedies.item[0].command, "vllm serve MODEL --max-model-len 29200");
    set(PLIM_N_AVAILABLE_BYTES, GIB(9));
    find();
    assert_true(has_command("fp8"));

    begin("llama.cpp", "kv");
    set(PLIM_N_TRIED_BYTES, GIB(4));
    set(PLIM_N_FREE_BYTES, GIB(2.5));
    context.numbers.value[PLIM_N_N_CTX] = 32768;
    find();
    assert_string_equal(remedies.item[0].command, "llama-server -m MODEL.gguf -c 16384");
    assert_true(has_command("-ctk q8_0"));
}

static void test_layers(void **state)
{
    (void)state;
    begin("llama.cpp", "weights");
    set(PLIM_N_TRIED_BYTES, GIB(8.25));
    context.numbers.value[PLIM_N_FREE_BYTES] = GIB(7.25);
    context.numbers.value[PLIM_N_TOTAL_BYTES] = GIB(7.62);
    context.numbers.value[PLIM_N_N_GPU_LAYERS] = 99;
    context.numbers.value[PLIM_N_N_LAYERS] = 33;
    find(); /* 0.25 GiB a layer, 6.25 GiB for them */
    assert_string_equal(remedies.item[0].command, "llama-server -m MODEL.gguf -ngl 25");
    finding.framework = "ollama";
    find();
    assert_non_null(strstr(remedies.item[0].command, "PARAMETER num_gpu 25\\n"));
    assert_non_null(strstr(remedies.item[0].command, "ollama create"));
}

static void test_limits(void **state)
{
    (void)state;
    message(1.0, 24.0, 12.0, 7.5, 0.3);
    set(PLIM_N_ALLOWED_BYTES, GIB(8.0));
    find();
    assert_string_equal(remedies.item[0].command, "torch.cuda.set_per_process_memory_fraction(0.37)");
    begin("linux-kernel", "host");
    set(PLIM_N_RSS_BYTES, GIB(7.9));
    strcpy(finding.words.text[PLIM_W_CONSTRAINT], "CONSTRAINT_MEMCG");
    strcpy(finding.words.text[PLIM_W_CGROUP], "/kubepods.slice/pod1");
    find();
    assert_string_equal(remedies.item[0].command, "kubectl set resources deployment/NAME --limits=memory=10Gi");
    assert_true(is_useless("more RAM"));
}

/* A name from the log goes into a command only as one harmless word. */
static void test_names_are_not_trusted(void **state)
{
    (void)state;
    static const char *const names[] = { "x; rm -rf ~", "$(reboot)", "a b", "`id`", "-rf", "a\nb", "'" };
    for (size_t i = 0; i < COUNT(names); i++) {
        begin("vllm", "startup");
        set(PLIM_N_TOTAL_BYTES, GIB(23.57));
        set(PLIM_N_FREE_BYTES, GIB(22.9));
        snprintf(finding.words.text[PLIM_W_MODEL], PLIM_WORD_BYTES, "%s", names[i]);
        find();
        assert_string_equal(remedies.item[0].command, "vllm serve MODEL --gpu-memory-utilization 0.95");
    }
}

/* Whatever cause and program: something to do, complete sentences, nothing that frees less than is missing. */
static void test_every_cause_of_every_program(void **state)
{
    (void)state;
    static const char *const frameworks[] = { "pytorch",    "transformers", "deepspeed",   "vllm",     "sglang",
                                              "tgi",        "lmdeploy",     "llama.cpp",   "ollama",   "koboldcpp",
                                              "lmstudio",   "exllama",      "comfyui",     "a1111",    "diffusers",
                                              "tensorflow", "jax",          "onnxruntime", "tensorrt", "paddle",
                                              "cupy",       "numba",        "rapids",      "candle",   "numpy",
                                              "cublas",     "nccl",         "rocm",        "metal",    "linux-kernel",
                                              "slurm",      "kubernetes",   "docker",      "systemd",  "other" };
    for (size_t f = 0; f < COUNT(frameworks); f++)
        for (int cause = PLIM_CAUSE_MODEL_TOO_BIG; cause < PLIM_CAUSE_MAX_; cause++)
            for (int with_figures = 0; with_figures < 2; with_figures++) {
                begin(frameworks[f], "");
                pattern.cause = (enum plim_cause)cause;
                if (with_figures) {
                    set(PLIM_N_TRIED_BYTES, GIB(2.5));
                    set(PLIM_N_TOTAL_BYTES, GIB(24));
                    set(PLIM_N_FREE_BYTES, GIB(0.4));
                    set(PLIM_N_ALLOCATED_BYTES, GIB(21));
                    context.numbers.value[PLIM_N_N_CTX] = 8192;
                    context.numbers.value[PLIM_N_BATCH_SIZE] = 8;
                }
                find();
                assert_int_equal(answer.best.cause, cause);
                if (remedies.n == 0)
                    fail_msg("%s, %s: nothing to do", frameworks[f], plim_cause_name(answer.best.cause));
                for (uint32_t i = 0; i < remedies.n; i++) {
                    const struct plim_remedy *remedy = &remedies.item[i];
                    assert_true(strlen(remedy->change) > 3 && strlen(remedy->change) + 1 < sizeof remedy->change);
                    assert_true(strlen(remedy->command) + 1 < sizeof remedy->command);
                    assert_null(strstr(remedy->command, "(null)"));
                    if (remedy->frees_bytes != PLIM_UNKNOWN && answer.shortfall_bytes != PLIM_UNKNOWN &&
                        cause != PLIM_CAUSE_ALLOCATOR_LIMIT)
                        assert_true(remedy->frees_bytes >= answer.shortfall_bytes - (int64_t)(25 * PLIM_MIB));
                }
                for (uint32_t i = 0; i < remedies.n_useless; i++)
                    assert_true(remedies.useless[i].what[0]);
            }
}

static bool has_change(const char *text)
{
    bool has = false;
    for (uint32_t i = 0; i < remedies.n; i++)
        has = has || strstr(remedies.item[i].change, text) != NULL;
    return has;
}

static void word(enum plim_word which, const char *text)
{
    snprintf(finding.words.text[which], sizeof finding.words.text[which], "%s", text);
}

/* llama.cpp by what it runs on: the card's own settings, and none of another's. */
static void test_backends(void **state)
{
    (void)state;
    begin("llama.cpp", "weights");
    set(PLIM_N_TRIED_BYTES, GIB(9));
    word(PLIM_W_BUFFER, "Vulkan0");
    find();
    assert_true(has_command("GGML_VK_ALLOW_SYSMEM_FALLBACK=1"));
    assert_false(has_command("nvidia-smi"));

    begin("llama.cpp", "compute");
    set(PLIM_N_TRIED_BYTES, GIB(1.5));
    word(PLIM_W_BACKEND, "Vulkan");
    word(PLIM_W_OPERATION, "exceeds device memory allocation limit");
    find();
    assert_true(has_command("GGML_VK_FORCE_MAX_ALLOCATION_SIZE=1610612736 "));
    assert_true(has_command("-ub 256"));
    set(PLIM_N_TRIED_BYTES, GIB(5)); /* no driver takes a buffer of more than 4 GiB */
    find();
    assert_false(has_command("GGML_VK_FORCE_MAX_ALLOCATION_SIZE"));

    begin("llama.cpp", "weights");
    set(PLIM_N_TRIED_BYTES, GIB(5));
    word(PLIM_W_BACKEND, "SYCL");
    find();
    assert_true(has_command("UR_L0_ENABLE_RELAXED_ALLOCATION_LIMITS=1"));

    begin("koboldcpp", "weights");
    find();
    assert_true(has_command("koboldcpp --model MODEL.gguf --gpulayers "));
    begin("lmstudio", "weights");
    find();
    assert_true(has_command("lms load MODEL --gpu "));
}

/* A Mac: model 4, cache 8 and working memory 0.5 GiB where the GPU may use 10.5. */
static void test_a_mac(void **state)
{
    (void)state;
    begin("llama.cpp", "compute");
    word(PLIM_W_BACKEND, "Metal");
    word(PLIM_W_PLATFORM, "mac");
    find();
    assert_true(has_command("iogpu.wired_limit_mb=$((")); /* nothing is known: a part of the RAM */
    context.numbers.value[PLIM_N_MODEL_BYTES] = GIB(4);
    context.numbers.value[PLIM_N_KV_BYTES] = GIB(8);
    context.numbers.value[PLIM_N_COMPUTE_BYTES] = GIB(0.5);
    context.numbers.value[PLIM_N_N_CTX] = 65536;
    find();
    assert_true(has_command("iogpu.wired_limit_mb=13824")); /* 12.5 GiB and one to spare */
    context.numbers.value[PLIM_N_FREE_BYTES] = GIB(10.5);   /* so the RAM is at most 15.9 GiB, and 17.5 are wanted */
    find();
    assert_string_equal(remedies.item[0].command, "llama-server -m MODEL.gguf -c 45056"); /* 5.5 of 8 GiB */
    assert_true(remedies.item[0].is_exact);
    assert_false(has_command("wired_limit"));
    assert_true(is_useless("wired_limit"));

    begin("metal", "");
    word(PLIM_W_PLATFORM, "mac");
    set(PLIM_N_TRIED_BYTES, GIB(17));
    set(PLIM_N_ALLOWED_BYTES, GIB(16));
    find();
    assert_true(has_change("94 % of it"));
    assert_true(is_useless("wired_limit"));

    begin("pytorch", "");
    word(PLIM_W_BACKEND, "MPS");
    set(PLIM_N_TRIED_BYTES, GIB(1));
    set(PLIM_N_ALLOCATED_BYTES, GIB(17));
    set(PLIM_N_OTHER_ALLOCATIONS_BYTES, GIB(0.5));
    set(PLIM_N_ALLOWED_BYTES, GIB(18));
    find(); /* 1.7 x 18.5 / 18 */
    assert_true(has_command("PYTORCH_MPS_HIGH_WATERMARK_RATIO=1.75"));
    assert_false(has_command("PYTORCH_CUDA_ALLOC_CONF"));
    set(PLIM_N_ALLOCATED_BYTES, GIB(30)); /* a ratio above 2 is not taken */
    find();
    assert_false(has_command("WATERMARK"));
}

/* Nothing of PyTorch's for who is not PyTorch. */
static void test_other_runtimes(void **state)
{
    (void)state;
    static const char *const frameworks[] = { "vulkan",   "metal",        "sycl",   "rocm",          "onnxruntime",
                                              "tensorrt", "tensorrt-llm", "paddle", "cupy",          "rapids",
                                              "numba",    "julia-cuda",   "mxnet",  "caffe",         "candle",
                                              "tei",      "other",        "ffmpeg", "triton-server", "whisper.cpp" };
    static const char *const foreign[] = { "AutoModel", "torch.", "gradient", "DataLoader", "PYTORCH_" };
    for (size_t i = 0; i < COUNT(frameworks); i++) {
        begin(frameworks[i], "api");
        set(PLIM_N_TRIED_BYTES, GIB(2));
        find();
        assert_true(remedies.n > 0);
        for (size_t k = 0; k < COUNT(foreign); k++)
            if (has_command(foreign[k]) || has_change(foreign[k]))
                fail_msg("%s is told of %s", frameworks[i], foreign[k]);
    }
}

static void test_limits_of_pools(void **state)
{
    (void)state;
    begin("onnxruntime", "cap");
    pattern.cause = PLIM_CAUSE_ALLOCATOR_LIMIT;
    set(PLIM_N_TRIED_BYTES, GIB(1.5));
    set(PLIM_N_AVAILABLE_BYTES, GIB(0.5));
    find();
    assert_true(has_change("by 1.00 GiB or more"));
    begin("cupy", "");
    set(PLIM_N_TRIED_BYTES, GIB(1));
    set(PLIM_N_ALLOCATED_BYTES, GIB(3));
    set(PLIM_N_LIMIT_BYTES, GIB(3.5));
    find();
    assert_string_equal(remedies.item[0].command, "cupy.get_default_memory_pool().set_limit(size=4294967296)");
    begin("julia-cuda", "");
    set(PLIM_N_TRIED_BYTES, GIB(1));
    set(PLIM_N_ALLOCATED_BYTES, GIB(3));
    set(PLIM_N_LIMIT_BYTES, GIB(3.5));
    find();
    assert_string_equal(remedies.item[0].command, "JULIA_CUDA_HARD_MEMORY_LIMIT=4096MiB julia script.jl");
    begin("tensorrt-llm", "kv");
    pattern.cause = PLIM_CAUSE_KV_CACHE_CONTEXT;
    find();
    assert_true(has_command("--kv_cache_free_gpu_memory_fraction 0.8"));
    static const struct plim_pattern triton = { .id = "triton-server", .framework = "triton-server" };
    context.programs[context.n_programs++] = &triton;
    find();
    assert_true(has_command("kv_cache_free_gpu_mem_fraction"));
    assert_false(has_command("trtllm-serve"));
}

/* One piece larger than the card: as many times smaller as it has to be; an APU can be given more RAM. */
static void test_pieces_larger_than_the_card(void **state)
{
    (void)state;
    message(128.0, 24.0, 19.0, 4.0, 0.1);
    find();
    assert_true(has_change("1/8 of the batch"));
    assert_false(has_command("ttm.pages_limit"));
    message(20.0, 15.0, 14.0, 0.8, 0.1);
    word(PLIM_W_BACKEND, "HIP");
    find();
    assert_true(has_command("ttm.pages_limit=5767168")); /* 22 GiB in pages of 4 KiB */
    assert_non_null(strstr(answer.best.why, "APU"));
}

/* What asks for the figures that the log lacks names the job, and only a number is taken for one. */
static void test_the_job_to_ask_for(void **state)
{
    (void)state;
    begin("slurm", "host");
    pattern.cause = PLIM_CAUSE_HOST_RAM;
    find();
    assert_true(has_command("sacct -j JOBID --format"));
    finding.evidence[finding.n_evidence++] =
        (struct plim_evidence){ .text = "slurmstepd: error: Detected 1 oom_kill event in StepId=812345.batch." };
    find();
    assert_true(has_command("sacct -j 812345 --format"));
    finding.evidence[0] = (struct plim_evidence){ .text = "StepId=$(reboot)" };
    find();
    assert_true(has_command("sacct -j JOBID --format"));
}

/* vLLM's trial step comes before its cache: no share helps. */
static void test_a_trial_step(void **state)
{
    (void)state;
    static const char *const names[] = { "profile_run", "forward" };
    for (int has_cache = 0; has_cache < 2; has_cache++) {
        message(0.4, 12.0, 0.1, 11.4, 0.1);
        finding.framework = "vllm";
        for (size_t i = has_cache ? 1 : 0; i < COUNT(names); i++) {
            struct plim_frame *frame = &context.frames[context.n_frames++];
            snprintf(frame->file, sizeof frame->file, "vllm/model_runner.py");
            snprintf(frame->name, sizeof frame->name, "%s", names[i]);
        }
        context.numbers.value[PLIM_N_MODEL_BYTES] = GIB(11);
        if (has_cache)
            context.numbers.value[PLIM_N_KV_TOKENS] = 1000;
        find();
        assert_int_equal(has_command("--max-num-batched-tokens"), !has_cache);
        assert_int_equal(has_command("--gpu-memory-utilization"), has_cache);
        assert_int_equal(is_useless("--gpu-memory-utilization"), !has_cache);
    }
}

/* What computes in 16 bits is not told to. */
static void test_half_precision(void **state)
{
    (void)state;
    message(2.0, 24.0, 0.5, 21.0, 0.1);
    find();
    assert_true(has_change("bfloat16, if it computes in float32 now"));
    finding.evidence[finding.n_evidence++] = (struct plim_evidence){ .text = "run --fp16 True" };
    find();
    assert_false(has_change("bfloat16"));
}

static uint64_t seed;

static int64_t any_value(void)
{
    static const int64_t values[] = {
        PLIM_UNKNOWN,     PLIM_UNKNOWN,     INT64_MIN + 1,    -1,       0, 1, 3, 4096, 900000,
        INT64_C(1) << 34, INT64_C(1) << 40, INT64_C(1) << 61, INT64_MAX
    };
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return values[(seed >> 33) % COUNT(values)];
}

static void test_hostile_figures(void **state)
{
    (void)state;
    static const char *const stages[] = { "",     "startup", "fraction", "kv",      "weights",   "compute",
                                          "host", "cap",     "graph",    "sampler", "dataloader" };
    static const char *const frameworks[] = { "pytorch", "vllm", "sglang", "llama.cpp", "ollama", "slurm", "jax" };
    for (uint64_t n = 0; n < 20000; n++) {
        seed = n;
        begin(frameworks[n % COUNT(frameworks)], stages[n % COUNT(stages)]);
        pattern.cause = n % 2 ? (enum plim_cause)(n / 2 % PLIM_CAUSE_MAX_) : PLIM_CAUSE_UNKNOWN;
        for (int i = 0; i < PLIM_NUMBER_MAX_; i++) {
            finding.numbers.value[i] = any_value();
            context.numbers.value[i] = any_value();
        }
        for (int i = 0; i < 3; i++)
            finding.others[finding.n_others++] = (struct plim_other){ any_value(), any_value() };
        find();
        assert_true(remedies.n <= PLIM_MAX_REMEDIES && remedies.n_useless <= PLIM_MAX_USELESS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_process_to_look_at),
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_nothing_reserved),
        cmocka_unit_test(test_settings_of_versions),
        cmocka_unit_test(test_words_of_drivers),
        cmocka_unit_test(test_frames_that_train),
        cmocka_unit_test(test_shares),
        cmocka_unit_test(test_context_lengths),
        cmocka_unit_test(test_layers),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_names_are_not_trusted),
        cmocka_unit_test(test_every_cause_of_every_program),
        cmocka_unit_test(test_backends),
        cmocka_unit_test(test_a_mac),
        cmocka_unit_test(test_other_runtimes),
        cmocka_unit_test(test_limits_of_pools),
        cmocka_unit_test(test_pieces_larger_than_the_card),
        cmocka_unit_test(test_the_job_to_ask_for),
        cmocka_unit_test(test_a_trial_step),
        cmocka_unit_test(test_half_precision),
        cmocka_unit_test(test_hostile_figures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
