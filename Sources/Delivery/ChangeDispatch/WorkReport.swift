import CloudKitModel
import StoreModel

/// A line for the server's log from the dispatcher, the delivery worker or the membership. Each
/// kind of line has a constant message. Only the fields differ.
public struct WorkReport: Sendable, Hashable, CustomStringConvertible {
  /// The value of a field.
  public enum Value: Sendable, Hashable {
    case text(String)
    /// An integer: a count or an ID.
    case count(Int)
    /// A duration in seconds.
    case seconds(Double)
  }

  /// A field of the line.
  public struct Field: Sendable, Hashable {
    /// The name of the field.
    public var name: String
    /// The value of the field.
    public var value: Value
  }

  /// The message.
  public var message: String
  /// Whether the line reports normal operation. The administrator should read the other lines.
  public var isRoutine = false
  /// The fields in the order of display.
  public var fields: [Field]

  init(_ message: String, _ fields: KeyValuePairs<String, Value>, isRoutine: Bool = false) {
    self.message = message
    self.isRoutine = isRoutine
    self.fields = fields.map { Field(name: $0.key, value: $0.value) }
  }

  /// The message, and the fields as `name=value`.
  public var description: String {
    message + ": " + fields.map { "\($0.name)=\($0.value)" }.joined(separator: " ")
  }
}

extension WorkReport.Value: CustomStringConvertible {
  public var description: String {
    switch self {
    case .text(let text): text
    case .count(let count): "\(count)"
    case .seconds(let seconds): "\(seconds)"
    }
  }
}

extension WorkReport.Value {
  static func cause(_ error: any Error) -> Self { .text("\(error)") }

  static func database(_ database: DatabaseID) -> Self { .count(Int(database.rawValue)) }
}

extension WorkReport {
  /// Returns the line for changes that could not be matched or logged. If `database` is `nil`, the
  /// dispatcher could not list the databases with changes. `delay` is in seconds.
  static func dispatchingFailed(
    in database: DatabaseID?, retryAfter delay: Double, _ error: any Error
  ) -> WorkReport {
    let message = "dispatching failed, trying again"
    guard let database else {
      return WorkReport(message, ["retryAfter": .seconds(delay), "cause": .cause(error)])
    }
    return WorkReport(
      message,
      ["database": .database(database), "retryAfter": .seconds(delay), "cause": .cause(error)])
  }

  /// Returns the line for changes without firings whose dispatch the store could not record before
  /// the dispatcher stopped. The next start dispatches these changes.
  static func changesWait(in database: DatabaseID, _ error: any Error) -> WorkReport {
    WorkReport(
      "changes wait in the outbox", ["database": .database(database), "cause": .cause(error)])
  }

  /// Creates a line about the route of a delivery. The line begins with the fields for the
  /// container, the kind of device and, for APNs, the environment and the bundle ID.
  init(_ message: String, onRouteOf delivery: Delivery, _ fields: KeyValuePairs<String, Value>) {
    self.init(message, fields)
    var route: [Field] = [
      Field(name: "container", value: .text(delivery.device.container)),
      Field(name: "kind", value: .text(delivery.device.kind.rawValue)),
    ]
    if delivery.device.kind == .apns {
      let environment = delivery.device.apnsEnvironment.rawValue
      route.append(Field(name: "apnsEnvironment", value: .text(environment)))
      if let bundleID = delivery.device.bundleID {
        route.append(Field(name: "bundleID", value: .text(bundleID)))
      }
    }
    self.fields = route + self.fields
  }

  /// Creates a line about one push of a delivery. The line begins with the fields that identify the
  /// push.
  init(_ message: String, of delivery: Delivery, _ fields: KeyValuePairs<String, Value>) {
    let notificationID = delivery.notification.change.notificationID
    self.init(message, onRouteOf: delivery, fields)
    self.fields =
      [
        Field(name: "request", value: .text("\(RequestUUID(ofNotification: notificationID))")),
        Field(name: "notification", value: .text(notificationID.uuidString.lowercased())),
        Field(name: "subscriber", value: .text(delivery.notification.subscriber)),
        Field(
          name: "subscription",
          value: .text(delivery.notification.subscription.subscriptionID)),
        // A token is an address and therefore private. Its beginning is enough to distinguish
        // devices.
        Field(name: "token", value: .text(String(delivery.device.token.prefix(12)))),
        Field(name: "attempt", value: .count(delivery.attempts + 1)),
      ] + self.fields
  }
}
