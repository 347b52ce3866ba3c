import CloudKitModel

/// The refusal of a request, with the reason and the details.
public struct APNsRejection: Error, Sendable, Hashable, CustomStringConvertible {
  /// The reason, one of those that Apple documents. The sender gets it in the answer.
  public var reason: APNsReason
  /// The description of the mistake, with the refused value. It is for a person to read and is not
  /// part of the answer.
  public var detail: String
  /// The time at which the device token became invalid; nil for reasons with a status other than
  /// 410.
  public var timestamp: Timestamp?

  /// Creates a refusal.
  public init(_ reason: APNsReason, _ detail: String, timestamp: Timestamp? = nil) {
    self.reason = reason
    self.detail = detail
    self.timestamp = timestamp
  }

  public var description: String { "\(reason.status) \(reason.rawValue): \(detail)" }
}
