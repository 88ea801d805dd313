/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_DIAGNOSE_PRINTED_H
#define PLIMSOLL_DIAGNOSE_PRINTED_H

/*
 * What a program prints of memory in words of its own: "weights: 12.5 GiB", "KV cache 48.0 GiB for 4 sequences", "1.69
 * GB free of 6.21 GB", and a figure that lines of the same form bring again and again. No pattern knows these lines:
 * figures with a unit are looked up, and the words beside them (purpose.h) tell what they are of.
 */

#include "diagnose/finding.h"

enum { PLIM_PRINTED_BYTES = 32 << 10 }; /* before a failure, that are read */

/* Of text[0..n), whole lines before a failure. Lines of other messages, of tracebacks and of the host are passed over.
 */
void plim_printed_read(const char *text, size_t n, struct plim_printed *ret_printed);

#endif
