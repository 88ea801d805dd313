# SPDX-License-Identifier: MIT
"""Worker of a shop that takes photos from a queue and finds similar ones; --replay feeds it a day's requests."""
import argparse
import json
import logging
import queue
import sys
import threading
import time

import timm
import torch


class JsonLines(logging.Formatter):
    def format(self, record):
        line = {"time": self.formatTime(record), "level": record.levelname.lower(), "msg": record.getMessage()}
        line.update(getattr(record, "fields", {}))
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line)


log = logging.getLogger("worker")


def say(message, **fields):
    log.info(message, extra={"fields": fields})


class Search:
    """The feature maps of the photos that were asked for last, and the network that makes them."""

    def __init__(self, remember):
        with torch.device("cuda"):
            self.net = timm.create_model("resnet50", pretrained=False, features_only=True).eval()
        self.remember, self.maps = remember, {}

    @torch.inference_mode()
    def similar(self, photo):
        maps = self.net(torch.zeros(1, 3, 640, 640, device="cuda"))
        self.maps[photo] = maps
        while len(self.maps) > self.remember:
            self.maps.pop(next(iter(self.maps)))
        return max(self.maps, key=lambda other: float((self.maps[other][-1] * maps[-1]).mean()))


def replay(requests, count):
    for number in range(count):
        requests.put(f"photo-{number:06d}")
    requests.put(None)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--remember", type=int, default=1000, help="photos whose maps are kept")
    parser.add_argument("--replay", type=int, default=100, metavar="REQUESTS")
    args = parser.parse_args()
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=logging.INFO, handlers=[handler])
    requests = queue.Queue(maxsize=32)
    threading.Thread(target=replay, args=(requests, args.replay), daemon=True).start()
    search = Search(args.remember)
    say("ready", weights_mib=torch.cuda.memory_allocated() >> 20, remember=args.remember)
    start, done = time.perf_counter(), 0
    while (photo := requests.get()) is not None:
        try:
            search.similar(photo)
        except RuntimeError:
            log.exception("request failed", extra={"fields": {"photo": photo, "done": done}})
            return 1
        done += 1
        if done % 40 == 0:
            say("served", requests=done, gpu_allocated_mib=torch.cuda.memory_allocated() >> 20,
                per_s=round(done / (time.perf_counter() - start), 1))
    say("queue is empty", requests=done)
    return 0


if __name__ == "__main__":
    sys.exit(main())
