/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_DIAGNOSE_CAUSE_RULES_H
#define PLIMSOLL_DIAGNOSE_CAUSE_RULES_H

/*
 * The rules, one small function each. A rule returns whether it holds, and if so fills in the cause, the confidence and
 * the arithmetic. cause.c has their order.
 */

#include "diagnose/cause/facts.h"

typedef bool plim_rule_fn(const struct plim_facts *facts, struct plim_guess *guess);

/* rules_message.c: the message alone decides. */
plim_rule_fn plim_rule_not_memory, plim_rule_secondhand, plim_rule_ram_buffer, plim_rule_text, plim_rule_stage;

/* rules_server.c: a server's share of the card. */
plim_rule_fn plim_rule_startup, plim_rule_fraction, plim_rule_graphs, plim_rule_share;

/* rules_stage.c: the stage that the message names. */
plim_rule_fn plim_rule_weights, plim_rule_kv_stage, plim_rule_kv_words, plim_rule_compute, plim_rule_buffer_limit;

/* rules_host.c: the computer's memory. */
plim_rule_fn plim_rule_killed, plim_rule_host;

/* rules_size.c: what no card of this size can hold; what one piece is for. */
plim_rule_fn plim_rule_too_large, plim_rule_spilled, plim_rule_announced, plim_rule_parameters, plim_rule_piece,
    plim_rule_working_set, plim_rule_starting;

/* rules_told.c: what somebody says beside the message. */
plim_rule_fn plim_rule_told, plim_rule_told_ram, plim_rule_told_size, plim_rule_told_late, plim_rule_told_work,
    plim_rule_told_table, plim_rule_told_growth, plim_rule_told_shm;

/* rules_printed.c: what the program printed of memory in its own words. */
plim_rule_fn plim_rule_pool, plim_rule_printed_size, plim_rule_printed_others, plim_rule_printed_work,
    plim_rule_printed_pieces, plim_rule_printed_growth, plim_rule_printed_last;

/* rules_code.c: the user's own code, by its names. */
plim_rule_fn plim_rule_code;

/* rules_words.c: the words of the text, where no other rule holds. */
plim_rule_fn plim_rule_words;

/* rules_figures.c: arithmetic on the figures. */
plim_rule_fn plim_rule_allowed, plim_rule_cap, plim_rule_free_enough, plim_rule_others, plim_rule_pieces,
    plim_rule_small_program;

/* rules_trace.c: the traceback, the series of figures, the phase. */
plim_rule_fn plim_rule_context, plim_rule_optimizer, plim_rule_optimizer_phase, plim_rule_growth, plim_rule_keep,
    plim_rule_no_context, plim_rule_handle, plim_rule_status, plim_rule_loading, plim_rule_cache, plim_rule_node,
    plim_rule_step, plim_rule_rest;

#endif
