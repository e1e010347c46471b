// Takes records of a stream apart as the Kinesis Client Library does, which leaves out those that do not belong to the shard: lines
// as those of deagggo/main.go.
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import software.amazon.kinesis.retrieval.AggregatorUtil;
import software.amazon.kinesis.retrieval.KinesisClientRecord;

public class Deagg {
  public static void main(String[] args) throws Exception {
    ObjectMapper json = new ObjectMapper();
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line; (line = lines.readLine()) != null;) {
      JsonNode in = json.readTree(line);
      KinesisClientRecord record = KinesisClientRecord.builder().partitionKey(in.get("key").asText()).sequenceNumber("1")
          .data(ByteBuffer.wrap(Base64.getDecoder().decode(in.get("data").asText()))).build();
      List<List<String>> rows = new ArrayList<>();
      for (KinesisClientRecord r : new AggregatorUtil().deaggregate(List.of(record), new BigInteger(in.get("low").asText()),
               new BigInteger(in.get("high").asText()))) {
        byte[] data = new byte[r.data().remaining()];
        r.data().get(data);
        rows.add(List.of(r.partitionKey(), Base64.getEncoder().encodeToString(data)));
      }
      System.out.write((json.writeValueAsString(rows) + "\n").getBytes(StandardCharsets.UTF_8));
    }
    System.out.flush();
  }
}
