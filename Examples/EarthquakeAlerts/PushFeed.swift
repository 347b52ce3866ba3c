import CloudKit
import Foundation

/// A push that the APNs simulator accepted: one JSON line on standard input.
struct ArrivedPush: @unchecked Sendable {
  var arrival: Date
  var deviceToken: String
  var headers: [String: String]
  var payloadText: String
  /// The payload as an app gets it.
  var userInfo: [AnyHashable: Any]

  init?(line: String, arrival: Date) {
    guard let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)),
      let members = object as? [String: Any], let deviceToken = members["deviceToken"] as? String,
      let headers = members["headers"] as? [String: String],
      let payloadText = members["payloadText"] as? String,
      let userInfo = members["payload"] as? [String: Any], members["status"] as? Int == 200
    else { return nil }
    self.arrival = arrival
    self.deviceToken = deviceToken
    self.headers = headers
    self.payloadText = payloadText
    self.userInfo = userInfo
  }

  var notification: CKNotification? {
    CKNotification(fromRemoteNotificationDictionary: userInfo)
  }
}

/// The pushes on standard input, as they come.
func arrivingPushes() -> AsyncStream<ArrivedPush> {
  AsyncStream { continuation in
    let thread = Thread {
      while let line = readLine() {
        if let push = ArrivedPush(line: line, arrival: Date()) { continuation.yield(push) }
      }
      continuation.finish()
    }
    thread.start()
  }
}
