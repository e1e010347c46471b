"""Every file that stream-tail reads or writes is each of: missing, a FIFO, a folder, a device, a link to /dev/zero, huge,
empty, NUL bytes, unreadable, or changes and vanishes all the time. Each must end by itself or at a Ctrl-C within two seconds (with an application ten),
with bounded memory, no control byte and no secret in what is said, and where it fails with a line that names the
file. SLOOP_BIN names the program.

    files.py            all of them
    files.py TEXT       those whose names hold TEXT
"""

import hashlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time

from hostile_lane import BOUNDS, LEAVE_S, MEMORY_MB, SECRET, TOKEN, cpu_s, peak_mb, play_all, start, unsafe
from box import Box, NO_LIMITS, SANITIZED


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


def changing(path):
    """Its content is another one, and it is gone, every millisecond."""
    until = time.monotonic() + 1.5

    def change():
        n = 0
        while time.monotonic() < until:
            n += 1
            try:
                with open(path + ".next", "wb") as f:
                    f.write((b"[default]\nregion = us-east-1\n" if n % 2 else b"{\"a\":") * (n % 300))
                os.replace(path + ".next", path)
                time.sleep(0.001)
                os.unlink(path)
            except OSError:
                pass  # its folder is gone, or it is another file by now
    threading.Thread(target=change, daemon=True).start()


KINDS = (changing, missing, fifo, folder, zero, device, huge, long_line, empty, nuls, controls, closed, dangling)


class Place:
    """How one file comes to be read or written."""

    def __init__(self, name, args=(), env=None, more=None, leased=False):
        self.name, self.args, self.env, self.more, self.leased = name, args, env or {}, more, leased


def profile(text):
    def make(folder):
        with open(folder + "/config", "w", encoding="ascii") as f:
            f.write(text.replace("FILE", folder + "/file").replace("FOLDER", folder))
    return make


def sso(folder):
    """The cache of a session's token is the file."""
    os.makedirs(folder + "/.aws/sso/cache")
    name = hashlib.sha1(b"corp").hexdigest()
    os.symlink(folder + "/file", f"{folder}/.aws/sso/cache/{name}.json")
    profile("[default]\nsso_session = corp\nsso_account_id = 123456789012\nsso_role_name = r\n"
            "[sso-session corp]\nsso_start_url = https://127.0.0.1:1/start\nsso_region = us-east-1\n")(folder)


NO_KEYS = {"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_SESSION_TOKEN": "",
           "AWS_EC2_METADATA_DISABLED": "true"}
PLACES = (
    Place("config", env={"AWS_CONFIG_FILE": "FILE", **NO_KEYS}),
    Place("credentials", env={"AWS_SHARED_CREDENTIALS_FILE": "FILE", "AWS_CONFIG_FILE": "/dev/null", **NO_KEYS}),
    Place("web-token", env={"AWS_WEB_IDENTITY_TOKEN_FILE": "FILE", "AWS_ROLE_ARN": "arn:aws:iam::123456789012:role/x",
                            "AWS_CONFIG_FILE": "/dev/null", "AWS_SHARED_CREDENTIALS_FILE": "/dev/null", **NO_KEYS}),
    Place("process", env={"AWS_CONFIG_FILE": "FOLDER/config", **NO_KEYS},
          more=profile("[default]\ncredential_process = FILE\n")),
    Place("sso-token", env={"AWS_CONFIG_FILE": "FOLDER/config", **NO_KEYS}, more=sso),
    Place("container-token", env={"AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://127.0.0.1:1/keys",
                                  "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": "FILE", "AWS_CONFIG_FILE": "/dev/null",
                                  "AWS_SHARED_CREDENTIALS_FILE": "/dev/null", **NO_KEYS}),
    Place("ca-file", args=("-X", "ca_bundle=FILE")),
    Place("options", args=("-F", "FILE")),
    Place("save", args=("--save", "FILE")),
    Place("start-token", args=("-o", "@FILE")),
    Place("leases", args=("-G", "app", "-X", "lease_ms=2000", "-X", "store=sqlite:FILE"), leased=True),
)


def play(box, place, kind, folder):
    """What is wrong, or None; and the peak of memory."""
    path = folder + "/file"
    kind(path)
    if place.more:
        place.more(folder)

    def fill(text):
        return text.replace("FILE", path).replace("FOLDER", folder)
    env = {**box.env, **{k: fill(v) for k, v in place.env.items()}, "HOME": folder}
    if env.get("AWS_SECRET_ACCESS_KEY"):
        env["AWS_SECRET_ACCESS_KEY"], env["AWS_SESSION_TOKEN"] = SECRET, TOKEN
    args = [fill(a) for a in place.args]
    if place.name != "start-token":
        args += ["-o", "oldest"]
    p = start(["-v", *args, "demo"], env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
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
        if not ended_itself and seconds > (BOUNDS["LEASED_LEAVE_S"] if place.leased else LEAVE_S):
            return f"Ctrl-C took {seconds:.1f} s", mb
        if mb > MEMORY_MB:
            return f"{mb} MB", mb
        if cpu > BOUNDS["SANITIZED_SECOND_CPU_S" if SANITIZED else "SECOND_CPU_S"]:
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
        if p.returncode > 0 and ended_itself and path not in text and not place.name.startswith(
                ("process", "web-token", "config", "sso-token", "container-token", "credentials")):
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
    cases = [(f"{place.name} {kind.__name__}", (place, kind), (place.name, kind.__name__)) for place in PLACES for kind in KINDS]
    with Box(1, *NO_LIMITS) as box:
        box.put(3)

        def one(what):
            with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
                return play(box, *what, folder)
        sys.exit(play_all("files", cases, one))


if __name__ == "__main__":
    main()
