// One worker of vmware-go-kcl-v2, as its users write it. Configured by the environment (README.md beside this folder).
// Without its CloudWatch metrics: their client cannot be pointed at another endpoint.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/vmware/vmware-go-kcl-v2/clientlibrary/config"
	"github.com/vmware/vmware-go-kcl-v2/clientlibrary/interfaces"
	"github.com/vmware/vmware-go-kcl-v2/clientlibrary/worker"
)

var printing sync.Mutex

func need(name string) string {
	value := os.Getenv(name)
	if value == "" {
		fmt.Fprintf(os.Stderr, "%s is not set\n", name)
		os.Exit(2)
	}
	return value
}

func number(name string, otherwise int) int {
	if value, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return value
	}
	return otherwise
}

func print(text string) {
	printing.Lock()
	defer printing.Unlock()
	os.Stdout.WriteString(text)
}

func line(kind, shard, a, b string) string {
	return fmt.Sprintf("%s\t%d\t%s\t%s\t%s\t%s\n", kind, time.Now().UnixMilli(), need("PEER_WORKER"), shard, a, b)
}

func event(what, shard, detail string) {
	print(line("event", shard, what, strings.Join(strings.Fields(detail), " ")))
}

type processor struct {
	shard        string
	last         *string
	checkpointed time.Time
}

type factory struct{}

func (factory) CreateProcessor() interfaces.IRecordProcessor {
	return &processor{checkpointed: time.Now()}
}

func (p *processor) Initialize(in *interfaces.InitializationInput) {
	p.shard = in.ShardId
	event("gained", p.shard, aws.ToString(in.ExtendedSequenceNumber.SequenceNumber))
}

func (p *processor) checkpoint(to interfaces.IRecordProcessorCheckpointer) {
	if err := to.Checkpoint(p.last); err != nil {
		event("checkpoint failed", p.shard, err.Error())
	}
	p.last, p.checkpointed = nil, time.Now()
}

// ProcessRecords: the library names the records of an aggregate by its number only, so they are counted here.
func (p *processor) ProcessRecords(in *interfaces.ProcessRecordsInput) {
	text, sub := strings.Builder{}, 0
	for i, record := range in.Records {
		sub++
		if i == 0 || aws.ToString(in.Records[i-1].SequenceNumber) != aws.ToString(record.SequenceNumber) {
			sub = 0
		}
		text.WriteString(line("record", p.shard, aws.ToString(record.SequenceNumber), strconv.Itoa(sub)))
		p.last = record.SequenceNumber
	}
	print(text.String())
	pause := time.Duration(number("PEER_CHECKPOINT_MS", 1000)) * time.Millisecond
	if p.last != nil && time.Since(p.checkpointed) >= pause {
		p.checkpoint(in.Checkpointer)
	}
}

func (p *processor) Shutdown(in *interfaces.ShutdownInput) {
	event("lost", p.shard, *interfaces.ShutdownReasonMessage(in.ShutdownReason))
	if in.ShutdownReason == interfaces.TERMINATE {
		p.last = nil // the end of the shard
		p.checkpoint(in.Checkpointer)
	} else if p.last != nil {
		p.checkpoint(in.Checkpointer)
	}
}

func main() {
	endpoint := need("PEER_ENDPOINT")
	settings := config.NewKinesisClientLibConfig(need("PEER_APP"), need("PEER_STREAM"), "us-east-1",
		need("PEER_WORKER")).
		WithKinesisEndpoint(endpoint).WithDynamoDBEndpoint(endpoint).
		WithInitialPositionInStream(config.TRIM_HORIZON).
		WithFailoverTimeMillis(number("PEER_FAILOVER_MS", config.DefaultFailoverTimeMillis)).
		WithShardSyncIntervalMillis(number("PEER_SYNC_MS", config.DefaultShardSyncIntervalMillis)).
		WithIdleTimeBetweenReadsInMillis(number("PEER_POLL_MS", config.DefaultIdleTimeBetweenReadsMillis)).
		WithLeaseStealing(number("PEER_STEALING", 1) != 0).
		WithLeaseSyncingIntervalMillis(number("PEER_SYNC_MS", config.DefaultLeaseSyncingIntervalMillis))
	if os.Getenv("PEER_PUSH") == "1" {
		settings = settings.WithEnhancedFanOutConsumerName(need("PEER_APP"))
	}
	it := worker.NewWorker(factory{}, settings)
	if err := it.Start(); err != nil {
		fmt.Fprintf(os.Stderr, "the worker does not start: %v\n", err)
		os.Exit(1)
	}
	event("started", "-", strconv.Itoa(os.Getpid()))
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	<-signals
	event("stopping", "-", "")
	it.Shutdown()
	event("stopped", "-", "")
}
