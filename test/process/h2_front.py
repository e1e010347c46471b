"""nghttpx (Debian's nghttp2-proxy) as a front of the sandbox: TLS with HTTP/2 or HTTP/1.1 by ALPN, or HTTP/2 in plain
text for clients that know it before. It speaks HTTP/1.1 to the sandbox."""

import os
import shutil
import signal
import socket
import subprocess
import time

import harness
import servers


def missing():
    """Why it can't run here; "" if it can."""
    return "" if shutil.which("nghttpx") else "no nghttpx (apt install nghttp2-proxy)"


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Front:
    def __init__(self, box, folder, certificate=None, streams=100):
        """certificate: the path of a .pem beside which its .key is; None: plain text."""
        self.box, self.log, self.port = box, os.path.join(folder, "access"), free_port()
        self.url = f"{'https' if certificate else 'http'}://127.0.0.1:{self.port}"
        self.arguments = [f"-f127.0.0.1,{self.port}{'' if certificate else ';no-tls'}", f"-b{box.address.replace(':', ',')}",
                          "--conf=/dev/null", "--single-process", "--workers=1", f"--frontend-http2-max-concurrent-streams={streams}",
                          f"--accesslog-file={self.log}", "--accesslog-format=$request", "--errorlog-file=/dev/null",
                          "--frontend-http2-settings-timeout=60s"]
        if certificate:
            self.arguments += [certificate.removesuffix("pem") + "key", certificate]

    def start(self):
        self.process = subprocess.Popen(["nghttpx", *self.arguments], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL, preexec_fn=servers.die_with_parent)
        harness.wait_until(self.listens, 20, "the front")

    def listens(self):
        harness.expect(self.process.poll() is None, f"nghttpx ended with {self.process.returncode}")
        with socket.socket() as s:
            return s.connect_ex(("127.0.0.1", self.port)) == 0

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *exception):
        self.process.kill()
        self.process.wait()

    def die(self):
        """All its connections break; a new one takes its port."""
        self.process.kill()
        self.process.wait()
        self.start()

    def go_away(self):
        """It says GOAWAY, and leaves when what is open has ended, or is killed soon after."""
        self.process.send_signal(signal.SIGQUIT)
        time.sleep(0.5)
        self.die()

    def protocols(self, operation_path="POST"):
        """How many requests came by HTTP/1.1 and by HTTP/2, of those that have ended."""
        with open(self.log, encoding="latin-1") as log:
            lines = [line for line in log if line.startswith(operation_path)]
        return sum(" HTTP/1.1" in line for line in lines), sum(" HTTP/2" in line for line in lines)
