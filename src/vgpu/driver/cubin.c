/* SPDX-License-Identifier: MIT */
/*
 * The length of an image in memory is not given, so its headers are trusted up to a limit, as the driver has to; for a
 * file the limit is its length. The layout of the output of nvcc and ptxas, as cuobjdump shows it: .text.NAME,
 * .nv.shared.NAME, and attributes in .nv.info: a format, an attribute, a length, then (format 4) so many bytes, of
 * which the first word is a symbol.
 */
#include "vgpu/driver/cubin.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { EM_CUDA_MACHINE = 190, FORMAT_VALUE = 4, REGISTER_COUNT = 0x2f, FRAME_SIZE = 0x11, MAX_THREADS = 0x05 };

struct cubin_image {
    const unsigned char *start;
    const Elf64_Shdr *sections;
    unsigned n_sections;
    const char *names;
};

static bool is_inside(uint64_t at, uint64_t size, uint64_t limit) { return at <= limit && size <= limit - at; }

/* Names end within their section. */
static bool has_names(const struct cubin_image *image, const Elf64_Shdr *names)
{
    return names->sh_type == SHT_STRTAB && names->sh_size && !image->start[names->sh_offset + names->sh_size - 1];
}

static bool open_image(const void *start, uint64_t limit, struct cubin_image *ret_image)
{
    const Elf64_Ehdr *header = start;
    if (limit < sizeof *header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_machine != EM_CUDA_MACHINE || header->e_ident[EI_CLASS] != ELFCLASS64 ||
        header->e_shentsize != sizeof(Elf64_Shdr) || header->e_shstrndx >= header->e_shnum ||
        !is_inside(header->e_shoff, (uint64_t)header->e_shnum * sizeof(Elf64_Shdr), limit))
        return false;
    ret_image->start = start;
    ret_image->sections = (const Elf64_Shdr *)(const void *)(ret_image->start + header->e_shoff);
    ret_image->n_sections = header->e_shnum;
    for (unsigned i = 0; i < ret_image->n_sections; i++)
        if (ret_image->sections[i].sh_type != SHT_NOBITS &&
            !is_inside(ret_image->sections[i].sh_offset, ret_image->sections[i].sh_size, limit))
            return false;
    const Elf64_Shdr *names = &ret_image->sections[header->e_shstrndx];
    if (!has_names(ret_image, names))
        return false;
    for (unsigned i = 0; i < ret_image->n_sections; i++)
        if (ret_image->sections[i].sh_name >= names->sh_size)
            return false;
    ret_image->names = (const char *)ret_image->start + names->sh_offset;
    return true;
}

static const char *name_of(const struct cubin_image *image, unsigned section)
{
    return image->names + image->sections[section].sh_name;
}

/* The section called prefix + name. */
static const Elf64_Shdr *section_of(const struct cubin_image *image, const char *prefix, const char *name)
{
    const size_t n = strlen(prefix);
    for (unsigned i = 0; i < image->n_sections; i++) {
        const char *own = name_of(image, i);
        if (!strncmp(own, prefix, n) && !strcmp(own + n, name))
            return &image->sections[i];
    }
    return NULL;
}

/* The number of a symbol in the table, or -1; *ret_symbol is the symbol. */
static int symbol_of(const struct cubin_image *image, const char *name, const Elf64_Sym **ret_symbol)
{
    const Elf64_Shdr *table = NULL;
    for (unsigned i = 0; i < image->n_sections; i++)
        if (image->sections[i].sh_type == SHT_SYMTAB && image->sections[i].sh_link < image->n_sections)
            table = &image->sections[i];
    if (!table || !has_names(image, &image->sections[table->sh_link]))
        return -1;
    const char *names = (const char *)image->start + image->sections[table->sh_link].sh_offset;
    const uint64_t names_size = image->sections[table->sh_link].sh_size;
    const Elf64_Sym *symbols = (const Elf64_Sym *)(const void *)(image->start + table->sh_offset);
    for (uint64_t i = 0; i < table->sh_size / sizeof *symbols; i++)
        if (symbols[i].st_name < names_size && !strcmp(names + symbols[i].st_name, name)) {
            *ret_symbol = &symbols[i];
            return (int)i;
        }
    return -1;
}

/* A block of x, y and z threads, none more than 1024; a missing dimension is 1. */
static uint64_t threads_of(const uint32_t words[3])
{
    uint64_t n = words[0];
    for (int i = 1; i < 3; i++)
        n *= words[i] && words[i] <= 1024 ? words[i] : 1;
    return n;
}

/*
 * An attribute of a symbol (-1: of the section's only kernel, a size in up to three dimensions); 0: no such attribute.
 */
static uint64_t attribute_of(const struct cubin_image *image, const Elf64_Shdr *section, int attribute, int symbol)
{
    if (!section || section->sh_type == SHT_NOBITS)
        return 0;
    const unsigned char *p = image->start + section->sh_offset, *end = p + section->sh_size;
    while (end - p >= 4) {
        uint16_t size;
        uint32_t words[3] = { 0, 0, 0 };
        memcpy(&size, p + 2, sizeof size);
        const bool is_value = p[0] == FORMAT_VALUE;
        if (is_value && size > end - p - 4)
            return 0;
        if (is_value && p[1] == attribute) {
            memcpy(words, p + 4, size < sizeof words ? size : sizeof words);
            if (symbol < 0)
                return threads_of(words);
            if (words[0] == (uint32_t)symbol)
                return words[1];
        }
        p += 4 + (is_value ? size : 0);
    }
    return 0;
}

static void add_parameter(struct plim_cubin_kernel *kernel, unsigned i, uint64_t bytes)
{
    const bool is_kept = i < PLIM_CUBIN_MAX_PARAMETERS && bytes / 4 <= UINT16_MAX && kernel->n_parameters >= 0;
    if (is_kept)
        kernel->parameter_words[i] = (uint16_t)(bytes / 4);
    kernel->n_parameters = !is_kept ? -1 : (int)i < kernel->n_parameters ? kernel->n_parameters : (int)i + 1;
}

/* All of them only if their sizes make up that of the whole. */
static void read_parameters(const struct cubin_image *image, const Elf64_Shdr *section,
                            struct plim_cubin_kernel *kernel)
{
    enum { FORMAT_SHORT = 3, PARAMETER = 0x17, ALL_PARAMETERS = 0x19 };
    const unsigned char *p = section && section->sh_type != SHT_NOBITS ? image->start + section->sh_offset : NULL;
    const unsigned char *end = p ? p + section->sh_size : NULL;
    uint64_t reach = 0, whole = UINT64_MAX;
    kernel->n_parameters = 0;
    for (uint16_t size; p && end - p >= 4; p += 4 + (p[0] == FORMAT_VALUE ? size : 0)) {
        struct {
            uint32_t number;
            uint16_t ordinal, offset;
            uint32_t bits; /* the size from bit 18 on */
        } parameter;
        memcpy(&size, p + 2, sizeof size);
        if (p[0] == FORMAT_VALUE && size > end - p - 4)
            break;
        if (p[0] == FORMAT_SHORT && p[1] == ALL_PARAMETERS)
            whole = size;
        if (p[0] != FORMAT_VALUE || p[1] != PARAMETER || size < sizeof parameter)
            continue;
        memcpy(&parameter, p + 4, sizeof parameter);
        add_parameter(kernel, parameter.ordinal, parameter.bits >> 18);
        const uint64_t last = parameter.offset + (parameter.bits >> 18);
        reach = last > reach ? last : reach;
    }
    if (reach != whole)
        kernel->n_parameters = -1;
}

/* The list after the name: ".param .u64 .ptr .global a, .param .align 4 .b8 b[12]". */
static void read_ptx_parameters(const char *list, struct plim_cubin_kernel *kernel)
{
    static const char word[] = ".param";
    const char *end = list + strspn(list, " \t\r\n");
    kernel->n_parameters = *end == '(' ? 0 : -1;
    end = *end == '(' ? strchr(end, ')') : NULL;
    for (unsigned i = 0; end && (list = strstr(list, word)) && list < end; i++) {
        const char *type = list += sizeof word - 1, *next = strstr(list, word);
        uint64_t bits = 0, n = 1;
        next = next && next < end ? next : end;
        if ((type += strspn(type, " \t")) < next && !strncmp(type, ".align", strlen(".align")))
            type = strchr(type + 1, '.');
        if (type && type < next && strlen(type) > 2)
            bits = strtoull(type + 2, NULL, 10); /* ".u64" */
        const char *bracket = memchr(list, '[', (size_t)(next - list));
        if (bracket)
            n = strtoull(bracket + 1, NULL, 10);
        add_parameter(kernel, i, bits && n < UINT16_MAX ? bits / 8 * n : UINT64_MAX);
    }
}

/* ".entry NAME" in text. */
static enum plim_cubin_answer in_ptx(const char *text, const char *name, struct plim_cubin_kernel *kernel)
{
    const size_t n = strlen(name);
    for (const char *p = text; (p = strstr(p, ".entry")); p++) {
        const char *word = p + strlen(".entry");
        word += strspn(word, " \t\r\n");
        if (!strncmp(word, name, n) && strchr(" \t\r\n(", word[n])) {
            read_ptx_parameters(word + n, kernel);
            return PLIM_CUBIN_YES;
        }
    }
    return PLIM_CUBIN_NO;
}

/* PTX begins with comments or its version. */
static bool is_ptx(const char *text)
{
    const char *word = text + strspn(text, " \t\r\n");
    return !strncmp(word, "//", 2) || !strncmp(word, ".version", strlen(".version")) || !strncmp(word, "/*", 2);
}

/* More than any card has: the file is wrong. */
static int at_most(uint64_t n, int most) { return n > (uint64_t)most ? most : (int)n; }

enum plim_cubin_answer plim_cubin_kernel(const void *start, uint64_t limit, const char *name,
                                         struct plim_cubin_kernel *ret_kernel)
{
    enum { MOST_REGISTERS = 255, MOST_THREADS = 1024, MOST_LOCAL_BYTES = 512 << 10, MOST_SHARED_BYTES = 1 << 20 };
    struct cubin_image image;
    const Elf64_Sym *symbol;
    *ret_kernel = (struct plim_cubin_kernel){ .n_parameters = -1 };
    if (!open_image(start, limit, &image))
        return is_ptx(start) ? in_ptx(start, name, ret_kernel) : PLIM_CUBIN_UNKNOWN;
    const Elf64_Shdr *code = section_of(&image, ".text.", name), *shared = section_of(&image, ".nv.shared.", name);
    if (!code)
        return PLIM_CUBIN_NO;
    const int number = symbol_of(&image, name, &symbol);
    const Elf64_Shdr *all = section_of(&image, ".nv.info", ""), *own = section_of(&image, ".nv.info.", name);
    const uint64_t registers = number < 0 ? 0 : attribute_of(&image, all, REGISTER_COUNT, number);
    ret_kernel->n_registers = at_most(registers ? registers : code->sh_info >> 24, MOST_REGISTERS);
    ret_kernel->local_bytes = number < 0 ? 0 : at_most(attribute_of(&image, all, FRAME_SIZE, number), MOST_LOCAL_BYTES);
    ret_kernel->max_threads = at_most(attribute_of(&image, own, MAX_THREADS, -1), MOST_THREADS);
    read_parameters(&image, own, ret_kernel);
    ret_kernel->shared_bytes = shared ? at_most(shared->sh_size, MOST_SHARED_BYTES) : 0;
    return PLIM_CUBIN_YES;
}

enum plim_cubin_answer plim_cubin_variable(const void *start, uint64_t limit, const char *name, uint64_t *ret_size)
{
    struct cubin_image image;
    const Elf64_Sym *symbol;
    if (!open_image(start, limit, &image))
        return PLIM_CUBIN_UNKNOWN;
    if (symbol_of(&image, name, &symbol) < 0 || ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT)
        return PLIM_CUBIN_NO;
    *ret_size = symbol->st_size;
    return PLIM_CUBIN_YES;
}

const char *plim_cubin_name(const void *start, uint64_t limit, unsigned i)
{
    static const char prefix[] = ".text.";
    struct cubin_image image;
    unsigned n = 0;
    if (!open_image(start, limit, &image))
        return NULL;
    for (unsigned s = 0; s < image.n_sections; s++)
        if (!strncmp(name_of(&image, s), prefix, sizeof prefix - 1) && n++ == i)
            return name_of(&image, s) + sizeof prefix - 1;
    return NULL;
}

uint64_t plim_cubin_size(const void *start, uint64_t limit)
{
    struct cubin_image image;
    if (!open_image(start, limit, &image))
        return 0;
    uint64_t size = (uint64_t)((const unsigned char *)(image.sections + image.n_sections) - image.start);
    for (unsigned i = 0; i < image.n_sections; i++)
        if (image.sections[i].sh_type != SHT_NOBITS && image.sections[i].sh_offset + image.sections[i].sh_size > size)
            size = image.sections[i].sh_offset + image.sections[i].sh_size;
    return size;
}
