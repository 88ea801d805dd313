/* SPDX-License-Identifier: MIT */
#include "vgpu/core/python/python.h"

#include <dlfcn.h>
#include <string.h>

struct plim_python plim_python;

bool plim_python_find(void)
{
    const struct {
        void *to;
        const char *name;
    } symbols[] = {
        { &plim_python.is_initialized, "Py_IsInitialized" },
        { &plim_python.add_pending_call, "Py_AddPendingCall" },
        { &plim_python.import, "PyImport_ImportModule" },
        { &plim_python.modules, "PyImport_GetModuleDict" },
        { &plim_python.item, "PyDict_GetItemString" },
        { &plim_python.attribute, "PyObject_GetAttrString" },
        { &plim_python.call, "PyObject_CallFunctionObjArgs" },
        { &plim_python.call_method, "PyObject_CallMethod" },
        { &plim_python.build, "Py_BuildValue" },
        { &plim_python.function, "PyCFunction_NewEx" },
        { &plim_python.tuple_item, "PyTuple_GetItem" },
        { &plim_python.nth, "PySequence_GetItem" },
        { &plim_python.size, "PyObject_Size" },
        { &plim_python.is_true, "PyObject_IsTrue" },
        { &plim_python.set_attribute, "PyObject_SetAttrString" },
        { &plim_python.number, "PyLong_AsUnsignedLongLong" },
        { &plim_python.text, "PyUnicode_AsUTF8AndSize" },
        { &plim_python.error, "PyErr_Occurred" },
        { &plim_python.clear, "PyErr_Clear" },
        { &plim_python.release, "Py_DecRef" },
        { &plim_python.let_go, "PyEval_SaveThread" },
        { &plim_python.take_again, "PyEval_RestoreThread" },
    };
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *found = dlsym(RTLD_DEFAULT, symbols[i].name);
        if (!found)
            return false;
        memcpy(symbols[i].to, &found, sizeof found);
    }
    return true;
}

void plim_python_done_with(struct plim_python_object *value)
{
    if (value)
        plim_python.release(value);
    else
        plim_python.clear();
}
