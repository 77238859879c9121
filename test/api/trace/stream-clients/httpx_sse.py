"""Reads an event stream by the rules of httpx-sse, which Debian does not have: a blank line delivers a message if any field was set."""

import json
import sys

import httpx

event, data, last_event_id, retry = "", [], "", None
with httpx.stream("GET", sys.argv[1], headers={"Accept": "text/event-stream"}, timeout=60) as response:
    for line in response.iter_lines():
        line = line.rstrip("\n")
        if not line:
            if not event and not data and not last_event_id and retry is None:
                continue
            text = "\n".join(data)
            print(json.dumps({"data": text, "event": event or "message", "id": last_event_id}), flush=True)
            event, data, retry = "", [], None
            if text == "end":
                break
            continue
        if line.startswith(":"):
            continue
        name, _, value = line.partition(":")
        value = value[1:] if value.startswith(" ") else value
        if name == "event":
            event = value
        elif name == "data":
            data.append(value)
        elif name == "id" and "\0" not in value:
            last_event_id = value
        elif name == "retry" and value.isdecimal():
            retry = int(value)
