module sloop/interop/deagggo

go 1.24

require (
	github.com/aws/aws-sdk-go-v2/service/kinesis v1.6.0
	github.com/awslabs/kinesis-aggregation/go/v2 v2.0.0-20211222152315-953b66f67407
)

require (
	github.com/aws/smithy-go v1.8.0 // indirect
	github.com/golang/protobuf v1.5.2 // indirect
	google.golang.org/protobuf v1.26.0 // indirect
)
