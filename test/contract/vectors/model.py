"""model.py [--write] [--keep FOLDER] [BUILD] - compares what sloop uses of the services with the newest botocore that pip
gives: operations, members and their limits, errors, and which of them are repeated. Run by hand, and once a release; it is
no part of the suites, because it depends on what was published today.

The newest botocore goes into a virtual environment in a temporary folder, or in FOLDER, which is kept and used again. Its
models are compared with `model.txt`, which says with which botocore it was made; --write makes it anew. With BUILD, where
the programs of this folder are built, all of its comparisons with botocore run with the newest one as well.

Each line that came, went or changed is listed. `used` lines are of operations, members and errors that the sources name.
The exit status is 1 when one of those went or changed, when an error of an operation of ours is new, when a limit of ours
is not the model's, or when a comparison fails; 0 when nothing differs or only what nobody here uses is new."""
import argparse
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile

import used_calls

HERE = os.path.dirname(os.path.abspath(__file__))
TABLE = os.path.join(HERE, "model.txt")
COMPARISONS = {"endpoints_stdin": "endpoints_botocore.py", "errors_stdin": "errors_botocore.py",
               "config_stdin": "config_botocore.py", "plan_stdin": "plan_botocore.py", "sign_stdin": "sigv4_botocore.py",
               "cloudwatch_stdin": "cloudwatch_botocore.py", "eventstream_stdin": "eventstream_botocore.py"}
# Where names of members are written and read; a word in quotes there that is a member's name counts as used.
READERS = ("src/aws", "src/store", "src/source", "src/codec", "src/admin", "src/api", "src/cli/schema_registry.c")
TRAITS = ("min", "max", "pattern", "enum", "timestampFormat", "sensitive", "deprecated")
METADATA = ("apiVersion", "targetPrefix", "signingName", "endpointPrefix", "signatureVersion", "protocol", "jsonVersion")
# Constants of ours that are the model's: file, name, service, shape, trait.
LIMITS = [("src/aws/limits.h", "SLP_KINESIS_RECORDS_MAX", "kinesis", "GetRecordsInputLimit", "max"),
          ("src/aws/limits.h", "SLP_KINESIS_ITERATOR_MAX", "kinesis", "ShardIterator", "max"),
          ("src/aws/limits.h", "SLP_KINESIS_NEXT_TOKEN_MAX", "kinesis", "NextToken", "max"),
          ("src/aws/limits.h", "SLP_STREAMS_NUMBER_DIGITS_MIN", "dynamodbstreams", "SequenceNumber", "min"),
          ("src/aws/cloudwatch.h", "SLP_CLOUDWATCH_NAME_MAX", "cloudwatch", "MetricName", "max"),
          ("src/aws/cloudwatch.h", "SLP_CLOUDWATCH_VALUE_MAX", "cloudwatch", "DimensionValue", "max"),
          ("src/source/stream_name.c", "KINESIS_NAME_MAX", "kinesis", "StreamName", "max"),
          ("src/store/dynamo.c", "KEYS_MAX", "dynamodb", "KeyList", "max"),
          ("src/aws/provider_web.c", "TOKEN_MAX", "sts", "clientTokenType", "max")]


def words_in_sources():
    words = set()
    for folder in READERS:
        for name in [""] if folder.endswith(".c") else sorted(os.listdir(os.path.join(used_calls.ROOT, folder))):
            if (folder + name).endswith((".c", ".h")):
                words |= set(re.findall(r'\\?"([A-Za-z][\w-]+?)\\?"', used_calls.text_of(os.path.join(folder, name).rstrip("/"))))
    return words


def model_of(data, service):
    folder = os.path.join(data, service)
    version = sorted(name for name in os.listdir(folder) if os.path.isdir(os.path.join(folder, name)))[-1]
    for name, opened in (("service-2.json.gz", gzip.open), ("service-2.json", open)):
        path = os.path.join(folder, version, name)
        if os.path.exists(path):
            with opened(path, "rt", encoding="utf-8") as file:
                return json.load(file)
    sys.exit("%s has no service-2.json" % folder)


def facts_of(shape):
    kind = shape["type"]
    if kind in ("list", "map"):
        kind += " of " + shape["member" if kind == "list" else "value"]["shape"]
    traits = ["%s=%s" % (trait, json.dumps(shape[trait], sort_keys=True)) for trait in TRAITS if trait in shape]
    return " ".join([kind] + traits)


def shapes(model, service, tops, words):
    """line -> is it used, for all that the shapes `tops` consist of. What a member that nobody here names consists of is
    not used."""
    lines, todo, reached = {}, [(top, True) for top in tops], {}
    while todo:
        name, used = todo.pop()
        if reached.get(name, -1) >= used:
            continue
        reached[name] = used
        shape = model["shapes"][name]
        lines["%s %s | %s" % (service, name, facts_of(shape))] = used
        for member, ref in shape.get("members", {}).items():
            named = used and member in words
            needed = " required" if member in shape.get("required", ()) else ""
            lines["%s %s.%s | %s%s" % (service, name, member, ref["shape"], needed)] = named
            todo.append((ref["shape"], named))
        todo += [(shape[key]["shape"], used) for key in ("member", "value") if key in shape]
    return lines


def errors_of(model, operation):
    """The errors of an operation, and those that the events of its answer may be."""
    found = {error["shape"] for error in operation.get("errors", ())}
    output = model["shapes"].get(operation.get("output", {}).get("shape"), {})
    for ref in output.get("members", {}).values():
        events = model["shapes"][ref["shape"]]
        if events.get("eventstream"):
            found |= {m["shape"] for m in events["members"].values() if model["shapes"][m["shape"]].get("exception")}
    return sorted(found)


def table_of(data):
    """line -> is it used. A line is what it is of, and its facts."""
    calls, words, lines = used_calls.operations(), words_in_sources(), {}
    for service in sorted({service for service, _ in calls}):
        model = model_of(data, service)
        metadata, tops = model["metadata"], []
        for key in METADATA:
            if key in metadata:
                lines["%s metadata %s | %s" % (service, key, metadata[key])] = True
        for operation in sorted(model["operations"]):
            lines["%s operation %s |" % (service, operation)] = (service, operation) in calls
        for _, operation in (call for call in calls if call[0] == service):
            row = model["operations"].get(operation)
            if row is None:
                continue  # its line above is gone
            where = "%s %s" % (service, operation)
            lines["%s http | %s %s" % (where, row["http"]["method"], row["http"]["requestUri"])] = True
            for error in errors_of(model, row):
                shape = model["shapes"][error]
                facts = shape.get("error", {})
                lines["%s error %s | %s %s%s" % (where, error, facts.get("httpStatusCode", 400), facts.get("code", ""),
                                                 " retryable" if "retryable" in shape else "")] = True
            for way in ("input", "output"):
                if way in row:
                    tops.append(row[way]["shape"])
                    lines["%s %s | %s" % (where, way, tops[-1])] = True
        lines.update(shapes(model, service, tops, words))
    return lines


def number(path, name):
    found = re.search(r"#define %s \(?([0-9u* ]+)\)?" % name, used_calls.text_of(path))
    if not found:
        sys.exit("%s has no %s" % (path, name))
    product = 1
    for factor in found.group(1).replace("u", "").split("*"):
        product *= int(factor)
    return product


def wrong_limits(data):
    wrong = []
    for path, name, service, shape, trait in LIMITS:
        theirs = model_of(data, service)["shapes"].get(shape, {}).get(trait)
        if theirs != number(path, name):
            wrong.append("%s %s is %s, and %s's %s has %s %s" %
                         (path, name, number(path, name), service, shape, trait, theirs))
    return wrong


def install(folder):
    python = os.path.join(folder, "bin", "python")
    if not os.path.exists(python):
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    pip = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--upgrade", "botocore"]
    subprocess.run(pip, check=True)
    show = "import botocore, os; print(botocore.__version__); print(os.path.dirname(botocore.__file__))"
    return subprocess.run([python, "-c", show], check=True, stdout=subprocess.PIPE, text=True).stdout.split()


def read_table():
    with open(TABLE, encoding="utf-8") as file:
        head, *rows = file.read().splitlines()
    return head, {row.partition(" ")[2]: row.startswith("used ") for row in rows}


def write_table(version, lines):
    with open(TABLE, "w", encoding="utf-8") as file:
        file.write("# botocore %s; made by model.py --write\n" % version)
        file.writelines("%s %s\n" % ("used" if lines[line] else "idle", line) for line in sorted(lines))


def compare(before, now):
    """Lists what differs; how many of it matter."""
    old, new = ({line.split(" | ")[0].rstrip(" |"): (line.partition(" | ")[2], used) for line, used in table.items()}
                for table in (before, now))
    matter = 0
    for what in sorted(set(old) | set(new)):
        was, this = old.get(what), new.get(what)
        if was and this and was[0] == this[0]:
            continue
        used = (was or this)[1] or (this or was)[1]
        serious = used and (was is not None or " error " in what)
        matter += serious
        print("%s %s: %s%s" % ("USED" if serious else "    ", "new" if not was else "gone" if not this else "changed", what,
                               "" if not was or not this else ": %s, was %s" % (this[0], was[0])))
    return matter


def run_comparisons(build, folder):
    failed = []
    env = dict(os.environ, SLOOP_TEST_BOTOCORE=folder)
    for program, script in COMPARISONS.items():
        path = os.path.join(build, "test", "contract", "vectors", "vectors_" + program)
        if not os.path.exists(path):
            sys.exit("%s is not there: ninja -C %s test/contract/vectors/vectors_%s" % (path, build, program))
        python = os.path.join(folder, "bin", "python")
        done = subprocess.run([python, os.path.join(HERE, script), path], env=env)
        if done.returncode:
            failed.append(script)
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--keep", metavar="FOLDER")
    parser.add_argument("build", nargs="?")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="sloop-model-") as temporary:
        folder = os.path.abspath(asked.keep or temporary)
        version, package = install(folder)
        data = os.path.join(package, "data")
        lines = table_of(data)
        if sum(lines.values()) < 200 or not any(" error " in line for line in lines):
            sys.exit("the models were not read: %d lines" % len(lines))
        if asked.write:
            write_table(version, lines)
        head, before = read_table()
        print("botocore %s, compared with %s" % (version, head[2:]))
        matter = compare(before, lines)
        wrong = wrong_limits(data)
        for line in wrong:
            print("USED limit: " + line)
        failed = run_comparisons(os.path.abspath(asked.build), folder) if asked.build else []
        for script in failed:
            print("FAIL " + script)
        print("%d lines of %d used by sloop; %d of them differ, %d limits of ours, %d comparisons fail" %
              (sum(lines.values()), len(lines), matter, len(wrong), len(failed)))
        sys.exit(1 if matter or wrong or failed else 0)


if __name__ == "__main__":
    main()
