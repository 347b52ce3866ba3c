import CloudKitModel
import Configuration
import PushChannels
import StoreModel
import WebServices

/// The operations that are served, by name.
package struct OperationTable: Sendable {
  private let operations: [String: Operation]
  /// In the order of the description.
  let all: [Operation]

  init(_ all: [Operation]) {
    self.all = all
    operations = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })
  }

  /// - Throws: `NOT_FOUND`, listing those that there are.
  package func operation(named name: String) throws(ServiceError) -> Operation {
    guard let operation = operations[name] else {
      throw ServiceError(
        .notFound,
        "no such operation: '\(name)'; known are "
          + operations.keys.sorted().joined(separator: ", "))
    }
    return operation
  }

  /// The operations of all endpoints.
  package init(
    store: any Store, configuration: ServerConfiguration, links: AssetLinks,
    publicURL: @escaping @Sendable () -> String, webPushKey: WebPushKey?
  ) {
    let databases = DatabaseDirectory(store: store.databases)
    let offer = configuration.channels.webPush.flatMap { settings in
      webPushKey.map { WebPushEndpoint.Offer(settings: settings, key: $0) }
    }
    self.init(
      RecordsEndpoint(of: store, databases: databases, links: links).operations
        + ZonesEndpoint(store: store.zones, databases: databases).operations
        + ChangesEndpoint(store: store.changeFeeds, databases: databases, links: links).operations
        + SubscriptionsEndpoint(store: store.subscriptions, databases: databases).operations
        + TokensEndpoint(
          store: store.devices, limits: configuration.limits, publicURL: publicURL
        ).operations
        + NotificationsEndpoint(store: store.notificationLog).operations
        + WebPushEndpoint(store: store.devices, offer: offer).operations
        + WebhooksEndpoint(store: store.devices, settings: configuration.channels.webhooks)
        .operations
        + UsersEndpoint(store: store.accounts).operations
        + AssetsEndpoint(store: store.assets, databases: databases, links: links).operations
        + SharesEndpoint().operations
        + LimitsEndpoint(limits: configuration.clientLimits).operations)
  }

  // MARK: Names in metrics

  /// What stands in metrics for requests that name no operation there is.
  static let other = "other"
  /// The polls and event streams of the web courier.
  package static let courier = "aps"

  /// What a request is called in metrics: one of a few names, whatever its path is.
  package func metricsName(ofPath path: String) -> String {
    let parts = path.utf8.split(separator: UInt8(ascii: "/"))
    guard let first = parts.first.map({ String(Substring($0)) }) else { return Self.other }
    switch first {
    case "database", "device": break
    case Self.courier, "assets", "sign-in", "admin", "console": return first
    default: return Self.other
    }
    // Behind the version, the container and the environment; a database may come first.
    var rest = parts.dropFirst(4)
    if let word = rest.first.map({ Substring($0) }), DatabaseScope(pathComponent: word) != nil {
      rest = rest.dropFirst()
    }
    guard let begin = rest.first?.startIndex else { return Self.other }
    let name = String(path[begin...])
    return operations[name] == nil ? Self.other : name
  }
}
