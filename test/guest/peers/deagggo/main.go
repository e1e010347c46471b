// Takes records of a stream apart by the published Go package: a line of JSON in for each, {"key", "data", "low", "high"}, and a
// line out, a list of [key, data]. Data is in base64.
package main

import (
	"bufio"
	"encoding/json"
	"log"
	"os"

	"github.com/aws/aws-sdk-go-v2/service/kinesis/types"
	"github.com/awslabs/kinesis-aggregation/go/v2/deaggregator"
)

type record struct {
	Key  string
	Data []byte
}

func main() {
	lines, out := bufio.NewScanner(os.Stdin), json.NewEncoder(os.Stdout)
	lines.Buffer(make([]byte, 1<<22), 1<<22)
	for lines.Scan() {
		var in record
		if err := json.Unmarshal(lines.Bytes(), &in); err != nil {
			log.Fatal(err)
		}
		found, err := deaggregator.DeaggregateRecords([]types.Record{{PartitionKey: &in.Key, Data: in.Data}})
		if err != nil {
			log.Fatal(err)
		}
		rows := [][2]any{}
		for _, r := range found {
			rows = append(rows, [2]any{*r.PartitionKey, r.Data})
		}
		if err := out.Encode(rows); err != nil {
			log.Fatal(err)
		}
	}
}
