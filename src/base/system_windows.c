/* SPDX-License-Identifier: MIT */
/* The operating system under Windows: the C runtime's file numbers over Win32's handles; names in UTF-16 there. */
#include "base/system.h"
#include "base/system_names.h"

#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <stdlib.h>
#include <string.h>
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

enum { NAME_UNITS = 32768 / 8, POLL_MS = 20 };

/* The errno of the last error of Win32, for the errors that a person can do something about. */
static int last_errno(void)
{
    switch (GetLastError()) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
    case ERROR_INVALID_NAME:
    case ERROR_BAD_NETPATH:
        return ENOENT;
    case ERROR_DIRECTORY:
        return ENOTDIR;
    case ERROR_ACCESS_DENIED:
    case ERROR_SHARING_VIOLATION:
    case ERROR_LOCK_VIOLATION:
        return EACCES;
    case ERROR_NOT_ENOUGH_MEMORY:
    case ERROR_OUTOFMEMORY:
        return ENOMEM;
    case ERROR_NOT_SUPPORTED:
        return ENOSYS;
    default:
        return EIO;
    }
}

static bool to_utf16(const char *path, wchar_t wide[NAME_UNITS])
{
    return MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, wide, NAME_UNITS) > 0;
}

static HANDLE handle_of(int file) { return (HANDLE)_get_osfhandle(file); }

/* From 100 ns since 1601. */
static int64_t to_unix_ms(FILETIME time)
{
    const uint64_t ticks = (uint64_t)time.dwHighDateTime << 32 | time.dwLowDateTime;
    return (int64_t)(ticks / 10000) - INT64_C(11644473600000);
}

/* --- files --- */

static int fill_status(HANDLE handle, struct plim_file_status *ret_status)
{
    BY_HANDLE_FILE_INFORMATION info;
    const DWORD type = GetFileType(handle);
    if (type == FILE_TYPE_PIPE || type == FILE_TYPE_CHAR) {
        *ret_status = (struct plim_file_status){ .kind = type == FILE_TYPE_PIPE ? PLIM_KIND_PIPE : PLIM_KIND_DEVICE };
        return 0;
    }
    if (!GetFileInformationByHandle(handle, &info))
        return last_errno();
    *ret_status = (struct plim_file_status){
        .kind = info.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT ? PLIM_KIND_LINK
                : info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY   ? PLIM_KIND_FOLDER
                                                                     : PLIM_KIND_FILE,
        .bytes = (uint64_t)info.nFileSizeHigh << 32 | info.nFileSizeLow,
        .volume = info.dwVolumeSerialNumber,
        .number = (uint64_t)info.nFileIndexHigh << 32 | info.nFileIndexLow,
        .written_unix_s = to_unix_ms(info.ftLastWriteTime) / 1000,
    };
    return 0;
}

/* Folders need FILE_FLAG_BACKUP_SEMANTICS to be opened at all. */
static int open_handle(const char *path, DWORD access, DWORD flags, HANDLE *ret_handle)
{
    wchar_t wide[NAME_UNITS];
    if (!to_utf16(path, wide))
        return ENOENT;
    *ret_handle = CreateFileW(wide, access, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL, OPEN_EXISTING,
                              FILE_ATTRIBUTE_NORMAL | FILE_FLAG_BACKUP_SEMANTICS | flags, NULL);
    return *ret_handle == INVALID_HANDLE_VALUE ? last_errno() : 0;
}

int plim_system_open(const char *path, enum plim_opening opening, int *ret_file)
{
    HANDLE handle;
    (void)opening; /* opening a pipe that has no writer fails, and does not wait */
    const int result = open_handle(path, GENERIC_READ, 0, &handle);
    if (result)
        return result;
    const int file = _open_osfhandle((intptr_t)handle, _O_RDONLY | _O_BINARY | _O_NOINHERIT);
    if (file < 0) {
        CloseHandle(handle);
        return EMFILE;
    }
    *ret_file = file;
    return 0;
}

void plim_system_close(int file) { _close(file); }

int plim_system_status(int file, struct plim_file_status *ret_status)
{
    return fill_status(handle_of(file), ret_status);
}

int plim_system_look(const char *path, bool follows_links, struct plim_file_status *ret_status)
{
    HANDLE handle;
    int result = open_handle(path, FILE_READ_ATTRIBUTES, follows_links ? 0 : FILE_FLAG_OPEN_REPARSE_POINT, &handle);
    if (result)
        return result;
    result = fill_status(handle, ret_status);
    CloseHandle(handle);
    return result;
}

int plim_system_link(const char *path, char *ret_target, size_t size)
{
    (void)path, (void)ret_target, (void)size;
    return ENOSYS;
}

int plim_system_visit_links(const char *folder, bool (*visit)(void *context, const char *name, const char *target),
                            void *context)
{
    (void)folder, (void)visit, (void)context;
    return ENOSYS;
}

/* A pipe whose writer has gone has ended. */
static int read_handle(HANDLE handle, void *buffer, size_t n, OVERLAPPED *place, size_t *ret_n)
{
    DWORD got = 0;
    const DWORD most = n < MAXDWORD ? (DWORD)n : MAXDWORD;
    if (!ReadFile(handle, buffer, most, &got, place)) {
        const DWORD error = GetLastError();
        if (error != ERROR_BROKEN_PIPE && error != ERROR_HANDLE_EOF)
            return last_errno();
    }
    *ret_n = got;
    return 0;
}

int plim_system_read(int file, void *buffer, size_t n, size_t *ret_n)
{
    return read_handle(handle_of(file), buffer, n, NULL, ret_n);
}

int plim_system_read_at(int file, void *buffer, size_t n, uint64_t at, size_t *ret_n)
{
    OVERLAPPED place = { .Offset = (DWORD)at, .OffsetHigh = (DWORD)(at >> 32) };
    uint64_t before = 0; /* Win32 moves the place even so */
    int result = plim_system_place(file, &before);
    if (result == 0)
        result = read_handle(handle_of(file), buffer, n, &place, ret_n);
    return result ? result : plim_system_move(file, before);
}

static int move(int file, LARGE_INTEGER by, DWORD from, uint64_t *ret_at)
{
    LARGE_INTEGER at;
    if (!SetFilePointerEx(handle_of(file), by, &at, from))
        return last_errno();
    *ret_at = (uint64_t)at.QuadPart;
    return 0;
}

int plim_system_place(int file, uint64_t *ret_at)
{
    return move(file, (LARGE_INTEGER){ .QuadPart = 0 }, FILE_CURRENT, ret_at);
}

int plim_system_move(int file, uint64_t at)
{
    uint64_t reached;
    return move(file, (LARGE_INTEGER){ .QuadPart = (LONGLONG)at }, FILE_BEGIN, &reached);
}

/* Pipes cannot be waited for: they are looked at again and again. Handles of consoles can. */
bool plim_system_wait(int file, int ms)
{
    const HANDLE handle = handle_of(file);
    if (GetFileType(handle) != FILE_TYPE_PIPE)
        return WaitForSingleObject(handle, ms < 0 ? INFINITE : (DWORD)ms) == WAIT_OBJECT_0;
    for (int waited_ms = 0; ms < 0 || waited_ms <= ms; waited_ms += POLL_MS) {
        DWORD n_waiting = 0;
        if (!PeekNamedPipe(handle, NULL, 0, NULL, &n_waiting, NULL) || n_waiting)
            return true;
        Sleep(POLL_MS);
    }
    return false;
}

bool plim_system_is_terminal(int file) { return _isatty(file); }

/* --- folders --- */

int plim_system_list(const char *folder, struct plim_names *ret_names)
{
    enum { PATH_BYTES = 4096, NAME_BYTES = 4 * MAX_PATH };
    char all[PATH_BYTES], name[NAME_BYTES];
    wchar_t wide[NAME_UNITS];
    WIN32_FIND_DATAW entry;
    *ret_names = (struct plim_names){ 0 };
    const size_t length = strlen(folder);
    if (length + sizeof "/*" > sizeof all)
        return ENAMETOOLONG;
    memcpy(all, folder, length);
    memcpy(all + length, "/*", sizeof "/*");
    if (!to_utf16(all, wide))
        return ENOENT;
    const HANDLE search = FindFirstFileW(wide, &entry);
    if (search == INVALID_HANDLE_VALUE)
        return last_errno();
    int result = 0;
    do
        if (WideCharToMultiByte(CP_UTF8, 0, entry.cFileName, -1, name, sizeof name, NULL, NULL) > 0)
            result = plim_names_add(ret_names, name);
    while (result == 0 && FindNextFileW(search, &entry));
    FindClose(search);
    plim_names_sort(ret_names);
    if (result)
        plim_names_done(ret_names);
    return result;
}

/* --- libraries --- */

void *plim_system_library(const char *path, char ret_why[PLIM_LIBRARY_WHY_BYTES])
{
    wchar_t wide[NAME_UNITS];
    ret_why[0] = '\0'; /* dependencies that lack look like a library that does */
    return to_utf16(path, wide) ? (void *)LoadLibraryW(wide) : NULL;
}

void plim_system_library_close(void *library) { FreeLibrary((HMODULE)library); }

void plim_system_symbol(void *library, const char *name, void *ret_slot)
{
    const FARPROC address = GetProcAddress((HMODULE)library, name);
    memcpy(ret_slot, &address, sizeof address);
}

/* --- the rest --- */

uint64_t plim_system_now_us(void)
{
    LARGE_INTEGER count, per_s;
    QueryPerformanceCounter(&count);
    QueryPerformanceFrequency(&per_s);
    const uint64_t n = (uint64_t)count.QuadPart, rate = (uint64_t)per_s.QuadPart;
    return n / rate * 1000000 + n % rate * 1000000 / rate;
}

void plim_system_sleep_ms(unsigned ms) { Sleep(ms); }

int64_t plim_system_wall_ms(void)
{
    FILETIME now;
    GetSystemTimeAsFileTime(&now);
    return to_unix_ms(now);
}

int plim_system_has_process(int64_t pid)
{
    (void)pid;
    return ENOSYS;
}

int plim_system_user(int64_t uid, char *ret_name, size_t size)
{
    (void)uid, (void)ret_name, (void)size;
    return ENOSYS;
}

uint64_t plim_system_page_bytes(void) { return 4096; }

int plim_system_ram(uint64_t *ret_total_bytes, uint64_t *ret_free_bytes)
{
    MEMORYSTATUSEX status = { .dwLength = sizeof status };
    if (!GlobalMemoryStatusEx(&status))
        return last_errno();
    *ret_total_bytes = status.ullTotalPhys;
    *ret_free_bytes = status.ullAvailPhys;
    return 0;
}

char **plim_system_environment(void) { return _environ; }
