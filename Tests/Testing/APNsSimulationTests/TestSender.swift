import Foundation
import HTTP2Transport
import Synchronization

@testable import APNsSimulation

/// One connection of a sender to a simulator.
final class TestSender: Sendable {
  let connection: HTTP2ClientConnection
  private let events: AsyncStream<HTTP2ClientConnection.Event>

  /// - Parameter pingAfter: when the sender asks a silent simulator for a sign of life.
  init(to simulator: TestSimulator, pingAfter: Duration = .seconds(60)) throws {
    var configuration = HTTP2ClientConfiguration(
      host: "localhost", port: simulator.simulator.port,
      trust: .certificateFile(simulator.certificatePath))
    configuration.pingAfterBusySilence = pingAfter
    configuration.pingTimeout = pingAfter
    let (stream, continuation) = AsyncStream.makeStream(of: HTTP2ClientConnection.Event.self)
    events = stream
    connection = try HTTP2ClientConnection(configuration, loop: simulator.loop) { event in
      continuation.yield(event)
      if case .closed = event { continuation.finish() }
    }
    connection.start()
  }

  /// The first event that `pick` takes, from here on; nil when the connection closed before.
  func event<Found>(_ pick: (HTTP2ClientConnection.Event) -> Found?) async -> Found? {
    for await event in events {
      if let found = pick(event) { return found }
    }
    return nil
  }

  func begin(
    _ request: SimulatedRequest,
    completion: @escaping @Sendable (Result<HTTP2Response, HTTP2Error>) -> Void = { _ in }
  ) {
    var wire = HTTP2Request(method: request.method, path: request.path, body: request.body)
    for (name, value) in request.headers { wire.headers.append(name, value) }
    connection.send(wire, completion: completion)
  }

  func send(_ request: SimulatedRequest) async throws -> HTTP2Response {
    try await withCheckedThrowingContinuation { continuation in
      begin(request) { continuation.resume(with: $0) }
    }
  }

  func error(of request: SimulatedRequest) async -> HTTP2Error? {
    do {
      _ = try await send(request)
      return nil
    } catch {
      return error as? HTTP2Error
    }
  }

  func close() {
    connection.close(.atOnce)
  }
}

/// A running simulator with what its senders need.
struct TestSimulator: Sendable {
  let simulator: APNsSimulator
  let fixture: RequestFixture
  /// The one token of all requests, for each signature differs and APNs wants no new ones.
  let providerToken: String
  let certificatePath: String
  let loop: EventLoop

  /// A simulator that is to be started with changes to its configuration.
  struct Plan {
    fileprivate let change: (inout APNsSimulator.Configuration, RequestFixture) -> Void

    /// Runs `body` with the simulator, which is stopped afterwards.
    func run<Result>(_ body: (TestSimulator) async throws -> Result) async throws -> Result {
      try await TestSimulator.run(change, body)
    }
  }

  static func configured(
    _ change: @escaping (inout APNsSimulator.Configuration, RequestFixture) -> Void
  ) -> Plan {
    Plan(change: change)
  }

  static func run<Result>(_ body: (TestSimulator) async throws -> Result) async throws -> Result {
    try await run({ _, _ in }, body)
  }

  private static func run<Result>(
    _ change: (inout APNsSimulator.Configuration, RequestFixture) -> Void,
    _ body: (TestSimulator) async throws -> Result
  ) async throws -> Result {
    let fixture = try RequestFixture()
    let path = NSTemporaryDirectory() + "petrel-apns-\(UUID().uuidString).pem"
    var configuration = APNsSimulator.Configuration()
    configuration.authorityCertificatePath = path
    configuration.keys = [fixture.registeredKey()]
    change(&configuration, fixture)
    let simulator = try await APNsSimulator.start(configuration)
    let loop = try EventLoop(name: "test-sender")
    let test = TestSimulator(
      simulator: simulator, fixture: fixture,
      providerToken: try fixture.providerToken(issued: .now), certificatePath: path, loop: loop)
    let result: Swift.Result<Result, any Error>
    do {
      result = .success(try await body(test))
    } catch {
      result = .failure(error)
    }
    await simulator.stop()
    loop.shutDown()
    try? FileManager.default.removeItem(atPath: path)
    return try result.get()
  }

  func sender(pingAfter: Duration = .seconds(60)) throws -> TestSender {
    try TestSender(to: self, pingAfter: pingAfter)
  }

  func request(_ change: (inout SimulatedRequest) -> Void = { _ in }) throws -> SimulatedRequest {
    try fixture.request(now: .now, providerToken: providerToken, change: change)
  }
}
