"""Runs a test with the python that has boto3: venv.py TEST [ARGUMENT...]. That is SLOOP_TEST_PYTHON, else the one
that test/install.sh made in .cache/, else the python that runs this."""

import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
installed = os.path.join(ROOT, ".cache", "venv", "bin", "python")
python = os.environ.get("SLOOP_TEST_PYTHON") or (installed if os.access(installed, os.X_OK) else sys.executable)
os.environ["SLOOP_TEST_PYTHON"] = python
os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
sys.stdout.flush()
os.execv(python, [python, *sys.argv[1:]])
