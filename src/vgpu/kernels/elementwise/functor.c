/* SPDX-License-Identifier: MIT */
#include "vgpu/kernels/elementwise/functor.h"

#include <string.h>

/* The name as it is read: the last part of the functor's qualified name, its template arguments and its lambda. */
struct spelling {
    struct plim_text base, template;
    struct plim_text inputs; /* the lambda's */
    bool is_lambda;
    unsigned lambda, branch;
};

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static struct plim_text from(struct plim_text text, size_t skip)
{
    return (struct plim_text){ text.start + skip, text.size - skip };
}

/* The text behind its namespaces: "at::native::(anonymous namespace)::AbsFunctor<float>" is "AbsFunctor<float>". */
static struct plim_text unqualified(struct plim_text text)
{
    static const char anonymous[] = "(anonymous namespace)::";
    for (;;) {
        size_t size = 0;
        if (plim_text_starts(text, anonymous)) {
            text = from(text, sizeof anonymous - 1);
            continue;
        }
        while (size < text.size && is_name(text.start[size]))
            size++;
        if (size + 2 > text.size || memcmp(text.start + size, "::", 2) != 0)
            return text;
        text = from(text, size + 2);
    }
}

/* The last lambda is the functor; the first one, a branch of the dispatch around it. */
static bool read_lambda(struct plim_text text, struct spelling *ret)
{
    struct plim_text last = { "", 0 }, rest = text, tail, branch;
    while ((rest = plim_text_after(rest, "::{lambda(")).size)
        last = rest;
    if (!last.size)
        return false;
    tail = plim_text_after(last, ")#");
    const long number = tail.size > 1 && tail.start[tail.size - 1] == '}'
                            ? plim_name_number((struct plim_text){ tail.start, tail.size - 1 })
                            : -1;
    if (number <= 0)
        return false;
    ret->is_lambda = true;
    ret->lambda = (unsigned)number;
    ret->inputs = (struct plim_text){ last.start, (size_t)(tail.start - last.start) - 2 };
    branch = plim_text_after(text, "::{lambda()#");
    ret->branch =
        branch.size && branch.start[0] >= '1' && branch.start[0] <= '9' ? (unsigned)(branch.start[0] - '0') : 0;
    return true;
}

static bool spell(struct plim_text text, struct spelling *ret)
{
    const struct plim_text rest = unqualified(text);
    size_t size = 0;
    memset(ret, 0, sizeof *ret);
    while (size < rest.size && is_name(rest.start[size]))
        size++;
    ret->base = (struct plim_text){ rest.start, size };
    if (size < rest.size && rest.start[size] == '<') {
        const struct plim_text whole = { rest.start + size - 1, rest.size - size + 1 };
        char last[2] = { rest.start[size - 1], 0 };
        if (size == 0 || !plim_name_template(whole, last, &ret->template))
            return false;
    }
    read_lambda(rest, ret);
    return size > 0;
}

/* --- types --- */

/* The type that opmath_type gives (ATen/OpMathType.h): small floats are computed with as float. */
static enum plim_element operated(enum plim_element type)
{
    return plim_element_is_float(type) && type != PLIM_ELEMENT_F64 ? PLIM_ELEMENT_F32 : type;
}

/* acc_type on a GPU (ATen/AccumulateType.h). */
static enum plim_element accumulated(enum plim_element type)
{
    return plim_element_is_float(type) ? operated(type) : PLIM_ELEMENT_I64;
}

static enum plim_element template_element(const struct spelling *spelling, unsigned number)
{
    struct plim_text argument;
    return plim_name_argument(spelling->template, number, &argument) ? plim_name_element(argument) : PLIM_ELEMENT_NONE;
}

static enum plim_element held_element(const struct spelling *spelling, const struct plim_functor *functor, char letter)
{
    switch (letter) {
    case 'T':
        return functor->type;
    case 'O':
        return operated(functor->type);
    case 'A':
        return accumulated(functor->type);
    case 'b':
        return PLIM_ELEMENT_BOOL;
    case 'p': /* a pointer */
        return PLIM_ELEMENT_U64;
    case 'i': /* an enum */
        return PLIM_ELEMENT_I32;
    default: /* '1', '2' ...: an argument of the template */
        return template_element(spelling, (unsigned)(letter - '1'));
    }
}

static unsigned aligned(unsigned offset, unsigned to) { return (offset + to - 1) / to * to; }

static bool lay_out(const struct spelling *spelling, struct plim_functor *functor)
{
    unsigned offset = 0, most = 1;
    for (const char *letter = functor->row->held; *letter; letter++) {
        const enum plim_element type = *letter == 'd' ? PLIM_ELEMENT_U64 : held_element(spelling, functor, *letter);
        const unsigned bytes = plim_element_bytes(type);
        if (bytes == 0 || (*letter != 'd' && functor->n_held == PLIM_OPERATION_MAX_HELD))
            return false;
        offset = aligned(offset, bytes);
        most = bytes > most ? bytes : most;
        if (*letter != 'd') {
            functor->held_offset[functor->n_held] = offset;
            functor->held_type[functor->n_held++] = type;
        }
        offset += bytes;
    }
    functor->align_bytes = most;
    functor->size_bytes = offset ? aligned(offset, most) : 1;
    return true;
}

static enum plim_element fp8_of(unsigned lambda)
{
    /* The order of the branches in float8_copy_kernel_cuda (Copy.cu); the next is e8m0. */
    static const enum plim_element types[] = { PLIM_ELEMENT_NONE, PLIM_ELEMENT_F8_E4M3FN, PLIM_ELEMENT_F8_E5M2,
                                               PLIM_ELEMENT_F8_E4M3FNUZ, PLIM_ELEMENT_F8_E5M2FNUZ };
    return lambda < sizeof types / sizeof *types ? types[lambda] : PLIM_ELEMENT_NONE;
}

static bool is_fp8(enum plim_element type) { return type >= PLIM_ELEMENT_F8_E4M3FN; }

static enum plim_element result_of(const struct spelling *spelling, const struct plim_functor *functor)
{
    switch (functor->row->result) {
    case '3':
        return PLIM_ELEMENT_F8_E4M3FN;
    case '5':
        return PLIM_ELEMENT_F8_E5M2;
    case 'b':
        return PLIM_ELEMENT_BOOL;
    case 'h':
        return PLIM_ELEMENT_F16;
    case 'g':
        return PLIM_ELEMENT_BF16;
    case '8':
        return is_fp8(functor->type) ? functor->type : fp8_of(spelling->lambda);
    case '<': /* the first input */
        return functor->input[0];
    case '2':
        return template_element(spelling, 1);
    default:
        return functor->type;
    }
}

/* --- functors --- */

/* A type without numbers, by its size: enough for what only moves it. */
static enum plim_element raw_element(struct plim_text type)
{
    return plim_text_is(type, "c10::complex<float>")       ? PLIM_ELEMENT_U64
           : plim_text_is(type, "c10::complex<c10::Half>") ? PLIM_ELEMENT_U32
                                                           : PLIM_ELEMENT_NONE;
}

static bool only_moves(const struct plim_functor_row *row)
{
    return row->operation == plim_op_copy || row->operation == plim_op_hold || row->operation == plim_op_where ||
           row->operation == plim_op_masked_fill;
}

static enum plim_element input_element(struct plim_text type, struct plim_functor *functor)
{
    const enum plim_element element = plim_name_element(type), raw = raw_element(type);
    if (element != PLIM_ELEMENT_NONE || raw == PLIM_ELEMENT_NONE || !only_moves(functor->row))
        return element;
    functor->is_raw = true;
    return raw;
}

static bool read_inputs(const struct spelling *spelling, struct plim_functor *functor)
{
    struct plim_text type;
    unsigned n = 0;
    if (!spelling->is_lambda) {
        if (plim_name_argument(spelling->template, 0, &type))
            functor->type = input_element(type, functor);
        else if (functor->row->result == '5')
            functor->type = PLIM_ELEMENT_F32;
        for (; n < functor->row->n_inputs; n++)
            functor->input[n] = functor->type;
        functor->n_inputs = n;
        return functor->type != PLIM_ELEMENT_NONE;
    }
    for (; spelling->inputs.size && plim_name_argument(spelling->inputs, n, &type); n++) {
        if (n == PLIM_OPERATION_MAX_INPUTS || !(functor->input[n] = input_element(type, functor)))
            return false;
        functor->type = functor->input[n];
    }
    functor->n_inputs = n;
    if (functor->row->result == '<')
        functor->type = functor->input[0];
    return n > 0;
}

static unsigned count_inputs(const struct spelling *spelling)
{
    struct plim_text type;
    unsigned n = 0;
    while (spelling->inputs.size && plim_name_argument(spelling->inputs, n, &type))
        n++;
    return n;
}

static const struct plim_functor_row *row_of(const struct spelling *spelling)
{
    const unsigned n = count_inputs(spelling);
    for (const struct plim_functor_row *row = plim_functor_rows; row->name; row++)
        if (plim_text_is(spelling->base, row->name) && (!spelling->is_lambda || row->n_inputs == n) &&
            (!row->lambda || row->lambda == spelling->lambda) && (!row->branch || row->branch == spelling->branch))
            return row;
    return NULL;
}

static bool parse_plain(struct plim_text text, struct plim_functor *ret)
{
    struct spelling spelling;
    memset(ret, 0, sizeof *ret);
    if (!spell(text, &spelling) || !(ret->row = row_of(&spelling)) || !read_inputs(&spelling, ret))
        return false;
    ret->result = result_of(&spelling, ret);
    const bool needs_floats = ret->row->unary || ret->row->binary;
    return ret->result && (!needs_floats || plim_element_is_float(ret->type)) && lay_out(&spelling, ret);
}

/*
 * AUnaryFunctor, BUnaryFunctor and BinaryFunctor<arg1, arg2, result, func> (Loops.cuh): elements are loaded as arg1 and
 * arg2 and converted to what func takes; the operand that the first two hold is of func's type.
 */
static bool parse_wrapped(const struct spelling *outer, enum plim_functor_form form, struct plim_functor *ret)
{
    struct plim_text inner;
    if (!plim_name_argument(outer->template, 3, &inner) || !parse_plain(inner, ret) || ret->n_inputs != 2)
        return false;
    const enum plim_element left = template_element(outer, 0), right = template_element(outer, 1);
    const enum plim_element type = ret->type;
    ret->form = form;
    ret->result = template_element(outer, 2);
    ret->input[0] = form == PLIM_FUNCTOR_LEFT ? right : left;
    ret->input[1] = right;
    ret->n_inputs = form == PLIM_FUNCTOR_PLAIN ? 2 : 1;
    if (form != PLIM_FUNCTOR_PLAIN) {
        const unsigned bytes = plim_element_bytes(type);
        ret->operand_offset = aligned(ret->size_bytes, bytes);
        ret->align_bytes = bytes > ret->align_bytes ? bytes : ret->align_bytes;
        ret->size_bytes = aligned(ret->operand_offset + bytes, ret->align_bytes);
    }
    return left && right && ret->result;
}

bool plim_functor_parse(struct plim_text text, struct plim_functor *ret_functor)
{
    struct spelling spelling;
    if (!spell(text, &spelling))
        return false;
    if (plim_text_is(spelling.base, "AUnaryFunctor"))
        return parse_wrapped(&spelling, PLIM_FUNCTOR_LEFT, ret_functor);
    if (plim_text_is(spelling.base, "BUnaryFunctor"))
        return parse_wrapped(&spelling, PLIM_FUNCTOR_RIGHT, ret_functor);
    if (plim_text_is(spelling.base, "BinaryFunctor"))
        return parse_wrapped(&spelling, PLIM_FUNCTOR_PLAIN, ret_functor);
    return parse_plain(text, ret_functor);
}

unsigned plim_functor_n_inputs(struct plim_text text)
{
    struct spelling spelling;
    if (!spell(text, &spelling))
        return 0;
    if (plim_text_is(spelling.base, "AUnaryFunctor") || plim_text_is(spelling.base, "BUnaryFunctor"))
        return 1;
    if (plim_text_is(spelling.base, "BinaryFunctor"))
        return 2;
    const struct plim_functor_row *row = spelling.is_lambda ? NULL : row_of(&spelling);
    return row ? row->n_inputs : count_inputs(&spelling);
}

unsigned plim_functor_element_bytes(struct plim_text text)
{
    return plim_text_has(text, "c10::complex<double>")                                                            ? 16
           : plim_text_has(text, "double") || plim_text_has(text, "long") || plim_text_has(text, "c10::complex<") ? 8
                                                                                                                  : 4;
}
