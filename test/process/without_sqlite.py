"""Stands in for a test that keeps leases in a file, in a build without SQLite: without_sqlite.py NAME."""
import sys

if __name__ == "__main__":
    print(f"skip {sys.argv[1]}: this build has no SQLite, and the test keeps leases in a file")
    sys.exit(77)
