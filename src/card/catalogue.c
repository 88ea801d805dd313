/* SPDX-License-Identifier: MIT */
/* The catalogue of cards (data/cards.csv): its figures and how a card is found by the names people use. */
#include "plimsoll/card.h"

#include "base/error.h"
#include "base/table.h"
#include "base/text.h"
#include "base/units.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEY_BYTES = 128, /* a name in lower case without spaces and punctuation */
    MAX_CANDIDATES = 12,
    MAX_SUGGESTIONS = 3,
    MAX_SIZE_DIGITS = 3,
    MAX_DISTANCE = 3, /* letters that a suggestion may be off */
};

/*
 * The columns of data/cards.csv that are used, by position: finding them by name would be most of a search's work.
 * A test holds them against the names.
 */
enum column {
    VENDOR = 0,
    NAME = 1,
    ALIASES = 2,
    CAPABILITY = 4,
    NOMINAL_GIB = 5,
    DRIVER_MIB = 6,
    CUDA_GIB = 7,
    MEMORY_TYPE = 8,
    BUS_BITS = 9,
    BANDWIDTH = 10,
    SM_COUNT = 11,
};

static const char *cell(size_t i, enum column column) { return plim_table_cell(&plim_cards_table, i, column); }

size_t plim_catalogue_size(void) { return plim_cards_table.n_rows; }

const char *plim_catalogue_field(size_t i, const char *column)
{
    return plim_table_cell(&plim_cards_table, i, plim_table_column(&plim_cards_table, column));
}

/* --- figures --- */

static enum plim_vendor vendor_named(const char *name)
{
    static const char *const names[PLIM_VENDOR_MAX_] = {
        [PLIM_VENDOR_NVIDIA] = "NVIDIA",
        [PLIM_VENDOR_AMD] = "AMD",
        [PLIM_VENDOR_INTEL] = "Intel",
        [PLIM_VENDOR_APPLE] = "Apple",
    };
    for (int v = PLIM_VENDOR_UNKNOWN + 1; v < PLIM_VENDOR_MAX_; v++)
        if (!strcmp(name, names[v]))
            return (enum plim_vendor)v;
    return PLIM_VENDOR_UNKNOWN;
}

/* "8.9" is 89, "12.0" is 120; names of other vendors' architectures are 0. */
static uint16_t capability_of(const char *text)
{
    int major = 0, minor = 0;
    return sscanf(text, "%d.%d", &major, &minor) == 2 && major > 0 && major < 100 && minor >= 0 && minor < 10
               ? (uint16_t)(major * 10 + minor)
               : 0;
}

/* "PCI 0xDDDDVVVV" among the aliases. */
static uint32_t pci_id_of(const char *aliases)
{
    const char *found = strstr(aliases, "PCI 0x");
    return found ? (uint32_t)strtoul(found + 4, NULL, 16) : 0;
}

/*
 * Without a driver's figure the size on the box is assumed. Error-correcting memory takes 1/16 of GDDR; Apple gives
 * programs two thirds to three quarters of the memory by default (data/cards-notes.md).
 */
static void assume_total(struct plim_card *card, double nominal_gib)
{
    bool is_apple = card->vendor == PLIM_VENDOR_APPLE;
    double nominal_bytes = nominal_gib * (double)PLIM_GIB;
    card->total_basis = PLIM_BASIS_ASSUMED;
    card->total_bytes = (uint64_t)(is_apple ? nominal_bytes * 3 / 4 : nominal_bytes);
    card->total_low_bytes = (uint64_t)(is_apple ? nominal_bytes * 2 / 3 : nominal_bytes * 15 / 16);
}

/*
 * Programs see less than the driver's total, and newer drivers keep more. The column lists the totals seen, by driver
 * generation; the largest gap is the newest. Values of Windows, which has no gap, and of cards with error correction
 * switched on are left out.
 */
static void read_reserved(struct plim_card *card, const char *seen)
{
    enum { MIN_GAP_MIB = 40, MAX_GAP_PERCENT = 6 };
    for (const char *p = seen; *p;) {
        const char *end;
        double gib = plim_decimal(p, &end);
        if (end == p)
            break;
        uint64_t visible_bytes = (uint64_t)(gib * (double)PLIM_GIB);
        uint64_t gap = visible_bytes < card->total_bytes ? card->total_bytes - visible_bytes : 0;
        if (gap >= MIN_GAP_MIB * PLIM_MIB && gap <= card->total_bytes / 100 * MAX_GAP_PERCENT) {
            bool is_first = card->reserved_basis == PLIM_BASIS_UNKNOWN;
            card->reserved_low_bytes = is_first || gap < card->reserved_low_bytes ? gap : card->reserved_low_bytes;
            card->reserved_high_bytes = is_first || gap > card->reserved_high_bytes ? gap : card->reserved_high_bytes;
            card->reserved_basis = PLIM_BASIS_MEASURED;
        }
        p = *end == ';' ? end + 1 : end;
    }
    card->reserved_bytes = card->reserved_high_bytes;
}

/*
 * Seen on 48 NVIDIA cards of this catalogue: 80 to 490 MiB at 6 to 16 GiB, 310 to 500 at 24, 500 to 640 at 48, 560 to
 * 870 at 80 GiB.
 */
static void assume_reserved(struct plim_card *card)
{
    if (card->vendor != PLIM_VENDOR_NVIDIA || card->is_unified)
        return;
    uint64_t typical = 256 * PLIM_MIB + card->total_bytes / 128;
    card->reserved_basis = PLIM_BASIS_ASSUMED;
    card->reserved_bytes = typical < 640 * PLIM_MIB ? typical : 640 * PLIM_MIB;
    card->reserved_low_bytes = 80 * PLIM_MIB;
    card->reserved_high_bytes = card->reserved_bytes / 2 * 3;
}

void plim_catalogue_card(size_t i, struct plim_card *ret_card)
{
    struct plim_card *card = ret_card;
    double driver_mib = plim_decimal(cell(i, DRIVER_MIB), NULL);
    *card = (struct plim_card){
        .vendor = vendor_named(cell(i, VENDOR)),
        .compute_capability = capability_of(cell(i, CAPABILITY)),
        .bandwidth_bytes_per_s = plim_decimal(cell(i, BANDWIDTH), NULL) * 1e9,
        .sm_count = (uint16_t)strtoul(cell(i, SM_COUNT), NULL, 10),
        .bus_bits = (uint16_t)strtoul(cell(i, BUS_BITS), NULL, 10),
        .pci_id = pci_id_of(cell(i, ALIASES)),
        .is_unified = strstr(cell(i, MEMORY_TYPE), "unified") != NULL,
    };
    snprintf(card->name, sizeof card->name, "%s", cell(i, NAME));
    if (driver_mib > 0) {
        card->total_basis = PLIM_BASIS_MEASURED;
        card->total_bytes = card->total_low_bytes = (uint64_t)driver_mib * PLIM_MIB;
    } else {
        assume_total(card, plim_decimal(cell(i, NOMINAL_GIB), NULL));
    }
    if (card->is_unified)
        card->shared_bytes = (uint64_t)(plim_decimal(cell(i, NOMINAL_GIB), NULL) * (double)PLIM_GIB);
    read_reserved(card, cell(i, CUDA_GIB));
    if (card->reserved_basis == PLIM_BASIS_UNKNOWN)
        assume_reserved(card);
}

uint64_t plim_card_free_bytes(const struct plim_card *card)
{
    uint64_t taken = card->reserved_bytes + card->others_bytes;
    return taken < card->total_bytes ? card->total_bytes - taken : 0;
}

void plim_card_of_budget(uint64_t bytes, struct plim_card *ret_card)
{
    char text[PLIM_SIZE_TEXT];
    *ret_card = (struct plim_card){
        .total_basis = PLIM_BASIS_EXACT,
        .total_bytes = bytes,
        .total_low_bytes = bytes,
    };
    snprintf(ret_card->name, sizeof ret_card->name, "budget of %s", plim_size_text(text, bytes));
}

void plim_card_of_size(unsigned gib, struct plim_card *ret_card)
{
    *ret_card = (struct plim_card){ .vendor = PLIM_VENDOR_NVIDIA };
    snprintf(ret_card->name, sizeof ret_card->name, "a card of %u GB", gib);
    assume_total(ret_card, gib);
    assume_reserved(ret_card);
}

/* --- names --- */

/* Lower case, letters and digits only; '+' counts ("Max+"). */
static size_t make_key(char key[KEY_BYTES], const char *text, size_t length)
{
    size_t n = 0;
    for (size_t i = 0; i < length && n < KEY_BYTES - 1; i++)
        if (isalnum((unsigned char)text[i]) || text[i] == '+')
            key[n++] = (char)tolower((unsigned char)text[i]);
    key[n] = '\0';
    return n;
}

/* Words that people leave out or add: they do not tell cards apart. */
static void drop_common_words(char *key)
{
    static const char *const words[] = {
        "nvidia", "geforce", "amd", "radeon", "tesla", "intel", "gpu", "graphicscard"
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        char *at = strstr(key, words[i]);
        size_t length = strlen(words[i]);
        if (at && strlen(key) > length)
            memmove(at, at + length, strlen(at + length) + 1);
    }
}

/*
 * Take a size of so many digits off the end of a key ("rtx4060ti16gb" and 2): its GiB, or 0. Without spaces it
 * is open where a model number ends ("rtx40608gb"), so all counts of digits have to be tried.
 */
static unsigned take_size(char *key, size_t n_digits)
{
    static const char *const units[] = { "gib", "gb", "g" };
    const size_t n = strlen(key);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        const size_t unit = strlen(units[i]);
        if (n <= unit + n_digits || strcmp(key + n - unit, units[i]))
            continue;
        const size_t start = n - unit - n_digits;
        if (strspn(key + start, "0123456789") != n_digits || key[start] == '0')
            return 0;
        const unsigned gib = (unsigned)strtoul(key + start, NULL, 10);
        key[start] = '\0';
        return gib;
    }
    return 0;
}

/* The next of a card's names (its name, then its aliases); NULL after the last. *rest is NULL at first. */
static const char *next_name(size_t i, const char **rest, size_t *ret_length)
{
    const char *name = *rest ? *rest : cell(i, NAME);
    if (*rest && !*name)
        return NULL;
    *ret_length = *rest ? strcspn(name, ";") : strlen(name);
    *rest = *rest ? name + *ret_length + (name[*ret_length] == ';') : cell(i, ALIASES);
    return name;
}

/* The same as a key; false after the last. */
static bool next_key(size_t i, const char **rest, char key[KEY_BYTES])
{
    size_t length;
    const char *name = next_name(i, rest, &length);
    if (name)
        make_key(key, name, length);
    return name != NULL;
}

/* --- look-up --- */

/* Comparisons, from strict to forgiving. */
enum strictness { AS_GIVEN, WITHOUT_COMMON_WORDS, WITH_SIZE, N_STRICTNESS };

struct query {
    char key[KEY_BYTES], short_key[KEY_BYTES];
    struct {
        char key[KEY_BYTES]; /* without the size */
        unsigned gib;        /* the size; 0: no size has so many digits */
    } sized[MAX_SIZE_DIGITS];
};

/* The card has this size, and the name is this one with or without it. */
static bool matches_with_size(size_t i, const char *key, const struct query *q)
{
    const unsigned gib = (unsigned)strtoul(cell(i, NOMINAL_GIB), NULL, 10);
    for (size_t k = 0; k < MAX_SIZE_DIGITS; k++) {
        char sizeless[KEY_BYTES];
        if (q->sized[k].gib == 0 || q->sized[k].gib != gib)
            continue;
        strcpy(sizeless, key);
        if (!strcmp(key, q->sized[k].key) || (take_size(sizeless, k + 1) == gib && !strcmp(sizeless, q->sized[k].key)))
            return true;
    }
    return false;
}

/* make_key() of the name is this key. */
static bool has_key(const char *name, size_t length, const char *key)
{
    for (size_t i = 0; i < length; i++) {
        const unsigned char c = (unsigned char)name[i];
        if ((isalnum(c) || c == '+') && tolower(c) != *key++)
            return false;
    }
    return !*key;
}

/* The card passes this comparison by one of its names. */
static bool match(size_t i, const struct query *q, enum strictness how)
{
    const char *rest = NULL, *name;
    size_t length;
    char key[KEY_BYTES];
    while ((name = next_name(i, &rest, &length))) {
        if (how == AS_GIVEN && has_key(name, length, q->key))
            return true;
        if (how == AS_GIVEN)
            continue;
        make_key(key, name, length);
        drop_common_words(key);
        if (how == WITHOUT_COMMON_WORDS ? !strcmp(key, q->short_key) : matches_with_size(i, key, q))
            return true;
    }
    return false;
}

static bool is_same_card(size_t a, size_t b)
{
    return !strcmp(cell(a, NOMINAL_GIB), cell(b, NOMINAL_GIB)) && !strcmp(cell(a, CAPABILITY), cell(b, CAPABILITY)) &&
           !strcmp(cell(a, DRIVER_MIB), cell(b, DRIVER_MIB));
}

static unsigned nearness(size_t i, const struct query *q)
{
    const char *rest = NULL;
    char key[KEY_BYTES];
    const size_t length = strlen(q->short_key);
    unsigned best = KEY_BYTES;
    while (next_key(i, &rest, key)) {
        drop_common_words(key);
        const size_t n = strlen(key);
        if ((n > length ? n - length : length - n) > MAX_DISTANCE)
            continue;
        unsigned d = plim_text_distance(q->short_key, key);
        best = d < best ? d : best;
    }
    return best;
}

static int not_found(const char *text, const struct query *q, struct plim_error *reterr)
{
    char names[3 * 90] = "";
    size_t chosen[MAX_SUGGESTIONS] = { 0 };
    const unsigned length = (unsigned)strlen(q->short_key), most = 1 + length / 3; /* "t5" may mean "t4", not "a10" */
    const unsigned limit = most < MAX_DISTANCE ? most : MAX_DISTANCE;
    unsigned near[MAX_SUGGESTIONS] = { limit + 1, limit + 1, limit + 1 };
    if (!reterr)
        return PLIM_E_USAGE; /* suggestions take most of the time */
    for (size_t i = 0; i < plim_catalogue_size(); i++) {
        unsigned d = nearness(i, q);
        for (int k = 0; k < MAX_SUGGESTIONS; k++)
            if (d < near[k]) {
                memmove(&near[k + 1], &near[k], (size_t)(MAX_SUGGESTIONS - 1 - k) * sizeof *near);
                memmove(&chosen[k + 1], &chosen[k], (size_t)(MAX_SUGGESTIONS - 1 - k) * sizeof *chosen);
                near[k] = d;
                chosen[k] = i;
                break;
            }
    }
    int code = plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "no card is called '%.80s'", text);
    for (int k = 0; k < MAX_SUGGESTIONS && near[k] <= limit; k++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s'%s'", k ? ", " : "", cell(chosen[k], NAME));
    if (*names)
        plim_error_hint(reterr, "did you mean %s? 'plimsoll cards' lists all", names);
    else
        plim_error_hint(reterr, "'plimsoll cards' lists all; --card 8GiB works for any card");
    return code;
}

static int ambiguous(const char *text, const size_t *found, size_t n, struct plim_error *reterr)
{
    char names[400] = "";
    int code = plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "'%.80s' is the name of %zu cards that differ", text, n);
    for (size_t k = 0; k < n; k++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s'%s'", k ? ", " : "", cell(found[k], NAME));
    plim_error_hint(reterr, "name one of them: %s", names);
    return code;
}

int plim_catalogue_find(const char *query, struct plim_card *ret_card, struct plim_error *reterr)
{
    struct query q = { 0 };
    make_key(q.key, query, strlen(query));
    memcpy(q.short_key, q.key, sizeof q.key);
    drop_common_words(q.short_key);
    for (size_t k = 0; k < MAX_SIZE_DIGITS; k++) {
        memcpy(q.sized[k].key, q.short_key, sizeof q.key);
        q.sized[k].gib = take_size(q.sized[k].key, k + 1);
    }
    if (!q.key[0])
        return not_found(query, &q, reterr);
    for (int how = AS_GIVEN; how < N_STRICTNESS; how++) {
        size_t card[MAX_CANDIDATES], n = 0, n_all = 0; /* that differ, and all */
        for (size_t i = 0; i < plim_catalogue_size(); i++) {
            if (!match(i, &q, (enum strictness)how))
                continue;
            bool is_new = n < MAX_CANDIDATES;
            for (size_t k = 0; k < n; k++)
                is_new = is_new && !is_same_card(card[k], i);
            if (is_new)
                card[n++] = i;
            n_all++;
        }
        if (n > 1)
            return ambiguous(query, card, n, reterr);
        if (n == 1) {
            plim_catalogue_card(card[0], ret_card);
            return n_all > 1;
        }
    }
    return not_found(query, &q, reterr);
}

bool plim_catalogue_matches(size_t i, const char *query)
{
    char all[4096];
    snprintf(all, sizeof all, "%s %s %s %s", cell(i, VENDOR), cell(i, NAME), cell(i, ALIASES),
             plim_catalogue_field(i, "architecture"));
    char haystack[KEY_BYTES * 8];
    size_t n = 0;
    for (size_t k = 0; all[k] && n < sizeof haystack - 1; k++)
        if (isalnum((unsigned char)all[k]) || all[k] == '+')
            haystack[n++] = (char)tolower((unsigned char)all[k]);
    haystack[n] = '\0';
    for (const char *p = query; *p;) {
        size_t length = strcspn(p, " \t");
        char word[KEY_BYTES];
        make_key(word, p, length);
        if (*word && !strstr(haystack, word))
            return false;
        p += length + strspn(p + length, " \t");
    }
    return true;
}
