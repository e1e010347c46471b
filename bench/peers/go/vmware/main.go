// vmware-go-kcl-v2 in bench/peers. It looks for shards each 3 s (its default is a minute) and takes one each time.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsconfig "github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/kinesis"
	"github.com/vmware/vmware-go-kcl-v2/clientlibrary/config"
	"github.com/vmware/vmware-go-kcl-v2/clientlibrary/interfaces"
	"github.com/vmware/vmware-go-kcl-v2/clientlibrary/worker"

	"sloop/bench/peers/tally"
)

type processor struct{ checkpointed time.Time }

type factory struct{}

func (factory) CreateProcessor() interfaces.IRecordProcessor { return &processor{time.Now()} }

func (p *processor) Initialize(*interfaces.InitializationInput) {}

func (p *processor) ProcessRecords(in *interfaces.ProcessRecordsInput) {
	tally.Page(len(in.Records), func(i int) []byte { return in.Records[i].Data })
	if n := len(in.Records); n > 0 && time.Since(p.checkpointed) >= 5*time.Second {
		if err := in.Checkpointer.Checkpoint(in.Records[n-1].SequenceNumber); err != nil {
			tally.Fail("checkpoint", err)
		}
		p.checkpointed = time.Now()
	}
}

func (p *processor) Shutdown(*interfaces.ShutdownInput) {}

func main() {
	endpoint, app := tally.Text("PEERS_ENDPOINT"), tally.Text("PEERS_APP")
	settings, err := awsconfig.LoadDefaultConfig(context.Background())
	if err != nil {
		tally.Fail("configuration", err)
	}
	client := kinesis.NewFromConfig(settings, func(o *kinesis.Options) {
		o.BaseEndpoint = aws.String(endpoint)
		o.HTTPClient = tally.Client()
	})
	it := worker.NewWorker(factory{}, config.NewKinesisClientLibConfig(app, tally.Text("PEERS_STREAM"), "us-east-1", "bench").
		WithDynamoDBEndpoint(endpoint).
		WithInitialPositionInStream(config.TRIM_HORIZON).
		WithMaxRecords(tally.Number("PEERS_LIMIT")).
		WithMaxLeasesForWorker(1000).
		WithShardSyncIntervalMillis(3000).
		WithIdleTimeBetweenReadsInMillis(tally.Number("PEERS_POLL_MS"))).WithKinesis(client)
	if err := it.Start(); err != nil {
		tally.Fail("the worker does not start", err)
	}
	select {}
}
