module sloop/interop/kinsumer

go 1.21

require (
	github.com/aws/aws-sdk-go v1.25.19
	github.com/twitchscience/kinsumer v0.0.0-20210611163023-da24975e2c91
)

require (
	github.com/google/uuid v1.1.1 // indirect
	github.com/jmespath/go-jmespath v0.0.0-20180206201540-c2b33e8439af // indirect
	golang.org/x/sync v0.0.0-20190911185100-cd5d95a43a6e // indirect
)
