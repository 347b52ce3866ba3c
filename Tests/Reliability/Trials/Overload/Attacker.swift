import Foundation
import Synchronization

/// Somebody who wants to hold a server up: asks for what is dear on several connections at once, holds
/// others without using them, and does not read what was asked for.
///
/// It comes from an address of its own, as one elsewhere would, and leaves the processors to the server.
final class Attacker: Sendable {
  /// The results of the requests of one shape.
  struct Tally {
    var answers: [Int: Int] = [:]
    var unanswered = 0
    var seconds = 0.0
    var longest = 0.0

    var count: Int { answers.values.reduce(unanswered, +) }
  }

  static let address: UInt32 = 0x7F42_0001
  /// Seconds after which it leaves a request that has no answer.
  private static let patience = 5

  let port: Int
  /// The token of its account, escaped.
  let token: String
  private let hasEnded = Mutex(false)
  private let tallies = Mutex<[String: Tally]>([:])
  private let group = DispatchGroup()

  /// Begins an attack.
  ///
  /// - Parameters:
  ///   - token: of its account, escaped.
  ///   - shapes: of what it asks for, if it asks.
  ///   - held: connections that are not used, and a tenth of it that read a byte a second.
  init(_ mode: AttackMode, port: Int, token: String, shapes: [AttackShape], held: Int) {
    self.port = port
    self.token = token
    switch mode {
    case .requests: sendRequests(shapes, connections: 16, held: held)
    case .bodies:
      sendUnfinishedBodies(mode, of: 8 << 20) { _ in AttackShape.manyRecords.path }
    case .uploads:
      sendUnfinishedBodies(mode, of: 48 << 20) { "/assets/\($0)/upload/\($0)" }
    case .log: fireSubscriptions(mode, records: 400, every: nil, streams: 0)
    case .streams: fireSubscriptions(mode, records: 20, every: 10, streams: 100)
    }
  }

  /// - Parameters:
  ///   - connections: that ask; half of their requests bear the token.
  ///   - held: connections that are not used, and a tenth of it that read a byte a second.
  private func sendRequests(_ shapes: [AttackShape], connections: Int, held: Int) {
    let bodies = shapes.map { ($0, $0.body) }
    for number in 0..<connections {
      let token = number.isMultiple(of: 2) ? "" : "?ckWebAuthToken=\(token)"
      // The attackers begin with different shapes, so that all shapes occur in a short test.
      let order = bodies[(number % bodies.count)...] + bodies[..<(number % bodies.count)]
      work { self.ask(Array(order), token) }
    }
    work { self.hold(held, sending: "GET / HTTP/1.1\r\nHost: a\r\n") }
    work {
      self.hold(
        held / 10,
        sending: Self.request(.longPage, AttackShape.longPage.body))
    }
  }

  func work(_ body: @escaping @Sendable () -> Void) {
    group.enter()
    Thread.detachNewThread { [group] in
      // Of this thread alone, on Linux.
      setpriority(Int32(PRIO_PROCESS.rawValue), 0, 19)
      body()
      group.leave()
    }
  }

  private func ask(_ bodies: [(AttackShape, String)], _ token: String) {
    var connection: HTTPConnection?
    var next = 0
    while !isOver {
      let (shape, body) = bodies[next % bodies.count]
      next += 1
      let began = TrialClock.now
      var status: Int?
      do {
        let used =
          try connection
          ?? HTTPConnection(port: port, seconds: Self.patience, from: Self.address)
        connection = used
        status = try used.send("POST", shape.path + token, body).status
      } catch {
        // It was refused, cut off or left.
        connection = nil
        TrialClock.pause(seconds: 0.01)
      }
      note(shape.rawValue, status: status, seconds: TrialClock.seconds(since: began))
    }
  }

  /// Counts a request.
  ///
  /// - Parameter status: of its answer; nil without one.
  func note(_ name: String, status: Int?, seconds: Double) {
    tallies.withLock { tallies in
      var tally = tallies[name] ?? Tally()
      if let status { tally.answers[status, default: 0] += 1 } else { tally.unanswered += 1 }
      tally.seconds += seconds
      tally.longest = max(seconds, tally.longest)
      tallies[name] = tally
    }
  }

  /// Keeps so many connections, each with something sent, and reads a byte a second of each.
  private func hold(_ count: Int, sending text: String) {
    let bytes = Array(text.utf8)
    var descriptors: [Int32] = []
    while !isOver {
      while descriptors.count < count, !isOver {
        guard let descriptor = HTTPConnection.connected(to: port, from: Self.address) else { break }
        _ = send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        descriptors.append(descriptor)
      }
      descriptors.removeAll { descriptor in
        var byte: UInt8 = 0
        let count = recv(descriptor, &byte, 1, Int32(MSG_DONTWAIT))
        let hasEnded = count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)
        if hasEnded { close(descriptor) }
        return hasEnded
      }
      pause()
    }
    for descriptor in descriptors { close(descriptor) }
  }

  private static func request(_ shape: AttackShape, _ body: String) -> String {
    "POST \(shape.path) HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
      + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
  }

  var isOver: Bool { hasEnded.withLock { $0 } }

  /// Waits for a second, the rate of slow reads and writes, unless the attack ends before.
  func pause() { _ = TrialClock.wait(seconds: 1, every: 0.05) { isOver } }

  /// Ends it.
  func end() -> [String: Tally] {
    hasEnded.withLock { $0 = true }
    group.wait()
    return tallies.withLock { $0 }
  }
}
