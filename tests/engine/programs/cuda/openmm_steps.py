# SPDX-License-Identifier: MIT
"""Molecular dynamics with OpenMM's CUDA platform: 64 particles, 10 steps."""
import openmm
from openmm import unit

system = openmm.System()
force = openmm.NonbondedForce()
force.setNonbondedMethod(openmm.NonbondedForce.NoCutoff)
for i in range(64):
    system.addParticle(39.9)
    force.addParticle(0.0, 0.34, 0.99)
system.addForce(force)
context = openmm.Context(system, openmm.VerletIntegrator(1 * unit.femtosecond), openmm.Platform.getPlatformByName("CUDA"))
context.setPositions([openmm.Vec3(i % 4, i // 4 % 4, i // 16) for i in range(64)])
context.getIntegrator().step(10)
print("steps:", context.getStepCount(), context.getPlatform().getName())
