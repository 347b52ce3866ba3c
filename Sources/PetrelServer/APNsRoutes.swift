import ChangeDispatch
import CloudKitModel
import Cryptography
import Foundation
import HTTP2Transport
import PushDelivery
import Storage
import Synchronization

/// The ways to APNs that the configuration sets up: one for each container and APNs environment.
final class APNsRoutes: Sendable {
  private struct Name: Hashable {
    var container: String
    var environment: APNsEnvironment
  }

  private let loop: EventLoop?
  private let routes: [Name: PushRoute]
  private let clients: [APNsClient]

  /// - Throws: ``ConfigurationError`` naming the container and the file that cannot be used.
  init(
    configuration: ServerConfiguration, clock: @escaping @Sendable () -> Timestamp
  ) throws(ConfigurationError) {
    var routes: [Name: PushRoute] = [:]
    var clients: [APNsClient] = []
    var loop: EventLoop?
    // APNs counts how often a key makes tokens, so containers with the same key share them.
    var authentications: [ServerConfiguration.APNs.Credential: APNsAuthentication] = [:]
    for (container, settings) in configuration.containers {
      guard let apns = settings.apns else { continue }
      let authentication: APNsAuthentication
      if let known = authentications[apns.credential] {
        authentication = known
      } else {
        authentication = try APNsAuthentication(apns.credential, container: container)
        authentications[apns.credential] = authentication
      }
      for environment in APNsEnvironment.allCases {
        do {
          let shared = try loop ?? EventLoop(name: "petrel-apns")
          loop = shared
          let client = APNsClient(
            try Self.configuration(apns, environment, authentication), loop: shared, clock: clock)
          clients.append(client)
          routes[Name(container: container, environment: environment)] = PushRoute(
            topic: apns.topic, send: { client.send($0, completion: $1) })
        } catch {
          throw ConfigurationError("pushes cannot be sent: \(error)")
        }
      }
    }
    self.loop = loop
    self.routes = routes
    self.clients = clients
  }

  /// The way to a device; nil when its container is not set up for APNs.
  func route(to device: DeviceToken) -> PushRoute? {
    routes[Name(container: device.container, environment: device.apnsEnvironment)]
  }

  func close() async {
    for client in clients { await client.close() }
    loop?.shutDown()
  }

  static func configuration(
    _ apns: ServerConfiguration.APNs, _ environment: APNsEnvironment,
    _ authentication: APNsAuthentication
  ) throws(HTTP2Error) -> APNsClient.Configuration {
    let host =
      switch environment {
      case .production: "api.push.apple.com"
      case .development: "api.sandbox.push.apple.com"
      }
    var configuration = APNsClient.Configuration(
      host: apns.host ?? host, port: apns.port ?? 443,
      trust: apns.authorityFile.map { .certificateFile($0) } ?? .system,
      authentication: authentication)
    configuration.maximumConnections = apns.maximumConnections
    configuration.proxy = try apns.proxy.map { text throws(HTTP2Error) in
      try HTTPProxy(parsing: text)
    }
    return configuration
  }
}
