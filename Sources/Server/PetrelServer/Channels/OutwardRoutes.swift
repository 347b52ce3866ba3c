import ChangeDispatch
import CloudKitModel
import Cryptography
import Foundation
import PushChannels
import Settings
import StoreModel
import StringTables
import Synchronization

/// The ways out of the server, which are exchanged while it runs when their keys change.
final class OutwardRoutes: Sendable {
  struct Routes: Sendable {
    var apns: APNsRoutes
    var web: WebRoutes
    var webPushKey: WebPushKey?
    /// What the routes were made from: settings, and hashes of the files that they name.
    var apnsOrigin: Origin
    var webOrigin: Origin
  }

  struct Origin: Sendable, Hashable {
    var settings: [String: APNsSettings] = [:]
    var webPush: WebPushSettings?
    var webhooks: WebhookSettings?
    var strings: [String: AppStringsSettings] = [:]
    var files: [String: [UInt8]] = [:]
  }

  private let store: any SecretStore
  private let clock: @Sendable () -> Timestamp
  private let routes: Mutex<Routes>

  /// - Throws: ``ConfigurationError`` naming what cannot be used.
  init(
    configuration: ServerConfiguration, store: any SecretStore,
    clock: @escaping @Sendable () -> Timestamp
  ) throws(ConfigurationError) {
    self.store = store
    self.clock = clock
    let key = try Self.webPushKey(configuration, store)
    routes = Mutex(
      Routes(
        apns: try APNsRoutes(configuration: configuration, clock: clock),
        web: try WebRoutes(configuration: configuration, key: key, clock: clock), webPushKey: key,
        apnsOrigin: Self.apnsOrigin(configuration), webOrigin: Self.webOrigin(configuration)))
  }

  var current: Routes { routes.withLock { $0 } }

  /// The way to a device; nil when there is none.
  func route(to device: DeviceToken) -> PushRoute? {
    let (apns, web) = routes.withLock { ($0.apns, $0.web) }
    return device.kind == .apns ? apns.route(to: device) : web.route(to: device)
  }

  /// What routes of another configuration are, with those of this one that it leaves as they are.
  ///
  /// - Throws: ``ConfigurationError`` naming what cannot be used.
  func prepare(_ configuration: ServerConfiguration) throws(ConfigurationError) -> Routes {
    var next = current
    let (apns, web) = (Self.apnsOrigin(configuration), Self.webOrigin(configuration))
    if apns != next.apnsOrigin {
      next.apns = try APNsRoutes(configuration: configuration, clock: clock)
      next.apnsOrigin = apns
    }
    if web != next.webOrigin {
      next.webPushKey = try Self.webPushKey(configuration, store)
      next.web = try WebRoutes(configuration: configuration, key: next.webPushKey, clock: clock)
      next.webOrigin = web
    }
    return next
  }

  /// Sends what comes from now on over these routes. What went over others is answered there; what
  /// waited for them is tried again.
  ///
  /// - Returns: what was exchanged, for people.
  func use(_ next: Routes) -> [String] {
    let old = routes.withLock { routes in
      defer { routes = next }
      return routes
    }
    var exchanged: [String] = []
    if old.apns !== next.apns {
      exchanged.append("connections to APNs")
      Task { await old.apns.close() }
    }
    if old.web !== next.web {
      exchanged.append("connections to push services of browsers and to webhooks")
      Task { await old.web.close() }
    }
    return exchanged
  }

  func close() async {
    let routes = current
    await routes.apns.close()
    await routes.web.close()
  }

  private static func webPushKey(
    _ configuration: ServerConfiguration, _ store: any SecretStore
  ) throws(ConfigurationError) -> WebPushKey? {
    try configuration.webPush.map { (settings) throws(ConfigurationError) in
      try WebPushKey(settings, store: store)
    }
  }

  private static func apnsOrigin(_ configuration: ServerConfiguration) -> Origin {
    var origin = Origin()
    origin.settings = configuration.containers.compactMapValues(\.apns)
    for apns in origin.settings.values {
      switch apns.credential {
      case .key(let file, _, _): origin.note(file)
      case .certificate(let file, let keyFile):
        origin.note(file)
        origin.note(keyFile)
      }
      if let file = apns.authorityFile { origin.note(file) }
    }
    return origin
  }

  private static func webOrigin(_ configuration: ServerConfiguration) -> Origin {
    var origin = Origin()
    origin.webPush = configuration.webPush
    origin.webhooks = configuration.webhooks
    for file in [
      configuration.webPush?.keyFile, configuration.webPush?.outbound.authorityFile,
      configuration.webhooks?.outbound.authorityFile,
    ] {
      if let file { origin.note(file) }
    }
    origin.strings = configuration.containers.compactMapValues(\.strings)
    for strings in origin.strings.values {
      for file in PetrelStrings.files(in: strings.folder) { origin.note(file) }
    }
    return origin
  }
}

extension OutwardRoutes.Origin {
  fileprivate mutating func note(_ file: String) {
    files[file] = SHA256.hash(FileManager.default.contents(atPath: file) ?? Data())
  }
}
