/* SPDX-License-Identifier: MIT */
#include "step/step.h"

#include "base/mem.h"

#include <string.h>

bool plim_step_is_name(const char *name)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
    const size_t n = strlen(name);
    return n > 0 && n < PLIM_STEP_NAME_BYTES && strspn(name, letters) == n && !(name[0] >= '0' && name[0] <= '9');
}

const char *plim_step_text(const struct plim_step *step, uint32_t offset)
{
    return offset < step->text_bytes ? step->text + offset : "";
}

void plim_step_track_done(struct plim_step_track *track)
{
    plim_free(track->has_retries);
    plim_free(track->events);
    plim_free(track->allocations);
    plim_free(track->marks);
    for (size_t i = 0; i < track->n_loops; i++)
        plim_free(track->loops[i].sizes);
    plim_free(track->loops);
    plim_free(track->recorded);
    *track = (struct plim_step_track){ 0 };
}

static void shape_done(struct plim_step_shape *shape)
{
    for (size_t i = 0; i < shape->n_tracks; i++)
        plim_step_track_done(&shape->tracks[i]);
    plim_free(shape->tracks);
    plim_free(shape->points);
    plim_free(shape->sizes);
    plim_free(shape->terms);
}

void plim_step_done(struct plim_step *step)
{
    for (size_t i = 0; i < step->n_shapes; i++)
        shape_done(&step->shapes[i]);
    plim_free(step->shapes);
    plim_free(step->sites);
    plim_free(step->text);
    *step = (struct plim_step){ 0 };
}
