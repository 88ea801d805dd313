/* SPDX-License-Identifier: MIT */
/*
 * A fat binary is a header and a sequence of entries, each with a header of its own: kind (1 PTX, 2 machine code), its
 * length, the length of the code, the compute capability. A card runs machine code of its major version that is not
 * newer than itself (CUDA programming guide, "Binary compatibility"), else PTX that is not newer.
 */
#include "vgpu/runtime/fatbin.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static const uint32_t wrapper_magic = 0x466243b1, fat_magic = 0xba55ed50;
enum { KIND_PTX = 1, KIND_MACHINE = 2, MAX_ENTRIES = 256 };

struct wrapper {
    uint32_t magic, version;
    const unsigned char *data;
    const void *others;
};

struct fat_header {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t size;
};

struct fat_entry {
    uint16_t kind, flags;
    uint32_t header_bytes;
    uint64_t size;
    uint32_t compressed_bytes, options;
    uint16_t minor, major;
    uint32_t compute_capability;
};
_Static_assert(sizeof(struct fat_entry) == 32 && sizeof(struct fat_header) == 16, "a fat binary");

static bool choose(const void *start, uint32_t cc, uint32_t *ret_ptx, uint32_t *ret_machine)
{
    struct wrapper wrapper;
    struct fat_header header;
    struct fat_entry entry;
    *ret_ptx = *ret_machine = 0;
    if (!start)
        return false;
    memcpy(&wrapper, start, sizeof wrapper);
    if (wrapper.magic != wrapper_magic || !wrapper.data)
        return false;
    memcpy(&header, wrapper.data, sizeof header);
    if (header.magic != fat_magic || header.header_bytes < sizeof header)
        return false;
    uint64_t at = 0;
    for (unsigned i = 0; i < MAX_ENTRIES && header.size - at >= sizeof entry; i++) {
        memcpy(&entry, wrapper.data + header.header_bytes + at, sizeof entry);
        if (entry.header_bytes < sizeof entry || entry.size > header.size - at ||
            entry.header_bytes > header.size - at - entry.size)
            return false;
        at += entry.header_bytes + entry.size;
        const uint32_t own = entry.compute_capability;
        if (entry.kind == KIND_MACHINE && own / 10 == cc / 10 && own <= cc && own > *ret_machine)
            *ret_machine = own;
        if (entry.kind == KIND_PTX && own <= cc && own > *ret_ptx)
            *ret_ptx = own;
    }
    return at > 0;
}

bool plim_fat_choose(struct plim_fat *fat, int compute_capability, int *ret_ptx, int *ret_binary)
{
    uint32_t ptx, machine;
    const uint32_t cc = (uint32_t)compute_capability & 0xffff;
    if (!fat) {
        *ret_ptx = *ret_binary = compute_capability;
        return true;
    }
    uint64_t answer = fat->answer; /* cc, PTX, machine code, and whether one of them fits: 16 bits each */
    if ((answer & 0xffff) != cc) {
        const bool is_read = choose(fat->wrapper, cc, &ptx, &machine);
        const uint64_t is_fit = !is_read || machine || ptx;
        const uint64_t of_ptx = !is_read ? cc : machine ? machine : ptx, of_machine = is_read && machine ? machine : cc;
        answer = is_fit << 48 | of_machine << 32 | of_ptx << 16 | cc; /* no field exceeds cc */
        fat->answer = answer;
    }
    *ret_ptx = answer >> 16 & 0xffff;
    *ret_binary = answer >> 32 & 0xffff;
    return answer >> 48;
}
