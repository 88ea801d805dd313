/* SPDX-License-Identifier: MIT */
/* A user's list of prices: prices of cards that are numbers, or an error with its place. */
#include "fuzz.h"

#include "card/prices.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct plim_prices prices;
    struct plim_error error = { 0 };
    const int result = plim_prices_read((const char *)data, size, &prices, &error);
    FUZZ_REQUIRE(result == 0 || (error.code == result && error.what[0]));
    FUZZ_REQUIRE(result == 0 || error.at == PLIM_NO_OFFSET || error.at <= size);
    for (size_t i = 0; result == 0 && i < plim_catalogue_size(); i++) {
        const struct plim_price *price = &prices.of_card[i];
        FUZZ_REQUIRE(price->buy >= 0 && price->per_hour >= 0);
        FUZZ_REQUIRE(plim_price_break_even_hours(price) >= 0);
    }
    plim_prices_done(&prices);
    return 0;
}
