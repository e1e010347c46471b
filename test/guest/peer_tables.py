"""The lease tables of the systems as an observer reads them: who has which shard, and up to where it is done. By each
system's own layout, with boto3; shares no code with ours."""

import math
import threading
import time
from dataclasses import dataclass

SLOW_S = 1
START, END = (-1, 0), (math.inf, 0)


@dataclass
class Row:
    owner: str  # "" when free
    done: tuple  # the last place that is done, START or END
    item: dict


def text(item, name):
    value = item.get(name, {})
    return value.get("S", value.get("N", ""))


def kcl(items):
    rows = {}
    for item in items:
        if text(item, "entityType") not in ("", "LEASE"):
            continue
        checkpoint = text(item, "checkpoint")
        sub = int(text(item, "checkpointSubSequenceNumber") or 0)
        done = START if checkpoint in ("", "TRIM_HORIZON", "LATEST", "AT_TIMESTAMP") else (
            END if checkpoint == "SHARD_END" else (int(checkpoint), sub))
        # A pending hand-over names the next owner already; until it ends the shard is read by the other one.
        rows[text(item, "leaseKey")] = Row(text(item, "checkpointOwner") or text(item, "leaseOwner"), done, item)
    return rows


def kinsumer(items):
    return {text(item, "Shard"): Row(
        text(item, "OwnerID"),
        END if text(item, "Finished") else (int(text(item, "SequenceNumber")), math.inf) if text(item, "SequenceNumber")
        else START, item) for item in items}


def vmware(items):
    rows = {}
    for item in items:
        checkpoint = text(item, "Checkpoint")
        done = START if checkpoint == "" else END if checkpoint == "SHARD_END" else (int(checkpoint), math.inf)
        rows[text(item, "ShardID")] = Row(text(item, "AssignedTo"), done, item)
    return rows


def motorway(items):
    """Its number is the oldest that is not done, or the last that is: nothing below it is to come again."""
    return {text(item, "shard_id"): Row(text(item, "worker_id"), START if text(item, "checkpoint") in ("", "0") else
                                        (int(text(item, "checkpoint")) - 1, math.inf), item) for item in items}


READERS = {"kcl-2": ("", kcl), "kcl-3": ("", kcl), "kinsumer": ("_checkpoints", kinsumer), "vmware-go-kcl": ("", vmware),
           "motorway": ("", motorway)}


class Watch:
    """Reads the whole table again and again on a thread of its own, consistently."""

    def __init__(self, dynamodb, kind, app, pause_s=0.5):
        suffix, self.read = READERS[kind.name]
        self.dynamodb, self.table, self.pause_s = dynamodb, app + suffix, pause_s
        self.samples = []  # (ms after the read, {shard: Row})
        self.error = None
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def enlarge(self):
        """Most of these systems make tables of ten units, and after an hour of splits one scan takes as many: without this the
        observer would throttle those that it observes."""
        try:
            table = self.dynamodb.describe_table(TableName=self.table)["Table"]
            if table["TableStatus"] == "ACTIVE" and table.get("BillingModeSummary", {}).get("BillingMode") != "PAY_PER_REQUEST":
                self.dynamodb.update_table(TableName=self.table, BillingMode="PAY_PER_REQUEST")
            return table["TableStatus"] == "ACTIVE"
        except (self.dynamodb.exceptions.ResourceNotFoundException, self.dynamodb.exceptions.ResourceInUseException):
            return False

    def look(self):
        try:
            pages = self.dynamodb.get_paginator("scan").paginate(TableName=self.table, ConsistentRead=True)
            return self.read([item for page in pages for item in page["Items"]])
        except self.dynamodb.exceptions.ResourceNotFoundException:
            return {}  # nobody has made it yet
        except self.dynamodb.exceptions.ProvisionedThroughputExceededException:
            return None  # the next look may have room

    def work(self):
        large = False
        while not self.ended.wait(self.pause_s):
            try:
                large = large or self.enlarge()
                began = time.monotonic()
                rows = self.look()
            except Exception as error:  # handed to stop()
                self.error = error
                return
            # When a read took long, nobody knows when the rows were so.
            if rows is not None and time.monotonic() - began < SLOW_S:
                self.samples.append((time.time_ns() // 1000000, rows))

    def stop(self):
        self.ended.set()
        self.thread.join(30)
        if self.error:
            raise self.error
        return self.samples
