/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_SWITCH_H
#define PLIMSOLL_SWITCH_H

/* A setting that is on, off, or left to the engine. */
enum plim_switch { PLIM_UNSET = 0, PLIM_OFF, PLIM_ON };

#endif
