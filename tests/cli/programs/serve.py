# SPDX-License-Identifier: MIT
"""Takes 100 MiB, launches a kernel, listens, and waits to be stopped."""
import socket
import time

import card

card.alloc(100)
card.launch(1)
server = socket.create_server(("127.0.0.1", 0))
time.sleep(60)
