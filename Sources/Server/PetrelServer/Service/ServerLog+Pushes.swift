import ChangeDispatch
import CloudKitModel
import JSONCoding
import Logging
import PushChannels
import StoreModel

// Log lines at the level `debug` about the notifications and pushes of a change. They follow the
// answer to the request that made the change, and contain the UUID of that request.
extension ServerLog {
  /// The closure that logs the outcome of each attempt to push; nil if the log does not write the
  /// level `debug`.
  var pushTrace: (@Sendable (Delivery, DeliveryUpdate.State) -> Void)? {
    guard level <= .debug else { return nil }
    return { delivery, state in
      add(
        .debug, "push \(state.word)",
        Self.fields(of: delivery.notification) + [
          ("kind", .string(delivery.device.kind.rawValue)),
          // A token is confidential, as an address is. The first 12 characters are enough to
          // distinguish devices.
          ("token", .string(String(delivery.device.token.prefix(12)))),
          ("attempt", .int(Int64(delivery.attempts + 1))),
        ] + state.fields)
    }
  }

  /// Logs the subscriptions that fired, at the level `debug`.
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
  /// The outcome of a push as a participle, as in "push delivered".
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

  /// The reason of the outcome and the time of the next attempt, if there are any.
  fileprivate var fields: [(name: String, value: JSONValue)] {
    switch self {
    case .delivered, .merged: []
    case .abandoned(let reason), .refused(let reason, _): [("reason", .string(reason))]
    case .retry(let moment, let reason, _), .postponed(let moment, let reason):
      [("reason", .string(reason)), ("at", .string(moment.iso8601))]
    }
  }
}
