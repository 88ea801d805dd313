/* SPDX-License-Identifier: MIT */
/* Kernels that sort and draw: the order of keys by their bits, the random generator, names of CUB's parameters. */
#include "unit.h"

#include "vgpu/kernels/cub/iterator.h"
#include "vgpu/kernels/cub/operator.h"
#include "vgpu/kernels/cub/relation.h"
#include "vgpu/kernels/random/philox.h"
#include "vgpu/kernels/sort/digits.h"

#include <math.h>
#include <string.h>

/* Not needed here: nothing reads device memory. */
bool plim_view_is_memory(const void *address)
{
    (void)address;
    return false;
}
enum plim_shadow_known plim_shadow_read(void *to, const void *from, size_t size)
{
    (void)from;
    memset(to, 0, size);
    return PLIM_SHADOW_UNKNOWN;
}
void plim_shadow_forget(const void *start, size_t size) { (void)start, (void)size; }
struct plim_view plim_view_flat(const void *address, enum plim_element element, uint64_t n)
{
    (void)address, (void)n;
    return (struct plim_view){ .element = element };
}
bool plim_view_read(const struct plim_view *view, struct plim_array *ret_array)
{
    (void)view, (void)ret_array;
    return false;
}
void plim_view_write(const struct plim_view *view, const struct plim_array *array) { (void)view, (void)array; }
bool plim_array_make(struct plim_array *ret_array, enum plim_element element, uint64_t n, bool is_constant)
{
    (void)ret_array, (void)element, (void)n, (void)is_constant;
    return false;
}
void plim_array_free(struct plim_array *array) { (void)array; }

/* --- the generator --- */

/* A known answer of the authors' library Random123 (kat_vectors, philox4x32 10). */
static void test_philox(void **state)
{
    const uint32_t known[4] = { 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 };
    const struct plim_philox philox = { .seed = 0 };
    uint32_t found[4];
    (void)state;
    plim_philox_four(&philox, 0, 0, found);
    assert_memory_equal(found, known, sizeof known);
}

/* torch.manual_seed(0); torch.rand(3, device="cuda"): [0.3990, 0.5167, 0.0249], as PyTorch prints it on a card. */
static void test_uniform(void **state)
{
    const struct plim_philox philox = { .seed = 0 };
    const double known[] = { 0.3990, 0.5167, 0.0249 };
    (void)state;
    for (size_t i = 0; i < COUNT(known); i++) {
        uint32_t draw[4];
        plim_philox_four(&philox, i, 0, draw);
        assert_true(fabs((double)plim_philox_uniform(draw[0]) - known[i]) < 0.00005);
    }
    assert_true(plim_philox_uniform(0) > 0 && plim_philox_uniform(UINT32_MAX) == 1);
}

/* torch.manual_seed(0); torch.randn(8, device="cuda"), as PyTorch prints it on a card. */
static void test_normal(void **state)
{
    const struct plim_philox philox = { .seed = 0 };
    const double known[] = { -0.9247, -0.4253, -2.6438, 0.1452, -0.1209, -0.5797, -0.6229, -0.3284 };
    (void)state;
    for (size_t i = 0; i < COUNT(known); i++) {
        uint32_t draw[4];
        double normals[4];
        plim_philox_four(&philox, i, 0, draw);
        plim_philox_normal(draw, normals);
        assert_true(fabs(normals[0] - known[i]) < 0.00006);
    }
}

/* Four numbers from any place of a stream are those of the blocks of four. */
static void test_philox_places(void **state)
{
    uint32_t all[12], found[4];
    const struct plim_philox philox = { .seed = 42, .offset = 8 };
    (void)state;
    for (unsigned i = 0; i < 12; i += 4)
        plim_philox_four(&philox, 7, i, all + i);
    for (unsigned i = 0; i <= 8; i++) {
        plim_philox_four(&philox, 7, i, found);
        assert_memory_equal(found, all + i, sizeof found);
    }
}

/* --- digits --- */

static uint64_t digits_of(float value, bool is_descending)
{
    return plim_digits_of(PLIM_ELEMENT_F32, is_descending, &value);
}

static void test_order_of_floats(void **state)
{
    const float rising[] = { -INFINITY, -2, -0x1p-149f, 0, 0x1p-149f, 1, 3, INFINITY, NAN };
    (void)state;
    for (size_t i = 1; i < COUNT(rising); i++) {
        assert_true(digits_of(rising[i - 1], false) < digits_of(rising[i], false));
        assert_true(digits_of(rising[i - 1], true) > digits_of(rising[i], true));
    }
    assert_true(digits_of(-0.0f, false) == digits_of(0.0f, false));
}

/* Passes over parts of the bits give what one pass over all of them gives, and equal keys keep their order. */
static void test_passes(void **state)
{
    enum { N = 200 };
    int16_t keys[2][N], whole[N];
    uint8_t values[2][N], whole_values[N];
    struct plim_digits digits = { .key = PLIM_ELEMENT_I16, .value_bytes = 1, .n_bits = 16 };
    uint32_t random = 1;
    (void)state;
    for (int i = 0; i < N; i++) {
        random = random * 1664525 + 1013904223;
        keys[0][i] = (int16_t)((int)(random >> 24) - 128);
        values[0][i] = (uint8_t)i;
    }
    assert_true(plim_digits_sort(&digits, N, (uint8_t *)keys[0], values[0], (uint8_t *)whole, whole_values));
    for (int i = 1; i < N; i++)
        assert_true(whole[i - 1] < whole[i] || (whole[i - 1] == whole[i] && whole_values[i - 1] < whole_values[i]));
    for (unsigned pass = 0; pass < 4; pass++) {
        const unsigned from = pass % 2, to = 1 - from;
        digits.first_bit = 4 * pass;
        digits.n_bits = 4;
        assert_true(plim_digits_sort(&digits, N, (uint8_t *)keys[from], values[from], (uint8_t *)keys[to], values[to]));
    }
    assert_memory_equal(keys[0], whole, sizeof whole);
    assert_memory_equal(values[0], whole_values, sizeof whole_values);
}

/* --- names --- */

static struct plim_iterator iterator_of(const char *type)
{
    struct plim_iterator iterator;
    assert_true(plim_iterator_of(plim_text_of(type), &iterator));
    return iterator;
}

/* As PyTorch 2.5, 2.10 and 2.15 spell them. */
static void test_iterators(void **state)
{
    struct plim_iterator found;
    (void)state;
    found = iterator_of("long const*");
    assert_true(found.kind == PLIM_ITERATOR_POINTER && found.element == PLIM_ELEMENT_I64);
    found = iterator_of("at::cuda::cub::detail::OpaqueType<8>*");
    assert_true(found.kind == PLIM_ITERATOR_POINTER && found.element == PLIM_ELEMENT_NONE && found.width == 8);
    found = iterator_of("at_cuda_detail::cub::NullType*");
    assert_true(found.kind == PLIM_ITERATOR_NONE);
    found = iterator_of("thrust::THRUST_200302_500_NS::device_ptr<long>");
    assert_true(found.kind == PLIM_ITERATOR_POINTER && found.element == PLIM_ELEMENT_I64);
    found = iterator_of("at_cuda_detail::cub::TransformInputIterator<bool, at::native::(anonymous namespace)::"
                        "NonZeroOp<float>, float const*, long>");
    assert_true(found.is_flag && found.offset == 8 && found.element == PLIM_ELEMENT_F32);
    found = iterator_of("thrust::_V_300200_SM_750::transform_iterator<at::native::(anonymous namespace)::"
                        "NonZeroOp<c10::Half>, c10::Half const*, thrust::_V_300200_SM_750::use_default>");
    assert_true(found.is_flag && found.offset == 0 && found.element == PLIM_ELEMENT_F16);
    found = iterator_of("at_cuda_detail::cub::CountingInputIterator<long, long>");
    assert_true(found.kind == PLIM_ITERATOR_COUNTING && found.element == PLIM_ELEMENT_I64);
    assert_false(plim_iterator_of(plim_text_of("at_cuda_detail::cub::TransformInputIterator<bool, other::Functor, "
                                               "float const*, long>"),
                                  &found));
    assert_false(plim_iterator_of(plim_text_of("c10::complex<float>*"), &found));
}

static void test_functors(void **state)
{
    struct plim_relation relation;
    (void)state;
    assert_int_equal(plim_operator_of(plim_text_of("std::plus<long>")), PLIM_OPERATOR_SUM);
    assert_int_equal(plim_operator_of(plim_text_of("std::multiplies<float>")), PLIM_OPERATOR_PRODUCT);
    assert_int_equal(plim_operator_of(plim_text_of("somebody::Functor<float>")), PLIM_OPERATOR_NONE);
    assert_true(plim_relation_of(plim_text_of("at::native::LTOp<long, false>"), &relation));
    assert_true(relation.kind == PLIM_RELATION_LESS && !relation.is_nan_largest);
    assert_true(plim_relation_of(plim_text_of("at::native::GTOp<float, true>"), &relation));
    assert_true(relation.kind == PLIM_RELATION_GREATER && relation.is_nan_largest);
    assert_true(plim_relation_of(plim_text_of("at::native::unique_dim_cuda_template<int>(at::Tensor const&, long, "
                                              "bool, bool, bool)::{lambda(long, long)#3}"),
                                 &relation));
    assert_true(relation.kind == PLIM_RELATION_ROWS_DIFFER && relation.rows == PLIM_ELEMENT_I32);
    assert_false(plim_relation_of(plim_text_of("somebody::Less"), &relation));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_philox),        cmocka_unit_test(test_uniform),         cmocka_unit_test(test_normal),
        cmocka_unit_test(test_philox_places), cmocka_unit_test(test_order_of_floats), cmocka_unit_test(test_passes),
        cmocka_unit_test(test_iterators),     cmocka_unit_test(test_functors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
