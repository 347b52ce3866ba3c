import CloudKitModel
import HTTP2Transport
import Measuring
import Settings
import Storage
import StoreModel

/// The channel to Apple's devices: a client of APNs for each container, topic and APNs environment.
///
/// All clients run on one thread, the channel's event loop.
package final class APNsChannel: PushChannel {
  package typealias Configuration = [String: APNsSettings]

  /// The key of a ``Connection``.
  struct Name: Hashable {
    var container: String
    var topic: String
    var environment: APNsEnvironment
  }

  /// A client of APNs with its counters and its route. The client opens several network connections
  /// if necessary.
  struct Connection {
    var client: APNsClient
    var answers: APNsAnswerTally
    var route: PushRoute
  }

  package static let kind = DeviceToken.Kind.apns
  package static let name = "APNs"
  package static let deviceName = "APNs device"
  package static let peers = "APNs"
  package static func key(container: String) -> String { "containers.\(container).apns" }

  package let loop: EventLoop
  /// The settings of the containers, which say the topic of a device.
  private let configuration: Configuration
  /// The clients with their counters and routes. A client connects when it gets its first push.
  let connections: [Name: Connection]

  /// Reads the credentials and creates the clients. The initializer does not connect.
  ///
  /// - Throws: `ConfigurationError` that names the container and the file or setting that is not
  ///   usable.
  package init(
    _ configuration: Configuration, secrets: SecretService,
    clock: @escaping @Sendable () -> Timestamp
  ) throws(ConfigurationError) {
    do {
      loop = try EventLoop(name: "petrel-apns")
    } catch {
      throw ConfigurationError("pushes cannot be sent: \(error)")
    }
    self.configuration = configuration
    var connections: [Name: Connection] = [:]
    // APNs limits how often a key makes tokens, so containers with the same key share its tokens.
    var authentications: [APNsSettings.Credential: APNsAuthentication] = [:]
    for (container, settings) in configuration {
      for topic in settings.topics {
        let credential = try settings.requiredCredential(of: topic, container: container)
        let authentication: APNsAuthentication
        if let known = authentications[credential] {
          authentication = known
        } else {
          authentication = try APNsAuthentication(
            credential,
            at: ["containers", container, "apns"] + settings.credentialPath(of: topic),
            keepingTokensIn: secrets)
          authentications[credential] = authentication
        }
        for environment in APNsEnvironment.allCases {
          do {
            connections[Name(container: container, topic: topic, environment: environment)] =
              Self.connection(
                APNsClient(
                  try settings.client(to: environment, authentication), loop: loop, clock: clock),
                topic: topic)
          } catch {
            throw ConfigurationError("pushes cannot be sent: \(error)")
          }
        }
      }
    }
    self.connections = connections
  }

  private static func connection(_ client: APNsClient, topic: String) -> Connection {
    let answers = APNsAnswerTally()
    let route = PushRoute(topic: topic) { push, completion in
      client.configuration.authentication.ready {
        client.send(push) { answer in
          answers.count(answer)
          completion(answer)
        }
      }
    }
    return Connection(client: client, answers: answers, route: route)
  }

  /// Returns the route to a device; `nil` if the device's container has no settings for APNs, or if the
  /// app that the device names is not one of its topics.
  ///
  /// If APNs has refused the device for this topic, the route sends nothing until the device is registered
  /// again or its topic changes.
  package func route(to device: DeviceToken) -> PushRoute? {
    guard let topic = configuration[device.container]?.topic(ofBundle: device.bundleID) else {
      return nil
    }
    if device.refusal?.topic == topic { return PushRoute(refusedFor: topic) }
    return connections[
      Name(container: device.container, topic: topic, environment: device.apnsEnvironment)]?.route
  }

  /// Closes all clients one after the other, then stops the event loop. All completions have been
  /// called when the method returns.
  package func close() async {
    for connection in connections.values { await connection.client.close() }
    loop.shutDown()
  }
}
