"""A cell of matrix.py, in a process of its own: cell.py JSON. Loads a neighbour before or after sloop, reads a stream over TLS,
plainly and with leases, and uses the neighbour before, while and after that. Prints a line of JSON about what ran."""

import asyncio
import importlib
import json
import sys
import threading

spec = json.loads(sys.argv[1])


def use_cryptography():
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec
    key = ec.generate_private_key(ec.SECP256R1())
    key.public_key().verify(key.sign(b"x", ec.ECDSA(hashes.SHA256())), b"x", ec.ECDSA(hashes.SHA256()))


def use_pycurl():
    import io

    import pycurl
    curl, answer = pycurl.Curl(), io.BytesIO()
    for option, value in ((pycurl.URL, spec["url"] + "/_sandbox/stats"), (pycurl.CAINFO, spec["ca"]), (pycurl.WRITEDATA, answer),
                          (pycurl.TIMEOUT, 30)):
        curl.setopt(option, value)
    curl.perform()
    assert curl.getinfo(pycurl.RESPONSE_CODE) == 200 and json.loads(answer.getvalue())["operations"]
    curl.close()


def use_uvloop():
    import uvloop

    def turn():
        loop = uvloop.new_event_loop()
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()

    thread = threading.Thread(target=turn)  # this one may run a loop
    thread.start()
    thread.join()


def use_psycopg():
    import psycopg
    assert psycopg.pq.version() > 100000
    try:
        psycopg.connect("host=127.0.0.1 port=1 sslmode=require connect_timeout=2")
    except psycopg.OperationalError:
        return
    raise AssertionError("somebody listens on port 1")


def use_apsw():
    import apsw
    assert apsw.Connection(":memory:").cursor().execute("select 1 + 1").fetchall() == [(2,)]


def use_sqlite3():
    import sqlite3
    assert sqlite3.connect(":memory:").execute("select 1 + 1").fetchall() == [(2,)]


def use_brotli():
    import brotli
    assert brotli.decompress(brotli.compress(b"x" * 1000)) == b"x" * 1000


def use_ssl():
    import ssl
    import urllib.request
    context = ssl.create_default_context(cafile=spec["ca"])
    with urllib.request.urlopen(spec["url"] + "/_sandbox/stats", timeout=30, context=context) as answer:
        assert json.loads(answer.read())["operations"]


NEIGHBOURS = spec["neighbours"]


def load():
    for name in NEIGHBOURS:
        importlib.import_module(name)
        globals()["use_" + name]()


def use():
    for name in NEIGHBOURS:
        globals()["use_" + name]()


async def read_async(sloop, more, count):
    got = []
    async with sloop.Consumer(spec["stream"], start=sloop.OLDEST, endpoint=spec["url"], ca_bundle=spec["ca"], **more) as c:
        async for batch in c:
            with batch:
                if not got:
                    use()
                got += [bytes(record) for record in batch]
            if len(got) >= count:
                break
    return got


def read_plainly(sloop, more, count):
    got = []
    with sloop.Reader(spec["stream"], start=sloop.OLDEST, endpoint=spec["url"], ca_bundle=spec["ca"], **more) as reader:
        for record in reader.records():
            if not got:
                use()
            got.append(bytes(record))
            if len(got) >= count:
                break
    return got


def read(sloop):
    """Twice: plainly, and with leases."""
    told = []
    for more in ({}, {"app": spec["app"], "store_endpoint": spec["url"], "lease_ms": 10000}):
        if spec["loop"] == "plain":
            got = read_plainly(sloop, more, spec["count"])
        else:
            if spec["loop"] == "uvloop":
                import uvloop
                loop = uvloop.new_event_loop()
            else:
                loop = asyncio.new_event_loop()
            try:
                got = loop.run_until_complete(asyncio.wait_for(read_async(sloop, more, spec["count"]), 60))
            finally:
                loop.close()
        told.append(sorted(text.decode() for text in got))
    return told


def main():
    if spec["when"] == "before":
        load()
    if spec["when"] == "never":  # does the neighbour work here at all?
        load()
        print("{}")
        return
    import sloop
    if spec["when"] == "after":
        sloop.running()
        load()
    told = read(sloop)
    use()
    print(json.dumps({"read": told, "running": sloop.running()}), flush=True)


if spec["thread"]:
    failed = []

    def work():
        try:
            main()
        except BaseException as error:
            failed.append(error)
            raise

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    sys.exit(1 if failed else 0)
else:
    main()
