/* SPDX-License-Identifier: MIT */
/* What kernels with a meaning are made of: element types, and what names of kernels say. */
#include "unit.h"

#include "vgpu/kernels/element.h"
#include "vgpu/kernels/name.h"

#include <math.h>

/* --- element types --- */

static double through(enum plim_element element, double value)
{
    uint8_t bytes[8] = { 0 };
    plim_element_store(element, bytes, (union plim_scalar){ .f = value });
    return plim_element_load(element, bytes).f;
}

/* Every value of a small type is stored as the bits that it was loaded from; NaN stays NaN. */
static void test_bits_survive(void **state)
{
    static const struct {
        enum plim_element element;
        unsigned n;
    } types[] = { { PLIM_ELEMENT_F16, 1 << 16 },        { PLIM_ELEMENT_BF16, 1 << 16 },
                  { PLIM_ELEMENT_F8_E4M3FN, 1 << 8 },   { PLIM_ELEMENT_F8_E5M2, 1 << 8 },
                  { PLIM_ELEMENT_F8_E4M3FNUZ, 1 << 8 }, { PLIM_ELEMENT_F8_E5M2FNUZ, 1 << 8 } };
    (void)state;
    for (size_t i = 0; i < COUNT(types); i++)
        for (unsigned bits = 0; bits < types[i].n; bits++) {
            uint16_t stored = 0;
            const union plim_scalar value = plim_element_load(types[i].element, &bits);
            plim_element_store(types[i].element, &stored, value);
            if (isnan(value.f))
                assert_true(isnan(plim_element_load(types[i].element, &stored).f));
            else
                assert_int_equal(stored, bits);
        }
}

/* Ties go to the even neighbour; what is too large becomes infinite, or NaN where the type has no infinity. */
static void test_rounding(void **state)
{
    (void)state;
    assert_true(through(PLIM_ELEMENT_F16, 2049) == 2048 && through(PLIM_ELEMENT_F16, 2051) == 2052);
    assert_true(through(PLIM_ELEMENT_F16, 65519) == 65504 && isinf(through(PLIM_ELEMENT_F16, 65520)));
    assert_true(through(PLIM_ELEMENT_F16, 0x1p-24) == 0x1p-24 && through(PLIM_ELEMENT_F16, 0x1p-25) == 0);
    assert_true(through(PLIM_ELEMENT_F16, 0x1.8p-25) == 0x1p-24);
    assert_true(through(PLIM_ELEMENT_BF16, 257) == 256 && through(PLIM_ELEMENT_BF16, 259) == 260);
    assert_true(through(PLIM_ELEMENT_F8_E4M3FN, 448) == 448 && through(PLIM_ELEMENT_F8_E4M3FN, 464) == 448);
    assert_true(isnan(through(PLIM_ELEMENT_F8_E4M3FN, 465)) && isnan(through(PLIM_ELEMENT_F8_E4M3FN, INFINITY)));
    assert_true(through(PLIM_ELEMENT_F8_E5M2, 57344) == 57344 && isinf(through(PLIM_ELEMENT_F8_E5M2, 61440)));
    assert_true(through(PLIM_ELEMENT_F8_E4M3FNUZ, 240) == 240 && isnan(through(PLIM_ELEMENT_F8_E4M3FNUZ, 1000)));
    assert_true(!signbit(through(PLIM_ELEMENT_F8_E5M2FNUZ, -0.0)));
    assert_true(signbit(through(PLIM_ELEMENT_BF16, -0.0)));
    assert_true(through(PLIM_ELEMENT_F32, 1.0 / 3) == (double)(1.0f / 3));
}

static int64_t converted(enum plim_element to, enum plim_element from, union plim_scalar value)
{
    return plim_element_convert(to, from, value).i;
}

static void test_conversion(void **state)
{
    const union plim_scalar half = { .f = -2.75 }, large = { .f = 300 }, minus = { .i = -1 }, nan = { .f = NAN };
    (void)state;
    assert_int_equal(converted(PLIM_ELEMENT_I32, PLIM_ELEMENT_F32, half), -2);
    assert_int_equal(converted(PLIM_ELEMENT_U8, PLIM_ELEMENT_F32, large), 44);
    assert_int_equal(converted(PLIM_ELEMENT_BOOL, PLIM_ELEMENT_F32, half), 1);
    assert_int_equal(converted(PLIM_ELEMENT_BOOL, PLIM_ELEMENT_F32, nan), 1);
    assert_int_equal(converted(PLIM_ELEMENT_U8, PLIM_ELEMENT_I64, minus), 255);
    assert_int_equal(converted(PLIM_ELEMENT_U32, PLIM_ELEMENT_I32, minus), UINT32_MAX);
    assert_true(plim_element_convert(PLIM_ELEMENT_F64, PLIM_ELEMENT_U64, minus).f == 0x1p64);
    assert_true(plim_element_convert(PLIM_ELEMENT_F64, PLIM_ELEMENT_I64, minus).f == -1);
}

/* --- names --- */

static const char reduce[] =
    "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::func_wrapper_t<bool, "
    "at::native::or_kernel_cuda(at::TensorIterator&)::{lambda()#1}::operator()() const::{lambda(bool, float)#7}>, "
    "unsigned int, bool, 4, 4> >(at::native::ReduceOp<float, ...>)";

static bool argument_is(const char *name, unsigned number, const char *expected)
{
    struct plim_text arguments, argument;
    return plim_name_template(plim_text_of(reduce), name, &arguments) &&
           plim_name_argument(arguments, number, &argument) && plim_text_is(argument, expected);
}

static void test_arguments(void **state)
{
    struct plim_text arguments, argument;
    (void)state;
    assert_true(argument_is("reduce_kernel", 0, "512") && argument_is("reduce_kernel", 1, "1"));
    assert_true(argument_is("ReduceOp", 2, "unsigned int") && argument_is("ReduceOp", 3, "bool"));
    assert_true(argument_is("func_wrapper_t", 0, "bool"));
    assert_true(plim_name_template(plim_text_of(reduce), "reduce_kernel", &arguments));
    assert_false(plim_name_argument(arguments, 3, &argument));
    assert_false(plim_name_template(plim_text_of(reduce), "or_kernel_cuda", &arguments));
    assert_int_equal(plim_name_template_element(plim_text_of(reduce), "ReduceOp", 0), PLIM_ELEMENT_F32);
    assert_int_equal(plim_name_template_element(plim_text_of(reduce), "ReduceOp", 1), PLIM_ELEMENT_NONE);
    assert_int_equal(plim_name_element(plim_text_of("c10::BFloat16 const")), PLIM_ELEMENT_BF16);
    assert_int_equal(plim_name_number(plim_text_of("256ul")), 256);
    assert_int_equal(plim_name_number(plim_text_of("float")), -1);
}

/* Brackets that are never closed, or closed too often, end with the text. */
static void test_broken_names(void **state)
{
    static const char *const names[] = { "f<", "f<a", "f<a,(b", "f<>>>", "f<->>", "f<a,,b>", "f" };
    struct plim_text arguments, argument;
    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        const struct plim_text name = plim_text_of(names[i]);
        if (!plim_name_template(name, "f", &arguments))
            continue;
        assert_true(arguments.start >= name.start && arguments.start + arguments.size <= name.start + name.size);
        for (unsigned k = 0; plim_name_argument(arguments, k, &argument); k++)
            assert_true(k < name.size && argument.start + argument.size <= name.start + name.size);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bits_survive), cmocka_unit_test(test_rounding),     cmocka_unit_test(test_conversion),
        cmocka_unit_test(test_arguments),    cmocka_unit_test(test_broken_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
