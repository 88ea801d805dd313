/* SPDX-License-Identifier: MIT */
/*
 * A line is "drm-KEY-NAME:  NUMBER [UNIT]". Memory of a region is told up to six times: total, shared, active,
 * resident, purgeable, and "memory", an older word for resident that amdgpu prints beside it. Only one of them counts.
 *
 * Regions of the card's own memory: amdgpu "vram" (amdgpu_fdinfo.c), xe "vram0" (xe_drm_client.c), i915 "local0"
 * (intel_memory_region.c); of the host's: "system", "system0", "gtt", "memory". Kernels print more (stolen, doorbell,
 * gds ...), which are small parts of the card that no program asks for.
 */
#include "card/drm/fdinfo.h"

#include "base/limits.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_REGIONS = 16, NS_PER_MS = 1000000, UNIT_BYTES = 8 };

/* 36 years of work: more is no time. Sums over all clients fit into 63 bits. */
#define MAX_BUSY_NS (UINT64_C(1) << 60)

/* What counts first: what is resident is what is taken of the card. */
enum measure { MEASURE_RESIDENT, MEASURE_MEMORY, MEASURE_TOTAL, N_MEASURES };
static const char *const measures[N_MEASURES] = { "drm-resident-", "drm-memory-", "drm-total-" };

struct region {
    char name[24];
    int64_t bytes[N_MEASURES]; /* -1: not in the text */
};

/* A line between two ends: its key, and its value without the blanks before it. */
struct field {
    const char *key, *value;
    size_t key_length, value_length;
};

/* The next line that has a colon; false at the end. */
static bool next_field(const char **text, struct field *ret_field)
{
    while (**text) {
        const char *line = *text;
        const size_t length = strcspn(line, "\n");
        const char *colon = memchr(line, ':', length), *value = colon ? colon + 1 : NULL;
        *text = line + length + (line[length] == '\n');
        if (!colon)
            continue;
        while (value < line + length && (*value == ' ' || *value == '\t'))
            value++;
        *ret_field = (struct field){ line, value, (size_t)(colon - line), (size_t)(line + length - value) };
        return true;
    }
    return false;
}

static bool key_is(const struct field *field, const char *key)
{
    return field->key_length == strlen(key) && !memcmp(field->key, key, field->key_length);
}

static bool key_starts(const struct field *field, const char *with)
{
    return field->key_length > strlen(with) && !memcmp(field->key, with, strlen(with));
}

static void copy(char *to, size_t size, const char *from, size_t length)
{
    snprintf(to, size, "%.*s", (int)(length < size ? length : size - 1), from);
}

/* The number of a field and what follows it; false when it is none, or too large. */
static bool read_number(const struct field *field, uint64_t *ret_number, char ret_unit[UNIT_BYTES])
{
    char text[48], *end;
    if (field->value_length == 0 || field->value_length >= sizeof text || field->value[0] < '0' ||
        field->value[0] > '9')
        return false;
    copy(text, sizeof text, field->value, field->value_length);
    errno = 0;
    const unsigned long long number = strtoull(text, &end, 10);
    if (errno)
        return false;
    while (*end == ' ' || *end == '\t')
        end++;
    copy(ret_unit, UNIT_BYTES, end, strcspn(end, " \t\r"));
    *ret_number = number;
    return true;
}

/* Without a unit it is bytes. -1 for other units and what is beyond any memory. */
static int64_t read_bytes(const struct field *field)
{
    uint64_t number;
    char unit[UNIT_BYTES];
    if (!read_number(field, &number, unit))
        return -1;
    const int shift = !unit[0] ? 0 : !strcmp(unit, "KiB") ? 10 : !strcmp(unit, "MiB") ? 20 : -1;
    return shift < 0 || number > (uint64_t)PLIM_MAX_CARD_BYTES >> shift ? -1 : (int64_t)(number << shift);
}

/* --- memory --- */

struct region_table {
    struct region region[MAX_REGIONS];
    uint32_t n;
};

static struct region *region_of(struct region_table *table, const char *name, size_t length)
{
    char short_name[sizeof table->region->name];
    copy(short_name, sizeof short_name, name, length);
    for (uint32_t i = 0; i < table->n; i++)
        if (!strcmp(table->region[i].name, short_name))
            return &table->region[i];
    if (table->n == MAX_REGIONS)
        return NULL;
    struct region *region = &table->region[table->n++];
    *region = (struct region){ .bytes = { -1, -1, -1 } };
    memcpy(region->name, short_name, sizeof short_name);
    return region;
}

static void read_region(const struct field *field, struct region_table *table)
{
    for (int i = 0; i < N_MEASURES; i++)
        if (key_starts(field, measures[i])) {
            const size_t n = strlen(measures[i]);
            struct region *region = region_of(table, field->key + n, field->key_length - n);
            if (region)
                region->bytes[i] = read_bytes(field);
            return;
        }
}

static void add(int64_t *sum, int64_t bytes)
{
    if (bytes >= 0)
        *sum = (*sum < 0 ? 0 : *sum) + bytes;
}

static void sum_regions(const struct region_table *table, struct plim_drm_client *client)
{
    for (uint32_t i = 0; i < table->n; i++) {
        const struct region *region = &table->region[i];
        int64_t bytes = -1;
        for (int k = 0; k < N_MEASURES && bytes < 0; k++)
            bytes = region->bytes[k];
        if (!strncmp(region->name, "vram", 4) || !strncmp(region->name, "local", 5))
            add(&client->local_bytes, bytes);
        else if (!strncmp(region->name, "system", 6) || !strcmp(region->name, "gtt") || !strcmp(region->name, "memory"))
            add(&client->shared_bytes, bytes);
    }
}

/* --- engines --- */

static void read_engine(const struct field *field, struct plim_drm_client *client)
{
    uint64_t number;
    char unit[UNIT_BYTES];
    if (!read_number(field, &number, unit))
        return;
    if (key_starts(field, "drm-engine-") && !key_starts(field, "drm-engine-capacity-") && !strcmp(unit, "ns") &&
        number <= MAX_BUSY_NS)
        add(&client->busy_ms, (int64_t)(number / NS_PER_MS));
    else if (key_starts(field, "drm-cycles-"))
        client->cycles = number > client->cycles ? number : client->cycles;
    else if (key_starts(field, "drm-total-cycles-"))
        client->total_cycles = number > client->total_cycles ? number : client->total_cycles;
}

/* --- */

bool plim_drm_parse(const char *text, struct plim_drm_client *ret_client)
{
    struct region_table table = { .n = 0 };
    struct plim_drm_client client = { .local_bytes = -1, .shared_bytes = -1, .busy_ms = -1 };
    struct field field;
    while (next_field(&text, &field)) {
        char unit[UNIT_BYTES];
        if (key_is(&field, "drm-driver"))
            copy(client.driver, sizeof client.driver, field.value, field.value_length);
        else if (key_is(&field, "drm-pdev"))
            copy(client.pci, sizeof client.pci, field.value, field.value_length);
        else if (key_is(&field, "drm-client-id"))
            client.has_id = read_number(&field, &client.id, unit);
        else if (!key_starts(&field, "drm-total-cycles-"))
            read_region(&field, &table);
        read_engine(&field, &client);
    }
    if (!client.driver[0])
        return false;
    sum_regions(&table, &client);
    *ret_client = client;
    return true;
}
