import CloudKitModel

/// The body of `tokens/badge`, and its answer: the badge that all the caller's devices count from.
/// Petrel's own.
public struct BadgeRequest: Sendable, Hashable {
  public var badge: Int

  public init(badge: Int) {
    self.badge = badge
  }
}

extension BadgeRequest: Message, MessageObject {
  package static let schemaName: String? = "Badge"
  package static let blank = BadgeRequest(badge: 0)

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
