import CloudKitModel
import Cryptography
import Foundation
import HTTP2Transport

/// A local APNs: speaks HTTP/2 over TLS as Apple's does, is stricter than it, and shows what it got.
///
/// Requests are checked by an ``APNsRequestValidator``. Those that pass are answered with 200, or
/// with the trouble that was asked for with ``script(_:for:)``.
///
/// ```swift
/// var configuration = APNsSimulator.Configuration()
/// configuration.authorityCertificatePath = "/tmp/apns-ca.pem"
/// let simulator = try await APNsSimulator.start(configuration)
/// // send to 127.0.0.1, port simulator.port, trusting /tmp/apns-ca.pem
/// let pushes = try await simulator.waitForPushes(count: 2, within: .seconds(10))
/// await simulator.stop()
/// ```
public final class APNsSimulator: Sendable {
  /// The certificate of the authority that issued the server's, PEM: what a sender must trust.
  public let authorityCertificatePEM: String
  /// The port that the simulator listens on.
  public let port: Int

  private let server: HTTP2Server
  private let handler: RequestHandler
  private let publisher: PushPublisher

  /// Starts a simulator. It lives until ``stop()``.
  ///
  /// - Throws: ``APNsSimulationError/Code/notStarted`` if the address is taken, the authority's
  ///   certificate cannot be written, or a name for the server's certificate is not one.
  public static func start(
    _ configuration: Configuration = Configuration()
  ) async throws -> APNsSimulator {
    try await withCheckedThrowingContinuation { continuation in
      DispatchQueue.global().async {
        continuation.resume(with: Result { try APNsSimulator(starting: configuration) })
      }
    }
  }

  private init(starting configuration: Configuration) throws(APNsSimulationError) {
    var service = SimulatedService(
      validator: APNsRequestValidator(
        keys: configuration.keys, environment: configuration.environment))
    service.requestsPerConnection = configuration.requestsPerConnection
    for targeted in configuration.script {
      service.script.add(targeted.fault, for: targeted.deviceToken)
    }
    let publisher = PushPublisher(limit: configuration.keptPushes)
    let authority: CertificateAuthority
    do {
      authority =
        try configuration.authority ?? CertificateAuthority(commonName: "Petrel local APNs")
    } catch {
      throw APNsSimulationError(.notStarted, "the APNs simulator cannot start: \(error)")
    }
    let hosts = configuration.certificateHosts
    let handler = RequestHandler(
      service, publisher: publisher,
      streamsWhenTrusted: configuration.startsWithOneStream
        ? configuration.maximumConcurrentStreams : nil,
      handshake: { HTTP2Server.Handshake($0, authority: authority, hosts: hosts) },
      clock: configuration.clock)
    do {
      let certificate = try authority.issueCertificate(forHosts: configuration.certificateHosts)
      if let path = configuration.authorityCertificatePath {
        try authority.writeCertificate(toFile: path)
      }
      var serverConfiguration = HTTP2ServerConfiguration(
        certificateChainPEM: certificate.certificateChainPEM,
        privateKeyPEM: certificate.privateKeyPEM)
      serverConfiguration.host = configuration.host
      serverConfiguration.port = configuration.port
      serverConfiguration.clientAuthorityPEM = configuration.clientAuthorityPEM
      serverConfiguration.maximumConcurrentStreams =
        configuration.startsWithOneStream ? 1 : configuration.maximumConcurrentStreams
      server = try HTTP2Server(
        serverConfiguration, onEvent: { handler.handle($0) }, handler: { handler.handle($0) })
      handler.open(at: server)
      try server.start()
      authorityCertificatePEM = authority.certificatePEM
    } catch {
      handler.close()
      throw APNsSimulationError(.notStarted, "the APNs simulator cannot start: \(error)")
    }
    port = server.port
    self.handler = handler
    self.publisher = publisher
  }

  /// Cuts all connections, gives the port back, and ends all waiting and watching.
  public func stop() async {
    await server.stop()
    handler.close()
    publisher.finish()
  }

  // MARK: What came

  /// The requests that are kept, accepted or not, oldest first.
  ///
  /// - Complexity: O(*n*).
  public var received: [ReceivedPush] { publisher.pushes }

  /// The requests from now on, as they come.
  ///
  /// - Parameter limit: how many may wait to be looked at; if more come, the oldest are missed.
  public func watch(bufferingNewest limit: Int = 10_000) -> AsyncStream<ReceivedPush> {
    publisher.watch(bufferingNewest: limit)
  }

  /// Waits until there are `count` pushes of a kind, those that came before among them.
  ///
  /// - Parameter isWanted: which pushes count; those that were accepted, if nothing else is said.
  /// - Returns: the first `count` such pushes that are kept, oldest first.
  /// - Throws: ``APNsSimulationError/Code/timedOut`` with the last that came,
  ///   ``APNsSimulationError/Code/stopped``, or `CancellationError`.
  @discardableResult
  public func waitForPushes(
    count: Int, within limit: Duration,
    where isWanted: @escaping @Sendable (ReceivedPush) -> Bool = { $0.isAccepted }
  ) async throws -> [ReceivedPush] {
    try await publisher.wait(PushWaiter(count: count, where: isWanted), within: limit)
  }

  /// Forgets the requests that are kept.
  public func forgetReceived() {
    publisher.removeAll()
  }

  // MARK: Trouble

  /// Makes trouble for the coming requests, after the faults that were asked for before.
  ///
  /// - Parameter deviceToken: whose requests; nil for those of any device, which is only asked when
  ///   the device has no faults of its own.
  public func script(_ fault: APNsFault, for deviceToken: String? = nil) {
    handler.change { $0.script.add(fault, for: deviceToken) }
  }

  /// Takes back the faults of a device; those for any device if it is nil.
  public func endFaults(for deviceToken: String? = nil) {
    handler.change { $0.script.remove(for: deviceToken) }
  }

  /// Says for which topics a device token is; requests for others get `DeviceTokenNotForTopic`.
  /// Nil lets it take any.
  public func setTopics(_ topics: Set<String>?, of deviceToken: String) {
    handler.change { $0.validator.topicsOfDevices[deviceToken.lowercased()] = topics }
  }

  /// How many clients are connected.
  public var connectionCount: Int { server.openConnections.count }

  /// Ends all connections in the orderly way: GOAWAY with a reason, after what has come.
  public func endConnections(reason: APNsReason = .shutdown) {
    for connection in server.openConnections {
      server.goAway(connection, debugData: Array(#"{"reason":"\#(reason.rawValue)"}"#.utf8))
    }
  }

  /// Cuts all connections without a word.
  public func cutConnections() {
    for connection in server.openConnections { server.close(connection, .atOnce) }
  }
}
