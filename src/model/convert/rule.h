/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_MODEL_CONVERT_RULE_H
#define PLIMSOLL_MODEL_CONVERT_RULE_H

/*
 * The language of the rules: which tensors and metadata an architecture has, as data.
 *
 * A rule gives a tensor its name and its dimensions, from the innermost, as sizes that the config fills; facts decide
 * whether it is there. Rules stand in groups (attention, norms, experts ...), and a row of the table is an
 * architecture: its groups, and functions for what a table cannot say. The type of a tensor follows from its name and
 * shape, as in conversion/base.py (prepare_tensors), unless the rule has one.
 */

#include "model/convert/conversion.h"

/* A group ends with a rule without a name. */
struct plim_convert_rule {
    const char *name; /* behind "blk.N." in a group of a layer */
    uint8_t size[4];  /* enum plim_convert_size; ends at N_END */
    uint32_t when;    /* all these facts ... */
    uint32_t unless;  /* ... and none of these */
    uint8_t type;     /* enum plim_dtype, PLIM_DTYPE_UNKNOWN: by name and shape; or one of these: */
};

enum {
    TYPE_OF_FILE = PLIM_DTYPE_MAX_, /* also where the name alone would say f32 */
    TYPE_OF_PATCHES,                /* f16 in a file of f16, else f32 (MmprojModel.tensor_force_quant) */
};

enum plim_convert_value {
    KEY_SIZE,  /* one of the sizes */
    KEY_COUNT, /* a whole number of the config */
    KEY_REAL,
    KEY_FLAG,
    KEY_TEXT, /* `from` itself */
};

/* One key of the metadata, behind "ARCH.". A list ends with a key without a name. */
struct plim_convert_key {
    const char *name;
    uint8_t value;    /* enum plim_convert_value */
    uint8_t size;     /* of KEY_SIZE; 0 is not written */
    const char *from; /* names in the config, between bars: the first that is there counts */
    double otherwise; /* when none is; ABSENT: then the key is not written */
};

#define ABSENT (-1e300)

enum { PLIM_CONVERT_NAMES = 8, PLIM_CONVERT_TYPES = 6, PLIM_CONVERT_GROUPS = 10 };

struct plim_convert_row {
    const char *names[PLIM_CONVERT_NAMES]; /* in "architectures" */
    const char *types[PLIM_CONVERT_TYPES]; /* in "model_type", for a config without architectures */
    const char *arch;                      /* general.architecture */
    const char *source;                    /* file and class of the converter */
    const char *encoder;                   /* class of a projector's encoder, for a config that lacks its numbers */
    const struct plim_convert_rule *whole[6];
    const struct plim_convert_rule *layer[PLIM_CONVERT_GROUPS];
    const char *prefix;                                   /* of layers; NULL: "blk" */
    const char *second;                                   /* of a second stack of layers ("dec"); NULL: there is none */
    const struct plim_convert_rule *second_layer[4];      /* its groups */
    void (*read)(struct plim_conversion *c);              /* sizes and facts beyond the common ones */
    void (*each)(struct plim_conversion *c, uint32_t il); /* of a layer */
    void (*write)(struct plim_conversion *c);             /* metadata that no table gives */
    const struct plim_convert_key *keys;                  /* further metadata */
    uint32_t facts;                                       /* that always hold */
    uint32_t bias_keys;                                   /* QKV_BIAS: as attention_bias and mlp_bias say */
    uint32_t head;                                        /* width of a head when no key gives it; 0: embd / heads */
    bool is_tied;                                         /* when the config does not say: the default of the class */
    bool never_tied;                                      /* every checkpoint has an output matrix */
    bool is_raw;           /* the converter reads the config as it stands, without the defaults of its class */
    bool has_no_file_type; /* its converter forgets general.file_type */
    bool is_bare;          /* the converter writes `keys` alone, not those of every text model */
    bool has_usual_names;  /* its checkpoints name their tensors as Llama does */
    bool is_projector;     /* the mmproj of these architectures */
    bool is_proven;
};

/* The i-th architecture of the table; NULL past the last. */
const struct plim_convert_row *plim_convert_row_at(size_t i);

/* The keys of every text model (conversion/base.py: TextModel.set_gguf_parameters), and those of `row`. */
void plim_convert_write_keys(struct plim_conversion *c, const struct plim_convert_row *row);

/* Further keys. */
void plim_convert_write_table(struct plim_conversion *c, const struct plim_convert_key *keys);

/* The tensors of `row`, in llama-quantize's order. */
void plim_convert_write_tensors(struct plim_conversion *c, const struct plim_convert_row *row);

/* Fail when a checkpoint has other tensors than its config implies. */
void plim_convert_check_checkpoint(struct plim_conversion *c);

/* Sizes and facts of `row`. */
void plim_convert_read_sizes(struct plim_conversion *c, const struct plim_convert_row *row);

#endif
