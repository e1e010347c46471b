// The Kinesis Producer Library in bench/producers: lines KEY:PAYLOAD of standard input. Prints how many records were put, and
// the process id of the native part; then waits until it is ended, so that the CPU of both can be read.
import com.google.common.util.concurrent.FutureCallback;
import com.google.common.util.concurrent.Futures;
import com.google.common.util.concurrent.MoreExecutors;
import java.io.BufferedInputStream;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.kinesis.producer.KinesisProducer;
import software.amazon.kinesis.producer.KinesisProducerConfiguration;
import software.amazon.kinesis.producer.UserRecordResult;

public class Put {
  static final AtomicLong put = new AtomicLong(), failed = new AtomicLong();

  static void fail(Throwable error) {
    if (failed.getAndIncrement() == 0) System.err.println(error + " " + error.getMessage());
  }

  public static void main(String[] args) throws Exception {
    String stream = System.getenv("PRODUCERS_STREAM"), host = System.getenv("PRODUCERS_HOST");
    long port = Long.parseLong(System.getenv("PRODUCERS_PORT")), read = 0;
    // The rate limit is a share of what a shard of the service takes; this server takes more.
    KinesisProducerConfiguration settings = new KinesisProducerConfiguration()
        .setKinesisEndpoint(host).setKinesisPort(port).setCloudwatchEndpoint(host).setCloudwatchPort(port)
        .setStsEndpoint(host).setStsPort(port).setRegion("us-east-1").setVerifyCertificate(false)
        .setAggregationEnabled(System.getenv("PRODUCERS_AGGREGATE") != null).setMetricsLevel("none").setLogLevel("warning")
        .setRateLimit(100000000).setRecordTtl(600000)
        .setCredentialsProvider(StaticCredentialsProvider.create(AwsBasicCredentials.create("BENCHKEY", "not-a-secret")));
    KinesisProducer producer = new KinesisProducer(settings);
    FutureCallback<UserRecordResult> then = new FutureCallback<>() {
      public void onSuccess(UserRecordResult result) { put.incrementAndGet(); }
      public void onFailure(Throwable error) { fail(error); }
    };
    byte[] line = new byte[1 << 20];
    int n = 0;
    try (InputStream in = new BufferedInputStream(System.in, 1 << 20)) {
      for (int c; (c = in.read()) >= 0;) {
        if (c != '\n') {
          line[n++] = (byte) c;
          continue;
        }
        int at = 0;
        while (line[at] != ':') at++;
        Futures.addCallback(
            producer.addUserRecord(stream, new String(line, 0, at, StandardCharsets.UTF_8),
                ByteBuffer.wrap(Arrays.copyOfRange(line, at + 1, n))), then, MoreExecutors.directExecutor());
        n = 0;
        if (++read % 100 == 0)
          while (producer.getOutstandingRecordsCount() > 20000) Thread.sleep(1);
      }
    }
    producer.flush();
    while (put.get() + failed.get() < read) Thread.sleep(5);
    long child = ProcessHandle.current().children().findFirst().map(ProcessHandle::pid).orElse(0L);
    System.out.println(put.get() + " " + child);
    Thread.sleep(Long.MAX_VALUE);
  }
}
