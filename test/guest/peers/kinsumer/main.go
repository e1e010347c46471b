// One client of kinsumer, as its users write it. Configured by the environment (README.md beside this folder). Next()
// gives bytes only; the Kinesis client that it is given remembers which shard and number they came with.
package main

import (
	"fmt"
	"log"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/aws/aws-sdk-go/aws"
	"github.com/aws/aws-sdk-go/aws/session"
	"github.com/aws/aws-sdk-go/service/dynamodb"
	"github.com/aws/aws-sdk-go/service/kinesis"
	"github.com/aws/aws-sdk-go/service/kinesis/kinesisiface"
	"github.com/twitchscience/kinsumer"
)

type place struct{ shard, sequence string }

// watcher passes every call on.
type watcher struct {
	kinesisiface.KinesisAPI
	lock   sync.Mutex
	shards map[string]string // iterator -> shard
	places map[*byte]place   // first byte of a record's data -> where it came from
}

func (w *watcher) GetShardIterator(in *kinesis.GetShardIteratorInput) (*kinesis.GetShardIteratorOutput, error) {
	out, err := w.KinesisAPI.GetShardIterator(in)
	if err == nil {
		w.lock.Lock()
		w.shards[aws.StringValue(out.ShardIterator)] = aws.StringValue(in.ShardId)
		w.lock.Unlock()
		event("iterator", aws.StringValue(in.ShardId),
			aws.StringValue(in.ShardIteratorType)+" "+aws.StringValue(in.StartingSequenceNumber))
	}
	return out, err
}

func (w *watcher) GetRecords(in *kinesis.GetRecordsInput) (*kinesis.GetRecordsOutput, error) {
	out, err := w.KinesisAPI.GetRecords(in)
	if err != nil {
		return out, err
	}
	w.lock.Lock()
	defer w.lock.Unlock()
	shard := w.shards[aws.StringValue(in.ShardIterator)]
	delete(w.shards, aws.StringValue(in.ShardIterator))
	w.shards[aws.StringValue(out.NextShardIterator)] = shard
	for _, record := range out.Records {
		if len(record.Data) > 0 {
			w.places[&record.Data[0]] = place{shard, aws.StringValue(record.SequenceNumber)}
		}
	}
	return out, err
}

func (w *watcher) take(data []byte) place {
	w.lock.Lock()
	defer w.lock.Unlock()
	found := w.places[&data[0]]
	delete(w.places, &data[0])
	return found
}

func need(name string) string {
	value := os.Getenv(name)
	if value == "" {
		log.Fatalf("%s is not set", name)
	}
	return value
}

func milliseconds(name string, otherwise int64) time.Duration {
	if value, err := strconv.ParseInt(os.Getenv(name), 10, 64); err == nil {
		otherwise = value
	}
	return time.Duration(otherwise) * time.Millisecond
}

func line(kind, shard, a, b string) {
	fmt.Printf("%s\t%d\t%s\t%s\t%s\t%s\n", kind, time.Now().UnixMilli(), need("PEER_WORKER"), shard, a, b)
}

func event(what, shard, detail string) {
	line("event", shard, what, strings.Join(strings.Fields(detail), " "))
}

func main() {
	config := aws.NewConfig().WithEndpoint(need("PEER_ENDPOINT")).WithRegion("us-east-1")
	made := session.Must(session.NewSession(config))
	watched := &watcher{KinesisAPI: kinesis.New(made), shards: map[string]string{}, places: map[*byte]place{}}
	check := milliseconds("PEER_SYNC_MS", 60000)
	settings := kinsumer.NewConfig().WithShardCheckFrequency(check).WithLeaderActionFrequency(check).
		WithThrottleDelay(milliseconds("PEER_POLL_MS", 250)).
		WithCommitFrequency(milliseconds("PEER_CHECKPOINT_MS", 1000)).
		WithDynamoWaiterDelay(500 * time.Millisecond)
	client, err := kinsumer.NewWithInterfaces(watched, dynamodb.New(made), need("PEER_STREAM"), need("PEER_APP"),
		need("PEER_WORKER"), settings)
	if err != nil {
		log.Fatal(err)
	}
	err = client.CreateRequiredTables()
	if err == nil {
		err = client.Run()
	}
	if err != nil {
		log.Fatalf("kinsumer does not start: %v", err)
	}
	event("started", "-", strconv.Itoa(os.Getpid()))
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	stopped := make(chan bool)
	go func() {
		<-signals
		event("stopping", "-", "")
		client.Stop()
		event("stopped", "-", "")
		close(stopped)
	}()
	for {
		data, err := client.Next()
		if err != nil {
			// Its authors' word: processing should be considered stopped. A supervisor would start it again.
			event("failed", "-", err.Error())
			log.Fatalf("kinsumer.Next: %v", err)
		}
		if data == nil {
			break
		}
		where := watched.take(data)
		line("record", where.shard, where.sequence, "0")
	}
	<-stopped
}
