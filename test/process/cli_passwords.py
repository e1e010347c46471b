"""A password in a URL is told nowhere: every place that takes a URL gets one, right or wrong, and every line of every file
that holds one in a wrong place; then all that the command prints, with all of its log, is searched for the password."""

import concurrent.futures
import os
import subprocess
import sys
import tempfile

from box import BIN
from command import check, environment, main, test

SECRET = "hunter2hunter2"
URLS = (f"http://user:{SECRET}@127.0.0.1:1", f"https://user:{SECRET}@127.0.0.1:1", f"http://{SECRET}@h:1", f"ftp://user:{SECRET}@h",
        f"http://user:{SECRET}@h:99999", f"http://user:{SECRET}@[::1", f"http://user:{'p' * 60}{SECRET}@h:1",
        f"HTTP://us%65r:{SECRET}%40@h:1/path")
BARE = f"user:{SECRET}@127.0.0.1:1"  # as libcurl takes proxies
KEYS = {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"}
LOUD = ("-vvv", "-d", "all", "-m", "1", "-e", "s")
PROPERTIES = "streamName=s\napplicationName=a\nexecutableName=cat\nAWSCredentialsProvider=DefaultCredentialsProvider\n"
WIDE = (  # a role by STS, and a login of SSO
    "[default]\nrole_arn = arn:aws:iam::1:role/r\nsource_profile = b\n[profile b]\naws_access_key_id = a\naws_secret_access_key = b\n",
    "[default]\nsso_start_url = {url}\nsso_region = us-east-1\nsso_account_id = 1\nsso_role_name = r\n")


class Cases:
    def __init__(self, folder):
        self.folder, self.all = folder, []

    def file(self, text):
        path = os.path.join(self.folder, f"file-{len(self.all)}")
        with open(path, "w", encoding="ascii") as f:
            f.write(text)
        return path

    def add(self, *args, **env):
        self.all.append((args, {**env}))


def cases_of(cases, url):
    for args in (("-b", url), ("-X", f"endpoint={url}"), ("-X", f"store_endpoint={url}", "-G", "a"), ("-X", f"nonsense={url}"),
                 ("-X", f"poll_ms={url}"), ("--metrics", url), ("-G", "a", "--store", url), ("--since", url), ("-o", url),
                 ("-o", f"@{url}"), ("-s", url), ("--order", url), (f"--nonsense={url}",), ("-p", url), ("--save", url), (url,)):
        cases.add(*args, *LOUD, **KEYS)
    for args in (("-b", url), ("-X", f"endpoint={url}"), ("-X", f"store_endpoint={url}"), ("--metrics", url), ("--store", url)):
        cases.add(*args, "-X", "dump")
    for name in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_KINESIS", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "AWS_CA_BUNDLE", "AWS_REGION"):
        cases.add(*LOUD, **KEYS, **{name: url})
    cases.add("-b", "http://192.0.2.1:1", *LOUD, **KEYS, http_proxy=url)
    cases.add(*LOUD, AWS_CONTAINER_CREDENTIALS_FULL_URI=url)
    cases.add(*LOUD, AWS_EC2_METADATA_SERVICE_ENDPOINT=url, AWS_EC2_METADATA_DISABLED="false")
    cases.add(*LOUD, AWS_PROFILE=url)
    for line in ("endpoint = {}", "endpoint = {} # why", "endpoint = \"{}", "endpoint = '{}' and", "endpoint {}", "endpoint: {}",
                 "--endpoint {}", "nonsense = {}", "quiet = {}", "poll_ms = {}", "count = {}", "{}", "[{}]", "since = {}", "store = {}"):
        cases.add("-F", cases.file(line.format(url) + "\n"), *LOUD, **KEYS)
    for key in ("kinesisEndpoint", "dynamoDBEndpoint", "nonsense", "maxRecords", "retrievalMode", "streamArn", "metricsLevel",
                "workerId", "initialPositionInStream", "AwsCredentialsProvider", "processingLanguage", "regionName"):
        path = cases.file(PROPERTIES + f"{key}={url}\n")
        cases.add("--check", path, **KEYS)
        cases.add("-m", "1", "-vvv", "--multilang", path, **KEYS)
    for text in (f"[default]\nendpoint_url = {url}\n", f"[default]\nservices = x\n[services x]\nkinesis =\n  endpoint_url = {url}\n",
                 f"[default]\nregion = {url}\n", f"[default]\n{url}\n", f"[{url}\n"):
        cases.add(*LOUD, AWS_CONFIG_FILE=cases.file(text), **KEYS)
    for text in WIDE:
        cases.add(*LOUD, AWS_CONFIG_FILE=cases.file(text.format(url=url)), AWS_ENDPOINT_URL_STS=url)


def told(folder, args, env):
    """All that the command says within some seconds."""
    fixed = {"HOME": folder, "AWS_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true"}
    process = subprocess.Popen([BIN, *args], env=environment({**fixed, **env}), stdin=subprocess.DEVNULL, cwd=folder,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        return process.communicate(timeout=30)[0].decode("utf-8", "replace")
    finally:
        process.kill()
        process.wait()


@test
def no_password_of_a_url_is_told():
    with tempfile.TemporaryDirectory() as folder:
        cases = Cases(folder)
        for url in URLS:
            cases_of(cases, url)
        for name in ("HTTPS_PROXY", "ALL_PROXY"):
            cases.add(*LOUD, **KEYS, **{name: BARE})
        cases.add("-b", BARE, *LOUD, **KEYS)
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            texts = list(pool.map(lambda case: told(folder, *case), cases.all))
        leaks = [(*case, text) for case, text in zip(cases.all, texts) if SECRET[:6] in text]
        said = sum("***@" in text for text in texts)
        check(said > len(texts) / 5, f"only {said} of {len(texts)} told a URL at all")
        check(not leaks, f"{len(leaks)} of {len(texts)} tell it, first:", *leaks[:3])
        print(f"     {len(texts)} commands, {said} of them told a URL without its password")


if __name__ == "__main__":
    main()
