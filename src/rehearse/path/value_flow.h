/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REHEARSE_PATH_VALUE_FLOW_H
#define PLIMSOLL_REHEARSE_PATH_VALUE_FLOW_H

/*
 * Where a number goes in a file of Python after a statement has read it. By names alone: a name that was assigned from
 * it is the number from then on, everywhere in the file. So more is taken for the number than is.
 */

#include "rehearse/path/python_source.h"

enum plim_flow {
    PLIM_FLOW_LOGGED,  /* it is printed, logged, saved, or added up for that, and goes nowhere else */
    PLIM_FLOW_DECIDES, /* it comes to a condition, a size, an index, or a function that nobody knows */
    PLIM_FLOW_LEAVES,  /* it is returned, or kept in an object, for other files */
    PLIM_FLOW_UNKNOWN  /* no statement that reads a number is at this line */
};

/*
 * is_flag: what was read is no number, but a flag; one that only chooses between two numbers (a if flag else b) is like
 * them. is_whole: the file is the program, and no other one sees its names. *ret_line: of the statement that decides.
 */
enum plim_flow plim_flow_from(const struct plim_python_source *source, uint32_t line, bool is_flag, bool is_whole,
                              uint32_t *ret_line);

#endif
