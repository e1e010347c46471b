#!/usr/bin/env python3
"""Plays the simulators with each planted mistake until three different seeds have broken a named rule.

  mutants_hunt.py BUILD                  the whole table; BUILD: a folder set up with -Dmutants=true
  mutants_hunt.py BUILD end_told_early   only that one
  mutants_hunt.py BUILD --quick          each at the first seed that is known to catch it (mutants_found.txt)
  mutants_hunt.py BUILD --write          and puts what is found into mutants_found.txt

A seed counts when a rule's name is printed; one that only ends by a signal (an assertion, a crash) does not, nor
one that breaks a rule without the mistake. Exit 1: a mistake survived as many seeds as a program is given.
"""

import concurrent.futures
import fcntl
import os
import re
import subprocess
import sys
import time

from mutants import MUTANTS

HERE = os.path.dirname(os.path.abspath(__file__))
FOUND = os.path.join(HERE, "mutants_found.txt")
HEAD = (
  "# Written by mutants_hunt.py --write: mistake, program, the first three seeds that found it (fewer: it is too seldom found), "
  "rules.\n")
ENOUGH = 3
SECONDS = 900  # of one program with one mistake
RULE = re.compile(r"(?:^|: |BROKEN )([SLPT]\d+ [a-z0-9 ]+)(?:: |$)")
SEED = re.compile(r"^seed (\d+)\b")
FAILED = re.compile(r"^FAIL (\w+)$")  # of a story that is the same with every seed


def swarm(build, first, last, enough):
  return [f"{build}/test/swarm/swarm", "--seeds", f"{first}..{last}", "--enough", str(enough)]


def herd(build, first, last, enough, *more):
  del enough
  count = ["--seeds", str(last - first + 1), "--from", str(first)]
  return [f"{build}/test/swarm/herd_swarm", "--no-shrink", *more, *count]


def herd_kcl(build, first, last, enough):
  return herd(build, first, last, enough, "--kcl")


def herd_dead_push(build, first, last, enough):
  return herd(build, first, last, enough, "--typed", "--kinesis", "--dead-push")


def herd_named(build, first, last, enough):
  return herd(build, first, last, enough, "--kcl", "--kinesis", "--named")


def herd_push(build, first, last, enough):
  return herd(build, first, last, enough, "--typed", "--kinesis", "--push")


def herd_changes(build, first, last, enough):
  return herd(build, first, last, enough, "--typed", "--changes")


def herd_command(build, first, last, enough):
  return herd(build, first, last, enough, "--commands")


def herd_drain(build, first, last, enough):
  return herd(build, first, last, enough, "--sloop", "--drain")


def scene(name, program="fleet_scenes"):
  def command(build, first, last, enough):
    del enough
    return [f"{build}/test/story/{program}", "--part", f"{name} {first} {last}"]
  return command


def scenes(build, first, last, enough):
  del first, last, enough
  return [f"{build}/test/story/scenes", "scene_progress"]


# name -> (command, most seeds that a mistake may survive, seeds at a time)
PROGRAMS = {"swarm": (swarm, 3000, 3000), "herd": (herd, 2000, 100), "herd_kcl": (herd_kcl, 2000, 100),
            "herd_dead_push": (herd_dead_push, 2000, 100),
            "herd_named": (herd_named, 2000, 100),
            "herd_push": (herd_push, 2000, 100), "herd_changes": (herd_changes, 2000, 100),
            "herd_command": (herd_command, 2000, 100), "herd_drain": (herd_drain, 2000, 100),
            "slow_user": (scene("slow_user"), 60, 20), "late_take": (scene("late_take"), 60, 20), "late_free": (scene("late_free"), 60, 20),
            "late_retake": (scene("late_retake"), 60, 20),
            "refused": (scene("refused", "fleet_refused"), 60, 20), "scene_progress": (scenes, 1, 1)}


def play(build, program, name, first, last, enough):
  """[(seed, rule)] of seeds that broke a rule, and how many ended otherwise."""
  command = PROGRAMS[program][0](build, first, last, enough)
  env = dict(os.environ)
  env.pop("SLOOP_MUTANT", None)
  if name:
    env["SLOOP_MUTANT"] = name
  with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                        errors="replace", start_new_session=True) as p:
    try:
      text = p.communicate(timeout=SECONDS)[0]
    except subprocess.TimeoutExpired:
      os.killpg(p.pid, 9)
      text = p.communicate()[0]
  broken, others, seed = {}, 0, None
  for line in text.splitlines():
    at, rule = SEED.match(line), RULE.search(line)
    if at:
      seed = int(at[1])
      others += "ended by signal" in line
    failed = FAILED.match(line)
    if rule and seed is not None:
      broken.setdefault(seed, rule[1])
    elif failed and program == "scene_progress":
      broken.setdefault(first, failed[1])
  return sorted(broken.items()), others


def seek(build, program, name):
  """The first seeds that broke a rule, and do not without the mistake."""
  _, most, at_once = PROGRAMS[program]
  broken, others, began = [], 0, time.monotonic()
  for first in range(1, most + 1, at_once):
    more, crashed = play(build, program, name, first, min(first + at_once - 1, most), ENOUGH)
    broken += [(seed, rule) for seed, rule in more if not play(build, program, None, seed, seed, 1)[0]]
    others += crashed
    if len(broken) >= ENOUGH or time.monotonic() - began > SECONDS:
      break
  return broken, others


def hunt(build, mutant):
  """(program, [(seed, rule)], others) of the first program that finds it, or of the best try."""
  name, programs, _ = mutant
  best = (None, [], 0)
  for program in programs.split():
    if program not in PROGRAMS:
      continue
    broken, others = seek(build, program, name)
    if len(broken) >= ENOUGH:
      return program, broken[:ENOUGH], others
    if best[0] is None or len(broken) > len(best[1]):
      best = (program, broken, others)
  return best


def row(name, program, broken, others, seconds):
  rules = ", ".join(dict.fromkeys(rule for _, rule in broken)) or "-"
  seeds = " ".join(str(seed) for seed, _ in broken)
  needed = str(broken[ENOUGH - 1][0]) if len(broken) >= ENOUGH else "SURVIVES"
  crashed = f" ({others} ended by a signal)" if others else ""
  return f"{name:26} {program or '-':11} {needed:>8}  {rules:36} seeds {seeds}{crashed}  [{seconds:.0f} s]"


def known():
  """name -> (program, first seed, rule)"""
  found = {}
  with open(FOUND, encoding="ascii") as f:
    for line in f:
      if line.strip() and not line.startswith("#"):
        name, program, seeds, rule = line.rstrip("\n").split("\t")
        found[name] = (program, int(seeds.split()[0]), rule)
  return found


def quick(build, mutants):
  """As many at once as there are cores."""
  found, missed = known(), 0

  def play_first(mutant):
    program, seed, _ = found.get(mutant[0], (None, None, None))
    return play(build, program, mutant[0], seed, seed, 1)[0] if program else []

  with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    played = list(pool.map(play_first, mutants))
  for (name, _, _), broken in zip(mutants, played):
    if name not in found:
      print(f"{name}: not in mutants_found.txt")
      missed += 1
      continue
    program, seed, _ = found[name]
    if broken:
      print(f"{name}: {program} {seed}: {broken[0][1]}")
    else:
      print(f"{name}: SURVIVES {program} {seed}, which once found it")
      missed += 1
  return missed


def keep(line):
  """Puts the line into mutants_found.txt, in the order of the table."""
  name, order = line.split("\t")[0], [m[0] for m in MUTANTS]
  with open(FOUND, "a+", encoding="ascii") as f:
    fcntl.flock(f, fcntl.LOCK_EX)
    f.seek(0)
    lines = [old for old in f if old.strip() and not old.startswith("#") and old.split("\t")[0] != name]
    lines = sorted([*lines, line], key=lambda old: order.index(old.split("\t")[0]))
    f.truncate(0)
    f.writelines([HEAD, *lines])


def whole(build, mutants, write):
  survivors = 0
  for mutant in mutants:
    began = time.monotonic()
    program, broken, others = hunt(build, mutant)
    print(row(mutant[0], program, broken, others, time.monotonic() - began), flush=True)
    if len(broken) < ENOUGH:
      survivors += 1
      continue
    seeds = " ".join(str(seed) for seed, _ in broken)
    if write:
      keep(f"{mutant[0]}\t{program}\t{seeds}\t{', '.join(dict.fromkeys(rule for _, rule in broken))}\n")
  return survivors


def main(args):
  build, names = args[0], [a for a in args[1:] if not a.startswith("-")]
  mutants = [m for m in MUTANTS if not names or m[0] in names]
  if "--quick" in args:
    for m in mutants:
      if not m[1]:
        print(f"{m[0]}: OPEN, no program can find it yet")
    mutants = [m for m in mutants if m[1]]
    missed = quick(build, mutants)
  else:
    missed = whole(build, mutants, "--write" in args)
  print(f"{len(mutants) - missed} passed, {missed} failed (planted mistakes that were found, and not)")
  return 1 if missed else 0


if __name__ == "__main__":
  sys.exit(main(sys.argv[1:]))
