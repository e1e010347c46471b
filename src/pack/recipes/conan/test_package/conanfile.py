"""Builds the example print.c and a sandbox against the package, and has the one read what the other serves."""

import os
import signal
import subprocess

from conan import ConanFile
from conan.errors import ConanException
from conan.tools.build import can_run
from conan.tools.cmake import CMake, cmake_layout


class SloopTestConan(ConanFile):
    settings = "os", "arch", "compiler", "build_type"
    generators = "CMakeDeps", "CMakeToolchain"

    def layout(self):
        cmake_layout(self)

    def requirements(self):
        self.requires(self.tested_reference_str)

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def test(self):
        if not can_run(self):
            return
        folder = self.cpp.build.bindir
        if not os.path.exists(os.path.join(folder, "serve")):
            self.output.info("it links; there is no sandbox beside libsloop.so to read from")
            return
        with subprocess.Popen([os.path.join(folder, "serve")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
            url, records, _ = server.stdout.readline().split()
            env = {**os.environ, "AWS_ENDPOINT_URL": url, "AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "EXAMPLE",
                   "AWS_SECRET_ACCESS_KEY": "example"}
            with subprocess.Popen([os.path.join(folder, "print")], stdout=subprocess.PIPE, text=True, env=env) as reader:
                lines = {reader.stdout.readline() for _ in range(int(records))}
                reader.send_signal(signal.SIGINT)
                ended = reader.wait(30)
            server.stdin.close()
        if len(lines) != int(records) or ended != 0:
            raise ConanException(f"{len(lines)} of {records} records came, and the reader ended with {ended}")
        self.output.info(f"{records} records came through the library")
