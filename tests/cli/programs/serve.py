# SPDX-License-Identifier: MIT
"""Takes 100 MiB, listens, and waits to be stopped."""
import socket
import time

import card

card.alloc(100)
server = socket.create_server(("127.0.0.1", 0))
time.sleep(60)
