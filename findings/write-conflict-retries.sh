#!/bin/sh
# How often four AWS SDKs send a write of DynamoDB that is refused with ReplicatedWriteConflictException.
#
# DynamoDB's model marks this error as retryable: a global table with strong consistency (MultiRegionConsistency STRONG)
# answers so while another Region changes the item, and a moment later the same write gets in. A server on loopback
# refuses every PutItem with it and counts. Needs python3, npm, go, mvn, java, curl.
set -eu
dir=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
cd "$dir"
boto3=1.44.8 js=3.1169.0 go=v1.74.0 go_core=v1.48.0 go_credentials=v1.21.0 java=2.58.0

cat >server.py <<'END'
import http.server, json, sys
calls = 0
class Server(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *_): pass
    def answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Type", "application/x-amz-json-1.0")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def do_GET(self):  # the count since the last one
        global calls
        n, calls = calls, 0
        self.answer(200, str(n).encode())
    def do_POST(self):
        global calls
        calls += 1
        self.rfile.read(int(self.headers["Content-Length"]))
        self.answer(400, json.dumps({"__type": "com.amazonaws.dynamodb.v20120810#" + sys.argv[1], "message": "busy"}).encode())
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
with open("port.new", "w") as f: f.write(str(server.server_port))
import os; os.rename("port.new", "port")
server.serve_forever()
END
cat >put.py <<'END'
import boto3, sys
try:
    boto3.client("dynamodb", endpoint_url=sys.argv[1], region_name="us-east-1", aws_access_key_id="a",
                 aws_secret_access_key="b").put_item(TableName="t", Item={"k": {"S": "v"}})
except Exception: pass
END
mkdir js gosdk java
cat >js/put.mjs <<'END'
import { DynamoDBClient, PutItemCommand } from "@aws-sdk/client-dynamodb";
const client = new DynamoDBClient({ endpoint: process.argv[2], region: "us-east-1",
  credentials: { accessKeyId: "a", secretAccessKey: "b" } });
try { await client.send(new PutItemCommand({ TableName: "t", Item: { k: { S: "v" } } })); } catch {}
END
cat >gosdk/main.go <<'END'
package main

import (
	"context"
	"os"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func main() {
	client := dynamodb.New(dynamodb.Options{Region: "us-east-1", BaseEndpoint: aws.String(os.Args[1]),
		Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")})
	client.PutItem(context.Background(), &dynamodb.PutItemInput{TableName: aws.String("t"),
		Item: map[string]types.AttributeValue{"k": &types.AttributeValueMemberS{Value: "v"}}})
}
END
cat >java/pom.xml <<END
<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>finding</groupId><artifactId>finding</artifactId><version>1</version><dependencies>
<dependency><groupId>software.amazon.awssdk</groupId><artifactId>dynamodb</artifactId><version>$java</version></dependency>
<dependency><groupId>org.slf4j</groupId><artifactId>slf4j-nop</artifactId><version>2.0.16</version></dependency>
</dependencies></project>
END
cat >java/Put.java <<'END'
import java.net.URI;
import java.util.Map;
import software.amazon.awssdk.auth.credentials.*;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.*;
public class Put {
  public static void main(String[] a) {
    var client = DynamoDbClient.builder().endpointOverride(URI.create(a[0])).region(Region.US_EAST_1)
        .credentialsProvider(StaticCredentialsProvider.create(AwsBasicCredentials.create("a", "b"))).build();
    try {
      client.putItem(PutItemRequest.builder().tableName("t").item(Map.of("k", AttributeValue.fromS("v"))).build());
    } catch (DynamoDbException e) { }
  }
}
END

echo "installing boto3 $boto3, @aws-sdk/client-dynamodb $js, aws-sdk-go-v2/service/dynamodb $go, AWS SDK for Java $java"
python3 -m venv venv && venv/bin/pip install -q --disable-pip-version-check "boto3==$boto3" "botocore==$boto3"
(cd js && npm init -y >/dev/null && npm install --silent --no-audit --no-fund "@aws-sdk/client-dynamodb@$js" >/dev/null)
(cd gosdk && go mod init finding && go get "github.com/aws/aws-sdk-go-v2@$go_core" \
  "github.com/aws/aws-sdk-go-v2/credentials@$go_credentials" "github.com/aws/aws-sdk-go-v2/service/dynamodb@$go" &&
  go mod tidy && go build -o put .) >go.log 2>&1 || { cat go.log; exit 1; }
(cd java && mvn -q -B dependency:build-classpath -Dmdep.outputFile=classpath) >mvn.log 2>&1 || { cat mvn.log; exit 1; }

status=0
# sends ERROR SDK WANTED COMMAND...: how often the command's one PutItem arrives when each is refused with ERROR.
sends() {
  name=$1 sdk=$2 wanted=$3
  shift 3
  timeout 120 "$@" "$url"
  n=$(curl -s "$url")
  printf '%-34s %-6s sent %s times\n' "$name" "$sdk" "$n"
  [ "$n" = "$wanted" ] || { echo "CHANGED: it was $wanted"; status=1; }
}
for error in ReplicatedWriteConflictException TransactionConflictException; do
  rm -f port
  python3 server.py $error &
  server=$!
  while [ ! -e port ]; do kill -0 $server; sleep 0.1; done
  url=http://127.0.0.1:$(cat port)
  if [ $error = ReplicatedWriteConflictException ]; then python=4 node=4 golang=1 jvm=4; else python=1 node=1 golang=1 jvm=1; fi
  sends $error boto3 $python venv/bin/python put.py
  sends $error js $node node js/put.mjs
  sends $error go $golang gosdk/put
  sends $error java $jvm java -XX:+UseSerialGC -cp "$(cat java/classpath)" java/Put.java
  kill $server
  wait $server 2>/dev/null || :
  server=
done
cat <<'END'

Expected: the model says "retryable" of ReplicatedWriteConflictException, so each SDK sends such a write again.
Seen:     boto3, JavaScript and Java send it 4 times, the Go SDK once: its caller gets the error at once.
          (Java 2.44.4, tried by hand, sent it 9 times.)
          TransactionConflictException, which passes as well but is not marked, is sent once by all four.
END
exit $status
