/* SPDX-License-Identifier: MIT */
/* Reading the command line of llama.cpp's own programs, as it is. */
#include "emit/flags.h"

#include <stdio.h>
#include <string.h>

/*
 * The rest of llama.cpp's flags: they change nothing that a bill shows, but those with a value must be known, or the
 * value would be taken for a flag.
 */
static const char with_value[] =
    "--adaptive-decay --adaptive-target --alias --api-key --api-key-file --api-prefix --attention --audio "
    "--binary-file --cache-reuse --chat-template --chat-template-file --chat-template-kwargs --checkpoint-min-step "
    "--chunk --chunk-separator --chunk-size --chunks --cls-separator --color --context-file --control-vector "
    "--control-vector-scaled --cors-headers --cors-methods --cors-origins --cpu-mask --cpu-mask-batch "
    "--cpu-mask-batch-draft --cpu-mask-draft --cpu-range --cpu-range-batch --cpu-range-batch-draft --cpu-range-draft "
    "--cpu-strict --cpu-strict-batch --cpu-strict-batch-draft --cpu-strict-draft --ctx-checkpoints --defrag-thold "
    "--device-draft --docker-repo --draft-min --draft-n-min --draft-p-min --draft-p-split --dry-allowed-length "
    "--dry-base --dry-multiplier --dry-penalty-last-n --dry-sequence-breaker --dynatemp-exp --dynatemp-range "
    "--embd-normalize --embd-output-format --embd-separator --file --fit-print --frequency-penalty --grammar "
    "--grammar-file --grp-attn-n --grp-attn-w --hf-file --hf-repo --hf-repo-draft --hf-token --host --image "
    "--image-max-tokens --image-min-tokens --in-file --in-prefix --in-suffix --json-schema --json-schema-file --keep "
    "--lazy-mode --log-colors --log-file --log-prompts-dir --log-verbosity --logit-bias --lookup-cache-dynamic "
    "--lookup-cache-static --mcp-servers-config --mcp-servers-json --media-path --min-p --mirostat --mirostat-ent "
    "--mirostat-lr --mmproj-device --mmproj-url --model-url --models-dir --models-max --models-preset "
    "--mtmd-batch-max-tokens --n-cpu-moe-draft --n-predict --numa --override-kv --override-tensor-draft --path --poll "
    "--poll-batch --poll-batch-draft --poll-draft --pooling --port --ppl-stride --predict --presence-penalty "
    "--print-token-count --prio --prio-batch --prio-batch-draft --prio-draft --prompt --prompt-cache --reasoning "
    "--reasoning-budget --reasoning-budget-message --reasoning-effort --reasoning-format --repeat-last-n "
    "--repeat-penalty --reverse-prompt --rope-freq-base --rope-freq-scale --rope-scale --rope-scaling --rpc "
    "--sampler-seq --samplers --sampling-seq --seed --sequences --sleep-idle-seconds --slot-prompt-similarity "
    "--slot-save-path --spec-draft-cpu-mask --spec-draft-cpu-mask-batch --spec-draft-cpu-range "
    "--spec-draft-cpu-range-batch --spec-draft-cpu-strict --spec-draft-cpu-strict-batch --spec-draft-device "
    "--spec-draft-hf --spec-draft-n-cpu-moe --spec-draft-n-min --spec-draft-ncmoe --spec-draft-override-tensor "
    "--spec-draft-p-min --spec-draft-p-split --spec-draft-poll --spec-draft-poll-batch --spec-draft-prio "
    "--spec-draft-prio-batch --spec-draft-sampling --spec-draft-threads --spec-draft-threads-batch "
    "--spec-ngram-map-k-min-hits --spec-ngram-map-k-size-m --spec-ngram-map-k-size-n --spec-ngram-map-k4v-min-hits "
    "--spec-ngram-map-k4v-size-m --spec-ngram-map-k4v-size-n --spec-ngram-min-hits --spec-ngram-mod-n-match "
    "--spec-ngram-mod-n-max --spec-ngram-mod-n-min --spec-ngram-simple-min-hits --spec-ngram-simple-size-m "
    "--spec-ngram-simple-size-n --spec-ngram-size-m --spec-ngram-size-n --spec-synth-len --spec-synth-rates "
    "--sse-ping-interval --ssl-cert-file --ssl-key-file --swa-checkpoints --system-prompt --system-prompt-file --tags "
    "--temp --temperature --threads --threads-batch --threads-batch-draft --threads-draft --threads-http --timeout "
    "--tools --tools-runtime --top-k --top-n-sigma --top-nsigma --top-p --typical --typical-p --ui-config "
    "--ui-config-file --verbosity --video --video-ffmpeg-dir --video-fps --video-timestamp-interval --webui-config "
    "--webui-config-file --xtc-probability --xtc-threshold --yarn-attn-factor --yarn-beta-fast --yarn-beta-slow "
    "--yarn-ext-factor --yarn-orig-ctx -C -Cb -Cbd -Cd -Cr -Crb -Crbd -Crd -a -bf -cms -co -ctxcp -devd -dr -dt -f "
    "-fitp -gan -gaw -hf -hfd -hff -hfr -hfrd -hft -j -jf -l -lcd -lcs -lv -lzm -mmdev -mmu -mu -n -ncmoed -npl -npp "
    "-ns -ntg -otd -p -ptc -r -rea -s -sps -sys -sysf -t -tb -tbd -td -to";
static const char with_two_values[] = "--control-vector-layer-range";
static const char without_value[] =
    "--agent --backend-sampling --cache-idle-slots --cache-list --cache-prompt --check-tensors --cont-batching "
    "--context-shift --conversation --cors-credentials --cpu-moe-draft --dflash --display-prompt --eagle3 --escape "
    "--ignore-eos --in-prefix-bos --interactive --interactive-first --jinja --list-devices --log-disable --log-jsonl "
    "--log-prefix --log-timestamps --log-verbose --lora-init-without-apply --metrics --models-autoload "
    "--multiline-input --no-agent --no-cache-idle-slots --no-cache-prompt --no-cont-batching --no-context-shift "
    "--no-conversation --no-cors-credentials --no-display-prompt --no-escape --no-host --no-jinja --no-log-jsonl "
    "--no-log-prefix --no-log-timestamps --no-models-autoload --no-perf --no-prefill-assistant "
    "--no-reasoning-preserve --no-repack --no-show-timings --no-skip-chat-parsing --no-slots "
    "--no-spec-draft-backend-sampling --no-ui --no-ui-mcp-proxy --no-warmup --no-webui --no-webui-mcp-proxy --offline "
    "--perf --prefill-assistant --prompt-cache-all --prompt-cache-ro --props --reasoning-preserve --repack "
    "--reuse-port --show-timings --simple-io --single-turn --skip-chat-parsing --slots --spec-draft-backend-sampling "
    "--spec-draft-cpu-moe --special --spm-infill --ui --ui-mcp-proxy --verbose --verbose-prompt --warmup --webui "
    "--webui-mcp-proxy --mlock -ag -bs -cb -cl -cmoed -cnv -e -i -if -mli -no-ag -no-cnv -nocb -nr -sp -st -v";

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The program decides about defaults; anything that is not llama.cpp's own is a program that uses the library. */
static enum plim_client client_of(const char *program)
{
    const char *name = base_name(program);
    if (strstr(name, "server"))
        return PLIM_CLIENT_SERVER;
    return strstr(name, "cli") || strstr(name, "run") ? PLIM_CLIENT_CLI : PLIM_CLIENT_LIBRARY;
}

static void note_unknown(struct plim_arguments *a, const char *name)
{
    size_t n = strlen(a->unknown);
    snprintf(a->unknown + n, sizeof a->unknown - n, "%s%.40s", n ? " " : "", name);
}

/* How many values follow a flag that is not ours; of an unknown one, the next word unless it looks like a flag. */
static int values_of(struct plim_arguments *a, const char *name, const char *next)
{
    if (plim_flag_is_in(name, without_value))
        return 0;
    if (plim_flag_is_in(name, with_value))
        return 1;
    if (plim_flag_is_in(name, with_two_values))
        return 2;
    note_unknown(a, name);
    return next && next[0] != '-';
}

/* "--name=value" is not llama.cpp's way, but people write it; returns the value, and the name cut off into buffer. */
static const char *split_equals(const char *argument, char *name, size_t size)
{
    const char *equals = strncmp(argument, "--", 2) ? NULL : strchr(argument, '=');
    size_t length = equals ? (size_t)(equals - argument) : strlen(argument);
    if (length >= size)
        length = size - 1;
    memcpy(name, argument, length);
    name[length] = '\0';
    return equals ? equals + 1 : NULL;
}

int plim_arguments_parse(int argc, char *const *argv, struct plim_arguments *arguments, struct plim_error *reterr)
{
    struct plim_arguments *a = arguments;
    a->setup.client = client_of(argv[0]);
    for (int i = 1; i < argc; i++) {
        char name[64];
        const char *value = split_equals(argv[i], name, sizeof name);
        bool on;
        enum plim_flag flag = plim_flag_named(name, &on);
        if (argv[i][0] != '-') {
            note_unknown(a, argv[i]);
            continue;
        }
        if (flag == PLIM_FLAG_NONE) {
            i += value ? 0 : values_of(a, name, i + 1 < argc ? argv[i + 1] : NULL);
            continue;
        }
        if (plim_flag_info(flag)->value && !value) {
            if (++i == argc)
                return plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "%s needs a value: %s", name,
                                 plim_flag_info(flag)->value);
            value = argv[i];
        }
        int result = plim_flag_apply(flag, on, value, a, reterr);
        if (result < 0)
            return result;
    }
    return 0;
}
