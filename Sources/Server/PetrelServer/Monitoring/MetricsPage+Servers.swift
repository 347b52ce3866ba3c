import ChangeDispatch
import Configuration
import Foundation
import Measuring

extension MetricsPage {
  /// Adds the cluster membership of this server, for a store that several servers share.
  mutating func add(_ membership: ServerMembership.Metrics) {
    gauge(
      "petrel_servers", "Servers that have the store open, as this one knows.", membership.servers)
    gauge(
      "petrel_dispatch_leases",
      "Databases, and parts of divided ones, whose changes this server dispatches.",
      membership.leases)
    gauge(
      "petrel_dispatch_parts", "Parts of divided databases among them.", membership.parts)
    counter(
      "petrel_dispatch_parts_released_total",
      "Parts that this server left to others, for each to have its share.",
      membership.partsReleased)
    counter(
      "petrel_dispatch_leases_taken_total", "Databases taken over that nobody dispatched.",
      membership.leasesTaken)
    counter(
      "petrel_dispatch_leases_lost_total", "Databases that another server took over.",
      membership.leasesLost)
    counter(
      "petrel_server_lapses_total",
      "How often this server was taken for gone, having given no sign of life.", membership.lapses)
    counter(
      "petrel_servers_expired_total",
      "Other servers whose registrations this one removed because they had expired.",
      membership.expiredServersRemoved)
    gauge(
      "petrel_server_receives_notifications",
      "Whether notifications of all servers come, so that the store is seldom asked for their changes.",
      membership.receivesNotifications ? 1 : 0)
    counter(
      "petrel_server_notifications_total", "Notifications of servers that came, also of this one.",
      membership.notificationsReceived)
    counter(
      "petrel_server_looks_total",
      "How often the store was asked for what other servers have committed.", membership.looks)
  }
}

extension ServerMembership.Configuration {
  /// Creates the configuration with a description of this server for other servers and for people.
  /// It contains the URL, the process ID, the host name and the version.
  ///
  /// - Parameters:
  ///   - url: returns the server's URL; it is called when the server registers.
  ///   - executor: the executor of the membership's tasks; nil for Swift's default one.
  init(url: @escaping @Sendable () -> String, executor: (any TaskExecutor)?) {
    self.init()
    description = {
      "\(url()), process \(ProcessInfo.processInfo.processIdentifier) of "
        + "\(ProcessInfo.processInfo.hostName), Petrel \(ServerVersion.current)"
    }
    self.executor = executor
  }
}
