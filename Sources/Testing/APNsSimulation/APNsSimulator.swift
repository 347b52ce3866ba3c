import CloudKitModel
import Cryptography
import Foundation
import HTTP2Transport

/// A local server that imitates APNs for tests. It speaks HTTP/2 over TLS as Apple's service does,
/// checks requests more strictly, and shows the requests that it received.
///
/// An ``APNsRequestValidator`` checks each request. The simulator answers a request that passes the
/// checks with 200, or fails it with the next fault of ``script(_:for:)``. Any thread may call the
/// methods.
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
  /// The certificate of the authority that issued the server's certificate, as PEM. A sender must
  /// trust it.
  public let authorityCertificatePEM: String
  /// The port that the simulator listens on.
  public let port: Int

  private let server: HTTP2Server
  private let handler: RequestHandler
  /// The received pushes, and the callers that wait for pushes or watch them.
  private let publisher: PushPublisher

  /// Starts a simulator, which runs until ``stop()``.
  ///
  /// - Throws: ``APNsSimulationError/Code/notStarted`` if the address is in use, the authority's
  ///   certificate cannot be written, or a name for the server's certificate is invalid.
  public static func start(
    _ configuration: Configuration = Configuration()
  ) async throws -> APNsSimulator {
    try await withCheckedThrowingContinuation { continuation in
      DispatchQueue.global().async {
        continuation.resume(with: Result { try APNsSimulator(starting: configuration) })
      }
    }
  }

  /// Starts a simulator. The initializer blocks its thread, so ``start(_:)`` calls it on a thread
  /// of a dispatch queue.
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

  /// Closes all connections and the port. Ends the streams of ``watch(bufferingNewest:)`` and the
  /// calls that wait for pushes.
  public func stop() async {
    await server.stop()
    handler.close()
    publisher.finish()
  }

  // MARK: Received requests

  /// The received requests that the simulator keeps, accepted or not, oldest first.
  /// ``Configuration/keptPushes`` limits their number.
  ///
  /// - Complexity: O(*n*) for *n* kept requests.
  public var received: [ReceivedPush] { publisher.pushes }

  /// Returns a stream of the requests that the simulator receives from now on. The stream ends with
  /// ``stop()``.
  ///
  /// - Parameter limit: the number of requests that may wait in the stream. If more come, the
  ///   oldest are lost.
  public func watch(bufferingNewest limit: Int = 10_000) -> AsyncStream<ReceivedPush> {
    publisher.watch(bufferingNewest: limit)
  }

  /// Waits until the simulator has received `count` pushes for which `isWanted` returns true. The
  /// kept pushes count too.
  ///
  /// - Parameters:
  ///   - limit: the longest time to wait.
  ///   - isWanted: selects the pushes that count; by default the accepted ones.
  /// - Returns: the first `count` such pushes that are kept, oldest first.
  /// - Throws: ``APNsSimulationError/Code/timedOut`` with a description of the last pushes,
  ///   ``APNsSimulationError/Code/stopped`` if the simulator stops, or `CancellationError`.
  @discardableResult
  public func waitForPushes(
    count: Int, within limit: Duration,
    where isWanted: @escaping @Sendable (ReceivedPush) -> Bool = { $0.isAccepted }
  ) async throws -> [ReceivedPush] {
    try await publisher.wait(PushWaiter(count: count, where: isWanted), within: limit)
  }

  /// Deletes the kept requests.
  public func forgetReceived() {
    publisher.removeAll()
  }

  // MARK: Faults and connections

  /// Adds a fault for later requests, behind the faults that were added before.
  ///
  /// - Parameter deviceToken: the device whose requests fail. Nil stands for any device. A fault
  ///   for any device applies to a request only if no fault of the request's own device does.
  public func script(_ fault: APNsFault, for deviceToken: String? = nil) {
    handler.change { $0.script.add(fault, for: deviceToken) }
  }

  /// Removes the faults of a device; nil removes the faults for any device.
  public func endFaults(for deviceToken: String? = nil) {
    handler.change { $0.script.remove(for: deviceToken) }
  }

  /// Sets the topics for which a device token is valid. Requests for other topics are refused with
  /// `DeviceTokenNotForTopic`. Nil permits any topic.
  public func setTopics(_ topics: Set<String>?, of deviceToken: String) {
    handler.change { $0.validator.topicsOfDevices[deviceToken.lowercased()] = topics }
  }

  /// The number of connected clients.
  public var connectionCount: Int { server.openConnections.count }

  /// Ends all connections with GOAWAY and a reason. The requests that have arrived before still get
  /// their answers.
  public func endConnections(reason: APNsReason = .shutdown) {
    for connection in server.openConnections {
      server.goAway(connection, debugData: Array(#"{"reason":"\#(reason.rawValue)"}"#.utf8))
    }
  }

  /// Closes all connections at once, without GOAWAY.
  public func cutConnections() {
    for connection in server.openConnections { server.close(connection, .atOnce) }
  }
}
