"""Writes glue.h and glue.json: messages that the serialisers of AWS's Glue Schema Registry made, for Avro, JSON and Protobuf,
with and without zlib; the numbers that its MessageIndexFinder gives to messages; files of Avro's DataFileWriter in each
codec. Run by hand: glue.py FOLDER, which holds the jars of software.amazon.glue:schema-registry-serde 1.1.25 of Maven and
what it needs (mvn dependency:copy-dependencies). Needs java 17."""

import glob
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
jars = sorted(glob.glob(os.path.join(sys.argv[1], "*.jar")))
made = subprocess.run(["java", "-cp", os.pathsep.join(jars), os.path.join(HERE, "GlueVectors.java")], capture_output=True,
                      text=True, check=True, timeout=300).stdout
rows = {name: "" if text == "-" else text for name, text in (line.split() for line in made.splitlines())}
versions = [os.path.basename(j)[:-4] for j in jars if os.path.basename(j).startswith((
    "schema-registry-serde", "avro-1", "protobuf-java-3", "snappy-java", "zstd-jni"))]
with open(os.path.join(HERE, "glue.json"), "w") as f:
    json.dump({"made by": versions, "rows": rows}, f, indent=0)
    f.write("\n")


def literal(data):
    text = "".join(f"\\{byte:03o}" for byte in data)
    lines = "\n".join(f'        "{text[i:i + 96]}"' for i in range(0, len(text), 96))
    return "{\n" + (lines or '        ""') + ",\n        " + str(len(data)) + "}"


with open(os.path.join(HERE, "glue.h"), "w") as f:
    f.write(f"""/* glue.h - what the serialisers of AWS's Glue Schema Registry and Avro's own writer make. Made by glue.py with:
 *   {', '.join(versions)} */
#ifndef SLP_TEST_GLUE_H
#define SLP_TEST_GLUE_H

#include "base/base.h"

typedef struct glue_row {{
  const char *name;
  slp_str bytes;
}} glue_row;

/* clang-format off */
static const glue_row glue_rows[] = {{
""")
    for name, text in rows.items():
        f.write(f'    {{"{name}",\n     {literal(bytes.fromhex(text))}}},\n')
    f.write("};\n/* clang-format on */\n\n#endif\n")
