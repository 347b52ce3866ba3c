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

  private static let address: UInt32 = 0x7F42_0001
  /// Seconds after which it leaves a request that has no answer.
  private static let patience = 5

  private let port: Int
  private let isOver = Mutex(false)
  private let tallies = Mutex<[AttackShape: Tally]>([:])
  private let group = DispatchGroup()

  /// - Parameters:
  ///   - token: of its account; as many requests bear it as do not.
  ///   - shapes: of what it asks for.
  ///   - connections: that ask.
  ///   - held: connections that are not used, and a tenth of it that read a byte a second.
  init(port: Int, token: String, shapes: [AttackShape], connections: Int, held: Int) {
    self.port = port
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

  private func work(_ body: @escaping @Sendable () -> Void) {
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
    while !isOver.withLock({ $0 }) {
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
      let seconds = TrialClock.seconds(since: began)
      tallies.withLock { tallies in
        if let status {
          tallies[shape, default: Tally()].answers[status, default: 0] += 1
        } else {
          tallies[shape, default: Tally()].unanswered += 1
        }
        tallies[shape, default: Tally()].seconds += seconds
        tallies[shape, default: Tally()].longest = max(seconds, tallies[shape]?.longest ?? 0)
      }
    }
  }

  /// Keeps so many connections, each with something sent, and reads a byte a second of each.
  private func hold(_ count: Int, sending text: String) {
    let bytes = Array(text.utf8)
    var descriptors: [Int32] = []
    while !isOver.withLock({ $0 }) {
      while descriptors.count < count, !isOver.withLock({ $0 }) {
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
      // The rate of the reads.
      _ = TrialClock.wait(seconds: 1, every: 0.05) { isOver.withLock { $0 } }
    }
    for descriptor in descriptors { close(descriptor) }
  }

  private static func request(_ shape: AttackShape, _ body: String) -> String {
    "POST \(shape.path) HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
      + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
  }

  /// Ends it.
  func end() -> [AttackShape: Tally] {
    isOver.withLock { $0 = true }
    group.wait()
    return tallies.withLock { $0 }
  }
}
