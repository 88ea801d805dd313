/* SPDX-License-Identifier: MIT */
#include "vgpu/kernels/name.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* Of the C++ library of this process, which Python loads for its modules only. */
static void *find_demangler(void)
{
    void *found = dlsym(RTLD_DEFAULT, "__cxa_demangle");
    void *library = found ? NULL : dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD);
    return library ? dlsym(library, "__cxa_demangle") : found;
}

char *plim_name_demangled(const char *mangled)
{
    char *(*demangle)(const char *, char *, size_t *, int *) = NULL;
    void *found = mangled[0] == '_' && mangled[1] == 'Z' ? find_demangler() : NULL;
    int status = 0;
    memcpy(&demangle, &found, sizeof found);
    return demangle ? demangle(mangled, NULL, NULL, &status) : NULL;
}

struct plim_text plim_text_of(const char *string) { return (struct plim_text){ string, strlen(string) }; }

bool plim_text_is(struct plim_text text, const char *string)
{
    return strlen(string) == text.size && memcmp(text.start, string, text.size) == 0;
}

bool plim_text_starts(struct plim_text text, const char *string)
{
    const size_t size = strlen(string);
    return size <= text.size && memcmp(text.start, string, size) == 0;
}

struct plim_text plim_text_after(struct plim_text text, const char *string)
{
    const size_t size = strlen(string);
    const char *found = text.size ? memmem(text.start, text.size, string, size) : NULL;
    return found ? (struct plim_text){ found + size, text.size - (size_t)(found + size - text.start) }
                 : (struct plim_text){ "", 0 };
}

bool plim_text_has(struct plim_text text, const char *string)
{
    return text.size && memmem(text.start, text.size, string, strlen(string)) != NULL;
}

static bool opens(char c) { return c == '<' || c == '(' || c == '{' || c == '['; }
static bool closes(char c) { return c == '>' || c == ')' || c == '}' || c == ']'; }

/* The length up to the bracket that closes what was opened before the text, or up to a comma between arguments. */
static size_t part(struct plim_text text, bool until_comma)
{
    size_t depth = 0;
    for (size_t i = 0; i < text.size; i++) {
        const char c = text.start[i];
        const bool is_arrow = c == '>' && i > 0 && text.start[i - 1] == '-';
        if (depth == 0 && ((until_comma && c == ',') || (closes(c) && !is_arrow)))
            return i;
        depth += opens(c);
        depth -= closes(c) && !is_arrow;
    }
    return text.size;
}

bool plim_name_template(struct plim_text text, const char *name, struct plim_text *ret_arguments)
{
    for (struct plim_text rest = text; (rest = plim_text_after(rest, name)).size > 0;)
        if (rest.start[0] == '<') {
            const struct plim_text inside = { rest.start + 1, rest.size - 1 };
            *ret_arguments = (struct plim_text){ inside.start, part(inside, false) };
            return true;
        }
    return false;
}

bool plim_name_argument(struct plim_text arguments, unsigned number, struct plim_text *ret_argument)
{
    for (unsigned i = 0; arguments.size > 0; i++) {
        const size_t size = part(arguments, true);
        struct plim_text found = { arguments.start, size };
        while (found.size && *found.start == ' ')
            found.start++, found.size--;
        while (found.size && found.start[found.size - 1] == ' ')
            found.size--;
        if (i == number) {
            *ret_argument = found;
            return true;
        }
        const size_t skip = size < arguments.size ? size + 1 : size;
        arguments = (struct plim_text){ arguments.start + skip, arguments.size - skip };
    }
    return false;
}

struct plim_text plim_name_function(struct plim_text name)
{
    static const char anonymous[] = "(anonymous namespace)";
    size_t i = 0, start = 0;
    while (i < name.size && name.start[i] != '<') {
        const struct plim_text rest = { name.start + i, name.size - i };
        if (plim_text_starts(rest, anonymous))
            i += sizeof anonymous - 1;
        else if (name.start[i] == '(')
            break;
        else if (name.start[i++] == ' ')
            start = i;
    }
    return (struct plim_text){ name.start + start, i - start };
}

/* Templates and lambdas in front of the parameters have brackets of their own. */
struct plim_text plim_name_parameters(struct plim_text name)
{
    size_t depth = 0, end = name.size;
    for (size_t i = name.size; i-- > 0;) {
        const char c = name.start[i];
        if (c == ')' && depth++ == 0)
            end = i;
        else if (c == '(' && depth > 0 && --depth == 0)
            return (struct plim_text){ name.start + i + 1, end - i - 1 };
    }
    return (struct plim_text){ "", 0 };
}

enum plim_element plim_name_element(struct plim_text text)
{
    static const struct {
        const char *name;
        enum plim_element element;
    } names[] = {
        { "bool", PLIM_ELEMENT_BOOL },
        { "unsigned char", PLIM_ELEMENT_U8 },
        { "signed char", PLIM_ELEMENT_I8 },
        { "short", PLIM_ELEMENT_I16 },
        { "int", PLIM_ELEMENT_I32 },
        { "long", PLIM_ELEMENT_I64 },
        { "long long", PLIM_ELEMENT_I64 },
        { "unsigned short", PLIM_ELEMENT_U16 },
        { "unsigned int", PLIM_ELEMENT_U32 },
        { "unsigned long", PLIM_ELEMENT_U64 },
        { "unsigned long long", PLIM_ELEMENT_U64 },
        { "c10::Half", PLIM_ELEMENT_F16 },
        { "__half", PLIM_ELEMENT_F16 },
        { "c10::BFloat16", PLIM_ELEMENT_BF16 },
        { "__nv_bfloat16", PLIM_ELEMENT_BF16 },
        { "float", PLIM_ELEMENT_F32 },
        { "double", PLIM_ELEMENT_F64 },
        { "c10::Float8_e4m3fn", PLIM_ELEMENT_F8_E4M3FN },
        { "c10::Float8_e5m2", PLIM_ELEMENT_F8_E5M2 },
        { "c10::Float8_e4m3fnuz", PLIM_ELEMENT_F8_E4M3FNUZ },
        { "c10::Float8_e5m2fnuz", PLIM_ELEMENT_F8_E5M2FNUZ },
    };
    if (text.size > 6 && memcmp(text.start + text.size - 6, " const", 6) == 0)
        text.size -= 6;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (plim_text_is(text, names[i].name))
            return names[i].element;
    return PLIM_ELEMENT_NONE;
}

enum plim_element plim_name_template_element(struct plim_text text, const char *name, unsigned number)
{
    struct plim_text arguments, argument;
    return plim_name_template(text, name, &arguments) && plim_name_argument(arguments, number, &argument)
               ? plim_name_element(argument)
               : PLIM_ELEMENT_NONE;
}

long plim_name_number(struct plim_text text)
{
    long number = 0;
    size_t i = 0;
    for (; i < text.size && i < 9 && text.start[i] >= '0' && text.start[i] <= '9'; i++)
        number = 10 * number + (text.start[i] - '0');
    return i > 0 && (i == text.size || text.start[i] == 'u' || text.start[i] == 'l') ? number : -1;
}
