import CloudKitModel
import StoreModel

/// A line for the server's log from the dispatcher or the delivery worker. The message is constant;
/// only the fields differ.
public struct WorkReport: Sendable, Hashable, CustomStringConvertible {
  public enum Value: Sendable, Hashable {
    case text(String)
    case count(Int)
    case seconds(Double)
  }

  public struct Field: Sendable, Hashable {
    public var name: String
    public var value: Value
  }

  public var message: String
  /// Whether it reports normal operation.
  public var isRoutine = false
  /// In the order of display.
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
  /// Changes could not be matched or logged; without a database, the databases with changes could
  /// not be listed.
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

  /// A dispatcher that stops could not store the dispatch of changes without firings.
  static func changesWait(in database: DatabaseID, _ error: any Error) -> WorkReport {
    WorkReport(
      "changes wait in the outbox", ["database": .database(database), "cause": .cause(error)])
  }

  /// A line about the route of a delivery: its container and service.
  init(_ message: String, onRouteOf delivery: Delivery, _ fields: KeyValuePairs<String, Value>) {
    self.init(message, fields)
    var route: [Field] = [
      Field(name: "container", value: .text(delivery.device.container)),
      Field(name: "kind", value: .text(delivery.device.kind.rawValue)),
    ]
    if delivery.device.kind == .apns {
      let environment = delivery.device.apnsEnvironment.rawValue
      route.append(Field(name: "apnsEnvironment", value: .text(environment)))
    }
    self.fields = route + self.fields
  }

  /// A line about one push.
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
        // The token is an address and therefore private; its beginning is enough to tell devices
        // apart.
        Field(name: "token", value: .text(String(delivery.device.token.prefix(12)))),
        Field(name: "attempt", value: .count(delivery.attempts + 1)),
      ] + self.fields
  }
}
