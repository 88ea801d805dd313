/* SPDX-License-Identifier: MIT */
/*
 * Look at the cards for some seconds, four times a second as `plimsoll top` can, and say what is known then of their
 * growth, as JSON:
 *
 *     follow SECONDS
 */
#include "card/sample.h"
#include "watch/watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { PER_S = 4 };

static void show(const struct plim_sample *sample, const struct plim_watch_card *cards)
{
    printf("{\"taken_unix_ms\": %lld, \"cards\": [", (long long)sample->taken_unix_ms);
    for (uint32_t i = 0; i < sample->n_cards; i++)
        printf("%s{\"used\": %lld, \"growth\": {\"trend\": \"%s\", \"bytes_per_min\": %lld, \"full_s\": %lld}}",
               i ? ", " : "", (long long)sample->card[i].used_bytes, plim_trend_name(cards[i].growth.trend),
               (long long)cards[i].growth.bytes_per_min, (long long)cards[i].growth.full_s);
    printf("]}\n");
}

static int follow(struct plim_sampler *sampler, struct plim_watch *watch, int n_looks)
{
    const struct timespec pause = { .tv_nsec = 1000000000 / PER_S };
    const struct plim_sample *sample = NULL;
    struct plim_error error = { 0 };
    for (int i = 0; i < n_looks; i++) {
        if (plim_sampler_read(sampler, &sample, &error) < 0 || plim_watch_add(watch, sample, &error) < 0) {
            fprintf(stderr, "follow: %s\n", error.what);
            return 1;
        }
        if (i + 1 < n_looks)
            nanosleep(&pause, NULL);
    }
    show(sample, plim_watch_cards(watch));
    return 0;
}

int main(int argc, char **argv)
{
    const struct plim_sampler_options options = { 0 };
    struct plim_sampler *sampler = NULL;
    struct plim_watch *watch = NULL;
    struct plim_error error = { 0 };
    const int n_looks = argc == 2 ? atoi(argv[1]) * PER_S : 0;
    int status = n_looks > 0 ? 1 : 2;
    if (n_looks > 0 && plim_sampler_open(&options, &sampler, &error) == 0 && plim_watch_open(NULL, &watch, &error) == 0)
        status = follow(sampler, watch, n_looks);
    else
        fprintf(stderr, "follow: %s\n", error.what);
    plim_watch_close(watch);
    plim_sampler_close(sampler);
    return status;
}
