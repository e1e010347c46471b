/* What only this version of the library can be told. */
import software.amazon.kinesis.common.ConfigsBuilder;
import software.amazon.kinesis.coordinator.CoordinatorConfig;
import software.amazon.kinesis.leases.LeaseManagementConfig;

final class Extra {
  private Extra() {}

  /** PEER_VERSION=2 joins workers of version 2 as the library's own upgrade does. */
  static void configure(ConfigsBuilder configs, LeaseManagementConfig leases, CoordinatorConfig coordinator) {
    if (Peer.number("PEER_VERSION", 3) == 2) {
      coordinator.clientVersionConfig(
          CoordinatorConfig.ClientVersionConfig.CLIENT_VERSION_CONFIG_COMPATIBLE_WITH_2X);
    }
  }
}
