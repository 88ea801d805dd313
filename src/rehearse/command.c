/* SPDX-License-Identifier: MIT */
/* ELF as the System V ABI describes it; every offset is checked against the size of the file. */
#include "rehearse/command.h"

#include "base/error.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

int plim_command_find(const char *command, const char *path, char *ret_path, size_t size, struct plim_error *reterr)
{
    struct stat status;
    bool is_denied = false, is_folder = false;
    int error = 0;
    for (const char *p = strchr(command, '/') ? "" : path ? path : "/usr/bin:/bin"; p;) {
        const size_t length = strcspn(p, ":");
        const char *slash = strchr(command, '/') ? "" : "/";
        int n = snprintf(ret_path, size, "%.*s%s%s", (int)length, p, slash, command);
        errno = 0;
        const bool is_there = n > 0 && (size_t)n < size && stat(ret_path, &status) == 0;
        const bool is_file = is_there && S_ISREG(status.st_mode);
        if (is_file && access(ret_path, X_OK) == 0)
            return 0;
        is_folder = is_folder || (is_there && !*slash && S_ISDIR(status.st_mode));
        is_denied = is_denied || is_file || (errno == EACCES && !*slash); /* folders of PATH may be closed to us */
        error = errno == EIO || errno == ENOMEM ? errno : error;
        p = p[length] ? p + length + 1 : NULL;
    }
    if (error)
        return plim_fail_errno(reterr, command, "look at this program", error);
    if (is_folder)
        return plim_fail(reterr, PLIM_E_DENIED, PLIM_NO_OFFSET, "'%s' is a folder, not a program", command);
    if (!is_denied)
        return plim_fail(reterr, PLIM_E_NOT_FOUND, PLIM_NO_OFFSET, "program '%s' not found", command);
    plim_fail(reterr, PLIM_E_DENIED, PLIM_NO_OFFSET, "'%s' is not executable", command);
    plim_error_hint(reterr, "a script without chmod +x needs its interpreter before it: python3 or sh");
    return PLIM_E_DENIED;
}

/* --- ELF --- */

#if defined(__x86_64__)
enum { MACHINE = EM_X86_64 };
#elif defined(__aarch64__)
enum { MACHINE = EM_AARCH64 };
#else
enum { MACHINE = EM_NONE };
#endif

struct image {
    const unsigned char *bytes;
    uint64_t size;
};

/* A part of the file; NULL when it is beyond the end. */
static const void *part(const struct image *image, uint64_t offset, uint64_t size)
{
    return offset <= image->size && size <= image->size - offset ? image->bytes + offset : NULL;
}

static const char *text_at(const struct image *image, uint64_t table, uint64_t table_size, uint64_t offset)
{
    const char *strings = part(image, table, table_size);
    return strings && offset < table_size && memchr(strings + offset, 0, table_size - offset) ? strings + offset : "";
}

static bool read_section(const struct image *image, const Elf64_Ehdr *header, uint64_t index, Elf64_Shdr *ret_section)
{
    const void *found =
        index < header->e_shnum && header->e_shentsize == sizeof *ret_section && header->e_shoff < image->size
            ? part(image, header->e_shoff + index * sizeof *ret_section, sizeof *ret_section)
            : NULL;
    if (found)
        memcpy(ret_section, found, sizeof *ret_section);
    return found != NULL;
}

static bool needs_runtime(const struct image *image, const Elf64_Ehdr *header, const Elf64_Shdr *dynamic)
{
    Elf64_Shdr strings;
    if (!read_section(image, header, dynamic->sh_link, &strings))
        return false;
    for (uint64_t i = 0; i < dynamic->sh_size / sizeof(Elf64_Dyn); i++) {
        Elf64_Dyn entry;
        const void *found =
            dynamic->sh_offset < image->size ? part(image, dynamic->sh_offset + i * sizeof entry, sizeof entry) : NULL;
        if (!found)
            return false;
        memcpy(&entry, found, sizeof entry);
        if (entry.d_tag == DT_NEEDED &&
            !strncmp(text_at(image, strings.sh_offset, strings.sh_size, entry.d_un.d_val), "libcudart.so", 12))
            return true;
    }
    return false;
}

static int check_elf(const struct image *image, struct plim_error *reterr)
{
    Elf64_Ehdr header;
    Elf64_Shdr names, section;
    bool has_gpu_code = false, has_runtime = false;
    const void *start = part(image, 0, sizeof header);
    if (!start || memcmp(start, ELFMAG, SELFMAG) != 0)
        return 0; /* a script, or something the kernel knows */
    memcpy(&header, start, sizeof header);
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != MACHINE)
        return plim_fail(reterr, PLIM_E_UNSUPPORTED, PLIM_NO_OFFSET, "the program is built for another machine");
    if (!read_section(image, &header, header.e_shstrndx, &names))
        return 0;
    for (uint64_t i = 0; i < header.e_shnum && read_section(image, &header, i, &section); i++) {
        const char *name = text_at(image, names.sh_offset, names.sh_size, section.sh_name);
        has_gpu_code = has_gpu_code || !strcmp(name, ".nv_fatbin") || !strcmp(name, ".nvFatBinSegment");
        has_runtime = has_runtime || (section.sh_type == SHT_DYNAMIC && needs_runtime(image, &header, &section));
    }
    if (!has_gpu_code || has_runtime)
        return 0;
    int code = plim_fail(reterr, PLIM_E_UNSUPPORTED, PLIM_NO_OFFSET,
                         "the program is linked with the static CUDA runtime, which cannot be replaced");
    plim_error_hint(reterr, "build it with the shared runtime: nvcc -cudart shared; llama.cpp without GGML_STATIC");
    return code;
}

/* The loader ignores LD_PRELOAD for such a program: secure-execution mode of ld.so(8). */
static int check_rights(int fd, const struct stat *status, struct plim_error *reterr)
{
    const bool is_another = (status->st_mode & S_ISUID && status->st_uid != getuid()) ||
                            (status->st_mode & S_ISGID && status->st_gid != getgid()) ||
                            (getuid() != 0 && fgetxattr(fd, "security.capability", NULL, 0) > 0);
    if (!is_another)
        return 0;
    int code = plim_fail(reterr, PLIM_E_UNSUPPORTED, PLIM_NO_OFFSET,
                         "the program runs with more privileges than yours: the loader ignores the virtual libraries");
    plim_error_hint(reterr, "rehearse a copy of it: cp keeps neither the set-user-ID bit nor its capabilities");
    return code;
}

int plim_command_check(const char *path, struct plim_error *reterr)
{
    struct stat status;
    int result = 0, fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &status) == 0)
        result = check_rights(fd, &status, reterr);
    if (fd >= 0 && result == 0 && status.st_size > 0) {
        void *start = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (start != MAP_FAILED) {
            result = check_elf(&(struct image){ start, (uint64_t)status.st_size }, reterr);
            munmap(start, (size_t)status.st_size);
        }
    }
    if (fd >= 0)
        close(fd);
    if (result < 0)
        plim_error_where(reterr, path);
    return result;
}
