"""A terminal that knows just what --watch may use, and fails on anything else: where the cursor is, what stands where, and
whether the program gave it back as it was."""

import codecs
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

from command import check, end, environment, ignored

PIECE = re.compile(r"\x1b\[(\??)([\d;]*)([A-Za-z])|\r|\n|[^\x1b\r\n]")


class Terminal:
    """A program on a terminal of so many columns and rows; its standard error is a pipe."""

    def __init__(self, argv, env=None, columns=80, rows=24, ignoring=()):
        self.columns, self.rows = columns, rows
        self.alternate, self.cursor_shown = False, True
        self.at = [0, 0]
        self.screens = {False: {}, True: {}}  # (row, column) -> (character, style), of the usual and the alternate one
        self.style = ""  # the numbers of the styles that are on, each with a space before it
        self.frames = 0  # how often it went home to draw
        self.decoder, self.rest = codecs.getincrementaldecoder("utf-8")(), ""
        self.master, slave = pty.openpty()
        self.resize(columns, rows)
        settings = termios.tcgetattr(slave)
        settings[3] &= ~termios.ECHO  # what is typed is not drawn
        termios.tcsetattr(slave, termios.TCSANOW, settings)
        self.settings = termios.tcgetattr(slave)
        self.process = subprocess.Popen(argv, stdin=slave, stdout=slave, stderr=subprocess.PIPE, start_new_session=True,
                                        env=environment(env), preexec_fn=lambda: self.begin_on_it(ignoring))
        self.slave = slave

    @staticmethod
    def begin_on_it(ignoring):
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        ignored(*ignoring)()

    def __enter__(self):
        return self

    def __exit__(self, *what):
        end(self.process)
        os.close(self.master)
        os.close(self.slave)

    def resize(self, columns, rows):
        self.columns, self.rows = columns, rows
        self.changed_at = time.monotonic()
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def may_be_old(self):
        """A picture that was drawn for another size."""
        return time.monotonic() - self.changed_at < 1

    def obey(self, query, number, letter):
        screen = self.screens[self.alternate]
        if (query, letter) == ("?", "h") and number == "1049":
            self.alternate, self.screens[True], self.at = True, {}, [0, 0]
        elif (query, letter) == ("?", "l") and number == "1049":
            self.alternate = False
        elif query == "?" and number == "25":
            self.cursor_shown = letter == "h"
        elif (query, letter) == ("", "H"):
            self.at = [int(n) - 1 for n in number.split(";")] if number else [0, 0]
            self.frames += not number
        elif (query, letter) == ("", "m"):
            check(number in ("0", "1", "2", "7", "31", "32", "33"), "it sends a colour that it should not know", number)
            self.style = "" if number == "0" else self.style + " " + number
        elif (query, number) == ("", "") and letter in "KJ":
            check(not self.style, "it erases in a style, which some terminals paint", self.style)
            for row, column in list(screen):
                if (row == self.at[0] and column >= self.at[1]) or (letter == "J" and row > self.at[0]):
                    del screen[row, column]
        else:
            raise AssertionError(f"it sends ESC [ {query} {number} {letter}")

    def take(self, data):
        text, self.rest = self.rest + self.decoder.decode(data), ""
        cut = text.rfind("\x1b")
        if cut >= 0 and not PIECE.match(text, cut):  # a sequence in two pieces
            text, self.rest = text[:cut], text[cut:]
        for piece in PIECE.finditer(text):
            if piece[0] == "\r":
                self.at[1] = 0
            elif piece[0] == "\n":
                self.at[0] += 1
                check(not self.alternate or self.at[0] < self.rows or self.may_be_old(), "the screen scrolls")
            elif piece[0].startswith("\x1b"):
                self.obey(*piece.groups())
            else:
                if self.alternate and self.at[1] >= self.columns and not self.may_be_old():
                    raise AssertionError("a line is too long: " + "\n".join(self.lines()))
                self.screens[self.alternate][tuple(self.at)] = piece[0], self.style
                self.at[1] += 1

    def look(self, seconds=0.05):
        """Takes in what comes in that time. False: nobody writes any more."""
        until = time.monotonic() + seconds
        while True:
            left = until - time.monotonic()
            if left < 0 or not select.select([self.master], [], [], left)[0]:
                return True
            try:
                data = os.read(self.master, 1 << 16)
            except OSError:
                return False
            if not data:
                return False
            self.take(data)

    def cells(self):
        """Returns each row of the screen as a list of (character, style)."""
        screen = self.screens[self.alternate]
        return [[screen.get((row, column), (" ", "")) for column in range(self.columns)] for row in range(self.rows)]

    def lines(self):
        return ["".join(character for character, _ in row).rstrip() for row in self.cells()]

    def wait_for(self, condition, what, limit=30):
        until = time.monotonic() + limit
        while time.monotonic() < until:
            going = self.look()
            got = condition(self)
            if got:
                return got
            if not going:
                break
        raise AssertionError(f"{what} did not come: " + "\n".join(self.lines()))

    def type(self, text):
        os.write(self.master, text)

    def finish(self, limit=10):
        """Waits for its end; returns (status, standard error)."""
        until = time.monotonic() + limit
        while self.process.poll() is None and time.monotonic() < until:
            self.look()
        check(self.process.poll() is not None, "it does not end")
        while select.select([self.master], [], [], 0.1)[0] and self.look():
            pass
        return self.process.returncode, self.process.stderr.read().decode()

    def check_given_back(self):
        check(not self.alternate and self.cursor_shown, "the terminal is not given back", self.alternate, self.cursor_shown)
        check(not self.style, "a style is left on", self.style)
        check(termios.tcgetattr(self.slave) == self.settings, "its settings have changed")
        check(not self.screens[False], "something is left on the usual screen", self.lines())


# For argv: starts the command as a shell does, as a job of the terminal, and continues it (fg) when a line is typed after it
# was stopped. A process that leads the session itself has nobody who could continue it.
SHELL = """
import os, signal, sys
signal.signal(signal.SIGTTOU, signal.SIG_IGN)  # it gives the terminal away, and takes it back
job = os.fork()
if job == 0:
    os.setpgid(0, 0)
    os.tcsetpgrp(0, os.getpid())
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
    os.execv(sys.argv[1], sys.argv[1:])
while True:
    _, status = os.waitpid(job, os.WUNTRACED)
    os.tcsetpgrp(0, os.getpgrp())
    if not os.WIFSTOPPED(status):
        sys.exit(os.waitstatus_to_exitcode(status))
    os.read(0, 100)
    os.tcsetpgrp(0, job)
    os.kill(-job, signal.SIGCONT)
"""
AS_A_JOB = [sys.executable, "-c", SHELL]


def job_of(shell):
    """The pid of what AS_A_JOB has started."""
    with open(f"/proc/{shell.pid}/task/{shell.pid}/children", encoding="ascii") as f:
        return next(map(int, f.read().split()), None)


def stopped(pid):
    """Is the process stopped (by a signal)?"""
    with open(f"/proc/{pid}/stat", encoding="ascii") as f:
        return f.read().rsplit(")", 1)[1].split()[0] == "T"


SIGNALS_THAT_CRASH = (signal.SIGABRT, signal.SIGQUIT, signal.SIGSEGV)
