"""A processor by nothing but Python's json: child.py FOLDER [often]. Each line from the daemon must be what Jackson would
write of the same message, byte for byte. It asks for checkpoints that depend on the records alone, never on how they came
in lists, and for some that must be refused. often: a checkpoint after each list instead."""

import json
import re
import sys

OFTEN = "often" in sys.argv[1:]


def as_jackson(message):
    """Jackson: no spaces, no escape but what JSON needs, capital digits in \\u001F."""
    text = json.dumps(message, separators=(",", ":"), ensure_ascii=False)
    return re.sub(r"\\(?:u[0-9a-f]{4}|.)", lambda m: "\\u" + m[0][2:].upper() if m[0][1] == "u" else m[0], text)


def say(**message):
    sys.stdout.buffer.write(b"\n" + json.dumps(message).encode() + b"\n")
    sys.stdout.buffer.flush()


def hear():
    line = sys.stdin.buffer.readline()
    if not line:
        sys.exit(0)
    text = line.decode("utf-8")
    message = json.loads(text)
    assert as_jackson(message) + "\n" == text, f"not as Jackson writes it: {text!r}"
    return message


def checkpoint(sequence, sub=None, **more):
    message = {"action": "checkpoint", "sequenceNumber": sequence, "subSequenceNumber": sub, **more}
    say(**message)
    answer = hear()
    assert answer["action"] == "checkpoint", answer
    return answer["error"]


def odd():
    """Places that nobody may checkpoint, whatever was read."""
    for sequence, sub in (("1x", None), ("", None), ("-5", None), ("9" * 60, None), ("9" * 60, 3), ("12", None), ("12", 7),
                          ("SHARD_END", None), ("LATEST", None), ("TRIM_HORIZON", None), ("AT_TIMESTAMP", None)):
        checkpoint(sequence, sub)


def main():
    asked_odd = False
    while True:
        message = hear()
        action = message["action"]
        if action == "initialize" and not OFTEN:
            checkpoint(None)
        if action == "processRecords":
            wanted = [r for r in message["records"] if int(r["sequenceNumber"]) % 23 == 0]
            if OFTEN and message["records"]:
                checkpoint(None)
            elif not OFTEN:
                for record in wanted:
                    checkpoint(record["sequenceNumber"], record["subSequenceNumber"])
                    if not asked_odd:
                        odd()
                    asked_odd = True
        if action in ("shardEnded", "shutdownRequested"):
            checkpoint(None)
        if action == "leaseLost" and not OFTEN:
            checkpoint(None)
        say(action="status", responseFor=action)


main()
