// Reads every shard of a stream by SubscribeToShard of the AWS SDK for Go v2: registers the consumer PEER_APP, waits for it,
// subscribes each shard from its oldest record, and again after its last number when a subscription ends.
package main

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/kinesis"
	"github.com/aws/aws-sdk-go-v2/service/kinesis/types"
)

var printing sync.Mutex

func fail(what string, err error) {
	fmt.Fprintf(os.Stderr, "%s: %v\n", what, err)
	os.Exit(1)
}

func line(kind, shard, a, b string) {
	printing.Lock()
	defer printing.Unlock()
	fmt.Printf("%s\t%d\t%s\t%s\t%s\t%s\n", kind, time.Now().UnixMilli(), os.Getenv("PEER_WORKER"), shard, a, b)
}

func consumerOf(ctx context.Context, client *kinesis.Client, stream string) string {
	summary, err := client.DescribeStreamSummary(ctx, &kinesis.DescribeStreamSummaryInput{StreamName: &stream})
	if err != nil {
		fail("DescribeStreamSummary", err)
	}
	arn, name := summary.StreamDescriptionSummary.StreamARN, os.Getenv("PEER_APP")
	if _, err := client.RegisterStreamConsumer(ctx, &kinesis.RegisterStreamConsumerInput{StreamARN: arn, ConsumerName: &name}); err != nil {
		fail("RegisterStreamConsumer", err)
	}
	for {
		seen, err := client.DescribeStreamConsumer(ctx, &kinesis.DescribeStreamConsumerInput{StreamARN: arn, ConsumerName: &name})
		if err != nil {
			fail("DescribeStreamConsumer", err)
		}
		if seen.ConsumerDescription.ConsumerStatus == types.ConsumerStatusActive {
			return *seen.ConsumerDescription.ConsumerARN
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// One subscription. It returns the number to go on after; "" at the shard's end.
func subscribe(ctx context.Context, client *kinesis.Client, consumer, shard string, from *types.StartingPosition) string {
	answer, err := client.SubscribeToShard(ctx,
		&kinesis.SubscribeToShardInput{ConsumerARN: &consumer, ShardId: &shard, StartingPosition: from})
	if err != nil {
		fail("SubscribeToShard", err)
	}
	events, next := answer.GetStream(), aws.ToString(from.SequenceNumber)
	defer events.Close()
	for event := range events.Events() {
		got, ok := event.(*types.SubscribeToShardEventStreamMemberSubscribeToShardEvent)
		if !ok {
			continue
		}
		for _, record := range got.Value.Records {
			line("record", shard, *record.SequenceNumber, "0")
		}
		next = aws.ToString(got.Value.ContinuationSequenceNumber)
	}
	if err := events.Err(); err != nil {
		line("event", shard, "the subscription broke", err.Error())
	}
	return next
}

func read(ctx context.Context, client *kinesis.Client, consumer, shard string) {
	from := &types.StartingPosition{Type: types.ShardIteratorTypeTrimHorizon}
	for {
		next := subscribe(ctx, client, consumer, shard, from)
		if next == "" {
			line("event", shard, "ended", "")
			return
		}
		from = &types.StartingPosition{Type: types.ShardIteratorTypeAfterSequenceNumber, SequenceNumber: &next}
		time.Sleep(5 * time.Second) // sooner the service refuses
	}
}

func main() {
	ctx, stream := context.Background(), os.Getenv("PEER_STREAM")
	settings, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		fail("configuration", err)
	}
	client := kinesis.NewFromConfig(settings, func(o *kinesis.Options) { o.BaseEndpoint = aws.String(os.Getenv("PEER_ENDPOINT")) })
	consumer := consumerOf(ctx, client, stream)
	listed, err := client.ListShards(ctx, &kinesis.ListShardsInput{StreamName: &stream})
	if err != nil {
		fail("ListShards", err)
	}
	var all sync.WaitGroup
	for _, shard := range listed.Shards {
		all.Add(1)
		go func(id string) {
			defer all.Done()
			read(ctx, client, consumer, id)
		}(*shard.ShardId)
	}
	all.Wait()
}
