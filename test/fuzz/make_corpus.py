#!/usr/bin/env python3
"""Writes the seeds under test/fuzz/corpus: known-hard inputs of our own making. Run it after a change; the
files are committed. Inputs that a fuzzer found are kept beside them as found-HASH and are not touched."""
import base64
import gzip
import hashlib
import json
import os
import random
import re
import struct
import zlib

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "corpus")


def write(target, name, data):
    folder = os.path.join(HERE, target)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), "wb") as f:
        f.write(data.encode("utf-8") if isinstance(data, str) else data)


# ---- JSON -------------------------------------------------------------------------------------------
json_seeds = {
    "scalars": '[null,true,false,"",0,-0,1.5e-7,[],{}]',
    "depth-63": "[" * 63 + "]" * 63,
    "depth-64": '{"a":' * 63 + "[]" + "}" * 63,
    "depth-65": "[" * 65 + "]" * 65,
    "escapes": r'"\"\\\/\b\f\n\r\t\u0000\u001f\u007F\u00e9\u20ac"',
    "surrogates": r'["\ud83d\ude00","\uD800\uDC00","\uDBFF\uDFFF"]',
    "surrogate-lone-high": r'"\ud83d"',
    "surrogate-lone-low": r'"\ude00"',
    "surrogate-swapped": r'"\ude00\ud83d"',
    "surrogate-then-text": r'"\ud83dx"',
    "utf8": '"\u00e9\u20ac\U0001f600\U0010ffff\ud7ff\ue000"',
    "utf8-overlong": b'"\xc0\xaf"',
    "utf8-surrogate": b'"\xed\xa0\x80"',
    "utf8-above": b'"\xf4\x90\x80\x80"',
    "utf8-cut": b'"\xe2\x82"',
    "numbers": "[0,-1,9223372036854775807,-9223372036854775808,1E+2,1e-2,0.000,123456789012345678]",
    "numbers-big": "[9223372036854775808,49590338271490256608559692538361571095921575989136588898,1e400]",
    "numbers-wrong": "[01]",
    "numbers-dot": "[1.]",
    "long-plain": '{"' + "k" * 70 + '":"' + "v" * 200 + '"}',
    "long-mixed": '"' + "0123456789abcdef" * 4 + "\\n" + "x" * 40 + "\u00e9" + "y" * 33 + '\\u0041"',
    "duplicates": '{"a":1,"a":[2],"a":{"a":3}}',
    "space": " \t\r\n[ 1 , \n{ \"a\" : 2 } ] \n",
    "comma": "[1,]",
    "two": "{}{}",
    "nul": b'["a\x00b"]',
    "nul-key": r'{"a\u0000b":1}',
    "bom": b"\xef\xbb\xbf{}",
    "error": '{"__type":"com.amazonaws.kinesis#ExpiredIteratorException","message":"Iterator expired."}',
}
for n, d in json_seeds.items():
    write("json", n, d)


def rec(seq, data, extra=""):
    return '{"SequenceNumber":"%s","ApproximateArrivalTimestamp":1767312000.123,"Data":"%s","PartitionKey":"k%s"%s}' % (
        seq, data, seq[-1], extra)


seq = "49590338271490256608559692538361571095921575989136588898"
b64 = base64.b64encode(bytes(range(256))).decode()
page_seeds = {
    "empty": "{}",
    "nulls": '{"Records":null,"NextShardIterator":null,"MillisBehindLatest":null,"ChildShards":null}',
    "two": '{"Records":[%s,%s],"NextShardIterator":"AAAA","MillisBehindLatest":1500}' % (rec(seq, "aGVsbG8="), rec("7", b64)),
    "iterator-newline": '{"Records":[],"NextShardIterator":"QUJD\\n","MillisBehindLatest":0}',
    "raw": '{"Records":[%s,%s,%s]}' % (rec("1", "YWJjYW!j"), rec("2", "YWJ"), rec("3", b64[:100] + "#" + b64[101:])),
    "escaped-data": '{"Records":[%s]}' % rec("1", r"\/\/\/\/\u0059WJj"),
    "children": '{"Records":[],"ChildShards":[{"ShardId":"s2","ParentShards":["s0","s1"],"HashKeyRange":{"StartingHashKey":"0",'
                '"EndingHashKey":"340282366920938463463374607431768211455"}},{"ShardId":"s3","ParentShards":[]}]}',
    "unknown": '{"X":{"Records":[{"Y":[[[{}]]]}]},"Records":[%s],"Z":"\\ud83d\\ude00"}' % rec("9", "QQ==", ',"E":{"a":[1e9]}'),
    "twice": '{"Records":[%s],"Records":[{"Data":"!","Data":"Qg==","SequenceNumber":"3"}]}' % rec("1", "!!!!"),
    "times": '{"Records":[{"SequenceNumber":"1","ApproximateArrivalTimestamp":1.767312000123E9},{"SequenceNumber":"2",'
             '"ApproximateArrivalTimestamp":1767312000123},{"SequenceNumber":"3","ApproximateArrivalTimestamp":null}]}',
    "lag": '{"MillisBehindLatest":-5,"MillisBehindLatest":1e30}',
    "html": "<html><body>502 Bad Gateway</body></html>",
}
for n, d in page_seeds.items():
    write("page_json", n, d)


# ---- pages of DynamoDB Streams -------------------------------------------------------------------------
def change_text(n, **more):
    """A record as the service writes it, and what boto3 would make of it is what was put in here."""
    change = {"ApproximateCreationDateTime": 1767312000 + n, "Keys": {"id": {"S": f"k{n}"}, "at": {"N": str(n)}},
              "NewImage": {"id": {"S": f"k{n}"}, "b": {"B": base64.b64encode(bytes(range(n % 200))).decode()},
                           "l": {"L": [{"M": {}}, {"NULL": True}, {"BOOL": n % 2 == 0}, {"NS": ["1", "-2.5e+10"]}]}},
              "SequenceNumber": str(10**20 + n), "SizeBytes": 59 + n, "StreamViewType": "NEW_AND_OLD_IMAGES"}
    return {"eventID": hashlib.md5(str(n).encode()).hexdigest(), "eventName": ("INSERT", "MODIFY", "REMOVE")[n % 3],
            "eventVersion": "1.1", "eventSource": "aws:dynamodb", "awsRegion": "us-east-1", "dynamodb": change, **more}


def shuffled(value, dice):
    """The same value, members in another order."""
    if isinstance(value, dict):
        items = [(k, shuffled(v, dice)) for k, v in value.items()]
        dice.shuffle(items)
        return dict(items)
    return [shuffled(v, dice) for v in value] if isinstance(value, list) else value


def escaped(source, dice):
    """The same JSON with some letters of its texts as escapes."""
    return "".join(f"\\u{ord(c):04x}" if c.isalpha() and c not in "eEtrufalsn" and dice.random() < 0.2 else c for c in source)


ttl = {"userIdentity": {"type": "Service", "principalId": "dynamodb.amazonaws.com"}}
deep = {"S": "leaf"}
for _ in range(31):
    deep = {"L": [deep]}
dice = random.Random(3)
changes_seeds = {
    "empty": "{}",
    "none": '{"Records":[],"NextShardIterator":"arn:aws:dynamodb:us-east-1:1:table/T/stream/x|1|AAAA"}',
    "nulls": '{"Records":[{"eventID":null,"eventName":null,"userIdentity":null,"dynamodb":{"Keys":null,"SequenceNumber":"7",'
             '"ApproximateCreationDateTime":null}}],"NextShardIterator":null}',
    "three": json.dumps({"Records": [change_text(n) for n in range(3)], "NextShardIterator": "A|1|B"}),
    "ttl": json.dumps({"Records": [change_text(2, **ttl)]}, separators=(",", ":")),
    "pretty": json.dumps({"Records": [change_text(1, **ttl)]}, indent=2),
    "reordered": json.dumps(shuffled({"NextShardIterator": "x", "Records": [change_text(n, **ttl) for n in range(4)]}, dice)),
    "escaped": escaped(json.dumps({"Records": [change_text(n, **ttl) for n in range(2)], "NextShardIterator": "itERAtOr"}), dice),
    "escaped-slash": '{"NextShardIterator":"a\\/b","Records":[{"eventID":"\\/","dynamodb":{"SequenceNumber":"\\u0031"}}]}',
    "deep": json.dumps({"Records": [{"dynamodb": {"SequenceNumber": "1", "NewImage": {"x": deep}}}]}),
    "zeros": '{"Records":[{"dynamodb":{"SequenceNumber":"000000000000000000001"}},{"dynamodb":{"SequenceNumber":"000000000000000000002"}}]}',
    "times": '{"Records":[%s]}' % ",".join('{"dynamodb":{"SequenceNumber":"1","ApproximateCreationDateTime":%s}}' % t
                                         for t in ("1767312000", "1767312000.5", "1.767312000123E9", "1767312000123", "-1", "0")),
    "twice": '{"Records":[1],"Records":[{"dynamodb":{"SequenceNumber":"1","Keys":{}},"dynamodb":{"SequenceNumber":"2","SequenceNumber":"3"},'
             '"eventName":"A","eventName":"B"}]}',
    "twice-good": '{"Records":[{"dynamodb":{"SequenceNumber":"9"}}],"Records":[{"dynamodb":{"SequenceNumber":"1","Keys":{"a":{}}},'
                  '"dynamodb":{"SequenceNumber":"2"},"eventName":"A","eventName":"B"}]}',
    "no-change": '{"Records":[{"eventID":"x"}]}',
    "no-sequence": '{"Records":[{"dynamodb":{}}]}',
    "keys-list": '{"Records":[{"dynamodb":{"SequenceNumber":"1","Keys":[]}}]}',
    "unknown": '{"X":[{"Records":[{}]}],"Records":[{"Y":{"dynamodb":{"SequenceNumber":"x"}},"dynamodb":{"Z":[{"Keys":1}],"SequenceNumber":"1"}}]}',
    "html": "<html><body>500 Internal Server Error</body></html>",
}
for n, d in changes_seeds.items():
    write("page_changes", n, d)


# ---- listings, descriptions, iterators -----------------------------------------------------------------
shard_rows = [
    {"ShardId": "shardId-000000000000", "HashKeyRange": {"StartingHashKey": "0", "EndingHashKey": str(2**128 - 1)},
     "SequenceNumberRange": {"StartingSequenceNumber": "1", "EndingSequenceNumber": "9"}},
    {"ShardId": "shardId-000000000001", "ParentShardId": "shardId-000000000000", "AdjacentParentShardId": None, "New": [{}],
     "SequenceNumberRange": {"StartingSequenceNumber": "10", "EndingSequenceNumber": ""}}]
stream_arn = "arn:aws:dynamodb:us-east-1:123456789012:table/Orders/stream/2026-01-02T03:04:05.678"
listing_seeds = {
    "kinesis": {"Shards": shard_rows, "NextToken": "a\"b"},
    "kinesis-empty": {"Shards": []},
    "streams": {"StreamDescription": {"StreamArn": stream_arn, "StreamStatus": "ENABLED", "Shards": shard_rows, "TableName": "Orders",
                                      "LastEvaluatedShardId": "shardId-1", "CreationRequestDateTime": 1767323045.678}, "More": 1},
    "streams-ended": {"More": {"Shards": 1}, "StreamDescription": {"Shards": [], "StreamStatus": "DISABLED"}},
    "streams-null": {"StreamDescription": None},
    "table": {"Table": {"TableName": "Orders", "LatestStreamArn": stream_arn, "KeySchema": [{"AttributeName": "id"}]}},
    "table-plain": {"Table": {"TableName": "Orders"}},
    "summary": {"StreamDescriptionSummary": {"StreamName": "s", "StreamARN": "arn:x", "StreamStatus": "ACTIVE", "OpenShardCount": 4,
                                             "RetentionPeriodHours": 24, "StreamCreationTimestamp": 1.7e9}},
    "iterator": {"ShardIterator": stream_arn + "|1|AAAA", "Other": [1, {"a": None}]},
}
for n, d in listing_seeds.items():
    write("listing", n, json.dumps(d))
write("listing", "twice", '{"Shards":[{"ShardId":"a","ShardId":"b"}],"Shards":[{"ShardId":"c"}],"NextToken":"x","NextToken":null}')


# ---- CBOR -------------------------------------------------------------------------------------------
def head(major, v):
    if v < 24:
        return bytes([major << 5 | v])
    for info, fmt in ((24, ">B"), (25, ">H"), (26, ">I"), (27, ">Q")):
        if v < 1 << (8 * struct.calcsize(fmt)):
            return bytes([major << 5 | info]) + struct.pack(fmt, v)
    raise ValueError(v)


def text(s):
    b = s.encode() if isinstance(s, str) else s
    return head(3, len(b)) + b


def blob(b):
    return head(2, len(b)) + b


def chunked(major, *parts):
    return bytes([major << 5 | 31]) + b"".join(head(major, len(p)) + p for p in parts) + b"\xff"


def definite(pairs):
    return head(5, len(pairs)) + b"".join(k + v for k, v in pairs)


def indefinite(pairs):
    return b"\xbf" + b"".join(k + v for k, v in pairs) + b"\xff"


def array(items, open_form):
    return (b"\x9f" + b"".join(items) + b"\xff") if open_form else head(4, len(items)) + b"".join(items)


ms = head(6, 1) + head(0, 1767312000123)
cbor_seeds = {
    "ints": array([head(0, v) for v in (0, 23, 24, 255, 256, 65536, 2**32, 2**64 - 1)] + [head(1, 0), head(1, 2**64 - 1)], False),
    "floats": bytes.fromhex("87f93c00f97bfff90001f97c00f97e00fa47c35000fb3ff199999999999a"),
    "simple": bytes.fromhex("85f4f5f6f7f0"),
    "simple-long": bytes.fromhex("82f8ff00"),
    "simple-wrong": bytes.fromhex("f814"),
    "chunks": chunked(2, b"ab", b"", b"cde"),
    "chunks-text": chunked(3, "stré".encode(), b"aming"),
    "chunks-split-utf8": chunked(3, b"\xc3", b"\xa9"),
    "chunks-mixed": b"\x5f\x61a\xff",
    "chunks-nested": b"\x5f\x5f\x41a\xff\xff",
    "depth-64": b"\x81" * 64 + b"\x00",
    "depth-65": b"\x9f" * 65 + b"\xff" * 65,
    "tags": b"\xc1\xc2\xda\x00\x01\x00\x00" + head(0, 5),
    "tag-break": b"\x9f\xc1\xff",
    "reserved": b"\x1c",
    "huge-bytes": b"\x5b" + b"\xff" * 8,
    "huge-array": b"\x9b" + b"\x7f" + b"\xff" * 7,
    "map": definite([(text("a"), head(0, 1)), (text("b"), array([], True))]),
    "map-odd": b"\xbf" + text("a") + b"\xff",
    "map-key-int": b"\xa1\x01\x02",
    "break": b"\xff",
    "trailing": b"\x00\x00",
    "utf8-bad": b"\x62\xc3\x28",
    "error": definite([(text("__type"), text("ExpiredIteratorException")), (text("message"), text("Iterator expired."))]),
}
for n, d in cbor_seeds.items():
    write("cbor", n, d)


def cbor_rec(form, s, data, when, extra=()):
    return form([(text("SequenceNumber"), text(s)), (text("ApproximateArrivalTimestamp"), when), (text("Data"), data),
                 (text("PartitionKey"), text("key"))] + list(extra))


def answer(form, open_form, records, extra):
    return form([(text("Records"), array(records, open_form))] + extra)


more = [(text("NextShardIterator"), text("AAAA")), (text("MillisBehindLatest"), head(0, 1500))]
kids = (text("ChildShards"), array([definite([
    (text("ShardId"), text("s2")), (text("ParentShards"), array([text("s0"), text("s1")], True)),
    (text("HashKeyRange"), indefinite([(text("StartingHashKey"), text("0")), (text("EndingHashKey"), text("9"))]))])], False))
page_cbor = {
    "empty": definite([]),
    "empty-open": indefinite([]),
    "definite": answer(definite, False, [cbor_rec(definite, seq, blob(b"hello"), ms)] * 2, more),
    "open": answer(indefinite, True, [cbor_rec(indefinite, seq, blob(bytes(range(64))), ms)], more),
    "chunked-data": answer(indefinite, True, [cbor_rec(indefinite, "7", chunked(2, b"ab", b"cd"), ms)], more),
    "mock": answer(definite, False, [cbor_rec(definite, "7", text(b64[:40]), head(0, 1767312000123),
                                              [(text("EncryptionType"), b"\xf6")])], [(text("ChildShards"), b"\xf6")]),
    "kinesalite": answer(definite, False, [cbor_rec(definite, "8", text("aGVsbG8="), b"\xfb" + struct.pack(">d", 1767312000.123))], more),
    "raw": answer(definite, False, [cbor_rec(definite, "8", text("no base64!!!"), ms)], more),
    "children": definite([kids]),
    "unknown": definite([(text("X"), array([definite([(text("Records"), b"\xf6")]), chunked(3, b"a")], True))] + more),
    "twice": definite([(text("Records"), array([], False)), (text("Records"), array([cbor_rec(definite, "1", b"\xf6", b"\xf6")], True))]),
    "lag-huge": definite([(text("MillisBehindLatest"), head(0, 2**64 - 1)), (text("NextShardIterator"), b"\xf7")]),
    "lag-negative": definite([(text("MillisBehindLatest"), head(1, 5))]),
    "cut": answer(indefinite, True, [cbor_rec(indefinite, seq, blob(b"x" * 100), ms)], more)[:90],
}
for n, d in page_cbor.items():
    write("page_cbor", n, d)

# ---- base64, INI ------------------------------------------------------------------------------------
for n, d in {"empty": "", "one": "QQ==", "two": "QUI=", "three": "QUJD", "all": b64, "long": b64 * 3, "pad-middle": "QQ==QUJD",
             "bits": "QR==", "url": "_-_-", "space": "QUJD QUJD", "high": b"QUJ\xc3" + b"A" * 60}.items():
    write("base64", n, d)
for n, d in {
    "credentials": "[default]\naws_access_key_id = AKIA\naws_secret_access_key=x/y+z=\n\n[other]\naws_session_token = " + "T" * 90 + "\n",
    "config": "[profile a b]\nregion=eu-west-1\ns3 =\n  max_concurrent_requests = 10\n  # c\n  addressing_style = path\noutput : json\n",
    "services": "[profile p]\nservices = s\n[services s]\nkinesis =\n  endpoint_url = http://localhost:4567\n",
    "continued": "[x]\nk = one\n  two\n\n  three\nj = 4\n",
    "crlf": "[x]\r\nk=v\r\n ; c\r\n",
    "no-section": "k=v\n",
    "no-delimiter": "[x]\nnothing\n",
    "nested-no-delimiter": "[x]\nk=\n  nothing\n",
    "bom": b"\xef\xbb\xbf[x]\nk=v",
    "brackets": "[a]b] # c\n[]\n",
}.items():
    write("ini", n, d)

# ---- messages of aggregates ---------------------------------------------------------------------------
def pb_varint(v):
    out = bytearray()
    while v > 0x7F:
        out.append(v & 0x7F | 0x80)
        v >>= 7
    out.append(v)
    return bytes(out)


def pb_number(field, v):
    return pb_varint(field << 3) + pb_varint(v)


def pb_bytes(field, data):
    return pb_varint(field << 3 | 2) + pb_varint(len(data)) + data


def pb_user(key, data, *more):
    return pb_bytes(3, pb_number(1, key) + pb_bytes(3, data) + b"".join(more))


pb_unknown = pb_number(9, 1) + b"\x51abcdefgh" + b"\x5dabcd" + pb_bytes(12, b"xyz") + b"\x7b" + pb_bytes(1, b"g") + b"\x83\x01\x84\x01\x7c"
pb_keys = pb_bytes(1, b"a") + pb_bytes(1, b"b" * 60)
kpl_seeds = {
    "vector": bytes.fromhex("0a01610a01621201301a0908001a0568656c6c6f1a0b080110001a05776f726c64"),
    "no-records": pb_keys,
    "many": pb_keys + b"".join(pb_user(i % 2, b"user %d" % i) for i in range(40)),
    "tables-last": pb_user(1, b"x", pb_number(2, 0)) + pb_bytes(2, b"170141183460469231731687303715884105728") + pb_keys,
    "hash-keys": pb_keys + b"".join(pb_bytes(2, h) for h in (b"0", b"3" * 39, b"no", b"")) +
                 b"".join(pb_user(0, b"d", pb_number(2, i)) for i in range(4)),
    "unknown": pb_unknown + pb_keys + pb_user(0, b"d", pb_unknown) + pb_unknown,
    "tags": pb_keys + pb_user(0, b"d", pb_bytes(4, pb_bytes(1, b"t") + pb_bytes(2, b"v")), pb_bytes(4, pb_bytes(1, b""))),
    "twice": pb_keys + pb_user(7, b"first", pb_number(1, 0), pb_bytes(3, b"second")),
    "packed": pb_keys + pb_bytes(3, pb_bytes(1, b"\x00") + pb_bytes(3, b"d")),
    "no-data": pb_keys + pb_bytes(3, pb_number(1, 0)),
    "out-of-table": pb_keys + pb_user(2, b"d"),
    "wide-varint": pb_keys + pb_bytes(3, b"\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x02" + pb_bytes(3, b"d")),
    "groups": b"\x5b" * 99 + b"\x5c" * 99 + pb_keys + pb_user(0, b"d"),
}
for n, d in kpl_seeds.items():
    write("kpl", n, d)


# ---- the sandbox: lines of requests and orders --------------------------------------------------------
D, S = "DynamoDB_20120810.", "DynamoDBStreams_20120810."
sandbox_seeds = {
    "changes": f"""{D}PutItem {{"TableName":"Music","Item":{{"id":{{"S":"a"}},"n":{{"N":"1"}}}}}}
{D}PutItem {{"TableName":"Music","Item":{{"id":{{"S":"b"}},"l":{{"L":[{{"BOOL":true}},{{"M":{{"x":{{"B":"aGk="}}}}}}]}}}}}}
{D}DeleteItem {{"TableName":"Music","Key":{{"id":{{"S":"a"}}}}}}
:roll Music
{D}UpdateItem {{"TableName":"Music","Key":{{"id":{{"S":"b"}}}},"UpdateExpression":"SET n = :n","ExpressionAttributeValues":{{":n":{{"N":"2"}}}}}}
{S}ListStreams {{}}
{S}DescribeStream {{"StreamArn":"$A","Limit":1}}
{S}DescribeStream {{"StreamArn":"$A","ExclusiveStartShardId":"$S"}}
{S}GetShardIterator {{"StreamArn":"$A","ShardId":"$S","ShardIteratorType":"TRIM_HORIZON"}}
{S}GetRecords {{"ShardIterator":"$I","Limit":1}}
{S}GetRecords {{"ShardIterator":"$I"}}
""",
    "fading": f"""{D}PutItem {{"TableName":"Music","Item":{{"id":{{"S":"a"}}}}}}
{S}GetShardIterator {{"StreamArn":"$A","ShardId":"$S","ShardIteratorType":"LATEST"}}
:clock 90000000
{S}GetRecords {{"ShardIterator":"$I"}}
{S}DescribeStream {{"StreamArn":"$A","ShardFilter":{{"Type":"CHILD_SHARDS","ShardId":"$S"}}}}
:clock -80000000
{D}PutItem {{"TableName":"Music","Item":{{"id":{{"S":"b"}}}}}}
:trim Music
{S}GetShardIterator {{"StreamArn":"$A","ShardId":"$S","ShardIteratorType":"AT_SEQUENCE_NUMBER","SequenceNumber":"123456789012345678901"}}
:clock 100000000
{S}DescribeStream {{"StreamArn":"$A"}}
""",
    "tables": f"""{D}UpdateTable {{"TableName":"Music","StreamSpecification":{{"StreamEnabled":false}}}}
{S}DescribeStream {{"StreamArn":"$A"}}
{D}UpdateTable {{"TableName":"Music","StreamSpecification":{{"StreamEnabled":true,"StreamViewType":"KEYS_ONLY"}}}}
{D}PutItem {{"TableName":"Music","Item":{{"id":{{"S":"a"}}}}}}
{D}DeleteTable {{"TableName":"Music"}}
{S}DescribeStream {{"StreamArn":"$A"}}
{D}CreateTable {{"TableName":"Other","KeySchema":[{{"AttributeName":"h","KeyType":"HASH"}},{{"AttributeName":"r","KeyType":"RANGE"}}],"AttributeDefinitions":[{{"AttributeName":"h","AttributeType":"N"}},{{"AttributeName":"r","AttributeType":"B"}}],"BillingMode":"PAY_PER_REQUEST","StreamSpecification":{{"StreamEnabled":true,"StreamViewType":"OLD_IMAGE"}}}}
{D}DescribeTable {{"TableName":"Other"}}
{S}ListStreams {{"TableName":"Other","Limit":1}}
{D}Scan {{"TableName":"Music"}}
""",
    "quirks": f""":quirk empty-gets 2
:quirk empty-lists 1
:quirk split-every 2
:split Music
{D}BatchWriteItem {{"RequestItems":{{"Music":[{{"PutRequest":{{"Item":{{"id":{{"S":"a"}}}}}}}},{{"DeleteRequest":{{"Key":{{"id":{{"S":"b"}}}}}}}}]}}}}
{S}DescribeStream {{"StreamArn":"$A"}}
{S}DescribeStream {{"StreamArn":"$A"}}
:faults 1 * Music twice
{D}TransactWriteItems {{"TransactItems":[{{"Put":{{"TableName":"Music","Item":{{"id":{{"S":"c"}}}}}}}},{{"Delete":{{"TableName":"Music","Key":{{"id":{{"S":"a"}}}}}}}}]}}
{S}GetShardIterator {{"StreamArn":"$A","ShardId":"$S","ShardIteratorType":"TRIM_HORIZON"}}
{S}GetRecords {{"ShardIterator":"$I"}}
""",
    "queries": f"""{D}PutItem {{"TableName":"Music","Item":{{"id":{{"S":"a"}},"n":{{"N":"1"}}}},"ConditionExpression":"attribute_not_exists(id) OR n < :v","ExpressionAttributeValues":{{":v":{{"N":"5"}}}},"ReturnValues":"ALL_OLD"}}
{D}Query {{"TableName":"Music","KeyConditionExpression":"id = :i","FilterExpression":"size(#n) > :z AND NOT contains(x, :i)","ExpressionAttributeNames":{{"#n":"n"}},"ExpressionAttributeValues":{{":i":{{"S":"a"}},":z":{{"N":"0"}}}},"ReturnConsumedCapacity":"TOTAL"}}
{D}Scan {{"TableName":"Music","Limit":1,"ProjectionExpression":"id, a.b[2].c"}}
{D}BatchGetItem {{"RequestItems":{{"Music":{{"Keys":[{{"id":{{"S":"a"}}}}]}}}}}}
{D}UpdateTimeToLive {{"TableName":"Music","TimeToLiveSpecification":{{"Enabled":true,"AttributeName":"n"}}}}
:clock 7200000
{D}GetItem {{"TableName":"Music","Key":{{"id":{{"S":"a"}}}},"ConsistentRead":true}}
Kinesis_20131202.CreateStream {{"StreamName":"s","ShardCount":2}}
Kinesis_20131202.PutRecord {{"StreamName":"s","Data":"aGk=","PartitionKey":"k"}}
Kinesis_20131202.ListShards {{"StreamName":"s"}}
""",
}
for name, text in sandbox_seeds.items():
    write("sandbox", name, text)

# ---- expressions of tables: the first byte is the kind -------------------------------------------------
expression_seeds = {
    "condition_functions": "0attribute_exists(a) AND attribute_not_exists(#owner) OR NOT (attribute_type(b, :S) AND "
                           "begins_with(a, :s))",
    "condition_comparisons": "0b BETWEEN :n AND :n OR a IN (:s, :n, b) AND size(c) >= :n OR (#c[1].d) = :ss AND "
                             "e.f.g <> :t",
    "condition_contains": "0contains(c[1].d, :s) AND contains(a, :s) AND :n < b AND (a = b OR ((b > :n) AND NOT b <= :n))",
    "condition_nested": "0NOT NOT NOT (NOT (NOT (a = :s)))",
    "projection": "1a, e.f.g, c[0], c[1].d, #owner, j",
    "update_all": "2SET a = if_not_exists(zz, :s), e.f.g = :m, c[7] = :n, b = b - :n REMOVE c[0], e.h ADD i :ns "
                  "DELETE zz :ss",
    "update_lists": "2set c = list_append(:l, c), b = b + :n remove j",
    "update_sets": "2ADD i :ns, q :ss, b :n DELETE c[1].d :ss",
}
for name, text in expression_seeds.items():
    write("expression", name, text)

# ---- decoders of -s: the first byte picks one ---------------------------------------------------------
decode_seeds = {
    "json-space": 'j { "a" : [ 1 , 2.50e+1 , { } , [ ] , null ] ,\n"b":"x\\u2028\\n\u0085" }\r\n',
    "json-strings": 'j["[","{",":",",","\\"","\\\\"]',
    "json-unsafe": 'j{"a\u202e\u2066":["\x7f\u009b\u061c\u200f\u2028"," \u200b\u2026\u2065"]}',
    "json-wrong": "j[1,]",
    "ddb-item": 'd{"s":{"S":"x"},"n":{"N":"-1.5E+10"},"b":{"B":"AAE="},"t":{"BOOL":true},"z":{"NULL":true},'
                '"l":{"L":[{"S":"a"},{"M":{"S":{"S":"S"}}}]},"ss":{"SS":["a"]},"ns":{"NS":["1","007"]},"bs":{"BS":["AA=="]}}',
    "ddb-change": 'd{"Keys":{"id":{"N":"1"}},"NewImage":{"id":{"N":"1"},"l":{"L":[]}},"SizeBytes":3,"OldImage":null}',
    "ddb-kinesis": 'd{"eventName":"INSERT","dynamodb":{"Keys":{"id":{"S":"k"}}},"userIdentity":{"type":null}}',
    "ddb-named-keys": 'd{"Keys":{"S":"x"},"dynamodb":{"M":{}}}',
    "logs": 'l{"messageType":"DATA_MESSAGE","owner":"1","logGroup":"g","logStream":"s","logEvents":[{"id":"1",'
            '"timestamp":1700000000123,"message":"one\\n"},{"message":"two","extractedFields":{"a":[1]}}]}',
    "logs-order": 'l{"logEvents":[{"message":"m"}],"logGroup":"g","messageType":"DATA_MESSAGE"}',
    "logs-control": 'l{"messageType":"CONTROL_MESSAGE","logEvents":[{"message":"CWL CONTROL MESSAGE"}]}',
    "logs-packed": b"l" + gzip.compress(b'{"messageType":"DATA_MESSAGE","logEvents":[{"message":"m"}]}', mtime=0),
    "packed": b"z" + gzip.compress(b"hello hello hello", mtime=0),
    "packed-members": b"z" + gzip.compress(b"one", mtime=0) + gzip.compress(b"two", mtime=0),
    "packed-zlib": b"z" + zlib.compress(b"hello"),
    "packed-bomb": b"z" + gzip.compress(bytes(1000000), mtime=0),
}
for name, text in decode_seeds.items():
    write("decode", name, text)

# ---- unpackers of -s: what the formats' own tools made (test/contract/vectors/packed.py); the first byte picks one ------------
with open(os.path.join(os.path.dirname(os.path.dirname(HERE)), "contract", "vectors", "packed.h")) as f:
    packed_rows = f.read().split("packed_rows[]")[1]
for row in packed_rows.split('\n    {"')[1:]:
    decoder, what = row.split('", "')[0], row.split('"')[2]
    texts = [bytes(int(octal, 8) for octal in re.findall(r"\\(\d{3})", part)) for part in row.split(",\n     {")[1:]]
    letter = {"gzip": b"g", "zlib": b"g", "zstd": b"z", "lz4": b"l", "snappy": b"w", "brotli": b"b"}[decoder]
    seed = re.sub(r"\W+", "-", what)
    write("unpack", seed, letter + texts[0])
    write("unpack", seed + "-zeros", letter + texts[1])
    write("unpack", seed + "-twice", letter + texts[0] + texts[0])
    write("unpack", seed + "-auto", b"a" + texts[0])

# ---- Avro: files and values of Java's writers (test/contract/vectors/glue.py), and values by themselves ----------------------
with open(os.path.join(os.path.dirname(os.path.dirname(HERE)), "contract", "vectors", "glue.json")) as f:
    glue_rows = {name: bytes.fromhex(text) for name, text in json.load(f)["rows"].items()}


def avro_value(schema, value):
    return b"v" + len(schema).to_bytes(2, "big") + schema + value


for name, text in glue_rows.items():
    if name.startswith("file:"):
        write("avro", name.replace(":", "-"), b"f" + text)
    if name.startswith("avro:NONE"):
        write("avro", "order-" + name[-1], avro_value(glue_rows["schema"], text[18:]))
for name, (schema, value) in {
    "list": (b'{"type":"record","name":"r","fields":[{"name":"n","type":["null","r"]}]}', bytes([2, 2, 0])),
    "blocks": (b'{"type":"array","items":{"type":"map","values":"double"}}', bytes([1, 24, 2, 2, 97]) + bytes(9) + bytes([0])),
    "nulls": (b'{"type":"array","items":"null"}', bytes([200, 1, 0])),
    "decimal": (b'{"type":"fixed","name":"a.b","size":5,"logicalType":"decimal","precision":9,"scale":3}', b"\xff\x01\x02\x03\x04"),
    "enum": (b'[{"type":"enum","name":"e","namespace":"x","symbols":["A","B"]},"x.e","bytes"]', bytes([4, 2, 255])),
}.items():
    write("avro", name, avro_value(schema, value))

# ---- Protobuf: sets of protoc and messages of PyPI's protobuf (test/contract/vectors/protobuf.py), and Amazon's ----------------
with open(os.path.join(os.path.dirname(os.path.dirname(HERE)), "contract", "vectors", "protobuf.h")) as f:
    protobuf_parts = f.read().split("protobuf_rows[]")[1].split('\n    {"')[1:]
protobuf_rows = {part.split('"')[0]: bytes(int(octal, 8) for octal in re.findall(r"\\(\d{3})", part)) for part in protobuf_parts}


def protobuf_message(schema, message):
    return b"s" + len(schema).to_bytes(2, "big") + schema + message


for name, text in protobuf_rows.items():
    if name.startswith("message:shop.Order") and text:
        write("protobuf", name.replace(":", "-"), b"m" + text)
    if name.startswith("message:old.Thing"):
        write("protobuf", name.replace(":", "-"), b"o" + text)
        write("protobuf", "set-old", protobuf_message(protobuf_rows["set:old"], text))
for name, text in {
    "merge": b"\xa2\x01\x03\x0a\x01x\x08\x07\xa2\x01\x02\x10\x01", "oneof": b"\xd2\x01\x03\x0a\x01x\xd8\x01\x05\xd2\x01\x02\x10\x01",
    "map": b"\xb2\x01\x05\x0a\x01x\x10\x01\xb2\x01\x03\x0a\x01y\xb2\x01\x05\x0a\x01x\x10\x02",
    "packed": b"\x88\x01\x01\x08\x07\x8a\x01\x02\x02\x03\x88\x01\x04", "any": b"\xb2\x02\x13\x0a\x0cx/shop.Order\x12\x02\x08\x01\x18\x01",
    "unknown": b"\xf8\xff\xff\xff\x0f\x01\x08\x01\x0d\0\0\0\0\x0b\x0b\x0c\x0c",
}.items():
    write("protobuf", name, b"m" + text)
for name, text in glue_rows.items():
    if name.startswith("protobuf:NONE"):
        write("protobuf", "amazon-" + name.rsplit(":", 1)[-1], protobuf_message(glue_rows["descriptors"], text[19:]))

# ---- requests over HTTP -----------------------------------------------------------------------------
request_seeds = {
    "get": "GET /metrics HTTP/1.1\r\nHost: x\r\nAccept: text/plain;version=0.0.4;q=0.3,*/*;q=0.1\r\n\r\n",
    "head-old": "HEAD /ready?verbose HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
    "bare-lines": "\n\nGET / HTTP/1.1\nA:b\n\n",
    "proxy": "GET http://host/healthz HTTP/1.1\r\nHost: host\r\n\r\n",
    "body": "POST / HTTP/1.1\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\nhelloGET",
    "chunks": "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n0002\r\nde\r\n0\r\nT: x\r\n\r\nGET /",
    "two-lengths": "POST / HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
    "smuggled": "POST / HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "large": "POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n",
    "large-chunk": "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n",
    "many-fields": "GET / HTTP/1.1\r\n" + "".join(f"A{i}: {i}\r\n" for i in range(100)) + "\r\n",
    "long-field": "GET / HTTP/1.1\r\nA: " + "a" * 33000,
    "tls": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    "version": "GET / HTTP/2.0\r\n\r\n",
    "folded": "GET / HTTP/1.1\r\nA: b\r\n c\r\n\r\n",
}
for name, data in request_seeds.items():
    write("request", name, data)

# ---- times ------------------------------------------------------------------------------------------
date_seeds = {
    "http": "Fri, 02 Jan 2026 03:04:05 GMT",
    "http-leap": "Thu, 29 Feb 2024 23:59:60 GMT",
    "http-wrong-day": "Sun, 29 Feb 2023 00:00:00 GMT",
    "http-old": "Friday, 02-Jan-26 03:04:05 GMT",
    "iso": "2026-01-02T03:04:05.678Z",
    "iso-day": "2026-01-02",
    "iso-minutes": "2026-01-02 03:04",
    "iso-zone": "2026-12-31T23:59:59.9999999+05:45",
    "iso-zone-short": "0000-01-01t00:00-2359",
    "milliseconds": struct.pack("<q", 1767323045678),
    "milliseconds-before": struct.pack("<q", -1) + struct.pack("<q", -(2**63)),
}
for name, data in date_seeds.items():
    write("date", name, data)

# ---- decimal numbers --------------------------------------------------------------------------------
number_seeds = {
    "two": "12.5 -0.0025",
    "cancel": "99999999999999999999999999999999999999 -99999999999999999999999999999999999998",
    "digits-38": "1" * 38 + " " + "9" * 38,
    "digits-39": "1" * 39 + " 1",
    "large": "9.99E+125 1e125",
    "small": "1E-130 -1E-130",
    "too-small": "1e-131 0.0e999999999",
    "zeros": "000.000 -0",
    "signs": "+1 +-1",
    "words": "18446744073709551615 18446744073709551616",
    "words-signed": "-9223372036854775808 9223372036854775808",
    "hash": "340282366920938463463374607431768211455 340282366920938463463374607431768211456",
    "seconds": "1.767323045678E9 1767323045.6785",
    "half": "0.0005 -0.0005",
}
for name, data in number_seeds.items():
    write("number", name, data)

# ---- endpoints --------------------------------------------------------------------------------------
uri_seeds = {
    "plain": "https://kinesis.eu-west-1.amazonaws.com",
    "port": "HTTP://LocalHost:4567/a/b_c/~d",
    "own-port": "https://example.com:00443/",
    "ipv6": "http://[::1]:4567/",
    "ipv6-cut": "http://[::1",
    "loopback": "http://127.0.0.1:1",
    "not-loopback": "http://127.0.0.1.example.com/",
    "password": "https://user:secret@host/",
    "dots": "http://h/a/../b/./c//d",
    "query": "http://h/?a=b#c",
    "bytes": bytes(range(256)),
}
for name, data in uri_seeds.items():
    write("uri", name, data)

# ---- names ------------------------------------------------------------------------------------------
name_seeds = {
    "stream": "orders",
    "table": "dynamodb:Music",
    "stream-arn": "arn:aws:kinesis:us-east-1:123456789012:stream/orders",
    "table-arn": "arn:aws-us-gov:dynamodb:us-gov-west-1:123456789012:table/Music",
    "label-arn": "arn:aws:dynamodb:eu-west-1:1:table/Music/stream/2026-01-02T03:04:05.678",
    "no-account": "arn:aws:kinesis:us-east-1::stream/x",
    "no-region": "arn:aws:kinesis::1:stream/x",
    "consumer": "arn:aws:kinesis:us-east-1:1:stream/x/consumer/c:1",
    "index": "arn:aws:dynamodb:us-east-1:1:table/Music/index/i",
    "long": "a" * 128,
    "too-long": "dynamodb:" + "b" * 256,
}
for name, data in name_seeds.items():
    write("name", name, data)

# ---- profiles ---------------------------------------------------------------------------------------
profile_seeds = {
    "both": "[default]\naws_access_key_id = A\naws_secret_access_key=B\n[dev]\naws_session_token = C # no comment\n"
            "\x1e[profile dev]\nregion = eu-west-1\nretry_mode=standard\n[default]\nRegion = us-east-1\n",
    "quoted": "\x1e[profile \"my profile\"]\nrole_arn = r\nsource_profile = dev\n[profile  'dev' ]\nregion=x\n",
    "twice": "\x1e[default]\nregion = a\nendpoint_url = b\n[profile default]\nregion = c\n",
    "services": "\x1e[default]\nservices = s\n[services s]\nkinesis =\n  endpoint_url = http://localhost:1\ndynamodb =\n"
                "  endpoint_url = http://localhost:2\n",
    "session": "\x1e[profile dev]\nsso_session = x\nsso_account_id = 1\n[sso-session x]\nsso_region = r\nsso_start_url = u\n",
    "lines": "[default]\naws_access_key_id = A\n  B\n\tC\n; comment\n[my profile]\naws_secret_access_key =\n  a = b\n",
    "wrong": "[default\n\x1e[profile dev]\n= x\n",
    "mark": "\ufeff[default]\nregion = x\r\n",
}
for name, data in profile_seeds.items():
    write("profile", name, data)

# ---- answers that are errors ------------------------------------------------------------------------
error_seeds = {
    "json": '\x00\x1e{"__type":"com.amazonaws.kinesis#ProvisionedThroughputExceededException","message":"Rate exceeded"}',
    "header": "\x00ExpiredIteratorException:http://internal/\x1e{}",
    "wrapped": '\x09\x1e{"Output":{"__type":"InternalFailure"},"Version":"1.0"}',
    "code": '\x03\x1e{"code":"UnrecognizedClientException","Message":"x\\ny"}',
    "xml": "\x04\x1e<ErrorResponse><Error><Code>ExpiredToken</Code><Message>m</Message></Error></ErrorResponse>",
    "html": "\x0a\x1e<html><body>502 Bad   Gateway\x00</body></html>",
    "quotes-token": '\x00\x1e{"__type":"InvalidSignatureException","message":"canonical: x-amz-security-token:abc"}',
    "cbor": b"\x00\x1e\xa2\x66__type\x78\x19ResourceNotFoundException\x67message\x61x",
    "empty": "\x05\x1e",
}
for name, data in error_seeds.items():
    write("error", name, data)

# ---- heads of answers -------------------------------------------------------------------------------
head_seeds = {
    "all": "HTTP/1.1 400 Bad Request\r\nDate: Fri, 02 Jan 2026 03:04:05 GMT\r\nContent-Type: application/X-amz-json-1.1; a=b"
           "\r\nContent-Length: 61\r\nx-amzn-RequestId: 1-2\r\nx-amzn-ErrorType: Name:http://\r\nx-amz-crc32: 4294967295\r\n"
           "x-amz-retry-after: 1500\r\n\r\n",
    "interim": "HTTP/1.1 100 Continue\r\nx-amz-retry-after: 9\r\n\r\nHTTP/2 200\r\ntransfer-encoding: chunked\r\n\r\n",
    "wrong": "HTTP/1.1 200 OK\ncontent-length: -1\ncontent-length:  7 \nx-amz-crc32: 4294967296\nx-amz-retry-after: 1x\n: y\nz\n\n",
    "date": "date:Thu, 29 Feb 2024 23:59:60 GMT\nDATE: no\n",
    "long": "HTTP/1.1 200 OK\r\nx-amzn-requestid: " + "r" * 300 + "\r\ncontent-type: " + "t" * 300 + "\r\n",
}
for name, data in head_seeds.items():
    write("head", name, data)

# ---- DynamoDB's values ------------------------------------------------------------------------------
attribute_seeds = {
    "kinds": '{"s":{"S":"x"},"n":{"N":"-1.50E+10"},"b":{"B":"AAE="},"t":{"BOOL":true},"z":{"NULL":true},'
             '"l":{"L":[{"S":"a"},{"M":{"S":{"S":"S"}}}]},"ss":{"SS":["b","a"]},"ns":{"NS":["1","007.0"]},'
             '"bs":{"BS":["AQ==","AA=="]}}',
    "escapes": '{"\\u0061\\"":{"S":"\\ud83d\\ude00\\u0000\\n"},"":{"S":""}}',
    "two": '{"a":{"S":"x","N":"1"},"b":{"S":null,"N":"1"}}',
    "sets": '{"a":{"SS":["x","x"]},"b":{"NS":["1","1.0"]},"c":{"SS":[]}}',
    "deep": '{"a":' + '{"L":[' * 31 + '{"S":"x"}' + "]}" * 31 + "}",
    "too-deep": '{"a":' + '{"L":[' * 33 + '{"S":"x"}' + "]}" * 33 + "}",
    "numbers": '{"a":{"N":"' + "9" * 38 + 'E87"},"b":{"N":"1E-130"},"c":{"N":"+0.0"}}',
    "twice": '{"a":{"S":"x"},"a":{"S":"y"}}',
    "empty": "{}",
}
for name, data in attribute_seeds.items():
    write("attribute", name, data)
    write("sqlite_row", name, "\x00" + data)
write("sqlite_row", "blob", b"\x01" + attribute_seeds["kinds"].encode())
write("sqlite_row", "ours", "\x00" + '{"app":{"S":"app"},"row":{"S":"row"},"ours":{"N":"1"},"x":{"L":[]}}')
write("sqlite_row", "nothing", "\x00")
write("sqlite_row", "null", "\x00null")
write("sqlite_row", "nul", b'\x00{"a":{"S":"x"}}\x00')

# ---- signatures -------------------------------------------------------------------------------------
GOOD_LOOK = ("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260102/us-east-1/kinesis/aws4_request, "
             "SignedHeaders=content-type;host;x-amz-date;x-amz-target, Signature=" + "0" * 64)
auth_seeds = {
    "plain": "localhost:4567\x1eKinesis_20131202.GetRecords\x1eapplication/x-amz-json-1.1\x1e\x1e{}\x1e\x05x",
    "token": "h\x1et\x1ec\x1eTOKEN/a+b==\x1e{\"Limit\":1}\x1e\x20\x41",
    "blanks": "h\x1ea  b \x1ec d\x1e\x1e\x00\xff\x1e \x09",
    "header": "\x1e\x1e\x1e\x1e\x1e" + GOOD_LOOK,
    "header-cut": "\x1e\x1e\x1e\x1e\x1eAWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260102/us-east-1/kinesis/aws4_request,",
    "other-region": "\x1e\x1e\x1e\x1e\x1e" + GOOD_LOOK.replace("us-east-1", "eu-west-3"),
}
for name, data in auth_seeds.items():
    write("auth", name, data)

# ---- configuration files ----------------------------------------------------------------------------
config_seeds = {
    "some": "# ours\nwire=json\n  count = 7  \n\npoll_ms =250\r\nexit-at-tip\nquiet = no\njson=yes\nshard=1\nshard=2\n"
            "endpoint=http://127.0.0.1:1/?a=b c\ngrep = a # b\nuser_agent=last",
    "start": "offset=s@2026-01-02T03:04:05Z\nuntil=5m\ntimeout=10s\nformat=%k\\t%s\\n\n",
    "secrets": "sandbox.access_key=a\nsandbox.secret_key=SESAME-k\nsandbox.session_token=SESAME-t\nendpoint=http://u:p@h/\n",
    "choices": "on_trimmed=continue\non_retry=park\nretry_max=3\naggregates=keep\nlog_level=debug\nschema=kcl\napp=a\n",
    "wrong": "poll_ms=0\n",
    "unknown": "polls=1\n",
    "forbidden": "help\n",
    "flag-wrong": "quiet=maybe\n",
    "mark": "\ufeffcount=1\n",
    "nul": "count=1\x00\n",
    "sizes": "buffered_bytes_max=64M\nbatch_records_max=max\norder_wait_ms=max\n",
}
for name, data in config_seeds.items():
    write("config", name, data)

# ---- files of tokens --------------------------------------------------------------------------------
def token_of(arn, rest=""):
    return '{"stream_arn":"%s","active":[],"shards":[]%s}' % (arn, rest)


ORDERS, MUSIC = "arn:aws:kinesis:us-east-1:1:stream/orders", "arn:aws:dynamodb:us-east-1:1:table/Music/stream/2026"
token_file_seeds = {
    "one": token_of(ORDERS),
    "lines": "\n" + token_of(ORDERS) + "\n \t\r\n" + token_of(MUSIC) + "\n" + token_of(ORDERS + "-old"),
    "spread": '{\n "shards": [],\n "stream_arn": "%s"\n}\n' % ORDERS,
    "twice": token_of(ORDERS) + "\n" + token_of(ORDERS),
    "other": token_of("arn:aws:kinesis:us-east-1:1:stream/others"),
    "odd": token_of("stream"),
    "no-shards": '{"stream_arn":"%s"}' % ORDERS,
    "cut": token_of(ORDERS)[:-1],
    "escaped": token_of(ORDERS.replace("/", "\\/"), ',"x":"\\u0000"'),
    "journal-of-one-byte": token_of(ORDERS) + "\0",  # a write that was interrupted behind the mark's first byte
    "empty": "\n",
}
for name, data in token_file_seeds.items():
    write("token_file", name, data)

# ---- what gives keys --------------------------------------------------------------------------------
SOON = "2026-01-02T04:04:05Z"  # the test's clock says 03:04:05
CREDENTIALS = ('{"Code":"Success","Version":1,"AccessKeyId":"A","SecretAccessKey":"bSESAME","Token":"C","SessionToken":"C",'
               '"Expiration":"%s"}' % SOON)
STS_KEYS = ("<{0}Response><{0}Result><Credentials><AccessKeyId>A</AccessKeyId><SecretAccessKey>bSESAME</SecretAccessKey>"
            "<SessionToken>t&#43;</SessionToken><Expiration>%s</Expiration></Credentials></{0}Result></{0}Response>" % SOON)
PORTAL = ('{"roleCredentials":{"accessKeyId":"A","secretAccessKey":"bSESAME","sessionToken":"C","expiration":1767326645000}}')
SIGNED_IN = '{"accessToken":"T","expiresAt":"2026-01-02T08:00:00Z"}'
RENEWABLE = ('{"accessToken":"T","expiresAt":"2026-01-02T03:00:00UTC","refreshToken":"R","clientId":"c","clientSecret":"s",'
             '"registrationExpiresAt":"2026-03-01T00:00:00Z"}')
answer_seeds = {
    "sts": "\x00\x00" + STS_KEYS.format("AssumeRoleWithWebIdentity"),
    "sts-error": "\x00\x04<ErrorResponse><Error><Code>ExpiredToken</Code><Message>m</Message></Error></ErrorResponse>",
    "imds": "\x01\x00token\x1emy-role\n\x1e" + CREDENTIALS,
    "imds-error": '\x01\x00token\x1erole\x1e{"Code":"AssumeRoleUnauthorizedAccess","Message":"no"}',
    "container": "\x02\x00" + CREDENTIALS,
    "container-error": '\x02\x06{"code":"x","message":"y"}',
    "program": "\x03\x00" + CREDENTIALS,
    "program-fails": "\x03\x06{}\x1eno keys today",
    "sso": "\x04\x00" + SIGNED_IN + "\x1e" + PORTAL,
    "sso-renewed": "\x04\x00" + RENEWABLE + '\x1e{"accessToken":"N","expiresIn":28800,"refreshToken":"R2"}\x1e' + PORTAL,
    "sso-refused": "\x04\x05" + SIGNED_IN + "\x1e{}",
    "files": "\x05\x00[default]\nregion = x\n\x1e[default]\naws_access_key_id = A\naws_secret_access_key = bSESAME\n",
    "files-role": "\x05\x00[default]\nrole_arn = r\nsource_profile = b\nexternal_id = e\n\x1e[b]\naws_access_key_id = A\n"
                  "aws_secret_access_key = s\n\x1e" + STS_KEYS.format("AssumeRole"),
    "files-circle": "\x05\x00[default]\nrole_arn = r\nsource_profile = default\n\x1e",
}
for name, data in answer_seeds.items():
    write("answer", name, data)

# ---- bodies of requests to the sandbox --------------------------------------------------------------
tree_seeds = {
    "json": '\x00{"StreamName":"s","Limit":10,"Records":[{"Data":"AAE=","PartitionKey":"k"},{"x":[[],{}]}],"b":true}',
    "json-null": '\x00{"a":null,"b":1.5,"c":-9223372036854775808,"c":9223372036854775808}',
    "json-definite": '\x06{"a":{"b":{"c":{"d":{"e":{"f":[1,"\\u0000"]}}}}}}',
    "json-list": "\x00[1]",
    "cbor": b"\x01\xa3\x65Limit\x0a\x64Data\x42\x00\x01\x61t\xc1\x1b\x00\x00\x01\x9b\x7e\x00\x00\x00",
    "cbor-definite": b"\x07\xbf\x61a\x9f\x01\x20\xf5\xff\x61b\x7f\x61x\x61y\xff\xff",
    "cbor-large": b"\x01\xa1\x61a\x1b\xff\xff\xff\xff\xff\xff\xff\xff",
}
for name, data in tree_seeds.items():
    write("tree", name, data)

# ---- orders to the sandbox --------------------------------------------------------------------------
admin_seeds = {
    "streams": "Pstream?name=a&shards=3\n\x1ePsplit?stream=a&shard=shardId-000000000000\n\x1eGstats",
    "merge": "Pmerge?stream=orders&shard=shardId-000000000000&adjacent=shardId-000000000001\n\x1ePtrim?stream=orders\n0",
    "clock": "Pclock\n86400000\n\x1eGclock\x1ePclock\n-1125899906842624",
    "faults": "Pfaults\nGetRecords throttle 3\x1eDfaults\x1ePfaults\nnonsense",
    "tables": "Ptable?name=T&partitions=2&view=KEYS_ONLY\n\x1eProll?table=Music&split=1\n\x1ePstale?table=T&ms=500\n",
    "changes": 'Pchange?table=Music\n{"id":{"S":"a"}}\t-\t{"id":{"S":"a"}}\n{"id":{"S":"a"}}\t{"id":{"S":"a"}}\t-\n',
    "quirk": "Pquirk?name=x&value=1\n\x1ePquirk?table=Music&name=late\n",
    "synthetic": "Psynthetic?name=s&shards=2&records=*&bytes=100&rate=10&seed=3\n",
    "wrong": "Pstream?name=&shards=99999999999\n\x1ePnothing\n\x1eGnothing\n\x1eDclock\n",
}
for name, data in admin_seeds.items():
    write("admin", name, data)

# ---- the sandbox's Kinesis, in both forms -----------------------------------------------------------
kinesis = """CreateStream {"StreamName":"o","ShardCount":2}
DescribeStreamSummary {"StreamName":"o"}
ListShards {"StreamName":"o","MaxResults":1}
PutRecord {"StreamName":"o","Data":"aGVsbG8=","PartitionKey":"k"}
PutRecords {"StreamName":"o","Records":[{"Data":"AAE=","PartitionKey":"a"},{"Data":"","PartitionKey":"b","ExplicitHashKey":"1"}]}
GetShardIterator {"StreamName":"o","ShardId":"shardId-000000000000","ShardIteratorType":"TRIM_HORIZON"}
GetRecords {"ShardIterator":"$I","Limit":10}
SplitShard {"StreamName":"o","ShardToSplit":"shardId-000000000000","NewStartingHashKey":"100"}
MergeShards {"StreamName":"o","ShardToMerge":"shardId-000000000001","AdjacentShardToMerge":"shardId-000000000002"}
GetRecords {"ShardIterator":"$I"}
DeleteStream {"StreamName":"o"}"""
write("sandbox", "kinesis", "".join("Kinesis_20131202.%s\n" % line for line in kinesis.split("\n")))
write("sandbox", "kinesis-cbor", "".join(("" if "Iterator" in line else "~") + "Kinesis_20131202.%s\n" % line
                                         for line in kinesis.split("\n")))


# ---- event streams: how to cut, length of the headers for the framed one, and bytes ---------------------
def event(headers, payload):
    head = struct.pack(">II", 16 + len(headers) + len(payload), len(headers))
    whole = head + struct.pack(">I", zlib.crc32(head)) + headers + payload
    return whole + struct.pack(">I", zlib.crc32(whole))


def event_text(name, value):
    return bytes([len(name)]) + name.encode() + b"\x07" + struct.pack(">H", len(value)) + value.encode()


initial = event_text(":message-type", "event") + event_text(":event-type", "initial-response")
records = event_text(":message-type", "event") + event_text(":event-type", "SubscribeToShardEvent")
types = (b"\1a\0\1b\1\1c\2\xff\1d\3\x80\0\1e\4\0\0\1\0\1f\5" + b"\xff" * 8 + b"\1g\6\0\2\0\1\1h\7\0\3xyz\1i\x08\0\0\1\x9b\x76\x5d\x7a\x80\1j\x09"
         + b"0123456789abcdef")
write("eventstream", "two", b"\x05\x20" + event(initial, b"{}") + event(records, b'{"Records":[]}'))
write("eventstream", "types", b"\x01" + bytes([len(types)]) + types)
write("eventstream", "types-sent", b"\x07\x00" + event(types, b"") + event(b"", b""))
write("eventstream", "twin", b"\x3f\x08\1a\0\1a\1")
write("eventstream", "bad-sum", b"\x09\x00" + event(initial, b"{}")[:-1] + b"\x00")
one = b'{"Records":[{"SequenceNumber":"11","Data":"eA==","PartitionKey":"k"}],"ContinuationSequenceNumber":"115","MillisBehindLatest":0}'
last = b'{"Records":[],"MillisBehindLatest":0,"ChildShards":[{"ShardId":"shardId-000000000001","ParentShards":["shardId-000000000000"]}]}'
write("subscribe", "whole", b"\x05" + event(initial, b"{}") + event(records, one) + event(records, last))
write("subscribe", "cut", b"\x00" + event(initial, b"{}") + event(records, one)[:-9])
write("subscribe", "messages", b"\x07" + b"\x1e".join([b"\2{}", b"\0" + one, b"\3[1]", b"\1" + one, b"\5" + b'{"message":"so it is"}', b"\0" + one]))
write("subscribe", "ends", b"\x31" + b"\x1e".join([b"\0" + one, b"\0" + last, b"\7"]))
write("subscribe", "nonsense", b"\x10" + b"\x1e".join([b"\0" + one, b'\0{"Records":7}', b"\0" + one]))

# ---- expressions of --grep: an expression, a NUL, a text ---------------------------------------------
regex_seeds = {
    "plain": ("error|fatal", "an error here"),
    "star": ("a.*b.*zz", "axxbxxzz"),
    "anchors": ("^(a|^b)+$", "aab"),
    "anchor-inside": ("(a|^)*b$|c^d", "b"),
    "classes": ("[[:alpha:]_][^[:space:]]*[[.-.]]", "x9-"),
    "ranges": ("[]a-c-][^]-_a]", "]\x80"),
    "hyphens": ("[---][--/][a-]", "--a"),
    "bounds": ("(ab{2,3}c){2}d{,2}e{1,}", "abbcabbbcde"),
    "empties": ("()|(|a)(b|)*", ""),
    "words": ("\\<a\\w+\\>\\b\\W\\B ", "abc,, "),
    "edges": ("\\`a\\'|\\s\\S", "a"),
    "escapes": ("\\.\\{\\}\\|\\(\\n", ".{}|(n"),
    "lone": ("a)b}", "a)b}"),
    "nested": ("((((a*)*)+)?){2}b", "aaab"),
    "high": ("[\x80-\xff]+.$", "\x80\xff\n"),
    "nul": ("a.b|[^x]$", "a\0b\0"),
    "wrong": ("[[:foo:]]", ""),
    "range-of-class": ("[a-[:digit:]]", "5"),
    "starts": ("a|*b", "b"),
    "brackets": ("[[=a=]-b][a-[.z.]]", "az"),
    "perl-classes": ("^\\d+\\D\\s?[\\w.-]+$", "42\xc3\xa4 a.b\n"),
    "characters": ("^.[^a]\\W{2}", "\xe2\x82\xac\xf0\x9f\x98\x80\xc3\xa4\xff"),
    "folds": ("(?i)task|a(?-i:K)[^x]", "TA\xc5\xbf\xe2\x84\xaa"),
    "flags": ("(?s:a.b)(?i)c(?<n>d)|(?P<m>.)\\z", "a\nbCD"),
    "lazy": ("a+?b??c{2,3}?$", "aabccc\n"),
    "hex": ("\\x41\\x{42}[\\x00-\\x1f\\]\\b]", "AB]"),
    "back": ("(\\w)\\1(?=b)(?<!c)d++", "aabdd"),
    "posix-folds": ("(?i)[[:upper:]][[:^lower:]]", "a1"),
    "quoted": ("\\Qa.b\\E{2}", "a.bb"),
    "alternatives": ("error|(?i)kiosk|x*zq", "KIOS\xe2\x84\xaa"),
    "no-text": ("error|f*", "b"),
    "two-dialects": ("\\<a{,3}[a&&b]", "a"),
}
for name, (expression, text) in regex_seeds.items():
    write("regex", name, expression.encode("latin-1") + b"\0" + text.encode("latin-1"))
