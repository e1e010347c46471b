// Adapter2.java URL - reads one page of changes there and prints, a line a record, what the adapter 2.x makes of it.
import com.amazonaws.services.dynamodbv2.streamsadapter.adapter.DynamoDBStreamsClientRecord;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.dynamodb.model.GetRecordsRequest;
import software.amazon.awssdk.services.dynamodb.streams.DynamoDbStreamsClient;

class Adapter2 {
  public static void main(String[] words) throws Exception {
    var client = DynamoDbStreamsClient.builder()
        .region(Region.US_EAST_1)
        .credentialsProvider(StaticCredentialsProvider.create(AwsBasicCredentials.create("a", "b")))
        .endpointOverride(URI.create(words[0]))
        .build();
    var json = new ObjectMapper();
    for (var record : client.getRecords(GetRecordsRequest.builder().shardIterator("x").build()).records()) {
      var adapter = DynamoDBStreamsClientRecord.fromRecord(record);
      String data = StandardCharsets.UTF_8.decode(adapter.data().duplicate()).toString();
      System.out.println(json.writeValueAsString(Map.of("data", data, "partitionKey", adapter.partitionKey())));
    }
    System.exit(0);
  }
}
