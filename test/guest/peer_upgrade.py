"""An application goes from KCL 2 to KCL 3 as its makers say, machine by machine, with two workers of ours in it, and back.

    peer_upgrade.py [--keep FOLDER]       about twenty minutes: KCL 3 waits for ten before it goes on

Two workers of KCL 2 and two of ours; each of theirs is replaced by one of KCL 3 in its mode for 2, until the application is
CLIENT_VERSION_3X_WITH_ROLLBACK and their leader assigns; the operator sets it back to CLIENT_VERSION_2X; a worker of ours
is killed under either rule. The shares of all four are told at each step; peer_judge.py looks at the whole afterwards.
"""

import argparse
import sys
import time

import peers
from peers import KINDS, Ours, Theirs, servers  # puts ../process on the path

import peer_story
import peer_tables
import sandbox_box
from harness import Tests, expect

OLD, NEW = KINDS["kcl-2"], KINDS["kcl-3"]
COMPATIBLE = {"PEER_VERSION": "2"}
VERSIONS_S = 100  # every worker has read the version again by then
UPGRADE_S = 1000  # a look each 60 s, 600 s without a change, and what a busy machine adds


class Upgrade(peer_story.Story):
    """Names of ours sort before theirs: which worker KCL 2 elects is the last of three to five, and it is to be theirs."""

    def join(self, worker, kind=None, **env):
        life = (Theirs(kind, worker, self.url, self.stream, self.app, **env) if kind else
                Ours(self.kind, worker, self.url, self.stream, self.app, **self.knobs))
        self.lives.append(life)
        self.now[worker] = life
        return life

    def replace(self, old, new, kind, **env):
        self.phase(f"{new} for {old}")
        self.leave(old)
        self.join(new, kind, **env)
        self.caught_up()

    def version(self):
        item = self.dynamodb.get_item(TableName=self.app, Key={"leaseKey": {"S": "Migration3.0"}}, ConsistentRead=True)
        return item.get("Item", {}).get("cv", {}).get("S", "")

    def set_back(self):
        self.dynamodb.update_item(
            TableName=self.app, Key={"leaseKey": {"S": "Migration3.0"}}, UpdateExpression="SET cv = :new",
            ConditionExpression="cv = :old", ExpressionAttributeValues={
                ":new": {"S": "CLIENT_VERSION_2X"}, ":old": {"S": "CLIENT_VERSION_3X_WITH_ROLLBACK"}})

    def held(self):
        """Leases of shards that are to be read, of each worker."""
        n = dict.fromkeys(self.now, 0)
        for row in (self.watch.samples[-1][1] if self.watch.samples else {}).values():
            worker = row.owner.split(".")[0]
            if row.done != peer_tables.END and worker in n:
                n[worker] += 1
        return n

    def each_has_one(self, seconds):
        self.wait(lambda: all(self.held().values()), seconds, "each of the four has a lease")
        self.notes.append((f"{self.phases[-1][1]}: {self.held()}", 0))


def upgraded(url, keep):
    with Upgrade(NEW, url, "upgrade", False, keep=keep) as story:
        story.phase("a2 and b2 of KCL 2 begin")
        story.join("a2", OLD)
        story.wait(lambda: story.now["a2"].lines, OLD.start_s, "a2 reads")
        story.join("b2", OLD)
        story.caught_up()
        story.phase("0c and 0d of ours join")
        story.join("0c")
        story.join("0d")
        story.each_has_one(OLD.deadline_s)
        story.replace("a2", "a3", NEW, **COMPATIBLE)
        story.replace("b2", "b3", NEW, **COMPATIBLE)
        story.wait(lambda: story.version() == "CLIENT_VERSION_UPGRADE_FROM_2X", NEW.deadline_s, "the upgrade begins")
        story.phase("the upgrade is waited for")
        began = time.monotonic()
        story.wait(lambda: story.version() == "CLIENT_VERSION_3X_WITH_ROLLBACK", UPGRADE_S, "the upgrade goes on")
        took = time.monotonic() - began
        story.phase("their leader assigns")
        story.each_has_one(NEW.deadline_s)
        story.resharded()
        story.phase("0d is killed under a leader")
        story.kill("0d")
        story.caught_up()
        story.join("0d")
        story.each_has_one(2 * NEW.deadline_s)
        story.phase("the operator sets it back")
        story.set_back()
        time.sleep(VERSIONS_S)  # nothing shows that all have read it
        story.caught_up()
        story.phase("0c is killed under the rules of 2")
        story.kill("0c")
        story.caught_up()
        story.join("0c")
        story.each_has_one(OLD.deadline_s)
        story.resharded()
        verdict = story.finish()
        expect(not verdict.guilty, verdict.text())
        told = "; ".join(name for name, _ in story.notes if "{" in name)
        return (f"{verdict.records} records, {verdict.repeats} repeats, it went on after {took:.0f} s\n     {told}\n     "
                f"repeats: {dict(verdict.repeats_by)}")


def main():
    parser = argparse.ArgumentParser(description="An upgrade from KCL 2 to KCL 3 with ours in the fleet, in the sandbox.")
    parser.add_argument("--keep", metavar="FOLDER", help="what everybody said is written there")
    options = parser.parse_args()
    sys.argv[1:] = []  # not the name of a single test
    tests = Tests()
    try:
        for kind in (OLD, NEW):
            peers.command_of(kind.program)
    except servers.Missing as missing:
        tests.skip("upgrade", missing)
    else:
        with sandbox_box.Box("change_ms=500", limits=True) as box:
            tests.run("KCL 2 to 3 and back, with ours", upgraded, box.url, options.keep)
    tests.end()


if __name__ == "__main__":
    main()
