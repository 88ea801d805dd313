/* SPDX-License-Identifier: MIT */
/* What names of functors say, and what elementwise operations compute. Names are of PyTorch 2.5.1, 2.10.0, 2.15.0. */
#include "unit.h"

#include "vgpu/kernels/elementwise/functor.h"

#include <math.h>
#include <string.h>

/* --- functors --- */

#define DISPATCH "(at::TensorIteratorBase&)::{lambda()#1}::operator()() const::{lambda()#7}::operator()() const"

static void test_functors(void **state)
{
    static const struct {
        const char *name;
        unsigned n_inputs;
        enum plim_element input, type, result;
        unsigned n_held, last_offset, operand_offset, size_bytes;
        enum plim_functor_form form;
    } expected[] = {
        { "at::native::FillFunctor<c10::BFloat16>", 0, PLIM_ELEMENT_NONE, PLIM_ELEMENT_BF16, PLIM_ELEMENT_BF16, 1, 0, 0,
          2, PLIM_FUNCTOR_PLAIN },
        { "at::native::CUDAFunctorOnSelf_add<c10::Half>", 1, PLIM_ELEMENT_F16, PLIM_ELEMENT_F16, PLIM_ELEMENT_F16, 2, 4,
          0, 8, PLIM_FUNCTOR_PLAIN },
        { "at::native::AUnaryFunctor<long, long, bool, at::native::(anonymous namespace)::CompareEqFunctor<long> >", 1,
          PLIM_ELEMENT_I64, PLIM_ELEMENT_I64, PLIM_ELEMENT_BOOL, 1, 0, 8, 16, PLIM_FUNCTOR_LEFT },
        { "at::native::BUnaryFunctor<c10::Half, c10::Half, c10::Half, at::native::binary_internal::MulFunctor<float> >",
          1, PLIM_ELEMENT_F16, PLIM_ELEMENT_F32, PLIM_ELEMENT_F16, 0, 0, 4, 8, PLIM_FUNCTOR_RIGHT },
        { "at::native::BinaryFunctor<float, float, bool, at::native::logical_and_kernel_cuda(at::TensorIterator&)::"
          "{lambda()#2}::operator()() const::{lambda()#7}::operator()() const::{lambda(float, float)#1}>",
          2, PLIM_ELEMENT_F32, PLIM_ELEMENT_F32, PLIM_ELEMENT_BOOL, 0, 0, 0, 1, PLIM_FUNCTOR_PLAIN },
        { "at::native::(anonymous namespace)::launch_clamp_scalar(at::TensorIteratorBase&, c10::Scalar, c10::Scalar, "
          "at::native::detail::ClampLimits)::{lambda()#1}::operator()() const::{lambda()#4}::operator()() const::"
          "{lambda(long)#1}",
          1, PLIM_ELEMENT_I64, PLIM_ELEMENT_I64, PLIM_ELEMENT_I64, 3, 16, 0, 32, PLIM_FUNCTOR_PLAIN },
        { "at::native::(anonymous namespace)::masked_fill_kernel(at::TensorIterator&, c10::Scalar "
          "const&)::{lambda()#1}::"
          "operator()() const::{lambda()#11}::operator()() const::{lambda(c10::Half, bool)#1}",
          2, PLIM_ELEMENT_F16, PLIM_ELEMENT_F16, PLIM_ELEMENT_F16, 1, 0, 0, 16, PLIM_FUNCTOR_PLAIN },
        { "at::native::isposinf_kernel_impl" DISPATCH "::{lambda(float)#1}", 1, PLIM_ELEMENT_F32, PLIM_ELEMENT_F32,
          PLIM_ELEMENT_BOOL, 0, 0, 0, 1, PLIM_FUNCTOR_PLAIN },
        { "at::native::converting_copy_kernel_cuda<float, c10::Half>(at::TensorIteratorBase&)::{lambda(float)#1}", 1,
          PLIM_ELEMENT_F32, PLIM_ELEMENT_F32, PLIM_ELEMENT_F16, 0, 0, 0, 1, PLIM_FUNCTOR_PLAIN },
        { "at::native::float8_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda(float)#2}", 1, PLIM_ELEMENT_F32,
          PLIM_ELEMENT_F32, PLIM_ELEMENT_F8_E5M2, 0, 0, 0, 1, PLIM_FUNCTOR_PLAIN },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(expected); i++) {
        struct plim_functor functor;
        for (size_t size = 0; size < strlen(expected[i].name); size++) /* any part of a name does no harm */
            plim_functor_parse((struct plim_text){ expected[i].name, size }, &functor);
        assert_true(plim_functor_parse(plim_text_of(expected[i].name), &functor));
        assert_int_equal(functor.n_inputs, expected[i].n_inputs);
        assert_int_equal(functor.type, expected[i].type);
        assert_int_equal(functor.result, expected[i].result);
        assert_int_equal(functor.n_held, expected[i].n_held);
        assert_int_equal(functor.form, expected[i].form);
        assert_int_equal(functor.size_bytes, expected[i].size_bytes);
        assert_int_equal(functor.operand_offset, expected[i].operand_offset);
        if (functor.n_inputs)
            assert_int_equal(functor.input[0], expected[i].input);
        if (functor.n_held)
            assert_int_equal(functor.held_offset[functor.n_held - 1], expected[i].last_offset);
    }
}

/* The rows that a name may mean are told apart by the lambda, by the branch around it, or by the number of inputs. */
static void test_rows(void **state)
{
    struct plim_functor functor;
    (void)state;
    assert_true(
        plim_functor_parse(plim_text_of("at::native::(anonymous namespace)::pow_tensor_scalar_kernel_impl<float, "
                                        "float>(at::TensorIteratorBase&, float)::{lambda(float)#2}"),
                           &functor));
    assert_ptr_equal(functor.row->operation, plim_op_cube);
    assert_true(plim_functor_parse(
        plim_text_of("at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&, at::native::GeluType)::{lambda()#2}::"
                     "operator()() const::{lambda()#2}::operator()() const::{lambda(float)#1}"),
        &functor));
    assert_ptr_equal(functor.row->unary, plim_fn_gelu);
    assert_true(plim_functor_parse(
        plim_text_of("at::native::binary_internal::div_trunc_kernel_cuda" DISPATCH "::{lambda(float)#1}"), &functor));
    assert_ptr_equal(functor.row->operation, plim_op_div_trunc_held);
    assert_false(plim_functor_parse(plim_text_of("at::native::AbsFunctor<c10::complex<float> >"), &functor));
    assert_false(plim_functor_parse(plim_text_of("at::native::nobody_knows_this<float>"), &functor));
    assert_false(plim_functor_parse(plim_text_of(""), &functor));
    assert_false(plim_functor_parse(plim_text_of("at::native::AUnaryFunctor<float"), &functor));
}

/* --- operations --- */

static double of_floats(plim_operation *operation, double a, double b)
{
    const struct plim_operands operands = { .type = PLIM_ELEMENT_F32 };
    const union plim_scalar in[] = { { .f = a }, { .f = b } };
    return operation(&operands, in).f;
}

static int64_t of_integers(plim_operation *operation, int64_t a, int64_t b)
{
    const struct plim_operands operands = { .type = PLIM_ELEMENT_I64 };
    const union plim_scalar in[] = { { .i = a }, { .i = b } };
    return operation(&operands, in).i;
}

static void test_division(void **state)
{
    (void)state;
    assert_int_equal(of_integers(plim_op_div_floor, -7, 2), -4);
    assert_int_equal(of_integers(plim_op_div_trunc, -7, 2), -3);
    assert_int_equal(of_integers(plim_op_div_floor, INT64_MIN, -1), INT64_MIN);
    assert_int_equal(of_integers(plim_op_div_floor, 7, 0), 0);
    assert_int_equal(of_integers(plim_op_remainder, -7, 3), 2);
    assert_int_equal(of_integers(plim_op_remainder, 7, -3), -2);
    assert_int_equal(of_integers(plim_op_fmod, -7, 3), -1);
    assert_true(of_floats(plim_op_div_floor, -7, 2) == -4);
    assert_true(of_floats(plim_op_remainder, -0.5, 2) == 1.5);
    assert_true(isinf(of_floats(plim_op_div_floor, 1, 0)));
    assert_true(signbit(of_floats(plim_op_div_floor, -0.0, 2)));
}

static void test_not_a_number(void **state)
{
    (void)state;
    assert_true(isnan(of_floats(plim_op_maximum, (double)NAN, 1)) && isnan(of_floats(plim_op_maximum, 1, (double)NAN)));
    assert_true(of_floats(plim_op_fmax, (double)NAN, 1) == 1);
    assert_true(of_floats(plim_op_sign, (double)NAN, 0) == 0);
    const struct plim_operands equal = { .type = PLIM_ELEMENT_F32 };
    const struct plim_operands unequal = { .type = PLIM_ELEMENT_F32, .held = { { .i = 1 } } };
    const union plim_scalar nans[] = { { .f = (double)NAN }, { .f = (double)NAN } };
    assert_int_equal(plim_op_eq(&equal, nans).i, 0);
    assert_int_equal(plim_op_eq(&unequal, nans).i, 1);
    for (int64_t order = 0; order < 4; order++) {
        const struct plim_operands operands = { .type = PLIM_ELEMENT_F32, .held = { { .i = order } } };
        assert_int_equal(plim_op_order(&operands, nans).i, 0);
    }
}

static void test_integers(void **state)
{
    (void)state;
    assert_int_equal(of_integers(plim_op_pow, 3, 4), 81);
    assert_int_equal(of_integers(plim_op_pow, -1, -3), -1);
    assert_int_equal(of_integers(plim_op_pow, 2, -1), 0);
    assert_int_equal(of_integers(plim_op_lshift, 1, 64), 0);
    assert_int_equal(of_integers(plim_op_rshift, -8, 70), -1);
    const struct plim_operands large = { .type = PLIM_ELEMENT_U64 };
    const union plim_scalar in[] = { { .i = -1 }, { .i = 2 } };
    assert_int_equal(plim_op_maximum(&large, in).i, -1); /* the largest of them */
    assert_int_equal(plim_op_div(&large, in).i, INT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_functors),     cmocka_unit_test(test_rows),     cmocka_unit_test(test_division),
        cmocka_unit_test(test_not_a_number), cmocka_unit_test(test_integers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
