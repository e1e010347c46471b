"""make.py > change_adapter.json - writes how Amazon's DynamoDB Streams Kinesis adapter serialises records of the service.

Run by hand, with Maven, a JDK of 17 or more, and the package registry. It serves one GetRecords answer on loopback, reads it
with the SDK that each adapter depends on, and keeps what the adapter's class makes of each record:
1.6.1 (the newest 1.x): RecordAdapter.getData(), and the line that the MultiLangDaemon of its KCL 1 writes with it;
2.0.1 (the newest at Maven Central on 2026-11-28): DynamoDBStreamsClientRecord.fromRecord(record).data()."""

import base64
import http.server
import json
import os
import subprocess
import tempfile
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
POM = """<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>t</groupId><artifactId>t</artifactId><version>1</version><dependencies><dependency><groupId>com.amazonaws</groupId>
<artifactId>dynamodb-streams-kinesis-adapter</artifactId><version>%s</version></dependency></dependencies></project>"""
ADAPTERS = {"1.6.1": "Adapter1.java", "2.0.1": "Adapter2.java"}
ITEM = {"pk": {"S": "a"}, "n": {"N": "1.50"}, "e": {"N": "-1E-130"}, "b": {"B": base64.b64encode(b"\x00\xff").decode()},
        "yes": {"BOOL": True}, "no": {"BOOL": False}, "nul": {"NULL": True}, "ss": {"SS": ["x", "y"]},
        "ns": {"NS": ["1", "2"]}, "bs": {"BS": ["YQ==", ""]}, "l": {"L": [{"S": ""}, {"L": []}, {"M": {}}]},
        "m": {"M": {"ApproximateCreationDateTime": {"N": "1.5"}, "PrincipalId": {"S": "p"}, "userIdentity": {"M": {}}}},
        "el": {"L": []}, "em": {"M": {}}, "é": {"S": "k"},
        "q": {"S": "\"\\/\b\f\n\r\t\x01\x1f\x7f\u00e9\u2028\U0001f600<>&'"}}


def record(number, name, dynamodb, **more):
    change = {"ApproximateCreationDateTime": 1480642020.0, "Keys": {"pk": {"S": "a"}}, **dynamodb,
              "SequenceNumber": str(10**20 + number), "SizeBytes": 26}
    change.setdefault("StreamViewType", "NEW_AND_OLD_IMAGES")
    return {"eventID": "%032x" % number, "eventName": name, "eventVersion": "1.1", "eventSource": "aws:dynamodb",
            "awsRegion": "us-east-1", "dynamodb": change, **more}


def records():
    ttl = {"PrincipalId": "dynamodb.amazonaws.com", "Type": "Service"}
    return [record(1, "INSERT", {"NewImage": ITEM}),
            record(2, "MODIFY", {"NewImage": ITEM, "OldImage": {"pk": {"S": "a"}}}),
            record(3, "REMOVE", {"OldImage": ITEM}),
            record(4, "REMOVE", {"StreamViewType": "KEYS_ONLY"}, userIdentity=ttl),
            record(5, "INSERT", {"ApproximateCreationDateTime": 1480642020}),
            record(6, "INSERT", {"ApproximateCreationDateTime": 1480642020.125,
                                 "Keys": {"a": {"B": "eHl6"}, "r": {"N": "7"}}}),
            record(7, "REMOVE", {"OldImage": None, "StreamViewType": "OLD_IMAGE"}, userIdentity=None),
            record(8, "MODIFY", {"LaterMember": 1}, laterMember="x")]


def serve(page):
    class Answer(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.send_header("Content-Type", "application/x-amz-json-1.0")
            self.send_header("Content-Length", str(len(page)))
            self.end_headers()
            self.wfile.write(page)

        def log_message(self, *_):
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Answer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return "http://127.0.0.1:%d" % server.server_port


def made_by(version, url):
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "pom.xml"), "w") as file:
            file.write(POM % version)
        subprocess.run(["mvn", "-q", "dependency:copy-dependencies", "-DoutputDirectory=lib", "-DincludeScope=runtime"],
                       cwd=folder, check=True, timeout=600, stdout=2)
        out = subprocess.run(["java", "-Dfile.encoding=UTF-8", "-cp", os.path.join(folder, "lib", "*"),
                              os.path.join(HERE, ADAPTERS[version]), url],
                             check=True, timeout=300, stdout=subprocess.PIPE).stdout.decode()
    return [json.loads(line) for line in out.split("\n") if line]


def main():
    wire = [json.dumps(r, separators=(",", ":"), ensure_ascii=i % 2 == 0) for i, r in enumerate(records())]
    url = serve(('{"Records":[%s]}' % ",".join(wire)).encode())
    lines = {version: made_by(version, url) for version in ADAPTERS}
    rows = [{"wire": w, **{version: lines[version][i] for version in ADAPTERS}} for i, w in enumerate(wire)]
    print(json.dumps(rows, indent=1))


main()
