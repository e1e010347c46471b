/*
 * One worker of the Kinesis Client Library, as its users write it. Configured by the environment (README.md beside
 * this folder). A line a record on standard output; its own log on standard error. Ends after SIGTERM as the library
 * ends gracefully: its leases are given up.
 */
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.cloudwatch.CloudWatchAsyncClient;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.kinesis.KinesisAsyncClient;
import software.amazon.kinesis.common.ConfigsBuilder;
import software.amazon.kinesis.common.InitialPositionInStream;
import software.amazon.kinesis.common.InitialPositionInStreamExtended;
import software.amazon.kinesis.common.KinesisClientUtil;
import software.amazon.kinesis.coordinator.Scheduler;
import software.amazon.kinesis.exceptions.ShutdownException;
import software.amazon.kinesis.exceptions.ThrottlingException;
import software.amazon.kinesis.lifecycle.events.InitializationInput;
import software.amazon.kinesis.lifecycle.events.LeaseLostInput;
import software.amazon.kinesis.lifecycle.events.ProcessRecordsInput;
import software.amazon.kinesis.lifecycle.events.ShardEndedInput;
import software.amazon.kinesis.lifecycle.events.ShutdownRequestedInput;
import software.amazon.kinesis.processor.RecordProcessorCheckpointer;
import software.amazon.kinesis.processor.ShardRecordProcessor;
import software.amazon.kinesis.retrieval.KinesisClientRecord;
import software.amazon.kinesis.retrieval.polling.PollingConfig;

public final class Peer {
  static final Map<String, String> ENV = System.getenv();
  static final String WORKER = need("PEER_WORKER");
  /** How often a processor checkpoints, in milliseconds: 0 after each batch. */
  static final long CHECKPOINT_MS = number("PEER_CHECKPOINT_MS", 1000);

  private Peer() {}

  static String need(String name) {
    String value = ENV.get(name);
    if (value == null || value.isEmpty()) throw new IllegalArgumentException(name + " is not set");
    return value;
  }

  static long number(String name, long otherwise) {
    String value = ENV.get(name);
    return value == null || value.isEmpty() ? otherwise : Long.parseLong(value);
  }

  /** One write, so that lines of several threads never mix. */
  static void line(StringBuilder text) {
    synchronized (System.out) {
      System.out.append(text);
      System.out.flush();
    }
  }

  static void event(String what, String shard, String detail) {
    line(new StringBuilder("event\t").append(System.currentTimeMillis()).append('\t').append(WORKER).append('\t')
        .append(shard).append('\t').append(what).append('\t').append(detail.replaceAll("\\s+", " ")).append('\n'));
  }

  static final class Processor implements ShardRecordProcessor {
    private String shard = "?";
    private long checkpointed = System.nanoTime();
    private KinesisClientRecord last;

    @Override
    public void initialize(InitializationInput input) {
      shard = input.shardId();
      event("gained", shard, String.valueOf(input.extendedSequenceNumber()));
    }

    @Override
    public void processRecords(ProcessRecordsInput input) {
      StringBuilder text = new StringBuilder();
      long now = System.currentTimeMillis();
      for (KinesisClientRecord record : input.records()) {
        text.append("record\t").append(now).append('\t').append(WORKER).append('\t').append(shard).append('\t')
            .append(record.sequenceNumber()).append('\t').append(record.subSequenceNumber()).append('\n');
        last = record;
      }
      line(text);
      if (last != null && System.nanoTime() - checkpointed >= TimeUnit.MILLISECONDS.toNanos(CHECKPOINT_MS)) {
        checkpoint(input.checkpointer());
      }
    }

    private void checkpoint(RecordProcessorCheckpointer checkpointer) {
      try {
        checkpointer.checkpoint(last.sequenceNumber(), last.subSequenceNumber());
        checkpointed = System.nanoTime();
        last = null;
      } catch (ShutdownException lost) {
        event("checkpoint refused", shard, "the lease is lost");
      } catch (ThrottlingException later) {
        event("checkpoint refused", shard, "throttled");
      } catch (Exception failed) {
        event("checkpoint failed", shard, failed.toString());
      }
    }

    @Override
    public void leaseLost(LeaseLostInput input) {
      event("lost", shard, "");
    }

    @Override
    public void shardEnded(ShardEndedInput input) {
      try {
        input.checkpointer().checkpoint();
        event("ended", shard, "");
      } catch (Exception failed) {
        event("checkpoint failed", shard, failed.toString());
      }
    }

    @Override
    public void shutdownRequested(ShutdownRequestedInput input) {
      if (last != null) checkpoint(input.checkpointer());
      event("released", shard, "");
    }
  }

  static Scheduler scheduler() {
    URI endpoint = URI.create(need("PEER_ENDPOINT"));
    Region region = Region.of("us-east-1");
    /* The library's own default: HTTP/2, in plain text without asking first, and enhanced fan-out. */
    boolean pushed = number("PEER_PUSH", 0) != 0;
    KinesisAsyncClient kinesis = KinesisClientUtil.createKinesisAsyncClient(
        KinesisAsyncClient.builder().endpointOverride(endpoint).region(region));
    DynamoDbAsyncClient dynamodb =
        DynamoDbAsyncClient.builder().endpointOverride(endpoint).region(region).build();
    CloudWatchAsyncClient cloudwatch =
        CloudWatchAsyncClient.builder().endpointOverride(endpoint).region(region).build();
    String stream = need("PEER_STREAM");
    ConfigsBuilder configs = new ConfigsBuilder(stream, need("PEER_APP"), kinesis, dynamodb, cloudwatch, WORKER,
        Processor::new);
    PollingConfig polling = new PollingConfig(stream, kinesis);
    polling.idleTimeBetweenReadsInMillis(number("PEER_POLL_MS", 500));
    var leases = configs.leaseManagementConfig();
    leases.failoverTimeMillis(number("PEER_FAILOVER_MS", leases.failoverTimeMillis()));
    leases.shardSyncIntervalMillis(number("PEER_SYNC_MS", leases.shardSyncIntervalMillis()));
    var retrieval = configs.retrievalConfig().initialPositionInStreamExtended(
        InitialPositionInStreamExtended.newInitialPosition(InitialPositionInStream.TRIM_HORIZON));
    if (!pushed) retrieval.retrievalSpecificConfig(polling);
    var coordinator = configs.coordinatorConfig();
    coordinator.parentShardPollIntervalMillis(number("PEER_PARENT_MS", 2000));
    Extra.configure(configs, leases, coordinator);
    return new Scheduler(configs.checkpointConfig(), coordinator, leases, configs.lifecycleConfig(),
        configs.metricsConfig(), configs.processorConfig(), retrieval);
  }

  public static void main(String[] arguments) throws Exception {
    Scheduler scheduler = scheduler();
    Runtime.getRuntime().addShutdownHook(new Thread(() -> {
      event("stopping", "-", "");
      try {
        scheduler.startGracefulShutdown().get(number("PEER_STOP_S", 30), TimeUnit.SECONDS);
        event("stopped", "-", "");
      } catch (Exception failed) {
        event("stopped", "-", failed.toString());
      }
    }));
    event("started", "-", List.of(ProcessHandle.current().pid()).toString());
    scheduler.run();
    event("over", "-", "");
  }
}
