"""Every file that stream-tail reads or writes is each of: missing, a FIFO, a folder, a device, a link to /dev/zero, huge,
empty, NUL bytes, unreadable. Each must end by itself or at a Ctrl-C within two seconds (with an application ten),
with bounded memory, no control byte and no secret in what is said, and where it fails with a line that names the
file. SLOOP_BIN names the program.

    files.py            all of them
    files.py TEXT       those whose names hold TEXT
"""

import concurrent.futures
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
from box import BIN, Box, NO_LIMITS, SANITIZED  # noqa: E402
from run import environment  # noqa: E402

SECRET, TOKEN = "verysecretkey/that+nobody=may/see", "tokenthatnobodymaysee"
MEMORY_MB = 600 if SANITIZED else 120
LEAVE_S = 2 if not SANITIZED else 6


def fifo(path):
    os.mkfifo(path)


def folder(path):
    os.mkdir(path)


def zero(path):
    os.symlink("/dev/zero", path)


def device(path):
    os.symlink("/dev/full", path)


def huge(path):
    with open(path, "wb") as f:
        f.truncate(8 << 30)


def long_line(path):
    with open(path, "wb") as f:
        f.write(b"x" * (32 << 20))


def empty(path):
    open(path, "wb").close()


def nuls(path):
    with open(path, "wb") as f:
        f.write(bytes(4096))


def controls(path):
    with open(path, "wb") as f:
        f.write(b"[default]\n\x1b[2J\xc2\x9b=\xe2\x80\xae\r\x07 {\x1b]0;x\x07\n" + SECRET.encode() + b"\n")


def closed(path):
    empty(path)
    os.chmod(path, 0)


def dangling(path):
    os.symlink(path + ".nowhere", path)


def missing(path):
    pass


KINDS = (missing, fifo, folder, zero, device, huge, long_line, empty, nuls, controls, closed, dangling)


class Place:
    """How one file comes to be read or written."""

    def __init__(self, name, args=(), env=None, more=None, leased=False):
        self.name, self.args, self.env, self.more, self.leased = name, args, env or {}, more, leased


def profile(text):
    def make(folder):
        with open(folder + "/config", "w", encoding="ascii") as f:
            f.write(text.replace("FILE", folder + "/file").replace("FOLDER", folder))
    return make


NO_KEYS = {"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_SESSION_TOKEN": "",
           "AWS_EC2_METADATA_DISABLED": "true"}
PLACES = (
    Place("config", env={"AWS_CONFIG_FILE": "FILE", **NO_KEYS}),
    Place("credentials", env={"AWS_SHARED_CREDENTIALS_FILE": "FILE", "AWS_CONFIG_FILE": "/dev/null", **NO_KEYS}),
    Place("web-token", env={"AWS_WEB_IDENTITY_TOKEN_FILE": "FILE", "AWS_ROLE_ARN": "arn:aws:iam::123456789012:role/x",
                            "AWS_CONFIG_FILE": "/dev/null", "AWS_SHARED_CREDENTIALS_FILE": "/dev/null", **NO_KEYS}),
    Place("process", env={"AWS_CONFIG_FILE": "FOLDER/config", **NO_KEYS},
          more=profile("[default]\ncredential_process = FILE\n")),
    Place("ca-file", args=("-X", "ca_bundle=FILE")),
    Place("options", args=("-F", "FILE")),
    Place("save", args=("--save", "FILE")),
    Place("start-token", args=("-o", "@FILE")),
    Place("leases", args=("-G", "app", "-X", "lease_ms=2000", "-X", "store=sqlite:FILE"), leased=True),
)


def peak_mb(pid):
    try:
        with open(f"/proc/{pid}/status", encoding="ascii") as f:
            found = re.search(r"VmHWM:\s+(\d+) kB", f.read())
        return int(found[1]) >> 10 if found else 0
    except (OSError, TypeError):
        return 0


def unsafe(text):
    return [c for c in text if (ord(c) < 32 and c not in "\n\t") or 127 <= ord(c) < 160 or c in "\u202e\u2028"]


def cpu_s(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as f:
            fields = f.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except OSError:
        return 0


def play(box, place, kind, folder):
    """What is wrong, or None; and the peak of memory."""
    path = folder + "/file"
    kind(path)
    if place.more:
        place.more(folder)

    def fill(text):
        return text.replace("FILE", path).replace("FOLDER", folder)
    env = {**box.env, **{k: fill(v) for k, v in place.env.items()}, "HOME": folder}
    env = {k: v for k, v in env.items() if v != ""}
    if env.get("AWS_SECRET_ACCESS_KEY"):
        env["AWS_SECRET_ACCESS_KEY"], env["AWS_SESSION_TOKEN"] = SECRET, TOKEN
    args = [fill(a) for a in place.args]
    if place.name != "start-token":
        args += ["-o", "oldest"]
    p = subprocess.Popen([BIN, "-v", *args, "demo"], stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(env),
                         # where this runs in the background of a script, the shell ignores the signal for all of it
                         preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    try:
        deadline, mb, cpu = time.monotonic() + 1.2, 0, 0
        while p.poll() is None and time.monotonic() < deadline:
            mb, cpu = max(mb, peak_mb(p.pid)), cpu_s(p.pid)
            time.sleep(0.05)
        ended_itself = p.poll() is not None
        begun = time.monotonic()
        if not ended_itself:
            p.send_signal(signal.SIGINT)
        out, err = p.communicate(timeout=30)
        seconds = time.monotonic() - begun
        text = err.decode("utf-8", "surrogateescape")
        if not ended_itself and seconds > (12 if place.leased else LEAVE_S):
            return f"Ctrl-C took {seconds:.1f} s", mb
        if mb > MEMORY_MB:
            return f"{mb} MB", mb
        if cpu > (8 if SANITIZED else 1):
            return f"{cpu} s of CPU in 1.2 s", mb
        # Before there is a loop, while a file is read, a signal ends the process as it ends any other.
        if p.returncode not in (0, 1, 2) and (ended_itself or p.returncode != -signal.SIGINT):
            return f"exit {p.returncode}: {text[-200:]}", mb
        if unsafe(text):
            return f"control characters {unsafe(text)!r}: {text[-200:]!r}", mb
        if SECRET in text or TOKEN in text or SECRET.encode() in out:
            return f"a secret is told: {text[-300:]!r}", mb
        if p.returncode > 0 and not text.strip():
            return f"exit {p.returncode} without a word", mb
        if p.returncode > 0 and ended_itself and path not in text and place.name not in ("process", "web-token", "config",
                                                                                      "credentials"):
            return f"the file is not named: {text[-300:]!r}", mb
        return None, mb
    except subprocess.TimeoutExpired:
        return "Ctrl-C is not answered in 30 s", mb
    finally:
        if p.poll() is None:
            p.kill()
            p.communicate()
        if kind is closed and os.path.exists(path):
            os.chmod(path, 0o600)


def main():
    only = sys.argv[1] if len(sys.argv) > 1 else ""
    all_of_them = [(place, kind) for place in PLACES for kind in KINDS if only in f"{place.name} {kind.__name__}"]
    with Box(1, *NO_LIMITS) as box, concurrent.futures.ThreadPoolExecutor(4) as pool:
        box.put(3)

        def one(what):
            with tempfile.TemporaryDirectory() as folder:
                return play(box, *what, folder)
        results = list(pool.map(one, all_of_them))
    bad = 0
    for (place, kind), (why, _) in zip(all_of_them, results):
        bad += why is not None
        if why:
            print(f"FAIL {place.name} {kind.__name__}\n     {why}")
    worst = max(range(len(results)), key=lambda i: results[i][1])
    print(f"{len(results)} combinations, {bad} over a bound; most memory: {results[worst][1]} MB, "
          f"{all_of_them[worst][0].name} {all_of_them[worst][1].__name__}")
    sys.exit(bad != 0)


if __name__ == "__main__":
    main()
