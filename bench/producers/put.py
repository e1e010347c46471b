"""boto3 in bench/producers: lines KEY:PAYLOAD of standard input, 500 a call. Prints how many records were put."""

import itertools
import os
import sys

import boto3


def main():
    kinesis, put = boto3.client("kinesis", endpoint_url=os.environ["PRODUCERS_ENDPOINT"]), 0
    lines = sys.stdin.buffer
    while batch := list(itertools.islice(lines, 500)):
        records = []
        for line in batch:
            key, _, data = line.rstrip(b"\n").partition(b":")
            records.append({"PartitionKey": key.decode(), "Data": data})
        answer = kinesis.put_records(StreamName=os.environ["PRODUCERS_STREAM"], Records=records)
        put += len(records) - answer["FailedRecordCount"]
    print(put)


main()
