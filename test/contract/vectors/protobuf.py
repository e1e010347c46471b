"""Writes protobuf.h: descriptor sets as protoc makes them, messages as PyPI's protobuf serialises them, and what its json_format
prints for them. Run by hand: protobuf.py, with grpcio-tools (which has protoc) and protobuf in a venv."""

import importlib
import json
import os
import subprocess
import sys
import tempfile

from google.protobuf import json_format
from google.protobuf.internal import api_implementation

import google.protobuf

HERE = os.path.dirname(os.path.abspath(__file__))
SHOP = """
syntax = "proto3";
package shop;
import "google/protobuf/any.proto";
import "google/protobuf/duration.proto";
import "google/protobuf/empty.proto";
import "google/protobuf/field_mask.proto";
import "google/protobuf/struct.proto";
import "google/protobuf/timestamp.proto";
import "google/protobuf/wrappers.proto";
message Order {
  enum State { NEW = 0; PAID = 1; BACK = -1; }
  message Line { string sku = 1; sint32 n = 2; repeated Line within = 3; }
  int32 a_int32 = 1; int64 a_int64 = 2; uint32 a_uint32 = 3; uint64 a_uint64 = 4; sint64 a_sint64 = 5;
  fixed32 a_fixed32 = 6; fixed64 a_fixed64 = 7; sfixed32 a_sfixed32 = 8; sfixed64 a_sfixed64 = 9;
  float a_float = 10; double a_double = 11; bool a_bool = 12; string a_string = 13; bytes a_bytes = 14;
  State state = 15; repeated State states = 16; repeated int32 packed = 17; repeated int32 loose = 18 [packed = false];
  repeated string words = 19; Line line = 20; repeated Line lines = 21;
  map<string, int64> counts = 22; map<int32, Line> by_number = 23; map<bool, State> by_bool = 24;
  oneof how { string card = 25; Line cash = 26; uint32 points = 27; }
  optional int32 maybe = 28; string renamed = 29 [json_name = "other name"];
  google.protobuf.Timestamp at = 30; google.protobuf.Duration took = 31; google.protobuf.FieldMask mask = 32;
  google.protobuf.Struct any_json = 33; google.protobuf.Value value = 34; google.protobuf.ListValue list = 35;
  google.protobuf.Int64Value wrapped = 36; google.protobuf.StringValue wrapped_text = 37;
  google.protobuf.Any any = 38; google.protobuf.Empty nothing = 39; google.protobuf.NullValue none = 40;
  repeated double doubles = 41; repeated google.protobuf.Any anys = 42;
}
"""
OLD = """
syntax = "proto2";
package old;
message Thing {
  enum Kind { ONE = 1; TWO = 2; }
  required int32 id = 1;
  optional Kind kind = 2 [default = TWO];
  repeated Kind kinds = 3;
  optional group Inner = 4 { optional string x = 1; optional Thing deeper = 2; }
  repeated group Many = 5 { optional int32 n = 1; }
  extensions 100 to 199;
}
extend Thing { optional string note = 100; repeated int32 numbers = 101; }
"""
MESSAGES = [
    ("shop.Order", {}),
    ("shop.Order", {"aInt32": -1, "aInt64": "-9223372036854775808", "aUint32": 4294967295, "aUint64": "18446744073709551615", "aSint64": "-2",
                    "aFixed32": 7, "aFixed64": "8", "aSfixed32": -9, "aSfixed64": "-10", "aFloat": 0.1, "aDouble": 0.30000000000000004,
                    "aBool": True, "aString": "caf\u00e9 \"x\"\n", "aBytes": "AP8+Pw==", "state": "BACK", "states": ["NEW", "PAID", 7],
                    "packed": [1, -1, 300], "loose": [0, 5], "words": ["", "b"], "line": {"sku": "S", "n": -3, "within": [{}, {"n": 1}]},
                    "lines": [{}, {"sku": "T"}], "counts": {"": "5"}, "byNumber": {"-7": {"n": 2}}, "byBool": {"false": "PAID"},
                    "cash": {}, "maybe": 0, "other name": "r"}),
    ("shop.Order", {"at": "2026-11-28T19:30:05.000001Z", "took": "-1.500s", "mask": "aB,c.dE", "anyJson": {"a": [None, True, "x", 1.5]}, "value": None,
                    "list": [[], {}, -0.25], "wrapped": "0", "wrappedText": "", "any": {"@type": "type.googleapis.com/shop.Order.Line", "sku": "Q"},
                    "nothing": {}, "doubles": ["NaN", "Infinity", "-Infinity", 1.5],
                    "anys": [{"@type": "x/google.protobuf.Duration", "value": "3s"}, {}, {"@type": "x/google.protobuf.Empty"},
                             {"@type": "x/google.protobuf.Any", "value": {"@type": "x/google.protobuf.BoolValue", "value": True}}]}),
    ("old.Thing", {"id": 0, "kind": "ONE", "kinds": ["TWO", "ONE"], "inner": {"x": "y", "deeper": {"id": 3}}, "many": [{"n": 1}, {}],
                   "[old.numbers]": [1, 2]}),  # of two, upb writes the later one first
]


def literal(data):
    text = "".join(f"\\{byte:03o}" for byte in data)
    lines = "\n".join(f'        "{text[i:i + 96]}"' for i in range(0, len(text), 96))
    return "{\n" + (lines or '        ""') + ",\n        " + str(len(data)) + "}"


rows = {}
with tempfile.TemporaryDirectory() as folder:
    for name, text in (("shop", SHOP), ("old", OLD)):
        with open(os.path.join(folder, name + ".proto"), "w") as f:
            f.write(text)
    protoc = [sys.executable, "-m", "grpc_tools.protoc", "-I", folder]
    for name, args in (("shop", ["--include_imports"]), ("old", ["--include_imports"]), ("alone", [])):
        file = os.path.join(folder, name + ".desc")
        subprocess.run([*protoc, "--descriptor_set_out=" + file, *args, ("shop" if name == "alone" else name) + ".proto"], check=True)
        with open(file, "rb") as f:
            rows["set:" + name] = f.read()
    subprocess.run([*protoc, "--python_out=" + folder, "shop.proto", "old.proto"], check=True)
    version = subprocess.run([*protoc, "--version"], check=True, capture_output=True, text=True).stdout.strip()
    sys.path.insert(0, folder)
    modules = {"shop": importlib.import_module("shop_pb2"), "old": importlib.import_module("old_pb2")}
    for i, (name, value) in enumerate(MESSAGES):
        parts = name.split(".")
        message = json_format.ParseDict(value, getattr(modules[parts[0]], parts[1])())
        body = message.SerializeToString(deterministic=True)
        again = json.loads(json_format.MessageToJson(type(message).FromString(body)))
        assert again == value, (again, value)
        rows[f"message:{name}:{i}"] = body
        rows[f"json:{name}:{i}"] = json.dumps(again, separators=(",", ":"), ensure_ascii=False).encode()

with open(os.path.join(HERE, "protobuf.h"), "w") as f:
    f.write(f"""/* protobuf.h - descriptor sets of protoc, messages of PyPI's protobuf, and the JSON of its json_format. Made by protobuf.py with:
 *   {version} (its set), protobuf {google.protobuf.__version__} ({api_implementation.Type()}) */
#ifndef SLP_TEST_PROTOBUF_H
#define SLP_TEST_PROTOBUF_H

#include "base/base.h"

typedef struct protobuf_row {{
  const char *name;
  slp_str bytes;
}} protobuf_row;

/* clang-format off */
static const protobuf_row protobuf_rows[] = {{
""")
    for name, data in rows.items():
        f.write(f'    {{"{name}",\n     {literal(data)}}},\n')
    f.write("};\n/* clang-format on */\n\n#endif\n")
