/* SPDX-License-Identifier: MIT */
#include "cli/rehearse/parts.h"

#include "base/mem.h"
#include "cli/rehearse/record.h"
#include "step/file.h"

#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* "run.step.parts/B=2,S=512.step"; false: too long. Variables are named by letters and digits. */
static bool path_of(const struct plim_rehearse_options *o, const struct plim_step_point *point, char path[PATH_MAX])
{
    int n = snprintf(path, PATH_MAX, "%s.parts", o->record_path);
    for (uint32_t i = 0; point && n > 0 && n < PATH_MAX && i < o->vary.n_variables; i++)
        n += snprintf(path + n, PATH_MAX - (size_t)n, "%c%s=%llu", i ? ',' : '/', o->vary.variable[i].name,
                      (unsigned long long)point->value[i]);
    if (point && n > 0 && n < PATH_MAX)
        n += snprintf(path + n, PATH_MAX - (size_t)n, ".step");
    return n > 0 && n < PATH_MAX;
}

bool plim_rehearse_part_read(const struct plim_rehearse_options *o, const struct plim_step_point *point,
                             struct plim_step *ret_step)
{
    char path[PATH_MAX];
    struct plim_error error = { 0 };
    if (!path_of(o, point, path) || plim_step_read(path, ret_step, &error) < 0)
        return false;
    char *command = plim_record_command(o->launch.arguments);
    const bool is_same = command && !strcmp(plim_step_text(ret_step, ret_step->command), command) &&
                         !strcmp(ret_step->card_name, o->machine.card[0].name) &&
                         ret_step->card_bytes == o->machine.card[0].total_bytes && ret_step->n_shapes == 1 &&
                         ret_step->n_variables == 0;
    plim_free(command);
    if (!is_same)
        plim_step_done(ret_step);
    return is_same;
}

void plim_rehearse_part_write(const struct plim_rehearse_options *o, const struct plim_step_point *point,
                              const struct plim_step *step)
{
    char path[PATH_MAX];
    struct plim_error error = { 0 };
    if (!path_of(o, NULL, path))
        return;
    (void)mkdir(path, 0777);
    if (path_of(o, point, path) && plim_step_write(path, step, &error) < 0)
        (void)unlink(path);
}

void plim_rehearse_parts_remove(const struct plim_rehearse_options *o, const struct plim_step_point *point)
{
    char path[PATH_MAX];
    if (path_of(o, point, path))
        (void)(point ? unlink(path) : rmdir(path));
}
