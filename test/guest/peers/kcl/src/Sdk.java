/*
 * Puts PEER_RECORDS records into PEER_STREAM and reads them with KinesisAsyncClient as it is by default, which is HTTP/2 for
 * every call; when half are put its first shard is split. A line a record on standard output: shard, sequence number, data.
 */
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.kinesis.KinesisAsyncClient;
import software.amazon.awssdk.services.kinesis.model.PutRecordsRequestEntry;
import software.amazon.awssdk.services.kinesis.model.PutRecordsResponse;
import software.amazon.awssdk.services.kinesis.model.Record;
import software.amazon.awssdk.services.kinesis.model.Shard;
import software.amazon.awssdk.services.kinesis.model.ShardIteratorType;
import software.amazon.awssdk.services.kinesis.model.StreamStatus;

public final class Sdk {
  static final String STREAM = System.getenv("PEER_STREAM");
  static final int BATCH = 250;

  private Sdk() {}

  static CompletableFuture<PutRecordsResponse> batch(KinesisAsyncClient client, int from) {
    List<PutRecordsRequestEntry> records = new ArrayList<>();
    for (int i = from; i < from + BATCH; i++) {
      records.add(PutRecordsRequestEntry.builder().partitionKey("k" + i).data(SdkBytes.fromUtf8String("r" + i)).build());
    }
    return client.putRecords(r -> r.streamName(STREAM).records(records));
  }

  static void put(KinesisAsyncClient client, int from, int to) {
    List<CompletableFuture<PutRecordsResponse>> calls = new ArrayList<>();
    for (int i = from; i < to; i += BATCH) calls.add(batch(client, i));
    for (var call : calls) {
      if (call.join().failedRecordCount() != 0) throw new IllegalStateException("a record was refused");
    }
  }

  static void split(KinesisAsyncClient client) throws InterruptedException {
    Shard first = client.listShards(r -> r.streamName(STREAM)).join().shards().get(0);
    var middle = new java.math.BigInteger(first.hashKeyRange().endingHashKey()).shiftRight(1);
    client.splitShard(r -> r.streamName(STREAM).shardToSplit(first.shardId()).newStartingHashKey(middle.toString())).join();
    while (client.describeStreamSummary(r -> r.streamName(STREAM)).join().streamDescriptionSummary().streamStatus()
        != StreamStatus.ACTIVE) {
      Thread.sleep(20);
    }
  }

  /** Every record of a shard, up to its end or to where it has none for now. */
  static int read(KinesisAsyncClient client, String shard) {
    String at = client.getShardIterator(r -> r.streamName(STREAM).shardId(shard)
        .shardIteratorType(ShardIteratorType.TRIM_HORIZON)).join().shardIterator();
    int n = 0;
    while (at != null) {
      String here = at;
      var page = client.getRecords(r -> r.shardIterator(here)).join();
      for (Record record : page.records()) {
        System.out.println(shard + "\t" + record.sequenceNumber() + "\t" + record.data().asUtf8String());
      }
      n += page.records().size();
      at = page.records().isEmpty() && page.millisBehindLatest() == 0 ? null : page.nextShardIterator();
    }
    return n;
  }

  public static void main(String[] arguments) throws Exception {
    int records = Integer.parseInt(System.getenv("PEER_RECORDS")), n = 0;
    try (KinesisAsyncClient client = KinesisAsyncClient.builder().region(Region.of("us-east-1"))
        .endpointOverride(URI.create(System.getenv("PEER_ENDPOINT"))).build()) {
      put(client, 0, records / 2);
      split(client);
      put(client, records / 2, records);
      for (Shard shard : client.listShards(r -> r.streamName(STREAM)).join().shards()) n += read(client, shard.shardId());
    }
    System.err.println(n + " records read");
  }
}
