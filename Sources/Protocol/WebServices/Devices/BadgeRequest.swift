import CloudKitModel

/// The body and the answer of `tokens/badge`, Petrel's addition: the number on the app's icon, from
/// which the caller's next notifications count up.
///
/// ```
/// { "badge": 0 }
/// ```
///
/// The next push with a badge counts up from this number. The server sends no push for the request
/// itself.
public struct BadgeRequest: Sendable, Hashable {
  /// The new badge, from 0 to `ServiceLimits.badge`.
  public var badge: Int

  /// Creates a request.
  public init(badge: Int) {
    self.badge = badge
  }
}

extension BadgeRequest: Message, MessageObject {
  package static let schemaName: String? = "Badge"
  package static let blank = BadgeRequest(badge: 0)

  /// Throws `BAD_REQUEST` when the badge that is read is outside of 0 to `ServiceLimits.badge`.
  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.required("badge", &badge, .range(0...ServiceLimits.badge))
    let badge = badge
    try coder.check("badge") { () throws(ModelError) in
      guard (0...ServiceLimits.badge).contains(badge) else {
        throw ModelError(
          .limitExceeded, "\(badge) must be between 0 and \(ServiceLimits.badge)")
      }
    }
  }
}
