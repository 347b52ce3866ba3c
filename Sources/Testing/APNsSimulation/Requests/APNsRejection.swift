import CloudKitModel

/// The refusal of a request, with its reason.
public struct APNsRejection: Error, Sendable, Hashable, CustomStringConvertible {
  /// The documented reason, which the sender gets.
  public var reason: APNsReason
  /// The description of the mistake, with the refused value. It is for a person to read, and APNs
  /// itself does not send it.
  public var detail: String
  /// The time at which the device token became invalid; only with status 410.
  public var timestamp: Timestamp?

  /// Creates a refusal.
  public init(_ reason: APNsReason, _ detail: String, timestamp: Timestamp? = nil) {
    self.reason = reason
    self.detail = detail
    self.timestamp = timestamp
  }

  public var description: String { "\(reason.status) \(reason.rawValue): \(detail)" }
}
