import ChangeDispatch
import CloudKitModel
import Cryptography
import Foundation
import HTTP2Transport
import PushChannels
import Settings
import StoreModel
import Synchronization

/// The ways to APNs that the configuration sets up: one for each container and APNs environment.
final class APNsRoutes: Sendable {
  private struct Name: Hashable {
    var container: String
    var environment: APNsEnvironment
  }

  let loop: EventLoop?
  private let routes: [Name: PushRoute]
  private let clients: [Name: APNsClient]
  private let answers: [Name: APNsAnswerTally]

  /// - Throws: ``ConfigurationError`` naming the container and the file that cannot be used.
  init(
    configuration: ServerConfiguration, clock: @escaping @Sendable () -> Timestamp
  ) throws(ConfigurationError) {
    var routes: [Name: PushRoute] = [:]
    var clients: [Name: APNsClient] = [:]
    var answers: [Name: APNsAnswerTally] = [:]
    var loop: EventLoop?
    // APNs counts how often a key makes tokens, so containers with the same key share them.
    var authentications: [APNsSettings.Credential: APNsAuthentication] = [:]
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
            try apns.client(to: environment, authentication), loop: shared, clock: clock)
          let name = Name(container: container, environment: environment)
          let tally = APNsAnswerTally()
          clients[name] = client
          answers[name] = tally
          routes[name] = PushRoute(topic: apns.topic) { push, completion in
            client.send(push) { result in
              tally.note(result)
              completion(result)
            }
          }
        } catch {
          throw ConfigurationError("pushes cannot be sent: \(error)")
        }
      }
    }
    self.loop = loop
    self.routes = routes
    self.clients = clients
    self.answers = answers
  }

  /// The way to a device; nil when its container is not set up for APNs.
  func route(to device: DeviceToken) -> PushRoute? {
    routes[Name(container: device.container, environment: device.apnsEnvironment)]
  }

  /// How the client of each container and environment is doing, and what APNs has answered it.
  var figures: [Figures] {
    clients.map { name, client in
      Figures(
        container: name.container, environment: name.environment, client: client.metrics,
        answers: answers[name]?.counts ?? [:])
    }
    .sorted { ($0.container, $0.environment.rawValue) < ($1.container, $1.environment.rawValue) }
  }

  struct Figures {
    var container: String
    var environment: APNsEnvironment
    var client: APNsClient.Metrics
    var answers: [APNsAnswerTally.Answer: Int]
  }

  func close() async {
    for client in clients.values { await client.close() }
    loop?.shutDown()
  }
}
