# SPDX-License-Identifier: MIT
"""
The first of two processes that train together: it takes memory, launches a kernel, listens as a rendezvous does, and
waits `ranks.py SECONDS` for the other one.
"""
import os
import socket
import sys
import time

import card

os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "0", "RANK": "0", "WORLD_SIZE": "2"}
card.alloc(100)
card.launch(1)
server = socket.create_server(("127.0.0.1", 0))
time.sleep(float(sys.argv[1]))
print("met")
