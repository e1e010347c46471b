/* What only this version of the library can be told. */
import software.amazon.kinesis.common.ConfigsBuilder;
import software.amazon.kinesis.coordinator.CoordinatorConfig;
import software.amazon.kinesis.leases.LeaseManagementConfig;

final class Extra {
  private Extra() {}

  static void configure(ConfigsBuilder configs, LeaseManagementConfig leases, CoordinatorConfig coordinator) {}
}
