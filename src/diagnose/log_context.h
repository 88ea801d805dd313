/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_DIAGNOSE_LOG_CONTEXT_H
#define PLIMSOLL_DIAGNOSE_LOG_CONTEXT_H

/* What the log says beside its findings: figures of neighbours, series of figures, the programs that it shows. */

#include "diagnose/observation.h"

void plim_log_context_init(struct plim_log_context *context);

/*
 * A neighbour, a point of a series or a program. is_late: it stands behind the first failure; then it only fills in
 * what is not known, as it does not describe the time before the failure.
 */
void plim_log_context_add(struct plim_log_context *context, const struct plim_observation *observation, bool is_late);

/* A program that was named. */
void plim_log_context_add_program(struct plim_log_context *context, const struct plim_pattern *program);

/* Programs that the text around a match or its traceback names. */
void plim_log_context_add_programs_around(struct plim_log_context *context, const struct plim_observation *observation);

/* Programs whose names are words of the text: as they are named, the weak ones last. */
void plim_log_context_add_programs_named(struct plim_log_context *context, const char *text, size_t size);

/* The outermost program of those in the log that wrap the framework: an id, or the framework itself. */
const char *plim_log_context_outermost(const struct plim_log_context *context, const char *framework);

/* What runs programs, where the log shows nothing else: Slurm, a container, a service. NULL: nothing does. */
const char *plim_log_context_surroundings(const struct plim_log_context *context);

/* The outermost program that was seen, for a log without a finding; NULL: none was. */
const char *plim_log_context_framework(const struct plim_log_context *context);

#endif
