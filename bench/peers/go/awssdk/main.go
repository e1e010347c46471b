// The AWS SDK for Go v2 in bench/peers: a goroutine for each shard.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/kinesis"
	"github.com/aws/aws-sdk-go-v2/service/kinesis/types"

	"sloop/bench/peers/tally"
)

func read(ctx context.Context, client *kinesis.Client, stream, shard string) {
	first, err := client.GetShardIterator(ctx, &kinesis.GetShardIteratorInput{
		StreamName: &stream, ShardId: &shard, ShardIteratorType: types.ShardIteratorTypeTrimHorizon})
	if err != nil {
		tally.Fail("GetShardIterator", err)
	}
	place, due := first.ShardIterator, time.Now()
	for {
		page, err := client.GetRecords(ctx, &kinesis.GetRecordsInput{
			ShardIterator: place, Limit: aws.Int32(int32(tally.Number("PEERS_LIMIT")))})
		if err != nil {
			tally.Fail("GetRecords", err)
		}
		place = page.NextShardIterator
		tally.Page(len(page.Records), func(i int) []byte { return page.Records[i].Data })
		if len(page.Records) == 0 {
			due = due.Add(tally.Poll())
			time.Sleep(time.Until(due))
		}
	}
}

func main() {
	ctx, stream := context.Background(), tally.Text("PEERS_STREAM")
	settings, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		tally.Fail("configuration", err)
	}
	client := kinesis.NewFromConfig(settings, func(o *kinesis.Options) {
		o.BaseEndpoint = aws.String(tally.Text("PEERS_ENDPOINT"))
		o.HTTPClient = tally.Client()
	})
	listed, err := client.ListShards(ctx, &kinesis.ListShardsInput{StreamName: &stream})
	if err != nil {
		tally.Fail("ListShards", err)
	}
	for _, shard := range listed.Shards {
		go read(ctx, client, stream, *shard.ShardId)
	}
	select {}
}
