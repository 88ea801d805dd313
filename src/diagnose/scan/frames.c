/* SPDX-License-Identifier: MIT */
#include "diagnose/scan/frames.h"

#include "base/gnu_string.h"
#include "base/table.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { MAX_PATH_BYTES = 400 };

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool is_name(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '<' || c == '>' ||
           c == '.';
}

static bool is_path(char c)
{
    return is_name(c) || c == '/' || c == '-' || c == '\\' || c == ':' || c == '~' || c == '+';
}

/* Code of the user: neither installed nor Python's own. */
static bool is_user_file(const char *path)
{
    static const char *const others[] = { "site-packages", "dist-packages", "/lib/python", "\\lib\\",
                                          "<frozen",       "<string>",      "/torch/",     "importlib" };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strstr(path, others[i]))
            return false;
    return true;
}

static void copy_end(char *buffer, size_t size, const char *text, size_t n)
{
    if (n >= size) {
        text += n - size + 1;
        n = size - 1;
    }
    memcpy(buffer, text, n);
    buffer[n] = '\0';
}

static void push(struct plim_frame *frames, uint32_t *ref_n, const char *file, size_t file_n, uint32_t line,
                 const char *name, size_t name_n)
{
    if (*ref_n == PLIM_MAX_FRAMES) {
        memmove(frames, frames + 1, (PLIM_MAX_FRAMES - 1) * sizeof *frames);
        *ref_n -= 1;
    }
    struct plim_frame *frame = &frames[*ref_n];
    copy_end(frame->file, sizeof frame->file, file, file_n);
    copy_end(frame->name, sizeof frame->name, name, name_n < sizeof frame->name ? name_n : sizeof frame->name - 1);
    frame->line = line;
    frame->is_user = is_user_file(frame->file);
    frame->code[0] = '\0';
    for (char *c = frame->file; *c; c++) /* of Windows: one kind of path for all that reads them */
        *c = *c == '\\' ? '/' : *c;
    *ref_n += 1;
}

/* Behind a frame of the user: its line of code, up to the next frame. */
static void read_code(const char *text, struct plim_frame *frame)
{
    const size_t n = strnlen(text, PLIM_FRAME_CODE_BYTES - 1);
    const char *next = memmem(text, n, " File \"", 7);
    if (frame->is_user)
        snprintf(frame->code, sizeof frame->code, "%.*s", (int)(next ? (size_t)(next - text) : n), text);
}

static const char *read_line(const char *text, uint32_t *ret_line)
{
    uint32_t line = 0;
    if (!is_digit(*text))
        return NULL;
    for (; is_digit(*text); text++)
        line = line < 100000000 ? 10 * line + (uint32_t)(*text - '0') : line;
    *ret_line = line;
    return text;
}

static const char *name_end(const char *text)
{
    while (is_name(*text))
        text++;
    return text;
}

/* `"/a/b.py", line 12, in name`, behind `File `. Returns the end, or NULL. */
static const char *read_plain(const char *text, struct plim_frame *frames, uint32_t *ref_n)
{
    uint32_t line = 0;
    if (*text != '"')
        return NULL;
    const char *file = text + 1, *end = memchr(file, '"', strnlen(file, MAX_PATH_BYTES));
    if (!end || strncmp(end, "\", line ", 8) != 0)
        return NULL;
    const char *p = read_line(end + 8, &line);
    if (!p)
        return NULL;
    const bool has_name = !strncmp(p, ", in ", 5);
    const char *name = has_name ? p + 5 : p;
    push(frames, ref_n, file, (size_t)(end - file), line, name, has_name ? (size_t)(name_end(name) - name) : 0);
    p = has_name ? name_end(name) : p;
    read_code(p, &frames[*ref_n - 1]);
    return p;
}

/*
 * Behind the link that notebooks make of a path: "[/a/b.py](https://localhost:8080/#) in name(x)", and in an editor
 * "[/a/b.py:12](file:///a/b.py#line=11), in name(x)".
 */
static const char *behind_link(const char *text)
{
    enum { MAX_LINK_BYTES = MAX_PATH_BYTES };
    const char *end = !strncmp(text, "](", 2) ? memchr(text, ')', strnlen(text, MAX_LINK_BYTES)) : NULL;
    return end ? end + 1 : text;
}

/* "/a/b.py:12 in name", "b.py:12, in name(", "/a/b.py in name(self, x)": `at` is the point of ".py". */
static const char *read_colon(const char *start, const char *at, struct plim_frame *frames, uint32_t *ref_n)
{
    const char *file = at, *end = at + 3;
    uint32_t line = 0;
    while (file > start && at - file < MAX_PATH_BYTES && is_path(file[-1]))
        file--;
    const char *p = *end == ':' ? read_line(end + 1, &line) : end;
    if (!p || file == at)
        return NULL;
    p = behind_link(p);
    p += *p == ',';
    if (strncmp(p, " in ", 4) != 0)
        return NULL;
    const char *name = p + 4, *behind = name_end(name);
    if (behind == name || (*end != ':' && *behind != '('))
        return NULL;
    push(frames, ref_n, file, (size_t)(end - file), line, name, (size_t)(behind - name));
    return behind;
}

/* The name before the point: "optimizer", "self.optim", "optimizer_G"; not "lr_scheduler". */
static bool is_optimizer(const char *start, const char *at)
{
    static const char optim[] = "optim";
    const char *name = at;
    while (name > start && at - name < MAX_PATH_BYTES && is_name(name[-1]) && name[-1] != '.')
        name--;
    return at - name >= (ptrdiff_t)sizeof optim - 1 && !strncmp(name, optim, sizeof optim - 1);
}

/* The name that ends at `end`, up to a point. */
static const char *name_start(const char *start, const char *end)
{
    const char *name = end;
    while (name > start && end - name < PLIM_FRAME_NAME_BYTES && is_name(name[-1]) && name[-1] != '.')
        name--;
    return name;
}

static bool is_one_of(const char *name, const char *end, const char *const *names)
{
    for (; *names; names++)
        if ((size_t)(end - name) == strlen(*names) && !memcmp(name, *names, (size_t)(end - name)))
            return true;
    return false;
}

enum { LEAST_SIGN_BYTES = 5, BYTE_VALUES = 256 };

/* Whether the first bytes of `text` are all in the set: for most rows one look at each says that they do not match. */
static bool may_hold(const bool set[BYTE_VALUES], const char *text)
{
    for (int i = 0; i < LEAST_SIGN_BYTES; i++)
        if (!set[(unsigned char)text[i]]) /* nor is the end of the text in it */
            return false;
    return true;
}

/* Of data/frames.csv: a function that is a sign of some work wherever it is. */
static bool is_sign(const char *name)
{
    enum { COLUMN_FILE, COLUMN_FUNCTION, COLUMN_WORK, COLUMN_READ_BY };
    bool bytes[BYTE_VALUES] = { false };
    for (const char *c = name; *c; c++)
        bytes[(unsigned char)*c] = true;
    for (size_t row = 0; row < plim_frames_table.n_rows; row++) {
        const char *function = plim_table_cell(&plim_frames_table, row, COLUMN_FUNCTION);
        if (may_hold(bytes, function) && *function != '=' && !*plim_table_cell(&plim_frames_table, row, COLUMN_FILE) &&
            strstr(name, function) && strstr(plim_table_cell(&plim_frames_table, row, COLUMN_READ_BY), "explain"))
            return true;
    }
    return false;
}

static bool is_sign_at(const char *name, const char *end)
{
    char text[PLIM_FRAME_NAME_BYTES];
    if (end - name >= PLIM_FRAME_NAME_BYTES)
        return false;
    memcpy(text, name, (size_t)(end - name));
    text[end - name] = '\0';
    return is_sign(text);
}

/*
 * What a call in a line of code does; `at` is its bracket. A model or a loss is called, "self.model(x)",
 * "criterion(out, y)", or an operation on tensors, "F.softmax(", "torch.matmul(": forward. A model is moved,
 * "pipe.to(device)": it is loaded. Names as people give them to their modules. And a function that is a sign of some
 * work. Returns a name that data/frames.csv has, which ends with its letters; NULL: nothing that is known.
 */
static const char *work_of_call(const char *start, const char *at)
{
    static const char *const modules[] = { "model",         "net",      "network",   "unet",         "criterion",
                                           "generator",     "netG",     "netD",      "encoder",      "decoder",
                                           "discriminator", "backbone", "vae",       "text_encoder", "transformer",
                                           "loss_fn",       "pipe",     "ddp_model", "teacher",      "student",
                                           "loss_func",     NULL };
    static const char *const operations[] = { "matmul", "bmm",    "baddbmm", "einsum", "softmax",
                                              "cdist",  "conv2d", "conv3d",  "stft",   "scaled_dot_product_attention",
                                              NULL };
    static const char *const moves[] = { "to", "cuda", "half", NULL };
    const char *name = name_start(start, at), *point = name > start && name[-1] == '.' ? name - 1 : NULL;
    if (name - start >= 4 && !strncmp(name - 4, "def ", 4))
        return NULL;
    if (is_one_of(name, at, modules))
        return "forward";
    if (is_sign_at(name, at))
        return name;
    if (!point)
        return NULL;
    const char *of = name_start(start, point);
    if ((point - of == 1 && *of == 'F') || is_one_of(name, at, operations))
        return "forward";
    const bool is_module = is_one_of(of, point, modules) || memmem(of, (size_t)(point - of), "model", 5);
    return is_module && is_one_of(name, at, moves) ? "load_model" : NULL;
}

/* The innermost frame that is shown does what its line of code says: the frames below may be cut, or be in C. */
static void push_call(struct plim_frame *frames, uint32_t *ref_n, const char *name, size_t n)
{
    const struct plim_frame above = frames[*ref_n - 1];
    push(frames, ref_n, above.file, strlen(above.file), above.line, name, n);
}

uint32_t plim_frames_read(const struct plim_window *window, struct plim_frame ret_frames[PLIM_MAX_FRAMES])
{
    static const char head[] = "Traceback (most recent call last", backward[] = ".backward(",
                      optimizer[] = ".step()"; /* a closure would compute the step as well */
    uint32_t n = 0;
    for (const char *p = window->text; *(p += strcspn(p, "TF.(")) != '\0';) {
        const char *next = NULL, *work;
        if (*p == 'T' && !strncmp(p, head, sizeof head - 1))
            n = 0;
        else if (*p == 'F' && !strncmp(p, "File ", 5))
            next = read_plain(p + 5, ret_frames, &n);
        else if (*p == '.' && !strncmp(p, ".py", 3))
            next = read_colon(window->text, p, ret_frames, &n);
        else if (n > 0 && !strncmp(p, backward, sizeof backward - 1))
            push_call(ret_frames, &n, "backward", sizeof "backward" - 1);
        else if (n > 0 && !strncmp(p, optimizer, sizeof optimizer - 1) && is_optimizer(window->text, p))
            push_call(ret_frames, &n, "optimizer.step", sizeof "optimizer.step" - 1);
        else if (n > 0 && *p == '(' && (work = work_of_call(window->text, p)) != NULL)
            push_call(ret_frames, &n, work, (size_t)(name_end(work) - work));
        p = !next ? p + 1 : *next == '(' ? next + 1 : next; /* the arguments of a frame are no call in it */
    }
    return n;
}

uint32_t plim_frames_read_code(const struct plim_window *window, struct plim_frame ret_frames[PLIM_MAX_FRAMES])
{
    static const char step[] = "optimizer.step";
    uint32_t n = 0;
    for (const char *p = window->text; (p = strchr(p, '(')) != NULL; p++) {
        const char *start = p;
        char name[PLIM_FRAME_NAME_BYTES];
        while (start > window->text && p - start < PLIM_FRAME_NAME_BYTES - 1 && is_name(start[-1]) && start[-1] != '.')
            start--;
        memcpy(name, start, (size_t)(p - start));
        name[p - start] = '\0';
        if (!strcmp(name, "step") && start > window->text && start[-1] == '.' && is_optimizer(window->text, start - 1))
            push(ret_frames, &n, "", 0, 0, step, sizeof step - 1);
        else if (is_sign(name))
            push(ret_frames, &n, "", 0, 0, name, strlen(name));
    }
    return n;
}
