# SPDX-License-Identifier: MIT
"""What nvitop has to say of the cards, to the byte, by its own API: JSON. Runs in the environment that has nvitop."""
import json

from nvitop import Device, GpuProcess

print(json.dumps([
    {"uuid": card.uuid(), "total": card.memory_total(), "used": card.memory_used(), "free": card.memory_free(),
     "percent": card.gpu_utilization(),
     "processes": [{"pid": process.pid, "bytes": process.gpu_memory(), "user": process.username(),
                    "command": process.cmdline(), "percent": process.gpu_sm_utilization(), "type": process.type}
                   for process in GpuProcess.take_snapshots(card.processes().values(), failsafe=True)
                   for process in [process.real]]}
    for card in Device.all()]))
