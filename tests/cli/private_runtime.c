/* SPDX-License-Identifier: MIT */
/*
 * Looks for a card as a program does that has NVIDIA's runtime linked in: libcuda is opened at run time and asked for a
 * table that is documented nowhere. A program and a library of its own.
 */
#include <dlfcn.h>
#include <stddef.h>

int find_card(void);

/* 0: the table is there. */
int find_card(void)
{
    int (*ask)(const void **, const void *) = NULL;
    static const unsigned char id[16] = { 0x6b };
    const void *table = NULL;
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (driver)
        *(void **)&ask = dlsym(driver, "cuGetExportTable");
    return !ask || ask(&table, id) || !table;
}

int main(void) { return find_card() ? 100 : 0; }
