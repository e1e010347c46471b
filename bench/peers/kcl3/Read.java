/* The Kinesis Client Library 3 in bench/peers, by polling. Variables and lines: README.md beside this folder. */
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Locale;
import software.amazon.awssdk.http.Protocol;
import software.amazon.awssdk.http.nio.netty.NettyNioAsyncHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.cloudwatch.CloudWatchAsyncClient;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.kinesis.KinesisAsyncClient;
import software.amazon.kinesis.common.ConfigsBuilder;
import software.amazon.kinesis.common.InitialPositionInStream;
import software.amazon.kinesis.common.InitialPositionInStreamExtended;
import software.amazon.kinesis.coordinator.Scheduler;
import software.amazon.kinesis.lifecycle.events.InitializationInput;
import software.amazon.kinesis.lifecycle.events.LeaseLostInput;
import software.amazon.kinesis.lifecycle.events.ProcessRecordsInput;
import software.amazon.kinesis.lifecycle.events.ShardEndedInput;
import software.amazon.kinesis.lifecycle.events.ShutdownRequestedInput;
import software.amazon.kinesis.metrics.NullMetricsFactory;
import software.amazon.kinesis.processor.ShardRecordProcessor;
import software.amazon.kinesis.retrieval.KinesisClientRecord;
import software.amazon.kinesis.retrieval.polling.PollingConfig;

public final class Read {
  static final long WANTED = number("PEERS_RECORDS"); /* 0: without end */
  static final long WARM = number("PEERS_WARM");
  static final long CHECKPOINT_NS = 5_000_000_000L;
  static long count, bytes, sum;

  private Read() {}

  static String text(String name) {
    String value = System.getenv(name);
    if (value == null || value.isEmpty()) throw new IllegalArgumentException(name + " is not set");
    return value;
  }

  static long number(String name) {
    String value = System.getenv(name);
    return value == null || value.isEmpty() ? 0 : Long.parseLong(value);
  }

  static void say(String mark) {
    var system = (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    System.out.println(
        String.format(Locale.ROOT, "%s %.6f %d %d %d", mark, system.getProcessCpuTime() * 1e-9, count, bytes, sum));
    System.out.flush();
  }

  static synchronized void take(ProcessRecordsInput input) throws IOException {
    long before = count;
    for (KinesisClientRecord record : input.records()) {
      ByteBuffer data = record.data().duplicate().order(ByteOrder.LITTLE_ENDIAN);
      bytes += data.remaining();
      sum += (data.getInt(data.position()) & 0xffffffffL)
          + 1000000L * (data.getInt(data.position() + 8) & 0xffffffffL);
    }
    count += input.records().size();
    if (before == 0 && count > 0) say("first");
    if (before < WARM && count >= WARM) say("warm");
    if (WANTED > 0 && count >= WANTED) {
      say("done");
      while (System.in.read() >= 0) continue;
      Runtime.getRuntime().halt(0);
    }
  }

  static final class Processor implements ShardRecordProcessor {
    private long checkpointed = System.nanoTime();

    @Override
    public void initialize(InitializationInput input) {}

    @Override
    public void processRecords(ProcessRecordsInput input) {
      try {
        take(input);
        if (!input.records().isEmpty() && System.nanoTime() - checkpointed >= CHECKPOINT_NS) {
          input.checkpointer().checkpoint();
          checkpointed = System.nanoTime();
        }
      } catch (Exception failed) {
        failed.printStackTrace();
        Runtime.getRuntime().halt(1);
      }
    }

    @Override
    public void leaseLost(LeaseLostInput input) {}

    @Override
    public void shardEnded(ShardEndedInput input) {}

    @Override
    public void shutdownRequested(ShutdownRequestedInput input) {}
  }

  public static void main(String[] arguments) {
    URI endpoint = URI.create(text("PEERS_ENDPOINT"));
    Region region = Region.of(text("AWS_REGION"));
    String stream = text("PEERS_STREAM");
    /* Without a choice the SDK speaks HTTP/2 to Kinesis, which the server here does not. */
    KinesisAsyncClient kinesis = KinesisAsyncClient.builder().endpointOverride(endpoint).region(region)
        .httpClientBuilder(NettyNioAsyncHttpClient.builder().protocol(Protocol.HTTP1_1)).build();
    DynamoDbAsyncClient dynamodb = DynamoDbAsyncClient.builder().endpointOverride(endpoint).region(region).build();
    CloudWatchAsyncClient cloudwatch =
        CloudWatchAsyncClient.builder().endpointOverride(endpoint).region(region).build();
    ConfigsBuilder configs =
        new ConfigsBuilder(stream, text("PEERS_APP"), kinesis, dynamodb, cloudwatch, "bench", Processor::new);
    PollingConfig polling = new PollingConfig(stream, kinesis);
    polling.idleTimeBetweenReadsInMillis(number("PEERS_POLL_MS"));
    polling.maxRecords((int) number("PEERS_LIMIT"));
    var retrieval = configs.retrievalConfig().initialPositionInStreamExtended(
        InitialPositionInStreamExtended.newInitialPosition(InitialPositionInStream.TRIM_HORIZON));
    retrieval.retrievalSpecificConfig(polling);
    new Scheduler(configs.checkpointConfig(), configs.coordinatorConfig(), configs.leaseManagementConfig(),
        configs.lifecycleConfig(), configs.metricsConfig().metricsFactory(new NullMetricsFactory()),
        configs.processorConfig(), retrieval).run();
  }
}
