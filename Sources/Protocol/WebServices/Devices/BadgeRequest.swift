import CloudKitModel

/// The body and the answer of `tokens/badge`: the badge from which the caller's devices count. The
/// operation is Petrel's addition.
///
/// ```
/// { "badge": 0 }
/// ```
///
/// The next push that asks for a badge counts up from this number. The server sends no push for the
/// change itself.
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

  /// Codes the badge.
  ///
  /// A badge outside of 0 to `ServiceLimits.badge` is `BAD_REQUEST`.
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
