import ChangeDispatch
import Configuration
import Foundation
import Measuring

extension MetricsPage {
  mutating func add(_ membership: ServerMembership.Metrics) {
    gauge(
      "petrel_servers", "Registered servers of the store, as this server sees them.",
      membership.servers)
    gauge(
      "petrel_dispatch_leases",
      "Databases and parts of divided databases whose changes this server dispatches.",
      membership.leases)
    gauge(
      "petrel_dispatch_parts", "Parts of divided databases that this server dispatches.",
      membership.parts)
    counter(
      "petrel_dispatch_parts_released_total",
      "Parts that this server released so that each server has its share.",
      membership.partsReleased)
    counter(
      "petrel_dispatch_leases_taken_total",
      "Databases and parts that this server took over because no server dispatched them.",
      membership.leasesTaken)
    counter(
      "petrel_dispatch_leases_lost_total",
      "Databases and parts that another server took over from this one.",
      membership.leasesLost)
    counter(
      "petrel_server_lapses_total",
      "How often other servers removed this server because it had sent no heartbeat.",
      membership.lapses)
    counter(
      "petrel_servers_expired_total",
      "Other servers whose registrations this one removed because they had expired.",
      membership.expiredServersRemoved)
    gauge(
      "petrel_server_receives_notifications",
      "1 while the notifications of all servers arrive, so that this server rarely polls the store.",
      membership.receivesNotifications ? 1 : 0)
    counter(
      "petrel_server_notifications_total",
      "Notifications received from servers, this one included.",
      membership.notificationsReceived)
    counter(
      "petrel_server_looks_total",
      "How often this server polled the store for changes of other servers.", membership.looks)
  }
}

extension ServerMembership.Configuration {
  /// Creates the configuration with a description of this server for lists of servers. The
  /// description contains the URL, the process ID, the host name and the version.
  ///
  /// - Parameter url: returns the server's URL. It is called when the server registers.
  init(url: @escaping @Sendable () -> String, executor: (any TaskExecutor)?) {
    self.init()
    description = {
      "\(url()), process \(ProcessInfo.processInfo.processIdentifier) of "
        + "\(ProcessInfo.processInfo.hostName), Petrel \(ServerVersion.current)"
    }
    self.executor = executor
  }
}
