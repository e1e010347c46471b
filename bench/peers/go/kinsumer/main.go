// kinsumer in bench/peers. It always asks for 10,000 records a page; the Kinesis client that it is given asks for as many as
// the others do.
package main

import (
	"time"

	"github.com/aws/aws-sdk-go/aws"
	"github.com/aws/aws-sdk-go/aws/session"
	"github.com/aws/aws-sdk-go/service/dynamodb"
	"github.com/aws/aws-sdk-go/service/kinesis"
	"github.com/aws/aws-sdk-go/service/kinesis/kinesisiface"
	"github.com/twitchscience/kinsumer"

	"sloop/bench/peers/tally"
)

type limited struct{ kinesisiface.KinesisAPI }

func (l limited) GetRecords(in *kinesis.GetRecordsInput) (*kinesis.GetRecordsOutput, error) {
	in.Limit = aws.Int64(int64(tally.Number("PEERS_LIMIT")))
	return l.KinesisAPI.GetRecords(in)
}

func main() {
	made := session.Must(session.NewSession(aws.NewConfig().WithEndpoint(tally.Text("PEERS_ENDPOINT")).
		WithHTTPClient(tally.Client())))
	settings := kinsumer.NewConfig().WithThrottleDelay(tally.Poll()).WithCommitFrequency(5 * time.Second).
		WithDynamoWaiterDelay(500 * time.Millisecond)
	client, err := kinsumer.NewWithInterfaces(limited{kinesis.New(made)}, dynamodb.New(made), tally.Text("PEERS_STREAM"),
		tally.Text("PEERS_APP"), "bench", settings)
	if err == nil {
		err = client.CreateRequiredTables()
	}
	if err == nil {
		err = client.Run()
	}
	if err != nil {
		tally.Fail("kinsumer does not start", err)
	}
	for {
		data, err := client.Next()
		if err != nil {
			tally.Fail("kinsumer.Next", err)
		}
		tally.Page(1, func(int) []byte { return data })
	}
}
