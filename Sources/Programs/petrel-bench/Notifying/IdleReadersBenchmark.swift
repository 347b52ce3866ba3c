import CLinuxEvents
import CommandInterface
import Foundation
import ServerHosting

/// The benchmark of very many readers of the web courier that wait for notifications. It measures
/// the server's memory for each reader, and the delay of a notification to one of them.
///
/// There are four measurements, each with a newly started server. Readers wait with long polls or
/// with event streams. In both cases, the connections are new, or have had an answer before. After
/// an answer, the server has allocated the buffers of a connection.
struct IdleReadersBenchmark {
  var readers: Int
  var directory: String
  var report: BenchmarkReport

  /// The kind of request with which readers wait.
  private enum Kind: String, CaseIterable {
    case polls = "long polls"
    case streams = "event streams"

    var accept: String { self == .polls ? "application/json" : "text/event-stream" }
  }

  /// The number of measured notifications, each to another reader.
  private static let notifications = 100
  private static let patience = 10.0

  /// Creates the users, then measures each combination of request and connection, and reports the
  /// results.
  ///
  /// - Throws: `UsageError` if the system allows too few open sockets.
  func run() async throws {
    try DescriptorRoom.raise(to: readers + 100)
    BenchmarkFolder.remove(directory)
    defer { BenchmarkFolder.remove(directory) }
    let names = ["feeder"] + (0..<readers).map { "reader\($0)" }
    let start = monotonicSeconds()
    let (first, tokens) = try await ServerProcess.start(
      in: directory, users: names, keepsData: true)
    let paths: [String]
    do {
      defer { first.stop() }
      paths = try EventStreamBenchmark.courierPaths(
        port: first.port, tokens: Array(tokens.dropFirst()))
    }
    report.line(
      String(
        format: "%d users with a subscription and a reader each, made in %.0f s", readers,
        monotonicSeconds() - start))
    report.line(
      "                      resident before      with all  a reader   delay p50        p99")
    report.set(["measured": "idleReaders", "readers": .figure(readers)])
    var turn = 0
    for kind in Kind.allCases {
      for areUsed in [false, true] {
        try await measure(kind, areUsed: areUsed, paths: paths, notifying: turn..<turn + share)
        turn += share
      }
    }
  }

  /// The number of readers that get a notification in a measurement. Each measurement uses other
  /// readers. Otherwise, a poll would return at once with a notification of an earlier measurement.
  private var share: Int { min(Self.notifications + 1, max(1, readers / 4)) }

  /// Measures one combination, and reports the result.
  ///
  /// - Parameters:
  ///   - areUsed: Whether each connection has an answer before the reader waits.
  ///   - turns: The numbers from which ``notify(_:in:port:token:)`` computes the readers to notify.
  private func measure(
    _ kind: Kind, areUsed: Bool, paths: [String], notifying turns: Range<Int>
  ) async throws {
    let (server, tokens) = try await ServerProcess.start(
      in: directory, users: ["feeder"], keepsData: true)
    defer { server.stop() }
    let before = try await settledMemory(of: server)
    let (delays, after) = try await withReaders(
      kind, areUsed: areUsed, paths: paths, port: server.port
    ) { descriptors in
      let after = try await settledMemory(of: server)
      let delays = try await onThread { [port = server.port] in
        try notify(descriptors, in: turns, port: port, token: tokens[0])
      }
      return (delays, after)
    }
    let bytes = Double(after - before) / Double(readers)
    report.row(
      "measurements",
      [
        "way": .string(kind.rawValue), "connectionsWereUsed": .bool(areUsed),
        "residentBeforeBytes": .figure(before), "residentAfterBytes": .figure(after),
        "bytesPerReader": .figure(bytes),
      ], delays.figures())
    report.line(
      (kind.rawValue + (areUsed ? ", again" : "")).padding(to: 20)
        + String(
          format: "  %12d MB  %9d MB  %6.1f KB", before >> 20, after >> 20,
          bytes / 1024)
        + "  \(delays.text(0.5).leftPadding(to: 10))  \(delays.text(0.99).leftPadding(to: 9))")
  }

  private func withReaders<Value>(
    _ kind: Kind, areUsed: Bool, paths: [String], port: Int,
    _ body: ([Int32]) async throws -> Value
  ) async throws -> Value {
    var descriptors: [Int32] = []
    defer { for descriptor in descriptors { close(descriptor) } }
    for path in paths {
      let descriptor = try LoadConnection.connect(to: port)
      descriptors.append(descriptor)
      if areUsed { try use(descriptor) }
      let request =
        "GET \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: \(kind.accept)\r\n\r\n"
      try LoadConnection.send(Array(request.utf8), to: descriptor)
    }
    return try await body(descriptors)
  }

  /// Sends a request and reads its answer, so that the server allocates the connection's buffers.
  private func use(_ descriptor: Int32) throws {
    try LoadConnection.send(
      Array("OPTIONS /aps HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".utf8), to: descriptor)
    var buffer = [UInt8](repeating: 0, count: 16_384)
    var received: [UInt8] = []
    while true {
      let count = recv(descriptor, &buffer, buffer.count, 0)
      guard count > 0 else { throw UsageError("a reader's connection broke off") }
      received += buffer[..<count]
      if received.firstPlace(of: Array("\r\n\r\n".utf8)) != nil { return }
    }
  }

  /// Waits until the server is idle, and returns its resident memory in bytes. The server does not
  /// report how many polls wait. So the method waits until the server uses less than 5 ms of
  /// processor time in 300 ms.
  private func settledMemory(of server: ServerProcess) async throws -> Int {
    var before = -1.0
    while true {
      let now = ProcessTime.seconds(of: server.identifier)
      if now - before < 0.005 { return ProcessMemory.resident(of: server.identifier) }
      before = now
      try await Task.sleep(for: .milliseconds(300))
    }
  }

  /// Saves a record for one reader after the other. The method saves each record after the
  /// notification of the record before has arrived.
  ///
  /// - Returns: The delays from saving to notification. The first is left out, unless there is only
  ///   one.
  private func notify(
    _ descriptors: [Int32], in turns: Range<Int>, port: Int, token: String
  ) throws -> Percentiles {
    let connection = try LoadConnection(port: port)
    let path = EarthquakeRequests.path("records/modify", token: token, device: "feeder")
    var delays: [Double] = []
    for number in turns {
      // The sockets were opened in the order of the readers' numbers. The readers get their
      // notifications in scattered order.
      let reader = number * 613 % descriptors.count
      let name = UUID().uuidString
      let start = monotonicSeconds()
      try connection.post(path, EarthquakeRequests.save(recordName: name, station: reader))
      try wait(for: name, on: descriptors[reader])
      // The first delay is left out, because the server reads its matching index for the first
      // record.
      if number > turns.lowerBound || turns.count == 1 { delays.append(monotonicSeconds() - start) }
    }
    return Percentiles(delays)
  }

  private static let emptyAnswer = Array("Content-Length: 0\r\n".utf8)

  /// Reads from a socket until a record name arrives.
  ///
  /// - Throws: `UsageError` if the name does not arrive within 10 s, if the poll ends without a
  ///   notification, or if the connection breaks.
  private func wait(for name: String, on descriptor: Int32) throws {
    let mark = Array(name.utf8)
    var received: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4_096)
    let deadline = monotonicSeconds() + Self.patience
    while received.firstPlace(of: mark) == nil {
      var event = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      let rest = Int32(max(0, (deadline - monotonicSeconds()) * 1000))
      guard poll(&event, 1, rest) > 0 else {
        throw UsageError("a reader got no notification for \(Int(Self.patience)) s")
      }
      let count = recv(descriptor, &buffer, buffer.count, 0)
      guard count > 0 else { throw UsageError("a reader's connection broke off") }
      received += buffer[..<count]
      // A poll without a notification ends with an empty answer.
      guard received.firstPlace(of: Self.emptyAnswer) == nil else {
        throw UsageError("a poll ended before its notification came: the machine is too busy")
      }
    }
  }
}

/// The limit on the number of files and sockets that this process may have open (`RLIMIT_NOFILE`).
private enum DescriptorRoom {
  /// Raises the limit to `count`, if the present limit is lower.
  static func raise(to count: Int) throws {
    var limit = rlimit()
    let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    guard getrlimit(resource, &limit) == 0, limit.rlim_cur < rlim_t(count) else { return }
    guard limit.rlim_max >= rlim_t(count) else {
      throw UsageError(
        "\(count) open sockets are needed and the system allows \(limit.rlim_max) (ulimit -Hn)")
    }
    limit.rlim_cur = rlim_t(count)
    setrlimit(resource, &limit)
  }
}
