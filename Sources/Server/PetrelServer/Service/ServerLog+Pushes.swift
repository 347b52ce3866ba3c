import ChangeDispatch
import CloudKitModel
import JSONCoding
import Logging
import PushChannels
import StoreModel

// What becomes of changes after the request that made them, at the level `debug`: its UUID is in
// every line.
extension ServerLog {
  /// Takes what each attempt to push led to; nil when nobody would read it.
  var pushTrace: (@Sendable (Delivery, DeliveryUpdate.State) -> Void)? {
    guard level <= .debug else { return nil }
    return { delivery, state in
      add(
        .debug, "push \(state.word)",
        Self.fields(of: delivery.notification) + [
          ("kind", .string(delivery.device.kind.rawValue)),
          // The token is as good as an address, and its beginning enough to tell devices apart.
          ("token", .string(String(delivery.device.token.prefix(12)))),
          ("attempt", .int(Int64(delivery.attempts + 1))),
        ] + state.fields)
    }
  }

  func trace(_ entries: [LogEntry]) {
    guard level <= .debug else { return }
    for entry in entries {
      add(.debug, "subscription fired", Self.fields(of: entry.notification))
    }
  }

  private static func fields(
    of notification: SubscriptionNotification
  ) -> [(name: String, value: JSONValue)] {
    let change = notification.change
    var fields: [(name: String, value: JSONValue)] = [
      ("request", .string("\(RequestUUID(ofNotification: change.notificationID))")),
      ("notification", .string(change.notificationID.uuidString.lowercased())),
      ("container", .string(notification.database.container)),
      ("subscriber", .string(notification.subscriber)),
      ("subscription", .string(notification.subscription.subscriptionID)),
    ]
    if let record = change.record { fields.append(("record", .string(record.recordID.recordName))) }
    return fields
  }
}

extension ServerLog {
  /// Writes what the dispatcher or the delivery worker tells.
  func add(_ level: Level, _ report: WorkReport) {
    add(level, report.message, report.fields.map { ($0.name, $0.value.json) })
  }
}

extension WorkReport.Value {
  fileprivate var json: JSONValue {
    switch self {
    case .text(let text): .string(text)
    case .count(let count): .int(Int64(count))
    case .seconds(let seconds): .double(seconds)
    }
  }
}

extension DeliveryUpdate.State {
  /// What happened to the push, as in "push delivered".
  fileprivate var word: String {
    switch self {
    case .delivered: "delivered"
    case .abandoned: "abandoned"
    case .merged: "merged"
    case .refused: "refused"
    case .retry: "to be tried again"
    case .postponed: "put off"
    }
  }

  fileprivate var fields: [(name: String, value: JSONValue)] {
    switch self {
    case .delivered, .merged: []
    case .abandoned(let reason), .refused(let reason, _): [("reason", .string(reason))]
    case .retry(let moment, let reason, _), .postponed(let moment, let reason):
      [("reason", .string(reason)), ("at", .string(moment.iso8601))]
    }
  }
}
