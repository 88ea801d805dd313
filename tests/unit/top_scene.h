/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_TESTS_TOP_SCENE_H
#define PLIMSOLL_TESTS_TOP_SCENE_H

/* Machines for frames of `plimsoll top`, made by hand. */

#include "report/top/view.h"

enum { SCENE_MAX_CARDS = 16, SCENE_MAX_PROCESSES = 256 };

struct top_scene {
    struct plim_sample sample;
    struct plim_sample_card card[SCENE_MAX_CARDS];
    struct plim_sample_process process[SCENE_MAX_PROCESSES];
    struct plim_holding holding[SCENE_MAX_PROCESSES];
    struct plim_watch_row row[SCENE_MAX_PROCESSES];
    struct plim_watch_card seen[SCENE_MAX_CARDS];
    char command[SCENE_MAX_PROCESSES][128];
    struct plim_top_machine machine;
    struct plim_top_view view;
};

/* No cards; the view of somebody who has just started the program. */
void top_scene_empty(struct top_scene *scene);

/* A card of 24 GiB; returns its index. */
uint32_t top_scene_card(struct top_scene *scene, const char *name, double used_gib);

/* A process with memory on a card; returns the index of its holding. */
uint32_t top_scene_process(struct top_scene *scene, uint32_t card, int64_t pid, const char *user, double gib,
                           const char *command);

/* Two cards and six processes: training that grows, an idle server, an orphan, a desktop, one that is gone, a worker.
 */
void top_scene_usual(struct top_scene *scene);

/* 16 cards and 200 processes. */
void top_scene_large(struct top_scene *scene);

/* Names that a terminal would obey, that read backwards, that are long, or wide. */
void top_scene_hostile(struct top_scene *scene);

#endif
