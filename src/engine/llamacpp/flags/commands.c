/* SPDX-License-Identifier: MIT */
/* Reading the command line of llama.cpp's own programs, as it is. */
#include "engine/command.h"
#include "engine/llamacpp/flags/flags.h"
#include "engine/llamacpp/flags/options.h"

#include "base/text.h"

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
    "--kv-unified-per-slot --lazy-mode --log-colors --log-file --log-prompts-dir --log-verbosity --logit-bias "
    "--lookup-cache-dynamic "
    "--lookup-cache-static --mcp-servers-config --mcp-servers-json --media-path --min-p --mirostat --mirostat-ent "
    "--mirostat-lr --mmproj-device --mmproj-url --model-url --models-dir --models-max --models-preset --moe-cache-mib "
    "--mtmd-batch-max-tokens --n-cpu-moe-draft --n-predict --numa --override-kv --override-tensor-draft --path --poll "
    "--poll-batch --poll-batch-draft --poll-draft --pooling --port --ppl-stride --predict --presence-penalty "
    "--print-token-count --prio --prio-batch --prio-batch-draft --prio-draft --prompt --prompt-cache --reasoning "
    "--reasoning-budget --reasoning-budget-message --reasoning-effort --reasoning-format --repeat-last-n "
    "--repeat-penalty --reverse-prompt --rope-freq-base --rope-freq-scale --rope-scale --rope-scaling "
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
    "--agent --backend-sampling --cache-idle-slots --cache-list --cache-prompt --check-tensors --completion-bash "
    "--cont-batching --help --usage --version -h --spec-default --embd-gemma-default --fim-qwen-1.5b-default "
    "--fim-qwen-3b-default --fim-qwen-7b-default --fim-qwen-7b-spec --fim-qwen-14b-spec --fim-qwen-30b-default "
    "--gpt-oss-20b-default --gpt-oss-120b-default --vision-gemma-4b-default --vision-gemma-12b-default "
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

/* Of these, the flags that take or save memory which no bill counts. */
static const char uncounted[] =
    "--control-vector --control-vector-scaled --cpu-moe-draft --device-draft --hf-repo-draft --kv-unified-per-slot "
    "--mmproj-device --mmproj-url --models-dir --models-preset --moe-cache-mib --n-cpu-moe-draft --no-host "
    "--override-kv "
    "--override-tensor-draft --spec-draft-cpu-moe --spec-draft-device --spec-draft-hf --spec-draft-n-cpu-moe "
    "--spec-draft-ncmoe --spec-draft-override-tensor -cmoed -devd -hfd -hfrd -mmdev -mmu -ncmoed -otd";

/* The number of values of a flag that changes no bill; of an unknown one, the next word unless it looks like a flag. */
static int values_of(struct plim_command *command, const char *name, const char *next)
{
    if (plim_text_has_word(uncounted, name))
        plim_command_note(command->uncounted, sizeof command->uncounted, name);
    if (plim_text_has_word(without_value, name))
        return 0;
    if (plim_text_has_word(with_value, name))
        return 1;
    if (plim_text_has_word(with_two_values, name))
        return 2;
    plim_command_note(command->unknown, sizeof command->unknown, name);
    return next && next[0] != '-';
}

/*
 * "--name=value" is not llama.cpp's way, but people write it; returns the value. The name goes into buffer, with
 * hyphens where it has underscores, as llama.cpp reads it.
 */
static const char *split_equals(const char *argument, char *name, size_t size)
{
    const char *equals = strncmp(argument, "--", 2) ? NULL : strchr(argument, '=');
    size_t length = equals ? (size_t)(equals - argument) : strlen(argument);
    if (length >= size)
        length = size - 1;
    memcpy(name, argument, length);
    name[length] = '\0';
    for (char *p = name; !strncmp(name, "--", 2) && *p; p++)
        *p = *p == '_' ? '-' : *p;
    return equals ? equals + 1 : NULL;
}

/* Models on servers (llama.cpp v0.5.0: common/arg.cpp): -hf, -hff and -mu. */
static void read_address(const char *name, const char *value, struct plim_arguments *a)
{
    if (plim_text_has_word("-hf -hfr --hf-repo", name))
        a->hub_model = value;
    else if (plim_text_has_word("-hff --hf-file", name))
        a->hub_file = value;
    else if (plim_text_has_word("-mu --model-url", name))
        a->model = value;
    else
        return;
    a->is_on_server = true;
}

static void skip_flag(int argc, char *const *argv, int *i, const char *name, bool has_value,
                      struct plim_command *command)
{
    int n = values_of(command, name, *i + 1 < argc ? argv[*i + 1] : NULL);
    plim_command_add(command, argv[*i]);
    for (; !has_value && n > 0 && *i + 1 < argc; n--)
        plim_command_add(command, argv[++*i]);
}

/* One flag, known or not, at argv[*i], with its values; *i moves to the last word of it. */
static int read_flag(int argc, char *const *argv, int *i, struct plim_arguments *a, struct plim_command *command,
                     struct plim_error *reterr)
{
    char name[64];
    const char *word = argv[*i], *value = split_equals(word, name, sizeof name);
    bool on;
    const struct plim_option *option = plim_option_named(a->setup.type, name, &on);
    if (!option) {
        read_address(name, value || *i + 1 == argc ? value : argv[*i + 1], a);
        skip_flag(argc, argv, i, name, value != NULL, command);
        return 0;
    }
    if (option->help.value && !value) {
        if (++*i == argc)
            return plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "%s needs a value: %s", name, option->help.value);
        value = argv[*i];
    }
    if (!option->help.value)
        value = NULL;
    plim_command_add_option(command, option, word, strlen(name), value);
    return plim_option_apply(option, on, value, a, reterr);
}

int plim_llamacpp_read_command(int argc, char *const *argv, int first, struct plim_arguments *arguments,
                               struct plim_command *command, struct plim_error *reterr)
{
    int result = 0;
    for (int i = first; i < argc && result >= 0; i++) {
        if (argv[i][0] == '-') {
            result = read_flag(argc, argv, &i, arguments, command, reterr);
        } else {
            plim_command_note(command->unknown, sizeof command->unknown, argv[i]);
            plim_command_add(command, argv[i]);
        }
    }
    return result;
}

int plim_llamacpp_read_variable(const char *name, const char *value, struct plim_arguments *arguments,
                                struct plim_error *reterr)
{
    return plim_option_apply_variable(arguments->setup.type, name, value, arguments, reterr);
}

/* --- programs --- */

/* The program decides about defaults; anything that is neither a server nor a chat uses the library by itself. */
static enum plim_client client_of(const char *name)
{
    if (strstr(name, "serve"))
        return PLIM_CLIENT_SERVER;
    bool is_cli = strstr(name, "cli") || strstr(name, "run") || strstr(name, "completion") || strstr(name, "chat");
    return is_cli || !strcmp(name, "main") ? PLIM_CLIENT_CLI : PLIM_CLIENT_LIBRARY;
}

/* "llama serve" is the newer single binary: its subcommand decides. */
int plim_llamacpp_find_program(const char *name, const char *next, struct plim_setup *setup)
{
    if (strncmp(name, "llama", 5) != 0 && !plim_text_has_word("server main", name) && !strstr(name, "llama-"))
        return 0;
    const bool has_subcommand = !strcmp(name, "llama") && next && next[0] != '-';
    setup->llamacpp.client = client_of(has_subcommand ? next : name);
    return 1 + has_subcommand;
}
