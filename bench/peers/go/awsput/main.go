// The AWS SDK for Go v2 in bench/producers: a goroutine reads lines KEY:PAYLOAD, others put them, 500 a call.
package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/kinesis"
	"github.com/aws/aws-sdk-go-v2/service/kinesis/types"

	"sloop/bench/peers/tally"
)

const (
	batch   = 500
	callers = 8
)

func main() {
	ctx, stream := context.Background(), tally.Text("PRODUCERS_STREAM")
	settings, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		tally.Fail("configuration", err)
	}
	client := kinesis.NewFromConfig(settings, func(o *kinesis.Options) {
		o.BaseEndpoint = aws.String(tally.Text("PRODUCERS_ENDPOINT"))
		o.HTTPClient = tally.Client()
	})
	var put atomic.Int64
	var all sync.WaitGroup
	batches := make(chan []types.PutRecordsRequestEntry, callers)
	for i := 0; i < callers; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			for records := range batches {
				answer, err := client.PutRecords(ctx, &kinesis.PutRecordsInput{StreamName: &stream, Records: records})
				if err != nil {
					tally.Fail("PutRecords", err)
				}
				put.Add(int64(len(records)) - int64(*answer.FailedRecordCount))
			}
		}()
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(make([]byte, 1<<20), 1<<20)
	records := make([]types.PutRecordsRequestEntry, 0, batch)
	for lines.Scan() {
		key, data, _ := bytes.Cut(lines.Bytes(), []byte(":"))
		records = append(records, types.PutRecordsRequestEntry{PartitionKey: aws.String(string(key)), Data: bytes.Clone(data)})
		if len(records) == batch {
			batches <- records
			records = make([]types.PutRecordsRequestEntry, 0, batch)
		}
	}
	if len(records) > 0 {
		batches <- records
	}
	close(batches)
	all.Wait()
	fmt.Println(put.Load())
}
