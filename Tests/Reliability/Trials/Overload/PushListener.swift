import Foundation
import JSONCoding
import Synchronization

/// A path of the web courier.
enum CourierPath {
  /// Makes a token for a reader, and returns the path of its courier; nil if the server makes none.
  static func made(over connection: HTTPConnection, token: String, device: String) -> String? {
    let answer = try? connection.send(
      "POST",
      "/device/1/\(Installation.container)/development/tokens/create?ckWebAuthToken=\(token)"
        + "&clientId=\(device)", #"{"apnsEnvironment":"development"}"#)
    guard let answer, answer.status == 200,
      let json = try? JSONValue(parsing: Data(answer.body)),
      let url = json["webcourierURL"]?.string.flatMap({ URLComponents(string: $0) })
    else { return nil }
    return url.percentEncodedPath + "?" + (url.percentEncodedQuery ?? "")
  }

  /// The request for an event stream.
  static func request(_ path: String) -> String {
    "GET \(path) HTTP/1.1\r\nHost: a\r\nAccept: text/event-stream\r\n\r\n"
  }
}

/// A user with a subscription in the public database, who saves a record twice a second and waits for its
/// notification on an event stream.
final class PushListener: Sendable {
  private static let patience = 60.0

  private let isOver = Mutex(false)
  /// Seconds from the beginning of each save to its notification.
  private let delays = Mutex<[Double]>([])
  private let missing = Mutex(0)
  /// The beginning of the save whose notification it waits for.
  private let waitsSince = Mutex<Int64?>(nil)
  private let group = DispatchGroup()

  /// - Throws: if the server refuses the subscription or the stream.
  init(_ device: CloudDevice, token: String) throws {
    let subscription: JSONValue = [
      "subscriptionType": "query", "subscriptionID": "signals", "firesOn": ["create"],
      "query": ["recordType": "Signal"], "notificationInfo": ["alertBody": "Signal"],
    ]
    let connection = try HTTPConnection(port: device.port)
    guard
      case .answer = device.ask(
        "database", "public/subscriptions/modify",
        ["operations": [["operationType": "create", "subscription": subscription]]]),
      let path = CourierPath.made(over: connection, token: token, device: "stream"),
      let stream = HTTPConnection.connected(to: device.port, from: HTTPConnection.loopback)
    else { throw TrialError("there is no stream: \(device.refusals)") }
    var patience = timeval(tv_sec: 1, tv_usec: 0)
    setsockopt(stream, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    let head = Array(CourierPath.request(path).utf8)
    _ = send(stream, head, head.count, Int32(MSG_NOSIGNAL))
    group.enter()
    Thread.detachNewThread { [self] in
      var number = 0
      while !isOver.withLock({ $0 }) {
        number += 1
        let name = "signal-\(number)."
        let began = TrialClock.now
        let reply = device.ask(
          "database", "public/records/modify",
          [
            "operations": [
              [
                "operationType": "create",
                "record": ["recordName": .string(name), "recordType": "Signal", "fields": [:]],
              ]
            ]
          ])
        guard case .answer = reply else {
          TrialClock.pause(seconds: 0.1)
          continue
        }
        waitsSince.withLock { $0 = began }
        if hasArrived(name, on: stream, since: began) {
          delays.withLock { $0.append(TrialClock.seconds(since: began)) }
        } else {
          missing.withLock { $0 += 1 }
        }
        waitsSince.withLock { $0 = nil }
        TrialClock.pause(seconds: 0.5)
      }
      close(stream)
      group.leave()
    }
  }

  private func hasArrived(
    _ name: String, on stream: Int32, since began: Int64
  ) -> Bool {
    var text: [UInt8] = []
    var bytes = [UInt8](repeating: 0, count: 64 << 10)
    let wanted = Array(name.utf8)
    while TrialClock.seconds(since: began) < Self.patience {
      let count = recv(stream, &bytes, bytes.count, 0)
      if count > 0 { text += bytes[..<count] }
      if count == 0 { return false }
      if text.firstRange(of: wanted) != nil { return true }
    }
    return false
  }

  /// Returns the delays since the last call, that of a present wait among them, and the number of
  /// notifications that did not come within a minute.
  func take() -> (delays: [Double], missing: Int) {
    let present = waitsSince.withLock { $0 }.map { TrialClock.seconds(since: $0) }
    let past = delays.withLock { delays in
      defer { delays = [] }
      return delays
    }
    let lost = missing.withLock { missing in
      defer { missing = 0 }
      return missing
    }
    return (past + (present.map { [$0] } ?? []), lost)
  }

  func end() {
    isOver.withLock { $0 = true }
    group.wait()
  }
}
