import CloudKitModel
import HTTP2Transport
import Measuring
import Settings
import StoreModel

/// Pushes through APNs: a client for each container and APNs environment.
package final class APNsChannel: PushChannel {
  /// The settings of each container that has some.
  package typealias Configuration = [String: APNsSettings]

  struct Name: Hashable {
    var container: String
    var environment: APNsEnvironment
  }

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
  let connections: [Name: Connection]

  package init(
    _ configuration: Configuration, secrets: any SecretStore,
    clock: @escaping @Sendable () -> Timestamp
  ) throws(ConfigurationError) {
    do {
      loop = try EventLoop(name: "petrel-apns")
    } catch {
      throw ConfigurationError("pushes cannot be sent: \(error)")
    }
    var connections: [Name: Connection] = [:]
    // APNs counts how often a key makes tokens, so containers with the same key share them.
    var authentications: [APNsSettings.Credential: APNsAuthentication] = [:]
    for (container, settings) in configuration {
      let authentication: APNsAuthentication
      if let known = authentications[settings.credential] {
        authentication = known
      } else {
        authentication = try APNsAuthentication(settings.credential, container: container)
        authentications[settings.credential] = authentication
      }
      for environment in APNsEnvironment.allCases {
        do {
          connections[Name(container: container, environment: environment)] = Self.connection(
            APNsClient(
              try settings.client(to: environment, authentication), loop: loop, clock: clock),
            topic: settings.topic)
        } catch {
          throw ConfigurationError("pushes cannot be sent: \(error)")
        }
      }
    }
    self.connections = connections
  }

  private static func connection(_ client: APNsClient, topic: String) -> Connection {
    let answers = APNsAnswerTally()
    let route = PushRoute(topic: topic) { push, completion in
      client.send(push) { result in
        answers.note(result)
        completion(result)
      }
    }
    return Connection(client: client, answers: answers, route: route)
  }

  package func route(to device: DeviceToken) -> PushRoute? {
    connections[Name(container: device.container, environment: device.apnsEnvironment)]?.route
  }

  package func close() async {
    for connection in connections.values { await connection.client.close() }
    loop.shutDown()
  }
}
