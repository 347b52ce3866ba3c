import CloudKitModel
import Configuration
import PushChannels
import Storage
import StoreModel
import WebServices

/// The operations that the server offers, by name.
package struct OperationTable: Sendable {
  private let operations: [String: Operation]
  /// All operations, in the order of the OpenAPI description.
  let all: [Operation]

  /// Creates a table of these operations. Two operations of the same name are a programming error,
  /// which stops the process.
  init(_ all: [Operation]) {
    self.all = all
    operations = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })
  }

  /// Returns the operation of this name.
  ///
  /// - Throws: `NOT_FOUND` for an unknown name. The reason lists the known names.
  package func operation(named name: String) throws(ServiceError) -> Operation {
    guard let operation = operations[name] else {
      throw ServiceError(
        .notFound,
        "no such operation: '\(name)'; known are "
          + operations.keys.sorted().joined(separator: ", "))
    }
    return operation
  }

  /// Creates the table with the operations of all endpoints.
  package init(
    store: Store, configuration: ServerConfiguration, links: AssetLinks,
    publicURL: @escaping @Sendable () -> String, webPushKey: WebPushKey?
  ) {
    let databases = DatabaseDirectory(of: store)
    let offer = configuration.channels.webPush.flatMap { settings in
      webPushKey.map { WebPushEndpoint.Offer(settings: settings, key: $0) }
    }
    self.init(
      RecordsEndpoint(of: store, databases: databases, links: links).operations
        + ZonesEndpoint(store: store.zones, databases: databases).operations
        + ChangesEndpoint(databases: databases, links: links).operations
        + SubscriptionsEndpoint(store: store.subscriptions, databases: databases).operations
        + TokensEndpoint(
          store: store.devices, limits: configuration.limits,
          topics: configuration.containers.compactMapValues { $0.channels.apns?.topics },
          publicURL: publicURL
        ).operations
        + NotificationsEndpoint(store: store.notificationLog).operations
        + WebPushEndpoint(store: store.devices, offer: offer).operations
        + WebhooksEndpoint(store: store.devices, settings: configuration.channels.webhooks)
        .operations
        + UsersEndpoint(store: store.accounts).operations
        + AssetsEndpoint(store: store.assets, databases: databases, links: links).operations
        + SharesEndpoint(store: store.shares, databases: databases, links: links).operations
        + LimitsEndpoint(limits: configuration.clientLimits).operations)
  }

  // MARK: Names in metrics

  /// The name in metrics for a request that names no known operation.
  package static let other = "other"

  /// Returns the name of a request in metrics: that of its operation, or ``other``.
  ///
  /// - Parameter path: the path as the client sent it, with its escapes.
  package func metricsName(ofPath path: String) -> String {
    // The prefix, the version, the container and the environment come first, then perhaps a database.
    var rest = path.utf8.split(separator: UInt8(ascii: "/")).dropFirst(4)
    if let scope = rest.first.map({ Substring($0) }), DatabaseScope(pathComponent: scope) != nil {
      rest = rest.dropFirst()
    }
    guard let begin = rest.first?.startIndex else { return Self.other }
    let name = String(path[begin...])
    return operations[name] == nil ? Self.other : name
  }
}
