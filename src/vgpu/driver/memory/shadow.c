/* SPDX-License-Identifier: MIT */
/*
 * Pages of 4 KiB with one bit per byte, found by a hash of their number and listed by the time of their last write. A
 * filter counts the pages by 2 MiB of address space, so that the common case, nothing known, searches no pages. Bytes
 * that are not known are zero in the page: reading is a plain copy.
 */
#include "vgpu/driver/memory/shadow.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

enum {
    PAGE_BYTES = 4096,
    STRETCH_BYTES = 2 << 20,
    MAX_PAGES = PLIM_SHADOW_STORE_BYTES / PAGE_BYTES,
    N_BUCKETS = 2 * MAX_PAGES,
    N_STRETCHES = 1 << 16,
    NONE = 0, /* pages are numbered from 1 */
};

struct page {
    uint64_t number; /* address / PAGE_BYTES */
    uint64_t n_launches;
    uint32_t next_in_bucket, older, newer;
    uint8_t known[PAGE_BYTES / 8];
    uint8_t bytes[PAGE_BYTES];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct page *pages; /* [MAX_PAGES + 1] */
static uint32_t bucket[N_BUCKETS], oldest, newest, free_page, n_fresh;
static atomic_uint n_pages, in_stretch[N_STRETCHES];
static atomic_ullong n_launches, n_evicted;

/* --- pages --- */

static uint64_t address_of(const void *pointer) { return (uint64_t)(uintptr_t)pointer; }
static uint32_t bucket_of(uint64_t number) { return (uint32_t)((number * 0x9e3779b97f4a7c15u) >> 40) % N_BUCKETS; }

static atomic_uint *stretch_of(uint64_t address) { return &in_stretch[address / STRETCH_BYTES % N_STRETCHES]; }

static struct page *find(uint64_t number)
{
    uint32_t i = bucket[bucket_of(number)];
    while (i != NONE && pages[i].number != number)
        i = pages[i].next_in_bucket;
    return i != NONE ? &pages[i] : NULL;
}

static void unlist(struct page *page)
{
    *(page->older ? &pages[page->older].newer : &oldest) = page->newer;
    *(page->newer ? &pages[page->newer].older : &newest) = page->older;
}

static void list_as_newest(struct page *page)
{
    const uint32_t i = (uint32_t)(page - pages);
    page->older = newest;
    page->newer = NONE;
    *(newest ? &pages[newest].newer : &oldest) = i;
    newest = i;
}

static void drop(struct page *page)
{
    const uint32_t i = (uint32_t)(page - pages);
    uint32_t *link = &bucket[bucket_of(page->number)];
    while (*link != i)
        link = &pages[*link].next_in_bucket;
    *link = page->next_in_bucket;
    unlist(page);
    atomic_fetch_sub(stretch_of(page->number * PAGE_BYTES), 1);
    atomic_fetch_sub(&n_pages, 1);
    page->next_in_bucket = free_page;
    free_page = i;
}

static bool has_room(void)
{
    if (!pages) {
        void *start = mmap(NULL, (MAX_PAGES + 1) * sizeof *pages, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        pages = start == MAP_FAILED ? NULL : start;
    }
    return pages != NULL;
}

/* The page, made if missing; NULL: no memory. */
static struct page *page_for(uint64_t number)
{
    struct page *page = has_room() ? find(number) : NULL;
    if (page || !pages) {
        if (page) {
            unlist(page);
            list_as_newest(page);
        }
        return page;
    }
    if (!free_page && n_fresh == MAX_PAGES) {
        drop(&pages[oldest]);
        atomic_fetch_add(&n_evicted, 1);
    }
    const uint32_t i = free_page ? free_page : ++n_fresh;
    page = &pages[i];
    if (i == free_page)
        free_page = page->next_in_bucket;
    memset(page, 0, sizeof *page);
    page->number = number;
    page->next_in_bucket = bucket[bucket_of(number)];
    bucket[bucket_of(number)] = i;
    list_as_newest(page);
    atomic_fetch_add(stretch_of(number * PAGE_BYTES), 1);
    atomic_fetch_add(&n_pages, 1);
    return page;
}

/* --- bits --- */

static void mark(struct page *page, size_t from, size_t size, bool is_known)
{
    for (size_t i = from, end = from + size; i < end;) {
        if (i % 8 == 0 && end - i >= 8) {
            const size_t n = (end - i) / 8;
            memset(page->known + i / 8, is_known ? 0xff : 0, n);
            i += 8 * n;
            continue;
        }
        const uint8_t bit = (uint8_t)(1u << i % 8);
        page->known[i / 8] = (uint8_t)(is_known ? page->known[i / 8] | bit : page->known[i / 8] & ~bit);
        i++;
    }
}

static bool is_known(const struct page *page, size_t from, size_t size)
{
    for (size_t i = from, end = from + size; i < end;) {
        const bool is_whole = i % 8 == 0 && end - i >= 8;
        const uint8_t bits = is_whole ? 0xff : (uint8_t)(1u << i % 8);
        if ((page->known[i / 8] & bits) != bits)
            return false;
        i += is_whole ? 8 : 1;
    }
    return true;
}

/* Known or assumed. */
static bool holds_something(const struct page *page)
{
    static const uint8_t nothing[PAGE_BYTES];
    return memcmp(page->known, nothing, sizeof page->known) != 0 || memcmp(page->bytes, nothing, PAGE_BYTES) != 0;
}

/* --- under the lock: [address, address + size), page by page --- */

static size_t part_of_page(uint64_t address, size_t size)
{
    const size_t rest = PAGE_BYTES - address % PAGE_BYTES;
    return size < rest ? size : rest;
}

static void write_locked(uint64_t address, const uint8_t *from, size_t size, bool is_certain)
{
    while (size > 0) {
        const size_t at = address % PAGE_BYTES, n = part_of_page(address, size);
        struct page *page = page_for(address / PAGE_BYTES);
        if (page) {
            memcpy(page->bytes + at, from, n);
            mark(page, at, n, is_certain);
            if (is_certain)
                page->n_launches = atomic_load_explicit(&n_launches, memory_order_relaxed);
        }
        address += n;
        from += n;
        size -= n;
    }
}

static void forget_part(struct page *page, size_t at, size_t size)
{
    memset(page->bytes + at, 0, size);
    mark(page, at, size, false);
    if (!holds_something(page))
        drop(page);
}

static void forget_locked(uint64_t address, size_t size)
{
    const uint64_t end = size <= UINT64_MAX - address ? address + size : UINT64_MAX;
    if (size / PAGE_BYTES > atomic_load(&n_pages)) { /* a look at all pages is shorter */
        for (uint32_t i = oldest, newer; i != NONE; i = newer) {
            const uint64_t first = pages[i].number * PAGE_BYTES, last = first + PAGE_BYTES;
            newer = pages[i].newer;
            if (first < end && address < last) {
                const uint64_t from = address > first ? address : first, to = end < last ? end : last;
                forget_part(&pages[i], from - first, to - from);
            }
        }
        return;
    }
    while (address < end) {
        const size_t n = part_of_page(address, end - address);
        struct page *page = find(address / PAGE_BYTES);
        if (page)
            forget_part(page, address % PAGE_BYTES, n);
        address += n;
    }
}

static enum plim_shadow_known read_locked(uint8_t *to, uint64_t address, size_t size)
{
    const uint64_t now = atomic_load_explicit(&n_launches, memory_order_relaxed);
    enum plim_shadow_known known = PLIM_SHADOW_KNOWN;
    while (size > 0) {
        const size_t at = address % PAGE_BYTES, n = part_of_page(address, size);
        const struct page *page = atomic_load(stretch_of(address)) ? find(address / PAGE_BYTES) : NULL;
        if (page)
            memcpy(to, page->bytes + at, n);
        else
            memset(to, 0, n);
        if (!page || !is_known(page, at, n))
            known = PLIM_SHADOW_UNKNOWN;
        else if (known == PLIM_SHADOW_KNOWN && page->n_launches != now)
            known = PLIM_SHADOW_KEPT;
        address += n;
        to += n;
        size -= n;
    }
    return known;
}

/* False: nothing is known there. */
static bool is_touched(uint64_t address, size_t size)
{
    const uint64_t end = size <= UINT64_MAX - address ? address + size : UINT64_MAX;
    if (size == 0 || atomic_load(&n_pages) == 0)
        return false;
    if (size / STRETCH_BYTES >= N_STRETCHES)
        return true;
    for (uint64_t at = address / STRETCH_BYTES * STRETCH_BYTES; at < end; at += STRETCH_BYTES)
        if (atomic_load(stretch_of(at)))
            return true;
    return false;
}

/* --- from outside --- */

void plim_shadow_write(void *to, const void *from, size_t size)
{
    if (size > PLIM_SHADOW_COPY_BYTES) {
        plim_shadow_forget(to, size);
        return;
    }
    pthread_mutex_lock(&lock);
    write_locked(address_of(to), from, size, true);
    pthread_mutex_unlock(&lock);
}

void plim_shadow_assume(void *to, const void *from, size_t size)
{
    pthread_mutex_lock(&lock);
    write_locked(address_of(to), from, size, false);
    pthread_mutex_unlock(&lock);
}

enum plim_shadow_known plim_shadow_read(void *to, const void *from, size_t size)
{
    if (!is_touched(address_of(from), size)) {
        memset(to, 0, size);
        return size ? PLIM_SHADOW_UNKNOWN : PLIM_SHADOW_KNOWN;
    }
    pthread_mutex_lock(&lock);
    enum plim_shadow_known known = read_locked(to, address_of(from), size);
    pthread_mutex_unlock(&lock);
    return known;
}

void plim_shadow_read_each(void *to, uint8_t *ret_known, const void *from, size_t size)
{
    const uint64_t start = address_of(from), now = atomic_load_explicit(&n_launches, memory_order_relaxed);
    memset(ret_known, PLIM_SHADOW_UNKNOWN, size);
    memset(to, 0, size);
    if (!is_touched(start, size))
        return;
    pthread_mutex_lock(&lock);
    for (size_t done = 0, n; done < size; done += n) {
        const size_t at = (start + done) % PAGE_BYTES;
        const struct page *page = find((start + done) / PAGE_BYTES);
        n = part_of_page(start + done, size - done);
        for (size_t i = 0; page && i < n; i++)
            if (page->known[(at + i) / 8] >> (at + i) % 8 & 1)
                ret_known[done + i] = page->n_launches == now ? PLIM_SHADOW_KNOWN : PLIM_SHADOW_KEPT;
        if (page)
            memcpy((uint8_t *)to + done, page->bytes + at, n);
    }
    pthread_mutex_unlock(&lock);
}

/* Run by run: known bytes are written, unknown ones forgotten. */
static void move_locked(uint64_t to, uint64_t from, size_t size)
{
    uint8_t bytes[PAGE_BYTES], known[PAGE_BYTES];
    while (size > 0) {
        const size_t at = from % PAGE_BYTES, n = part_of_page(from, size);
        const struct page *page = find(from / PAGE_BYTES);
        for (size_t i = 0; page && i < n; i++) /* before writing evicts or moves pages */
            known[i] = page->known[(at + i) / 8] >> (at + i) % 8 & 1;
        if (page)
            memcpy(bytes, page->bytes + at, n);
        else
            memset(known, 0, n);
        for (size_t i = 0, end; i < n; i = end) {
            for (end = i + 1; end < n && known[end] == known[i];)
                end++;
            if (page)
                write_locked(to + i, bytes + i, end - i, known[i]);
            else
                forget_locked(to + i, end - i);
        }
        to += n;
        from += n;
        size -= n;
    }
}

void plim_shadow_move(void *to, const void *from, size_t size)
{
    const bool is_kept = size <= PLIM_SHADOW_COPY_BYTES && is_touched(address_of(from), size);
    if (to == from)
        return;
    if (!is_kept) {
        plim_shadow_forget(to, size);
        return;
    }
    pthread_mutex_lock(&lock);
    move_locked(address_of(to), address_of(from), size);
    pthread_mutex_unlock(&lock);
}

void plim_shadow_fill(void *to, uint32_t value, unsigned width, size_t count)
{
    uint8_t pattern[PAGE_BYTES];
    const size_t size = count <= SIZE_MAX / 4 ? count * width : SIZE_MAX;
    if (size > PLIM_SHADOW_COPY_BYTES) {
        plim_shadow_forget(to, size);
        return;
    }
    for (size_t i = 0; i < PAGE_BYTES && i < size; i++)
        pattern[i] = (uint8_t)(value >> 8 * (i % width));
    pthread_mutex_lock(&lock);
    for (size_t at = 0; at < size; at += PAGE_BYTES)
        write_locked(address_of(to) + at, pattern, size - at < PAGE_BYTES ? size - at : PAGE_BYTES, true);
    pthread_mutex_unlock(&lock);
}

void plim_shadow_forget(const void *start, size_t size)
{
    if (!is_touched(address_of(start), size))
        return;
    pthread_mutex_lock(&lock);
    forget_locked(address_of(start), size);
    pthread_mutex_unlock(&lock);
}

void plim_shadow_launched(void) { atomic_fetch_add_explicit(&n_launches, 1, memory_order_relaxed); }
uint64_t plim_shadow_n_evicted(void) { return atomic_load(&n_evicted); }
