/* SPDX-License-Identifier: MIT */
/*
 * Sources: ollama docs/faq.md ("ollama stop"); vLLM docs/features/sleep_mode (POST /sleep, in development mode only);
 * SGLang python/sglang/srt/entrypoints/http_server.py (/release_memory_occupation); ComfyUI server.py (POST /free);
 * stable-diffusion-webui modules/api/api.py (/sdapi/v1/unload-checkpoint); llama.cpp tools/server/README.md, router
 * mode (POST /models/unload); Triton's model repository extension; text-generation-webui's /v1/internal/model/unload;
 * LM Studio's `lms unload`; Ray's and Slurm's own commands; NVIDIA's guide to MPS (terminate_client).
 */
#include "watch/ending/gentle.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct way {
    const char *sign; /* in the command line */
    const char *how;
    const char *command; /* a '#' stands for the port */
    int port;            /* when the command line has none */
};

static const struct way ways[] = {
    { "ollama runner", "Ollama unloads the model and goes on ('ollama ps' has its name)", "ollama stop MODEL", 0 },
    { "ollama_llama_server", "Ollama unloads the model and goes on ('ollama ps' has its name)", "ollama stop MODEL",
      0 },
    { "ollama serve", "Ollama unloads the model and goes on ('ollama ps' has its name)", "ollama stop MODEL", 0 },
    { "--enable-sleep-mode", "vLLM sleeps until /wake_up, if VLLM_SERVER_DEV_MODE=1 is set",
      "curl -X POST 'http://127.0.0.1:#/sleep?level=1'", 8000 },
    { "--enable-memory-saver", "SGLang gives its memory back until /resume_memory_occupation",
      "curl -X POST http://127.0.0.1:#/release_memory_occupation -H 'Content-Type: application/json' -d '{}'", 30000 },
    { "ComfyUI", "ComfyUI unloads its models and goes on",
      "curl -X POST http://127.0.0.1:#/free -H 'Content-Type: application/json' "
      "-d '{\"unload_models\":true,\"free_memory\":true}'",
      8188 },
    { "--models-dir", "the router of llama-server unloads a model ('/models' lists them)",
      "curl -X POST http://127.0.0.1:#/models/unload -H 'Content-Type: application/json' -d '{\"model\":\"NAME\"}'",
      8080 },
    { "stable-diffusion-webui", "the web UI unloads its checkpoint, if it was started with --api",
      "curl -X POST http://127.0.0.1:#/sdapi/v1/unload-checkpoint", 7860 },
    { "text-generation-webui", "the web UI unloads its model, if it was started with --api",
      "curl -X POST http://127.0.0.1:5000/v1/internal/model/unload", 0 },
    { "tritonserver", "Triton unloads a model, if it was started with --model-control-mode=explicit",
      "curl -X POST http://127.0.0.1:8000/v2/repository/models/NAME/unload", 0 },
    { "lm-studio", "LM Studio unloads its models and goes on", "lms unload --all", 0 },
    { "LM Studio", "LM Studio unloads its models and goes on", "lms unload --all", 0 },
    { "ray::", "Ray ends its own workers; those of this machine", "ray stop", 0 },
};

enum { ID_CHARACTERS = 64 }; /* of a container of Docker, Podman and containerd */

static void say(struct plim_ending_candidate *c, const char *how, const char *command)
{
    snprintf(c->gentle, sizeof c->gentle, "%s", how);
    snprintf(c->gentle_command, sizeof c->gentle_command, "%s", command);
}

/* "--port 8080" or "--port=8080" of a command line. */
static int port_of(const char *command, int otherwise)
{
    const char *at = strstr(command, " --port");
    if (!at || (at[7] != ' ' && at[7] != '='))
        return otherwise;
    const long port = strtol(at + 8, NULL, 10);
    return port > 0 && port < 65536 ? (int)port : otherwise;
}

static void say_way(struct plim_ending_candidate *c, const struct way *way, const char *command)
{
    const char *mark = strchr(way->command, '#');
    char text[PLIM_CANDIDATE_WHY_BYTES];
    if (mark)
        snprintf(text, sizeof text, "%.*s%d%s", (int)(mark - way->command), way->command, port_of(command, way->port),
                 mark + 1);
    else
        snprintf(text, sizeof text, "%s", way->command);
    say(c, way->how, text);
}

/* A notebook's kernel is started with a file that has its id: ".../kernel-1b2c....json". */
static bool say_notebook(struct plim_ending_candidate *c, const char *command)
{
    static const char sign[] = "kernel-", suffix[] = ".json";
    const char *id = strstr(command, "ipykernel") ? strstr(command, sign) : NULL;
    const char *end = id ? strstr(id, suffix) : NULL;
    char how[PLIM_CANDIDATE_WHY_BYTES];
    if (!end || end - id > 64)
        return false;
    id += sizeof sign - 1;
    snprintf(how, sizeof how, "shut the kernel down in its notebook, which knows of it then (its id is %.*s)",
             (int)(end - id), id);
    say(c, how, "");
    return true;
}

static bool say_ended(const struct plim_ending_subject *s, struct plim_ending_candidate *c)
{
    char how[PLIM_CANDIDATE_WHY_BYTES], command[PLIM_CANDIDATE_WHY_BYTES] = "";
    const struct plim_sample_process *p = s->process;
    if (p && p->is_gone) {
        say(c,
            "end the processes that share its memory, which have the card's device files open; then stop the MPS "
            "daemon; last, an administrator resets the card ('nvidia-smi --gpu-reset', with no process on it)",
            "sudo fuser -v /dev/nvidia*");
        return true;
    }
    if (!p || p->state != 'Z' || p->n_threads > 1)
        return false;
    snprintf(how, sizeof how, "its parent, pid %" PRId64 "%s%s%s, has to take note of its end, or to end itself",
             p->parent, p->parent_program && *p->parent_program ? " (" : "", p->parent_program ? p->parent_program : "",
             p->parent_program && *p->parent_program ? ")" : "");
    if (p->parent > 1)
        snprintf(command, sizeof command, "kill -CHLD %" PRId64, p->parent);
    say(c, how, command);
    return true;
}

/* The characters of a unit's name (systemd.unit(5)). Anybody may name a control group otherwise: such a name is no word
 * of a command that people paste. */
static bool is_unit_name(const char *name)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789:-_.@";
    return *name != '-' && name[strspn(name, letters)] == '\0';
}

/* What has started it can end it, and knows of it then. */
static bool say_keeper(const struct plim_sample_process *p, struct plim_ending_candidate *c)
{
    char command[PLIM_CANDIDATE_WHY_BYTES];
    if (p->pod && *p->pod && !p->is_container_gone) {
        snprintf(command, sizeof command, "Kubernetes starts it again unless its pod is deleted (uid %.150s)", p->pod);
        say(c, command, "");
    } else if (p->container && *p->container && !p->is_container_gone) {
        const bool is_id =
            strlen(p->container) == ID_CHARACTERS && strspn(p->container, "0123456789abcdef") == ID_CHARACTERS;
        snprintf(command, sizeof command, "its container can be stopped as a whole (%.150s)", p->container);
        say(c, is_id ? "its container can be stopped as a whole (podman has the same command)" : command, "");
        if (is_id)
            snprintf(c->gentle_command, sizeof c->gentle_command, "docker stop %.12s", p->container);
    } else if (p->slurm_job && *p->slurm_job) {
        snprintf(command, sizeof command, "scancel %.180s", p->slurm_job);
        say(c, "Slurm ends the job, and gives its other resources back", command);
    } else if (p->unit && strstr(p->unit, ".service") && strncmp(p->unit, "user@", 5) != 0 && is_unit_name(p->unit)) {
        snprintf(command, sizeof command, "systemctl stop %.180s", p->unit);
        say(c, "systemd may start it again unless it is told to stop it", command);
    } else {
        return false;
    }
    return true;
}

void plim_gentle_fill(const struct plim_ending_subject *subject, struct plim_ending_candidate *candidate)
{
    const char *command = candidate->kin.command;
    const struct plim_sample_process *p = subject->process;
    if (!p || say_ended(subject, candidate) || p->is_outside)
        return;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (strstr(command, ways[i].sign)) {
            say_way(candidate, &ways[i], command);
            return;
        }
    if (say_notebook(candidate, command) || say_keeper(p, candidate))
        return;
    if (subject->contexts & PLIM_CONTEXT_MPS) {
        char line[PLIM_CANDIDATE_WHY_BYTES];
        snprintf(line, sizeof line, "echo 'terminate_client SERVER_PID %" PRId64 "' | nvidia-cuda-mps-control", p->pid);
        say(candidate, "the MPS server ends a client's work without harm to the others ('get_server_list' has its pid)",
            line);
    }
}
