/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_BASE_TABLE_H
#define PLIMSOLL_BASE_TABLE_H

/* Tables of data/, compiled in by tools/embed_csv.py: cells are text, empty where nothing is known. */

#include <stddef.h>
#include <stdint.h>

struct plim_table {
    const char *const *columns;
    const char *text;
    const uint32_t *cells; /* offsets into text, row by row */
    size_t n_columns, n_rows;
};

extern const struct plim_table plim_cards_table;         /* data/cards.csv */
extern const struct plim_table plim_card_figures_table;  /* data/card-figures.csv: clocks and caches */
extern const struct plim_table plim_quants_table;        /* data/quants.csv */
extern const struct plim_table plim_errors_table;        /* data/errors, the files *.entries */
extern const struct plim_table plim_models_table;        /* data/models, see model/catalogue/columns.h */
extern const struct plim_table plim_models_filled_table; /* data/models-filled.csv */
extern const struct plim_table plim_ollama_table;        /* data/ollama.csv: tags of Ollama's library */
extern const struct plim_table plim_frames_table;        /* data/frames.csv: work that a Python frame is a sign of */
extern const struct plim_table plim_frameworks_table;    /* data/frameworks.csv: ids and names of programs */
extern const struct plim_table plim_purposes_table;      /* data/purposes.csv: what a word beside a figure says */
extern const struct plim_table plim_cause_words_table;   /* data/causes/weights.csv: what words say of a cause */
extern const struct plim_table
    plim_watch_programs_table; /* data/watch-programs.csv: programs on cards, and their roles */
extern const struct plim_table
    plim_flag_owners_table; /* data/flag-owners.csv: flags and variables, and whose they are */

/* The number of the column with this name; n_columns when there is no such column. */
size_t plim_table_column(const struct plim_table *table, const char *name);

/* A cell; "" outside the table. */
static inline const char *plim_table_cell(const struct plim_table *table, size_t row, size_t column)
{
    return row < table->n_rows && column < table->n_columns
               ? table->text + table->cells[row * table->n_columns + column]
               : "";
}

#endif
