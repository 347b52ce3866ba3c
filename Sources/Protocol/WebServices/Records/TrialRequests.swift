import CloudKitModel
import Foundation
import JSONCoding

/// A record that is proposed, to see which subscriptions would fire on it:
/// `{"event": "create", "record": {…}}`. Petrel's own, in the protocol's style.
public struct RecordTrialRequest: Sendable {
  public var event: ChangeEvent
  public var record: Record

  public init(parsing body: Data, context: MessageContext) throws(ServiceError) {
    let reader = try MessageReader(parsing: body, context: context)
    switch try reader.optionalString("event") ?? "create" {
    case "create": event = .recordCreated
    case "update": event = .recordUpdated
    case "delete": event = .recordDeleted
    case let other: throw reader.mistake("event '\(other)' must be create, update or delete")
    }
    let member = try reader.member("record")
    record = try Record(member)
    guard !record.recordType.isEmpty else { throw member.mistake("recordType is missing") }
    try member.checked { [record] () throws(ModelError) in try record.recordID.validate() }
  }
}

/// A subscription that is proposed, to see which recent changes would have fired it:
/// `{"subscription": {…}}`.
public struct SubscriptionTrialRequest: Sendable {
  public var subscription: Subscription

  /// - Parameter scope: of the database that the subscription is proposed for.
  public init(
    parsing body: Data, context: MessageContext, scope: DatabaseScope
  ) throws(ServiceError) {
    let reader = try MessageReader(parsing: body, context: context)
    let member = try reader.member("subscription")
    subscription = try Subscription(member)
    try member.checked { [subscription] () throws(ModelError) in
      try subscription.validate(in: scope)
    }
  }
}
