// Adapter1.java URL - reads one page of changes there and prints, a line a record, what the adapter 1.x makes of it.
import com.amazonaws.auth.AWSStaticCredentialsProvider;
import com.amazonaws.auth.BasicAWSCredentials;
import com.amazonaws.client.builder.AwsClientBuilder.EndpointConfiguration;
import com.amazonaws.services.dynamodbv2.AmazonDynamoDBStreamsClientBuilder;
import com.amazonaws.services.dynamodbv2.model.GetRecordsRequest;
import com.amazonaws.services.dynamodbv2.streamsadapter.model.RecordAdapter;
import com.amazonaws.services.kinesis.clientlibrary.types.ProcessRecordsInput;
import com.amazonaws.services.kinesis.multilang.messages.ProcessRecordsMessage;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

class Adapter1 {
  public static void main(String[] words) throws Exception {
    var client = AmazonDynamoDBStreamsClientBuilder.standard()
        .withCredentials(new AWSStaticCredentialsProvider(new BasicAWSCredentials("a", "b")))
        .withEndpointConfiguration(new EndpointConfiguration(words[0], "us-east-1"))
        .build();
    var json = new ObjectMapper();
    for (var record : client.getRecords(new GetRecordsRequest().withShardIterator("x")).getRecords()) {
      var adapter = new RecordAdapter(record);
      String data = StandardCharsets.UTF_8.decode(adapter.getData().duplicate()).toString();
      var input = new ProcessRecordsInput().withRecords(List.of(adapter)).withMillisBehindLatest(5L);
      String line = json.writeValueAsString(new ProcessRecordsMessage(input));
      System.out.println(json.writeValueAsString(Map.of("data", data, "line", line)));
    }
    System.exit(0);
  }
}
