// main.go - asks Kinesis for the shards of a stream, with whatever credentials, region and endpoint the Go SDK finds by
// itself, and prints the error that comes back: the Go side of peer_creds.py.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/kinesis"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 25*time.Second)
	defer cancel()
	found, err := config.LoadDefaultConfig(ctx)
	if err == nil {
		_, err = kinesis.NewFromConfig(found).ListShards(ctx, &kinesis.ListShardsInput{StreamName: aws.String("stream")})
	}
	fmt.Println(err)
	if err != nil {
		os.Exit(1)
	}
}
