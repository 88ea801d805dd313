/* SPDX-License-Identifier: MIT */
#include "model/catalogue/tag.h"

#include "base/units.h"
#include "model/model_impl.h"

#include <stdio.h>

int plim_catalogue_tag_doubt(const struct plim_catalogue_answer *found, struct plim_model *model,
                             struct plim_error *reterr)
{
    enum { VOCABULARY_BYTES = 16 << 20, SLACK_SHARE = 1000 };
    const int64_t published = (int64_t)found->file_bytes, slack = published / SLACK_SHARE;
    const int64_t more = published - (int64_t)plim_model_tensor_bytes(model);
    char text[192] = "Ollama may have made the file of this tag by rules of its own", file[PLIM_SIZE_TEXT];
    char size[PLIM_SIZE_TEXT];
    if (published && more >= -slack && more <= VOCABULARY_BYTES + slack)
        return 0;
    if (published)
        snprintf(text, sizeof text, "Ollama's file of this tag has %s, %s %s than llama.cpp's recipe makes",
                 plim_size_text(file, found->file_bytes), plim_size_text(size, (uint64_t)(more < 0 ? -more : more)),
                 more < 0 ? "less" : "more");
    return plim_model_add_doubt(model, &(struct plim_doubt){ .text = text, .more_bytes = published ? more : 0 },
                                reterr);
}
