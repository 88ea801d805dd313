/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_BASE_LIMITS_H
#define PLIMSOLL_BASE_LIMITS_H

/*
 * Every limit on input, in one place. A limit is at least an order of magnitude above the largest real input known,
 * and low enough that no input makes us allocate more than 64 MiB. Snapshots of memory and recorded steps are the
 * exceptions: what is kept of a snapshot is a part of its size, a step takes at most 24 times its size and 32 MiB.
 */

#include <stdint.h>

/*
 * The tensors of a model, all parts together: the largest known have 4 TB (2^42). Sums over a few models and their
 * copies on all devices stay far inside 64 bits then.
 */
#define PLIM_MAX_MODEL_BYTES ((uint64_t)1 << 56)

/* Of a card, or of one process on it: a driver that says more is mistaken. Sums over all processes fit into 63 bits. */
#define PLIM_MAX_CARD_BYTES (INT64_C(1) << 46)

enum {
    /* GGUF: the largest real headers have about 60 keys, 2 000 tensors and 11 MiB (a 256k-token vocabulary). */
    PLIM_MAX_GGUF_KEYS = 1 << 16,
    PLIM_MAX_GGUF_TENSORS = 1 << 17,
    PLIM_MAX_GGUF_KEY_BYTES = 1 << 12,
    PLIM_MAX_GGUF_NAME_BYTES = 1 << 10,
    PLIM_MAX_GGUF_HEADER_BYTES = 1 << 30, /* walked, never copied */
    PLIM_MAX_GGUF_ALIGNMENT = 1 << 20,
    PLIM_MAX_GGUF_ARRAY_DEPTH = 4,
    PLIM_MAX_GGUF_SHARDS = 1 << 10,
    PLIM_MAX_KEPT_STRING_BYTES = 1 << 12, /* longer values (chat templates) are walked, not kept */
    PLIM_MAX_KEPT_ARRAY = 1 << 11,        /* longer arrays (vocabularies) are walked, not kept */
    PLIM_MAX_KEPT_BYTES = 48 << 20,       /* everything kept of one model */

    /* safetensors: the largest real headers have about 40 000 tensors in one file. */
    PLIM_MAX_SAFETENSORS_HEADER_BYTES = 100000000, /* the format's own limit; walked, never copied */
    PLIM_MAX_SAFETENSORS_TENSORS = 1 << 17,
    PLIM_MAX_SAFETENSORS_NAME_BYTES = 1 << 10,
    PLIM_MAX_SAFETENSORS_FILES = 1 << 10,
    PLIM_MAX_MODEL_HEADER_BYTES = 400000000, /* of all files of a model; 138 000 tensors take about 20 MB */
    PLIM_MAX_INDEX_BYTES = 64 << 20,         /* model.safetensors.index.json: walked, never copied */
    PLIM_MAX_CONFIG_BYTES = 1 << 20,         /* config.json */
    PLIM_MAX_CONFIG_KEY_BYTES = 1 << 10,     /* of a value's name with all objects around it; longer ones are walked */
    PLIM_MAX_MANIFEST_BYTES = 1 << 16,       /* of a model in Ollama's store, and of its parameters */
    PLIM_MAX_JSON_DEPTH = 32,
    PLIM_MAX_JSON_TEXT_BYTES = 1 << 11, /* of a string that is kept; longer ones are walked */

    /* A model: llama.cpp itself stops at 512 layers (LLAMA_MAX_LAYERS). */
    PLIM_MAX_LAYERS = 512,
    PLIM_MAX_EXPERTS_USED = 128,

    /* Command lines and the files of /proc and /sys. */
    PLIM_MAX_PROC_FILE_BYTES = 1 << 16,
    PLIM_MAX_PRICES = 1 << 12, /* rows of a list of prices of cards */
    PLIM_MAX_PRICES_BYTES = 1 << 20,
    PLIM_MAX_PROCESSES = 1 << 16,       /* of a machine; a busy server has thousands */
    PLIM_MAX_SAMPLE_CARDS = 1 << 7,     /* of a machine; 16 cards have 112 MIG instances */
    PLIM_MAX_CARD_PROCESSES = 1 << 12,  /* that hold memory of one card */
    PLIM_MAX_DRM_CLIENTS = 1 << 14,     /* open devices of DRM drivers; a program has one to three */
    PLIM_MAX_COMMAND_BYTES = 1 << 12,   /* of a process's command line, that are kept */
    PLIM_MAX_OPEN_FILES = 1 << 10,      /* of a process, that are looked at */
    PLIM_MAX_MAPS_BYTES = 4 << 20,      /* of /proc/PID/maps; PyTorch's have 400 KB */
    PLIM_MAX_LOG_LINE_BYTES = 1 << 12,  /* the rest of a longer line is passed over */
    PLIM_MAX_CHECK_LOG_BYTES = 1 << 30, /* that `check` reads; a server that logs every request writes 1 GB in months */
    PLIM_MAX_DOCUMENT_BYTES = 1 << 20,  /* of JSON: bills have 10 KB; 50 bytes for each byte in memory */

    /* Logs that are explained: the cost of one regular expression, so that no text makes it slow. */
    PLIM_MAX_MATCH_STEPS = 200000,
    PLIM_MAX_MATCH_DEPTH = 2000,
    PLIM_MAX_MATCH_HEAP_KIB = 512,

    /* ... and of all that is read of a log (diagnose/scan/budget.h), so that 1 MB of any bytes takes 2 s, 100 MB 20 s.
     * Real logs take a twentieth at most: vLLM's start with 30 KB takes 1 million steps, forty of them 19 million. */
    PLIM_MAX_LOG_STEPS = 250000000,
    PLIM_MAX_LOG_END_STEPS = 120000000, /* beside it, for the last 64 KiB or more */
    PLIM_MAX_LOG_STEPS_OF_BYTE = 40,    /* of the first PLIM_MAX_LOG_RICH_BYTES; then one */
    PLIM_MAX_LOG_RICH_BYTES = 100000000,
    PLIM_LOG_SAMPLE_STEPS = 10000000, /* several windows of the most expensive text */

    /* Models on servers: the largest headers have 11 MiB, the longest lists of a repository a few hundred files. */
    PLIM_MAX_REMOTE_BYTES = 64 << 20,         /* received by one command in all, heads of answers too */
    PLIM_MAX_REMOTE_LISTING_BYTES = 16 << 20, /* of one page of a list */
    PLIM_MAX_REMOTE_PAGES = 16,               /* of a list */
    PLIM_MAX_REMOTE_REQUESTS = 1 << 13,       /* of one command */
    PLIM_MAX_REDIRECTS = 8,                   /* of one request; browsers follow 20, the hub needs 2 */
    PLIM_MAX_LISTED_FILES = 1 << 12,          /* of a repository, that may be a model's */

    PLIM_MAX_SEEN_PROCESSES = 1 << 12, /* in the state file of `ps` and `top`: a line each, of up to 231 bytes */
    PLIM_MAX_SEEN_BYTES = 1 << 20,

    /* Snapshots of PyTorch's memory: a dict has 11 keys, a text is a path or a function. */
    PLIM_MAX_PICKLE_MARKS = 64, /* of lists and dicts one inside the other; a snapshot has 6 */
    PLIM_MAX_PICKLE_TEXT_BYTES = 1 << 16,
    PLIM_MAX_TRACE_TEXT_BYTES = 1 << 28, /* of all texts that differ */
    PLIM_MAX_TRACE_HANDLES = 1 << 12,    /* streams, and pools of graphs */
    PLIM_MAX_TRACE_DEVICES = 1 << 8,
    PLIM_MAX_TRACE_LEAST_BYTES = 32 << 20, /* of memory for a file of any size, beside ... */
    PLIM_MAX_TRACE_FACTOR = 4,             /* ... that many bytes for each of its bytes; a real one needs 1.5 */
    PLIM_MAX_TRACE_RANKS = 1 << 12,        /* snapshots beside each other */
    PLIM_MAX_TRACE_RANKS_BYTES = 1 << 28,  /* of the names of their lines */
    PLIM_MAX_TRACE_RATIO = 200,            /* of gzip: a snapshot with stacks shrinks to a 12th, one without to a 6th */
    PLIM_MAX_TRACE_LAYERS = 4,             /* gzip around a page around base64 around a pickle */
    PLIM_MAX_TRACE_PAGE_BYTES = 1 << 16,   /* of a page before its snapshot */

    /*
     * Recorded steps: a training of Llama has some 10,000 events per step of the optimizer, 8 ranks and a few shapes; a
     * program has hundreds of lines that allocate. An event is a byte at least and 12 in memory.
     */
    PLIM_MAX_STEP_FILE_BYTES = 256 << 20,
    PLIM_MAX_STEP_TEXT_BYTES = 1 << 24,
    PLIM_MAX_STEP_SHAPES = 1 << 6,
    PLIM_MAX_STEP_POINTS = 1 << 10,        /* of a shape */
    PLIM_MAX_STEP_TRACKS = 1 << 11,        /* of a shape: ranks x devices */
    PLIM_MAX_STEP_TURNED_EVENTS = 1 << 20, /* that the loops of a shape may have at a point beside those in the file */
    /* Sweeps: a file of a few lines, a table of a few hundred rows. */
    PLIM_MAX_SWEEP_BYTES = 1 << 20,
    PLIM_MAX_SWEEP_MEMORY_BYTES = 16 << 20, /* of its values and words */
    PLIM_MAX_SWEEP_NAME_BYTES = 64,
    PLIM_MAX_SWEEP_VALUE_BYTES = 1 << 10,
    PLIM_MAX_SWEEP_VALUES = 1 << 12,      /* of a variable */
    PLIM_MAX_SWEEP_GRID = 1 << 20,        /* rows to draw from */
    PLIM_MAX_SWEEP_ROWS = 1 << 14,        /* to run */
    PLIM_MAX_SWEEP_TABLE_BYTES = 4 << 20, /* of the CSV that is resumed */
    PLIM_MAX_SWEEP_TABLE_MEMORY_BYTES = 60 << 20,
    PLIM_MAX_SWEEP_OUTPUT_BYTES = 1 << 20, /* of the JSON that a row prints; 50 bytes for each byte in memory */

    PLIM_MAX_FOLDER_NAMES = 1 << 18, /* read of one folder */
    PLIM_MAX_FILES = 1 << 12,        /* models named on one command line or found in a directory */
    PLIM_MAX_QUERY_BYTES = 1 << 14,  /* of a message pasted into `plimsoll errors`; the rest adds nothing */
};

/* A snapshot: long histories with stacks have several GB. */
#define PLIM_MAX_TRACE_FILE_BYTES (UINT64_C(64) << 30)

/* That `explain` reads of a log: an endless stream is over in a minute, and the end of a longer file is read. */
#define PLIM_MAX_LOG_BYTES (UINT64_C(16) << 30)

#endif
