/* SPDX-License-Identifier: MIT */
/*
 * What servers and their addresses may say: the first byte of the input chooses an address, the head of an answer, or a
 * list of files with a name that asks for one of them.
 */
#include "fuzz.h"

#include "source/remote/answer.h"
#include "source/remote/listing.h"

#include <string.h>
#include <strings.h>

enum { TEXT_BYTES = 4096, MOST_LISTED = 1 << 12 };

static const char hub[] = "https://hub.example";

/* What a name is read as cannot be another thing when it is put into a URL or a path. */
static void check_address(const char *text)
{
    struct plim_remote_address address;
    struct plim_error error = { 0 };
    char url[PLIM_URL_BYTES];
    if (plim_remote_address_read(text, hub, &address, &error) < 0) {
        FUZZ_REQUIRE(error.code == PLIM_E_USAGE && error.hint[0]);
        return;
    }
    if (!address.repository[0]) {
        FUZZ_REQUIRE(plim_url_origin_bytes(address.url) > 0 && !strchr(address.url, '#'));
        return;
    }
    FUZZ_REQUIRE(plim_remote_is_repository(address.repository));
    FUZZ_REQUIRE(!address.file[0] || plim_remote_path_is_plain(address.file));
    FUZZ_REQUIRE(!address.file[0] || !address.quantization[0]);
    if (!plim_remote_file_url(hub, address.repository, address.file, url))
        return;
    FUZZ_REQUIRE(plim_url_is_same_origin(url, hub) && plim_url_is_private(url));
    FUZZ_REQUIRE(!strstr(url, "/../") && strcspn(url, "?# \n\r") == strlen(url));
}

static void check_origins(const char *text)
{
    const size_t n = plim_url_origin_bytes(text);
    FUZZ_REQUIRE(n <= strlen(text) && !memchr(text, '@', n));
    FUZZ_REQUIRE(plim_url_is_same_origin(text, text) == (n > 0));
    FUZZ_REQUIRE(!plim_url_is_same_origin(text, hub) || !strncasecmp(text, hub, sizeof hub - 1));
}

/* A part that is accepted is the one that was asked for, and inside the file. */
static void check_answer(const char *text, size_t size)
{
    struct plim_http_answer answer = { 0 };
    struct plim_error error = { 0 };
    uint64_t total = 0, bytes = 0;
    const uint64_t from = size > 2 ? (unsigned char)text[0] : 0, n = size > 2 ? 1 + (unsigned char)text[1] : 1;
    while (size > 0) {
        const char *end = memchr(text, '\n', size);
        const size_t length = end ? (size_t)(end - text) + 1 : size;
        plim_http_answer_add(&answer, text, length);
        text += length;
        size -= length;
    }
    FUZZ_REQUIRE(strlen(answer.etag) < sizeof answer.etag && strcspn(answer.etag, "\r\n") == strlen(answer.etag));
    FUZZ_REQUIRE(strcspn(answer.next, "\r\n") == strlen(answer.next));
    if (plim_http_answer_check(&answer, from, n, 0, &total, &bytes, &error) < 0) {
        FUZZ_REQUIRE(error.code && error.what[0]);
    } else {
        FUZZ_REQUIRE(bytes <= n || (bytes == UINT64_MAX && answer.status != 206));
        FUZZ_REQUIRE(answer.status != 206 || (bytes > 0 && from + bytes <= total));
    }
    error = (struct plim_error){ 0 };
    FUZZ_REQUIRE(plim_http_answer_refusal(&answer, false, &error) < 0 && error.what[0]);
}

/* The file that is chosen is one of the list, and has the name that was asked for. */
static void check_listing(const char *quantization, const char *json, size_t size)
{
    struct plim_listing listing;
    struct plim_error error = { 0 };
    const struct plim_listed_file *model = NULL, *projector = NULL;
    plim_listing_init(&listing);
    if (plim_listing_read(&listing, plim_cursor(json, size), &error) < 0)
        FUZZ_REQUIRE(error.code && error.what[0]);
    FUZZ_REQUIRE(listing.n <= MOST_LISTED);
    for (size_t i = 0; i < listing.n; i++)
        FUZZ_REQUIRE(plim_remote_path_is_plain(listing.files[i].path));
    error = (struct plim_error){ 0 };
    if (plim_listing_choose(&listing, quantization, "", &model, &projector, &error) < 0)
        FUZZ_REQUIRE((error.code == PLIM_E_USAGE || error.code == PLIM_E_NOT_FOUND) && error.hint[0]);
    else
        FUZZ_REQUIRE(plim_listing_find(&listing, model->path) && (!projector || projector != model));
    if (model)
        plim_listing_is_complete(&listing, model);
    plim_listing_done(&listing);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[TEXT_BYTES + 1];
    if (size < 1)
        return 0;
    const size_t n = size - 1 < TEXT_BYTES ? size - 1 : TEXT_BYTES;
    memcpy(text, data + 1, n);
    text[n] = '\0';
    if (data[0] % 3 == 0) {
        check_address(text);
        check_origins(text);
    } else if (data[0] % 3 == 1) {
        check_answer((const char *)data + 1, size - 1);
    } else {
        const size_t first = strcspn(text, "\n");
        const size_t skipped = first < n ? first + 1 : n;
        text[first] = '\0';
        check_listing(text, (const char *)data + 1 + skipped, n - skipped);
    }
    return 0;
}
