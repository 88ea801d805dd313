/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CLI_ROOTS_H
#define PLIMSOLL_CLI_ROOTS_H

/* Where this user's models lie: OLLAMA_MODELS, else ~/.ollama/models and where the service of a Linux package has them.
 */

#include "plimsoll/model.h"

/* What it points to is static, and holds until the next call. */
const struct plim_source_roots *plim_cli_roots(void);

#endif
