# SPDX-License-Identifier: MIT
"""The JSON contracts, checked: fields and their types, sums, and what must agree with what."""
from __future__ import annotations

BASES = {"exact", "formula", "measured", "assumed"}
PILLARS = {"weights", "kv_cache", "activations", "gradients", "optimizer", "overhead", "others"}
VERDICTS = {"fits", "tight", "no", "unknown"}
STEP_PHASES = {"load", "prefill", "decode", "forward", "backward", "step", "evaluate"}
LABELS = {
    "weights": {"model buffer"},
    "kv_cache": {"KV buffer", "RS buffer"},
    "activations": {"compute buffer", "output buffer"},
}


class Broken(Exception):
    pass


def need(condition: bool, what: str) -> None:
    if not condition:
        raise Broken(what)


def fields(value: object, where: str, /, **types: object) -> dict:
    """All of them are there and of their type: a type, a tuple of types, or a set of values."""
    need(isinstance(value, dict), f"{where} is no object")
    assert isinstance(value, dict)
    for name, wanted in types.items():
        need(name in value, f"{where}.{name} is missing")
        got = value[name]
        if isinstance(wanted, set):
            need(got in wanted, f"{where}.{name} is {got!r}")
        else:
            kinds = wanted if isinstance(wanted, tuple) else (wanted,)
            is_bool = isinstance(got, bool) and bool not in kinds
            need(not is_bool and isinstance(got, kinds), f"{where}.{name} is {got!r}")
    return value


NULL = type(None)


def check_line(line: object, where: str) -> None:
    row = fields(line, where, pillar=PILLARS, label=str, bytes=int, low=int, high=int, basis=BASES, why=str)
    need(0 <= row["low"] <= row["bytes"] <= row["high"], f"{where}: {row['low']} <= {row['bytes']} <= {row['high']}")
    need(row["why"] != "", f"{where} has no why")
    need(row["basis"] != "exact" or row["low"] == row["high"], f"{where} is exact with a band")


def check_device(device: object, nth: int, is_last: bool) -> None:
    where = f"devices[{nth}]"
    row = fields(device, where, id=str, name=str, total_bytes=(int, NULL), free_bytes=(int, NULL), need_bytes=int, need_low=int,
                 need_high=int, idle_bytes=int, margin_bytes=(int, NULL), lines=list, verdict=VERDICTS)
    need(row["id"] == ("host" if is_last else f"gpu{nth}"), f"{where}.id is {row['id']}")
    for i, line in enumerate(row["lines"]):
        check_line(line, f"{where}.lines[{i}]")
    for total, part in (("need_bytes", "bytes"), ("need_low", "low"), ("need_high", "high")):
        total_of_lines = sum(line[part] for line in row["lines"])
        need(row[total] == total_of_lines, f"{where}.{total} is {row[total]}, its lines are {total_of_lines}")
    if row["total_bytes"] is not None:
        need(row["margin_bytes"] == row["total_bytes"] - row["need_bytes"], f"{where}.margin_bytes")


def check_labels(devices: list[dict]) -> None:
    """Weights and cache of the model itself carry the engine's own words."""
    for device in devices:
        for line in device["lines"]:
            wanted = LABELS.get(line["pillar"])
            known = wanted is None or line["label"] in wanted or " " in line["label"]
            need(known, f"label {line['label']!r} of {line['pillar']}")
    first = {line["label"] for device in devices for line in device["lines"]}
    need("model buffer" in first and "compute buffer" in first, f"labels are {sorted(first)}")


def check_fix(fix: object, where: str) -> None:
    row = fields(fix, where, change=str, frees_bytes=int, costs=str, verdict_after=VERDICTS, command=(str, NULL))
    need(row["frees_bytes"] > 0, f"{where}.frees_bytes is {row['frees_bytes']}")
    need("\n" not in row["change"] + row["costs"], f"{where} has a line break")
    if "ends" in row:
        pids = " ".join(str(pid) for pid in row["ends"])
        need(row["command"] == f"plimsoll free {pids}", f"{where} ends {pids} by {row['command']}")


def check_course(root: dict) -> None:
    """A recorded step: what its object says is what the bill says."""
    fields(root["setup"], "setup", task={"infer", "train"}, point=str, alloc_conf=str, point_is_default=bool, alloc_conf_is_default=bool)
    step = fields(root["step"], "step", command=(str, NULL), alloc_conf=str, variables=list, source={"recorded", "between", "beyond"},
                  replay_equals_recording=bool, error=(int, float), rank=int, device=int, tracks=int, peak=dict, room_bytes=(int, NULL),
                  allocated_peak_bytes=int, reserved_peak_bytes=int, requested_peak_bytes=int, retries=int, oom=(dict, NULL),
                  phases=list, sites=list, other_sites_bytes=int, doubts=list, largest=(dict, NULL))
    for i, variable in enumerate(step["variables"]):
        row = fields(variable, f"step.variables[{i}]", name=str, value=int, least_recorded=int, most_recorded=int)
        need(row["least_recorded"] <= row["most_recorded"], f"step.variables[{i}] is upside down")
    fields(step["peak"], "step.peak", phase=(str, NULL), step=int, event=int)
    need(step["requested_peak_bytes"] <= step["allocated_peak_bytes"] <= step["reserved_peak_bytes"], "the peaks are upside down")
    for i, phase in enumerate(step["phases"]):
        row = fields(phase, f"step.phases[{i}]", phase=str, step=int, allocated_peak_bytes=int, reserved_peak_bytes=int)
        need(row["allocated_peak_bytes"] <= step["allocated_peak_bytes"], f"step.phases[{i}] is above the peak")
    for i, site in enumerate(step["sites"]):
        fields(site, f"step.sites[{i}]", file=(str, NULL), line=(int, NULL), function=(str, NULL), allocations=int, bytes=int,
               pillar=(str, NULL), phase=(str, NULL))
    if len({track["id"] for track in root["devices"]}) == 1:
        own = [line["bytes"] for line in root["devices"][0]["lines"] if line["pillar"] not in ("overhead", "others")]
        work = [line["bytes"] for line in root["devices"][0]["lines"] if line["label"] == "work areas"]
        unused = [line["bytes"] for line in root["devices"][0]["lines"] if line["label"] == "reserved, unused"]
        need(sum(own + work + unused) == step["reserved_peak_bytes"], "the lines are not what PyTorch reserves")
        held = sum(site["bytes"] for site in step["sites"]) + step["other_sites_bytes"]
        need(held == sum(own + work), "the lines of the program do not hold what the bill has")
    for i, doubt in enumerate(step["doubts"]):
        kinds = {"other_card", "work_areas", "whole_pieces", "end_of_growth", "value_of_one", "other_orders"}
        fields(doubt, f"step.doubts[{i}]", kind=kinds, text=str)
    if step["oom"] is not None:
        fields(step["oom"], "step.oom", tried_bytes=int, held_bytes=int, allocated_peak_bytes=int, reserved_peak_bytes=int, live_over_bytes=int)
        need(root["verdict"] == "no", f"out of memory, and {root['verdict']}")
    if step["largest"] is not None:
        fields(step["largest"], "step.largest", variable=str, value=(int, NULL), fails_at=(int, NULL), by_making_room=(int, NULL), is_monotonic=bool,
               fits_again_at=(int, NULL), unknown_at=(int, NULL), tried=int)
    exact = any(line["basis"] == "exact" for device in root["devices"] for line in device["lines"])
    need(not exact or (step["source"] == "recorded" and step["replay_equals_recording"]), "exact, and not as recorded")


def check_fit(answer: object) -> None:
    root = fields(answer, "answer", schema={"plimsoll.fit/1"}, model=dict, engine=dict, speed=(dict, NULL), setup=dict, devices=list,
                  verdict=VERDICTS, would_start_with=(dict, NULL), limiting=dict, fixes=list, room=(dict, NULL), notes=list, refusal=(str, NULL))
    whole = (NULL,) if "step" in root else int
    fields(root["model"], "model", name=(str, NULL), arch=NULL if "step" in root else str, params=whole, file_type=(str, NULL),
           tensor_bytes=whole, n_layer=whole, n_embd=whole, n_vocab=(int, NULL), n_ctx_train=whole)
    fields(root["engine"], "engine", name=str, version=str)
    if root["speed"] is not None:
        speed = fields(root["speed"], "speed", tokens_per_s_low=(int, float), tokens_per_s_high=(int, float))
        need(0 < speed["tokens_per_s_low"] <= speed["tokens_per_s_high"], "speed is upside down")
    if "step" in root:
        check_course(root)
    else:
        fields(root["setup"], "setup", task={"infer"}, n_ctx=int, n_batch=int, n_ubatch=int, n_seq=int, flash_attn=bool, type_k=str,
               type_v=str, n_gpu_layers=int)
        check_labels(root["devices"])
    for i, device in enumerate(root["devices"]):
        check_device(device, i, "step" not in root and i + 1 == len(root["devices"]))
    fields(root["limiting"], "limiting", device={device["id"] for device in root["devices"]}, label=(str, NULL))
    for i, fix in enumerate(root["fixes"]):
        check_fix(fix, f"fixes[{i}]")
    for i, holder in enumerate(root.get("holders", [])):
        fields(holder, f"holders[{i}]", device={device["id"] for device in root["devices"]}, pid=int, name=str, bytes=(int, NULL), stale=bool,
               why=(str, NULL))
    if "holders" in root:
        fields(root, "answer", verdict_alone=VERDICTS | {None})
        stale = {holder["pid"] for holder in root["holders"] if holder["stale"]}
        need(all(set(fix.get("ends", [])) <= stale for fix in root["fixes"]), "a fix ends a process that is not stale")
    if root["room"]:
        need(root["verdict"] == "fits", "room where it does not fit")
        fields(root["room"], "room", n_ctx=(int, NULL), n_ctx_is_all=bool, n_slots=(int, NULL), n_ctx_slot=(int, NULL))
    if root["verdict"] in ("fits", "unknown"):
        need(not root["fixes"], f"{root['verdict']}, and fixes")
    need(root["refusal"] is None or root["verdict"] == "no", f"refused, and {root['verdict']}")
    need("contradiction" not in root or (root["contradiction"] and root["verdict"] in ("unknown", "no")), "contradicted, and yet answered")


def check_fits(answer: object) -> None:
    root = fields(answer, "answer", schema={"plimsoll.fits/1"}, results=list)
    for result in root["results"]:
        check_fit(result)
        if "quantization" in result:
            fields(result["quantization"], "quantization", recipe=(str, NULL), perplexity_delta=(float, NULL), needs_imatrix=bool,
                   file_bytes=int, largest_n_ctx=(int, NULL), largest_n_ctx_is_all=bool)
            need("recommended" in root, "quantizations, and none recommended")


def check_cards(answer: object) -> None:
    root = fields(answer, "answer", schema={"plimsoll.cards/1"}, cards=list)
    for i, card in enumerate(root["cards"]):
        row = fields(card, f"cards[{i}]", name=str, vendor=str, total_bytes=int, total_basis=BASES, compute_capability=(str, NULL),
                     bandwidth_bytes_per_s=(int, NULL))
        need(row["total_bytes"] > 0, f"cards[{i}].total_bytes")


def check_models(answer: object) -> None:
    root = fields(answer, "answer", schema={"plimsoll.models/1"}, models=list)
    for i, model in enumerate(root["models"]):
        row = fields(model, f"models[{i}]", id=str, name=str, family=(str, NULL), arch=(str, NULL), params=(int, NULL),
                     params_active=(int, NULL), params_basis=(str, NULL), params_source=(str, NULL), n_ctx_train=(int, NULL),
                     config_source=str, filled=list, disputed=list, forecast=(str, NULL), doubts=list, no_forecast=(str, NULL),
                     quantizations=list)
        need((row["forecast"] is None) == (row["no_forecast"] is not None), f"models[{i}]: a forecast or the reason for none")
        need(row["params_basis"] in (None, "counted", "stated"), f"models[{i}].params_basis")
        need((row["params"] is None) == (row["params_basis"] is None), f"models[{i}].params")
        need(row["forecast"] in (None, "exact", "formula") and (row["forecast"] != "exact" or not row["doubts"]), f"models[{i}].forecast")
        for quant in row["quantizations"]:
            fields(quant, f"models[{i}].quantizations", name=str, tensor_bytes=int)
        for fill in row["filled"]:
            need(fill["how"] in ("source", "sibling", "default", "instead") and fill["source"], f"models[{i}].filled: {fill}")


STALE = {"gone": True, "defunct": True, "container_gone": True, "orphan": True, "notebook": True, "server": False, "display": False,
         "mps": False, "service": False, "attached": False, "active": False, "stopped": None, "on_purpose": None, "not_watched": None,
         "unseen": None, "outside": None}


def check_ps_process(process: object, where: str) -> int | None:
    """The bytes that it holds."""
    row = fields(process, where, pid=int, user=(str, NULL), command=(str, NULL), container=(str, NULL), bytes=(int, NULL),
                 kind={"compute", "graphics", "compute+graphics", "mps", "drm", None}, started=(str, NULL), idle_s=(int, NULL),
                 idle_is_at_least=bool, stale=(bool, NULL), reason=str, why=str, framework=(str, NULL), role=(str, NULL), models=list,
                 folder=(str, NULL), parent=(int, NULL), parent_command=(str, NULL), pod=(str, NULL), slurm_job=(str, NULL),
                 peak_bytes=(int, NULL), host_bytes=(int, NULL), gpu_percent=(int, NULL), growth=(dict, NULL), gone=bool)
    need(row["why"] != "", f"{where} has no why")
    need(row["stale"] == STALE.get(row["reason"], row["stale"]), f"{where}: stale is {row['stale']}, and the reason is {row['reason']}")
    need(row["reason"] in STALE or row["reason"] == "earlier_run" and row["stale"] is not False, f"{where}.reason is {row['reason']}")
    need(row["idle_s"] is not None or row["stale"] is not True or row["reason"] in ("gone", "defunct"), f"{where}: stale, and not seen idle")
    if row["growth"] is not None:
        fields(row["growth"], f"{where}.growth", trend={"steady", "warm_up", "growing"}, bytes_per_min=int, full_s=(int, NULL), window_s=int)
    return row["bytes"]


def check_ps(answer: object) -> None:
    root = fields(answer, "answer", schema={"plimsoll.ps/1"}, taken=str, cards=list, notes=list)
    for i, card in enumerate(root["cards"]):
        where = f"cards[{i}]"
        row = fields(card, where, id=str, name=str, uuid=(str, NULL), total_bytes=(int, NULL), used_bytes=(int, NULL),
                     free_bytes=(int, NULL), reserved_bytes=(int, NULL), processes=list, unattributed_bytes=(int, NULL),
                     unattributed_why=(str, NULL), pci=(str, NULL), parent=(str, NULL), asleep=bool,
                     listing={"full", "without_bytes", "partial", "none"}, stale_bytes=int, growth=(dict, NULL), gpu_percent=(int, NULL),
                     why=(str, NULL))
        held = [check_ps_process(process, f"{where}.processes[{k}]") for k, process in enumerate(row["processes"])]
        known = sum(size for size in held if size is not None)
        need(row["unattributed_bytes"] is None or None not in held, f"{where}: bytes are unknown, and what is left is known")
        need(not row["unattributed_bytes"] or row["used_bytes"] >= known + row["unattributed_bytes"], f"{where}: more is held than used")
        need(row["stale_bytes"] <= (row["used_bytes"] or 0), f"{where}.stale_bytes")


KEPT_BY = {"no_process", "no_memory", "gone", "outside", "changed", "defunct", "init", "kernel", "self", "ancestor", "user", "container",
           "display", "service", "slurm_job", "no_device", "other_user", "other_card", "server", "not_stale", "notebook", "young", "job"}
ENDS = {"terminated", "killed", "ended_before", "let_go", "denied", "failed", "survived"}


def check_free_process(process: object, where: str) -> dict:
    row = fields(process, where, pid=int, user=(str, NULL), command=(str, NULL), part={"holder", "launcher", "child"}, bytes=(int, NULL),
                 cards=list, started=(str, NULL), idle_s=(int, NULL), idle_is_at_least=bool, stale=(bool, NULL), why=(str, NULL),
                 action={"end", "keep"}, kept_by=(str, NULL), kept_why=(str, NULL), job=(int, NULL), gentler=(dict, NULL), end=(dict, NULL))
    is_kept = row["action"] == "keep"
    need(is_kept == (row["kept_by"] in KEPT_BY) and is_kept == bool(row["kept_why"]), f"{where}: kept by {row['kept_by']}")
    need(is_kept or row["job"] is not None, f"{where} is ended, and of no job")
    for holding in row["cards"]:
        fields(holding, f"{where}.cards", card=str, bytes=(int, NULL))
    if row["gentler"] is not None:
        fields(row["gentler"], f"{where}.gentler", how=str, command=(str, NULL))
    if row["end"] is not None:
        fields(row["end"], f"{where}.end", how=ENDS, took_ms=(int, NULL), why=(str, NULL))
    return row


def check_free(answer: object) -> None:
    root = fields(answer, "answer", schema={"plimsoll.free/1"}, stage={"done", "dry_run", "listed"}, done=bool, processes=list, cards=list,
                  device_users=list)
    rows = [check_free_process(process, f"processes[{i}]") for i, process in enumerate(root["processes"])]
    need(not root["done"] or root["stage"] == "done", "done, and nothing was ended")
    need(root["stage"] == "done" or not any(row["end"] for row in rows), "a process has ended, and none was to")
    for i, card in enumerate(root["cards"]):
        row = fields(card, f"cards[{i}]", id=str, name=(str, NULL), total_bytes=(int, NULL), used_bytes=(int, NULL), free_bytes=(int, NULL),
                     returns_bytes=int, returned_bytes=(int, NULL), free_after_bytes=(int, NULL), back=(bool, NULL), why=(str, NULL))
        held = [one["bytes"] or 0 for process in rows if process["action"] == "end" for one in process["cards"] if one["card"] == row["id"]]
        need(row["returns_bytes"] == sum(held), f"cards[{i}].returns_bytes is {row['returns_bytes']}, and {sum(held)} is held")


PRICE = {"price": (dict, NULL)}


def check_carriers(answer: object) -> None:
    check_cards(answer)
    root = fields(answer, "answer", model=dict, n_ctx=(int, NULL), n_ctx_is_assumed=bool, notes=list)
    fields(root["model"], "model", name=(str, NULL), arch=(str, NULL), file_type=(str, NULL), tensor_bytes=int)
    need(root["cards"], "no cards")
    for i, card in enumerate(root["cards"]):
        row = fields(card, f"cards[{i}]", n_cards={1, 2}, verdict={"fits", "tight"}, margin_bytes=int,
                     tokens_per_s_low=(float, NULL), tokens_per_s_high=(float, NULL), **PRICE)
        before = root["cards"][max(i - 1, 0)]
        need(row["n_cards"] * row["total_bytes"] >= before["n_cards"] * before["total_bytes"], f"cards[{i}]: smaller than before")


def check_comparison(answer: object) -> None:
    check_cards(answer)
    root = fields(answer, "answer", cards=list, models=list)
    need(len(root["cards"]) == 2 and len(root["models"]) == 3, "two cards, three models")
    for model in root["models"]:
        fields(model, "model", name=str, n_ctx=int, best=list)
        need(len(model["best"]) == 2, "one for each card")
        for best in filter(None, model["best"]):
            fields(best, "best", file_type=(str, NULL), file_bytes=int, n_ctx=int, tokens_per_s_low=(float, NULL),
                   tokens_per_s_high=(float, NULL))


def check_engines(answer: object) -> None:
    engines = fields(answer, "engines", schema={"plimsoll.engines/1"}, engines=list)["engines"]
    for i, engine in enumerate(engines):
        row = fields(engine, f"engines[{i}]", name=str, tasks=list, rules=str, proven_from=(str, NULL), proven_to=(str, NULL),
                     default=bool)
        need(row["default"] == (i == 0) and set(row["tasks"]) <= {"infer", "train"}, f"engines[{i}]: {row}")


def check_receipt(answer: object) -> None:
    root = fields(answer, "answer", schema={"plimsoll.receipt/1"}, devices=list, engine=dict, model=dict, setup=dict, complete=bool,
                  is_estimate=bool, n_starts=int, oom=(bool, NULL), exit_code=(int, NULL), host=(dict, NULL), warnings=list)
    fields(root, "answer", **{"from": {"log", "rehearse"}})
    for i, device in enumerate(root["devices"]):
        row = fields(device, f"devices[{i}]", id=str, name=(str, NULL), total_bytes=(int, NULL), peak_bytes=int, peak_low=int,
                     peak_high=(int, NULL), peak_basis={"exact", "lower_bound"}, lines=list)
        need(row["peak_low"] <= row["peak_bytes"] <= (row["peak_high"] or row["peak_bytes"]), f"devices[{i}].peak_bytes")
        for k, line in enumerate(row["lines"]):
            part = fields(line, f"devices[{i}].lines[{k}]", pillar=PILLARS, label=str, bytes=int, low=int, high=int, basis=BASES)
            need(0 <= part["low"] <= part["bytes"] <= part["high"], f"devices[{i}].lines[{k}].bytes")


def check_rehearsal_device(device: object, nth: int) -> None:
    where = f"devices[{nth}]"
    row = fields(device, where, id={f"gpu{nth}"}, name=str, total_bytes=int, reserved_bytes=int, peak_bytes=int, peak_low=int,
                 peak_high=(int, NULL), peak_basis={"exact", "lower_bound"}, peak_us=int, lines=list,
                 end_bytes=int, end_lines=list, timeline=list, phases=list, pytorch=(dict, NULL))
    for lines, total in (("lines", "peak_bytes"), ("end_lines", "end_bytes")):
        for i, line in enumerate(row[lines]):
            part = fields(line, f"{where}.{lines}[{i}]", pillar=PILLARS | {None}, label=str, what=str, bytes=int, low=int, high=int,
                          basis=BASES, why=str)
            need(0 <= part["low"] <= part["bytes"] <= part["high"], f"{where}.{lines}[{i}].bytes")
        held = sum(line["bytes"] for line in row[lines])
        need(held == row[total], f"{where}.{total} is {row[total]}, its lines are {held}")
    need((row["peak_high"] is None) == (row["peak_basis"] == "lower_bound"), f"{where}.peak_high")
    need(row["peak_low"] <= row["peak_bytes"] <= (row["peak_high"] or row["peak_bytes"]), f"{where}.peak_bytes")
    need(all(0 <= bytes <= row["peak_bytes"] for _, bytes in row["timeline"]), f"{where}.timeline goes above the peak")
    for phase in row["phases"]:
        fields(phase, f"{where}.phases", phase=(str, NULL), peak_bytes=int)
    if row["pytorch"]:
        peaks = fields(row["pytorch"], f"{where}.pytorch", allocated_peak_bytes=int, active_peak_bytes=int, reserved_peak_bytes=int,
                       basis={"exact", "lower_bound"}, processes=int)
        need(0 < peaks["reserved_peak_bytes"] <= row["peak_bytes"] and peaks["processes"] > 0, f"{where}.pytorch: {peaks}")
    need(sum(phase["peak_bytes"] for phase in row["phases"]) <= row["peak_bytes"], f"{where}.phases held more than the card")


def check_site(site: object, where: str) -> None:
    row = fields(site, where, device=str, what=str, label=(str, NULL), pillar=PILLARS | {None}, phase=(str, NULL), where=(str, NULL),
                 peak_bytes=int, end_bytes=int, count=int, native=list, python=list)
    need(all(isinstance(frame, str) and frame for frame in row["native"] + row["python"]), f"{where} has an empty frame")


PATHS = {"exact", "guessed_harmless", "guessed", "incomplete"}


def check_path(path: object, devices: list[dict]) -> None:
    row = fields(path, "path", basis=BASES, verdict=PATHS, values={"zero", "max", "off"}, tokens=(int, NULL), values_assumed=int, values_kept=int,
                 data_reads=int,
                 why=str, places=list, more_places=int, other=(dict, NULL))
    for i, value in enumerate(row["places"]):
        place = fields(value, f"path.places[{i}]", where=(str, NULL), inside=(str, NULL), text=(str, NULL), text_line=(int, NULL), what=str,
                       bytes=int, decided=str, effect={"unknown", "none", "higher", "lower"}, matters=bool, kept=bool, count=int)
        need(place["count"] > 0 and (place["matters"] or place["effect"] in ("none", "lower")), f"path.places[{i}]")
    if not row["more_places"]:
        counted = sum(place["count"] for place in row["places"])
        need(counted == row["values_assumed"] + row["values_kept"], "path.places are not all values")
    matters = any(place["matters"] for place in row["places"])
    need(row["verdict"] == "incomplete" or row["more_places"] or matters == (row["verdict"] == "guessed"), "path.verdict")
    need((row["basis"] == "exact") == (row["values_assumed"] + row["values_kept"] == 0), "path.basis")
    is_least = row["verdict"] in ("guessed", "incomplete")
    need(all((device["peak_basis"] == "lower_bound") == is_least for device in devices), "peak_basis is not of the path")


GOOD_ENDS = {"completed", "recovered", "reached"}
ENDS = GOOD_ENDS | {"no_steps", "no_card", "too_early", "static_runtime", "out_of_memory", "failed", "signal", "timeout", "interrupt"}


def check_rehearsal(answer: object) -> None:
    root = fields(answer, "answer", schema={"plimsoll.receipt/1"}, command=list, card=str, exit_code=int, oom=bool, seconds=(int, float),
                  stopped_by={"exit", "signal", "interrupt", "ready", "stable", "steps", "timeout"}, devices=list, host=dict,
                  oom_at=(dict, NULL), warnings=list, allocations=list, requests_met_later=int, sites=list, steps=(dict, NULL),
                  find=(dict, NULL), path=dict, end=ENDS, end_line=str, said=(dict, NULL), pool=(dict, NULL))
    fields(root, "answer", **{"from": {"rehearse"}})
    need((root["end"] in ("out_of_memory", "recovered")) <= (root["oom"] or root["said"] is not None), "end is for memory, and oom is not set")
    if root["said"] is not None:
        fields(root["said"], "said", framework=str, asked_bytes=int, text=str)
    if root["pool"] is not None:
        fields(root["pool"], "pool", framework={"jax", "tensorflow"}, device=str, bytes=int, setting=str)
    need(root["end"] not in ("completed", "recovered") or root["exit_code"] == 0, "end and exit_code differ")
    check_path(root["path"], root["devices"])
    need(root["oom"] == (root["oom_at"] is not None), "oom and oom_at differ")
    fields(root["host"], "host", peak_rss_bytes=int, pinned_peak_bytes=int, peak_anonymous_bytes=int, peak_processes=int,
           ended_by_kernel={"no", "likely", "yes"}, written_bytes=int, written_us=int)
    for i, device in enumerate(root["devices"]):
        check_rehearsal_device(device, i)
        held = sum(site["peak_bytes"] for site in root["sites"] if site["device"] == device["id"])
        need(held <= device["peak_bytes"], f"the sites of gpu{i} held more than the card at its peak")
    for i, site in enumerate(root["sites"]):
        check_site(site, f"sites[{i}]")
    if root["oom_at"] is not None:
        at = fields(root["oom_at"], "oom_at", device=str, went_on=bool, what=str, asked_bytes=int, free_bytes=int, native=list, python=list)
        need(at["asked_bytes"] > at["free_bytes"], "what did not fit is smaller than what was free")
    if root["steps"] is not None:
        fields(root["steps"], "steps", count=int, how={"optimizer", "cycles"}, launches_per_step=(int, NULL), why=str)
    if root["find"] is not None:
        find = fields(root["find"], "find", name=str, low=int, high=int, largest=(int, NULL), largest_of={"fits", "completed"},
                      largest_recovered=(int, NULL), decided=bool, monotonic=bool, trials=list)
        good = {"fits"} if find["largest_of"] == "fits" else {"fits", "recovered"}
        fit = [trial["value"] for trial in find["trials"] if trial["outcome"] in good]
        need(find["largest"] == (max(fit) if fit else None), "find.largest is not the largest that fits")


def check_check(answer: object) -> None:
    root = fields(answer, "answer", schema={"plimsoll.check/1"}, devices=list, agrees=bool, complete=bool, lower_bound=bool, setup_differs=list)
    counted = []
    for i, device in enumerate(root["devices"]):
        row = fields(device, f"devices[{i}]", id=str, name=(str, NULL), bill_bytes=int, receipt_bytes=int, lines=list)
        for k, line in enumerate(row["lines"]):
            where = f"devices[{i}].lines[{k}]"
            part = fields(line, where, pillar=PILLARS, label=str, bill_bytes=(int, NULL), low=(int, NULL), high=(int, NULL),
                          receipt_bytes=(int, NULL), difference_bytes=(int, NULL), in_band=(bool, NULL), counts=bool)
            is_both = part["bill_bytes"] is not None and part["receipt_bytes"] is not None
            need((part["difference_bytes"] is not None) == is_both, f"{where}.difference_bytes")
            if is_both:
                need(part["difference_bytes"] == part["receipt_bytes"] - part["bill_bytes"], f"{where}.difference_bytes")
            counted += [part["in_band"]] if part["counts"] else []
    need(not root["agrees"] or (counted != [] and all(counted)), "agrees, and a line does not")


def check_hollow(answer: object) -> None:
    root = fields(answer, "answer", schema={"plimsoll.hollow/1"}, files=list)
    need(bool(root["files"]), "no files")
    for i, file in enumerate(root["files"]):
        row = fields(file, f"files[{i}]", path=str, bytes=int, disk_bytes=int)
        need(0 <= row["disk_bytes"] <= row["bytes"] + (2 << 20), f"files[{i}].disk_bytes is {row['disk_bytes']}")


CAUSES = {"model_too_big", "other_process", "fragmentation", "kv_cache_context", "batch_or_activation", "leak_or_growth",
          "optimizer_states", "host_ram", "shm", "allocator_limit", "misconfiguration_utilization", "driver_or_context", "not_oom", None}
NUMBERS = ["tried_bytes", "total_bytes", "free_bytes", "process_bytes", "allocated_bytes", "reserved_unallocated_bytes",
           "private_pool_bytes", "allowed_bytes"]


def check_finding(finding: object, where: str) -> None:
    row = fields(finding, where, framework=str, kind=str, cause=CAUSES, confidence={"high", "medium", "low", "none"}, numbers=dict,
                 why=str, evidence=list, fixes=list, related=list, candidates=list, will_not_help=list, line=int, count=int,
                 recovered=bool, role=str, stage=str, note=(str, NULL), words=dict, entry=(str, NULL))
    numbers = fields(row["numbers"], f"{where}.numbers", others=list, **{name: (int, NULL) for name in NUMBERS})
    need(all(value is None or isinstance(value, (int, float)) for name, value in numbers.items() if name != "others"), f"{where}.numbers")
    for other in numbers["others"]:
        fields(other, f"{where}.numbers.others", pid=(int, NULL), bytes=(int, NULL))
    for evidence in row["evidence"]:
        fields(evidence, f"{where}.evidence", line=int, text=str)
    for fix in row["fixes"]:
        fields(fix, f"{where}.fixes", change=str, command=str, costs=str, frees_bytes=(int, NULL), exact=bool, verified=(str, NULL))
    for related in row["related"]:
        fields(related, f"{where}.related", framework=str, kind=str, role=str, line=int, count=int, text=(str, NULL))
    for useless in row["will_not_help"]:
        fields(useless, f"{where}.will_not_help", what=str, why=str)


def check_explain(answer: object) -> None:
    root = fields(answer, "answer", schema={"plimsoll.explain/1"}, framework=(str, NULL), findings=list, context=dict, processes=list,
                  lines=int, bytes=int, left_out=int, not_read=(dict, NULL))
    if root["not_read"]:
        fields(root["not_read"], "not_read", lines=int, ranges=list, bytes_before=int, has_more=bool)
        for i, range_ in enumerate(root["not_read"]["ranges"]):
            fields(range_, f"not_read.ranges[{i}]", **{"from": int, "to": int, "lines": int})
    fields(root["context"], "context", numbers=dict, words=dict, programs=list, frames=list)
    for i, process in enumerate(root["processes"]):
        fields(process, f"processes[{i}]", pid=int, name=str, card=str, bytes=(int, NULL), user=(str, NULL), why=(str, NULL), stale=bool,
               in_log=bool)
    for i, finding in enumerate(root["findings"]):
        check_finding(finding, f"findings[{i}]")


def check_errors(answer: object) -> None:
    document = fields(answer, "errors", schema={"plimsoll.errors/1"}, query=(str, NULL), recognised=bool, entries=list)
    ids = [entry["id"] for entry in document["entries"]]
    need(len(set(ids)) == len(ids), "an entry is there twice")
    for entry in document["entries"]:
        where = f"entries[{entry['id']}]"
        fields(entry, where, id=str, title=str, framework=(str, NULL), causes=list, means=str, messages=list, kinds=list,
               because=list, fixes=list, alternatives=list, will_not_help=list, beliefs=list, versions=(str, NULL),
               source=(str, NULL), related=list)
        need(entry["fixes"] and entry["because"] and entry["causes"], f"{where} lacks something")
        for fix in entry["fixes"]:
            fields(fix, f"{where}.fixes", change=str, command=(str, NULL))
        for belief in entry["beliefs"]:
            fields(belief, f"{where}.beliefs", claim=str, truth=str)


def check_held(held: object, where: str) -> None:
    row = fields(held, where, bytes=int, count=int, before_bytes=int, sites=list, rest_bytes=int, rest_count=int)
    for i, site in enumerate(row["sites"]):
        frame = fields(site, f"{where}.sites[{i}]", bytes=int, count=int, frame=(dict, NULL))["frame"]
        if frame:
            fields(frame, f"{where}.sites[{i}].frame", file=str, line=int, function=str)
    for key in ("bytes", "count"):
        total = sum(site[key] for site in row["sites"]) + row["rest_" + key]
        need(row[key] == total, f"{where}.{key} is {row[key]}, its sites are {total}")


def check_traces(answer: object) -> None:
    root = fields(answer, "answer", schema={"plimsoll.trace/1"}, snapshots=list, changes=dict)
    need(len(root["snapshots"]) == 2, "two snapshots")
    for snapshot in root["snapshots"]:
        check_trace(snapshot)
    for moment in ("peak", "end"):
        row = fields(root["changes"][moment], moment, bytes=list, lines=list, rest_bytes=list, rest_lines=int, equal_lines=int)
        for line in row["lines"]:
            fields(line, f"{moment}.lines", bytes=list, count=list, frame=(dict, NULL))
            need(line["bytes"][0] != line["bytes"][1], f"{moment}: a line that is the same: {line}")
    for side, snapshot in enumerate(root["snapshots"]):
        need(root["changes"]["peak"]["bytes"][side] == snapshot["peak"]["held"]["bytes"], "changes.peak.bytes")


def check_ranks(answer: object) -> None:
    root = fields(answer, "answer", schema={"plimsoll.trace/1"}, ranks=list, deciding_rank=int, lines=list, rest_lines=int, equal_lines=int)
    for rank in root["ranks"]:
        fields(rank, "ranks", snapshot=str, device=int, entries=int, requested_peak_bytes=int, allocated_peak_bytes=int, reserved_peak_bytes=int,
               reserved_bytes=int, inactive_split_bytes=int, oom=(dict, NULL), is_equal=bool)
    for line in root["lines"]:
        fields(line, "lines", bytes=list, frame=(dict, NULL))
        need(len(line["bytes"]) == len(root["ranks"]) and len(set(line["bytes"])) > 1, f"lines: {line}")
    spreads = [max(line["bytes"]) - min(line["bytes"]) for line in root["lines"]]
    need(spreads == sorted(spreads, reverse=True), f"lines are not in order: {spreads}")
    deciding = root["ranks"][root["deciding_rank"]]
    need(bool(deciding["oom"]) == any(rank["oom"] for rank in root["ranks"]), "deciding_rank")
    need(deciding["reserved_peak_bytes"] == max(rank["reserved_peak_bytes"] for rank in root["ranks"] if bool(rank["oom"]) == bool(deciding["oom"])),
         "deciding_rank reserves most")


def check_timeline(root: dict) -> None:
    """The most of each slice: the peak is in one, and no slice has more than the replay's peaks."""
    slices = fields(root, "answer", timeline=list)["timeline"]
    need(len(slices) == min(root["entries"], 64), f"a timeline of {len(slices)} slices")
    for i, row in enumerate(slices):
        fields(row, f"timeline[{i}]", entry=int, time_us=(int, NULL), requested_bytes=int, reserved_bytes=int)
        need(row["entry"] == i * root["entries"] // len(slices), f"timeline[{i}].entry is {row['entry']}")
        need(row["requested_bytes"] <= row["reserved_bytes"], f"timeline[{i}]: {row}")
    if slices:
        peak = root["peak"]
        need(max(row["requested_bytes"] for row in slices) >= peak["held"]["bytes"], "the timeline lacks its peak")
        at = max(i for i, row in enumerate(slices) if row["entry"] <= (peak["entry"] or 0))
        need(slices[at]["requested_bytes"] >= peak["held"]["bytes"], f"the peak is not in slice {at}")
        if root["replay"]["is_equal"]:
            need(max(row["reserved_bytes"] for row in slices) == peak["reserved_bytes"], "reserved_bytes of the timeline")


def check_pieces(root: dict) -> None:
    if not fields(root, "answer", pieces=(dict, NULL))["pieces"]:
        return
    pieces = fields(root["pieces"], "pieces", is_found=bool, is_oom=bool, is_unfit=bool, worst=dict, lines=list,
                    settings=(str, NULL), apart=(str, NULL), reserved_peak_bytes=(int, NULL), over_time=list)
    for share in [pieces["worst"], *pieces["over_time"]]:
        fields(share, "pieces", entry=(int, NULL), time_us=(int, NULL), reserved_bytes=int, allocated_bytes=int, pieces_bytes=int)
        need(share["allocated_bytes"] + share["pieces_bytes"] <= share["reserved_bytes"], f"pieces: {share}")
    for line in pieces["lines"]:
        fields(line, "pieces.lines", held_bytes=int, free_bytes=int, count=int, frame=(dict, NULL), call=(dict, NULL))
    worst = pieces["worst"]
    unused = worst["reserved_bytes"] - worst["allocated_bytes"] if pieces["is_unfit"] else worst["pieces_bytes"]
    need(sum(line["free_bytes"] for line in pieces["lines"]) <= unused, "pieces.lines have more than there is")
    need(not pieces["is_unfit"] or (pieces["is_found"] and not pieces["is_oom"] and (pieces["settings"] or pieces["apart"])), "pieces.is_unfit")
    need(pieces["apart"] in (None, "streams", "pools") and not (pieces["settings"] and pieces["apart"]), "pieces.apart")
    has_less = pieces["settings"] or pieces["apart"]
    need(bool(has_less) == (pieces["reserved_peak_bytes"] is not None), "pieces.settings")
    if has_less:
        need(pieces["reserved_peak_bytes"] < root["peak"]["reserved_bytes"], "settings that reserve no less")


def check_pillars(moment: dict, where: str) -> None:
    if moment["pillars"]:
        known = {"weights", "kv_cache", "activations", "gradients", "optimizer"}
        need(set(moment["pillars"]) <= known | {"unknown"} and known & set(moment["pillars"]), f"{where}.pillars: {moment['pillars']}")
        need(sum(moment["pillars"].values()) == moment["held"]["bytes"], f"{where}.pillars are not what is held")


def check_trace(answer: object) -> None:
    root = fields(answer, "answer", schema={"plimsoll.trace/1"}, snapshot=str, device=int, entries=int, settings=(str, NULL), peak=dict, end=dict,
                  oom=(dict, NULL), replay=dict)
    peak = fields(root["peak"], "peak", entry=(int, NULL), time_us=(int, NULL), allocated_bytes=int, reserved_bytes=int, held=dict,
                  pillars=(dict, NULL))
    check_held(peak["held"], "peak.held")
    check_pillars(peak, "peak")
    check_timeline(root)
    need(peak["held"]["bytes"] <= peak["allocated_bytes"] <= peak["reserved_bytes"], f"peak: {peak}")
    if fields(root, "answer", growth=(dict, NULL))["growth"]:
        growth = fields(root["growth"], "growth", loop=dict, turns=int, lines=list)
        for line in growth["lines"]:
            fields(line, "growth.lines", kind={"kept", "larger", "late"}, bytes=int, first_bytes=(int, NULL), count=int, turns=(int, NULL),
                   bursts=(int, NULL), frame=dict, call=(dict, NULL))
            need((line["turns"] is not None) == (line["kind"] == "kept"), f"growth.lines: {line}")
            need((line["bursts"] is not None) == (line["kind"] == "late"), f"growth.lines: {line}")
            need((line["turns"] or 0) <= growth["turns"] and (line["turns"] or 0) <= line["count"], f"growth.lines: {line}")
            need((line["first_bytes"] or 0) <= line["bytes"], f"growth.lines: {line}")
    check_pieces(root)
    fields(root["end"], "end", segments=int, reserved_bytes=int, allocated_bytes=int, inactive_split_bytes=int)
    if root["oom"]:
        oom = fields(root["oom"], "oom", entry=int, time_us=(int, NULL), asked_bytes=int, segment_bytes=int, device_free_bytes=int,
                     reserved_bytes=int, allocated_bytes=int, held=dict, frame=(dict, NULL), exceeds_capacity=bool, missing_bytes=int)
        fields(oom, "oom", pillars=(dict, NULL))
        check_pillars(oom, "oom")
        check_held(oom["held"], "oom.held")
        need(oom["exceeds_capacity"] == (oom["missing_bytes"] > 0), "oom.missing_bytes")
    replay = fields(root["replay"], "replay", changes_recorded=int, changes_replayed=int, changes_equal=int, is_equal=bool,
                    capacity_bytes=(int, NULL), trials=list)
    for i, trial in enumerate(replay["trials"]):
        row = fields(trial, f"replay.trials[{i}]", settings=str, is_enough=bool, reserved_peak_bytes=int, retries=int,
                     oom_entry=(int, NULL))
        need(row["is_enough"] or row["oom_entry"] is not None, f"replay.trials[{i}]: {row}")


def check_step_track(track: object, where: str, n_points: int, n_sizes: int, n_sites: int) -> None:
    row = fields(track, where, rank=int, device=int, streams=int, pool_retries=list, end={"exit", "steps", "memory", None}, starts_late=bool,
                 recorded=(list, NULL), outside_bytes=(int, NULL), capacity_bytes=(int, NULL), marks=list, allocations=dict, events=dict)
    need(row["recorded"] is None or len(row["recorded"]) == n_points, f"{where}.recorded")
    for peaks in row["recorded"] or []:
        fields(peaks, f"{where}.recorded", allocated_bytes=(int, NULL), reserved_bytes=(int, NULL))
    columns = fields(row["allocations"], f"{where}.allocations", size=list, site=list, pillar=list, phase=list)
    n = len(columns["size"])
    need(all(len(columns[name]) == n for name in columns), f"{where}.allocations have columns of several lengths")
    need(all(0 <= size < n_sizes for size in columns["size"]), f"{where}.allocations.size")
    need(all(site is None or 0 <= site < n_sites for site in columns["site"]), f"{where}.allocations.site")
    need(set(columns["pillar"]) <= PILLARS | {None} and set(columns["phase"]) <= STEP_PHASES | {None}, f"{where}.allocations")
    events = fields(row["events"], f"{where}.events", kind=list, id=list, stream=list, pool=list)
    need(all(len(events[name]) == len(events["kind"]) for name in events), f"{where}.events have columns of several lengths")
    need([id for kind, id in zip(events["kind"], events["id"]) if kind == "take"] == list(range(n)), f"{where}: allocations are taken in order")
    for kind, id in zip(events["kind"], events["id"]):
        need((id is None) == (kind in ("empty", "release_pool", "empty_pool")), f"{where}.events.id of {kind}")
    need(all(stream < row["streams"] for stream in events["stream"]), f"{where}.events.stream")
    need(all(pool < len(row["pool_retries"]) for pool in events["pool"]), f"{where}.events.pool")
    for mark in row["marks"]:
        fields(mark, f"{where}.marks", event=int, step=int, phase=STEP_PHASES | {None})
    need([mark["event"] for mark in row["marks"]] == sorted(mark["event"] for mark in row["marks"]), f"{where}.marks go forward")


def check_step(answer: object) -> None:
    root = fields(answer, "answer", schema={"plimsoll.step/1"}, file=str, torch_version=(str, NULL), alloc_conf=str, card=dict,
                  command=(str, NULL), variables=list, sites=list, shapes=list)
    fields(root["card"], "card", name=(str, NULL), total_bytes=(int, NULL))
    for site in root["sites"]:
        fields(site, "sites", file=str, line=int, function=(str, NULL))
    for i, shape in enumerate(root["shapes"]):
        where = f"shapes[{i}]"
        row = fields(shape, where, points=list, left_out_allocated_error=(float, NULL), left_out_reserved_error=(float, NULL), sizes=list,
                     tracks=list)
        need(len(row["points"]) > 0 and all(list(point) == root["variables"] for point in row["points"]), f"{where}.points")
        for size in row["sizes"]:
            fields(size, f"{where}.sizes", terms=list, denominator=int, multiples=dict, least_bytes=(int, NULL),
                   multiple_bytes=(int, NULL), most_bytes=(int, NULL), is_exact=bool)
            need(size["denominator"] > 0 and set(size["multiples"]) <= set(root["variables"]), f"{where}.sizes: {size}")
            for term in size["terms"]:
                fields(term, f"{where}.sizes.terms", coefficient=int, powers=dict)
        for k, track in enumerate(row["tracks"]):
            check_step_track(track, f"{where}.tracks[{k}]", len(row["points"]), len(row["sizes"]), len(root["sites"]))


def check_sweep(answer: object) -> None:
    root = fields(answer, "answer", schema={"plimsoll.sweep/1"}, table=str, ok=int, failed=int, open=int, rows=list)
    for i, row in enumerate(root["rows"]):
        fields(row, f"rows[{i}]", values=dict, figures=dict, status={"ok", "failed", "open"}, exit=(int, NULL), seconds=(float, NULL),
               reason=(str, NULL), key=str)
        need((row["status"] == "failed") == (row["reason"] is not None), f"rows[{i}].reason")
        need((row["status"] == "open") == (row["exit"] is None), f"rows[{i}].exit")
        need(all(isinstance(value, str) for value in row["values"].values()), f"rows[{i}].values")
    for status in ("ok", "failed", "open"):
        need(root[status] == sum(row["status"] == status for row in root["rows"]), f"{status} is {root[status]}")


def check(kind: str, answer: object) -> str | None:
    """None, or what is wrong."""
    try:
        {"explain": check_explain, "fit": check_fit, "fits": check_fits, "cards": check_cards, "carriers": check_carriers,
         "comparison": check_comparison, "receipt": check_receipt, "rehearsal": check_rehearsal, "check": check_check,
         "hollow": check_hollow, "errors": check_errors, "engines": check_engines, "models": check_models, "ps": check_ps,
         "free": check_free, "step": check_step, "sweep": check_sweep, "trace": check_trace, "traces": check_traces,
         "ranks": check_ranks}[kind](answer)
    except Broken as error:
        return f"breaks the contract: {error}"
    return None
