import Foundation

extension Attacker {
  private static let root = "/database/1/\(Installation.container)/development/"
  private static let subscriptions = 500

  /// Fires many subscriptions of its own with each save.
  ///
  /// - Parameters:
  ///   - records: that each request saves.
  ///   - interval: seconds between two requests; nil for one after the other.
  func fireSubscriptions(
    _ mode: AttackMode, records: Int, every interval: Double?, streams: Int
  ) {
    work { [self] in
      guard let connection = try? HTTPConnection(port: port, seconds: 60, from: Self.address)
      else { return }
      for first in stride(from: 0, to: Self.subscriptions, by: 100) {
        let operations = (first..<first + 100).map { number in
          #"{"operationType":"create","subscription":{"subscriptionType":"query","#
            + #""subscriptionID":"\#(mode.rawValue)\#(number)","firesOn":["create","update"],"#
            + #""query":{"recordType":"Bait"},"notificationInfo":{"alertBody":""#
            + String(repeating: "x", count: 1_000) + #""}}}"#
        }
        ask(connection, mode, "public/subscriptions/modify", operations)
      }
      for _ in 0..<streams { openStream(mode, connection) }
      while !isOver {
        ask(
          connection, mode, "public/records/modify",
          (0..<records).map { number in
            #"{"operationType":"forceUpdate","record":{"recordName":"bait\#(number)","#
              + #""recordType":"Bait","fields":{"number":{"value":\#(number)}}}}"#
          })
        if let interval {
          _ = TrialClock.wait(seconds: interval, every: 0.05) { isOver }
        }
      }
    }
  }

  private func ask(
    _ connection: HTTPConnection, _ mode: AttackMode, _ operation: String, _ operations: [String]
  ) {
    let began = TrialClock.now
    let answer = try? connection.send(
      "POST", Self.root + operation + "?ckWebAuthToken=\(token)&clientId=attacker",
      #"{"operations":[\#(operations.joined(separator: ","))]}"#)
    note(mode.rawValue, status: answer?.status, seconds: TrialClock.seconds(since: began))
  }

  /// Opens an event stream and reads what it brings.
  private func openStream(_ mode: AttackMode, _ connection: HTTPConnection) {
    guard !isOver,
      let path = CourierPath.made(
        over: connection, token: token, device: "stream\(UInt32.random(in: 0...(.max)))"),
      let descriptor = HTTPConnection.connected(to: port, from: Self.address)
    else { return }
    let head = Array(CourierPath.request(path).utf8)
    _ = send(descriptor, head, head.count, Int32(MSG_NOSIGNAL))
    work { [self] in
      defer { close(descriptor) }
      var patience = timeval(tv_sec: 1, tv_usec: 0)
      setsockopt(
        descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
      var bytes = [UInt8](repeating: 0, count: 64 << 10)
      while !isOver {
        let count = recv(descriptor, &bytes, bytes.count, 0)
        if count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR) { return }
      }
    }
  }
}
