# SPDX-License-Identifier: MIT
"""A field and a kernel with Taichi, whose runtime is laid out by kernels."""
import taichi as ti

ti.init(arch=ti.cuda, device_memory_GB=1)
field = ti.field(ti.f32, shape=1 << 20)


@ti.kernel
def fill():
    for i in field:
        field[i] = i * 2.0


fill()
ti.sync()
print("taichi:", ti.lang.impl.current_cfg().arch == ti.cuda, field.shape)
