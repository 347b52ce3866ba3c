import CloudKitModel
import Foundation
import JSONCoding

/// The body of `tokens/badge`, and its answer: the badge that all the caller's devices count from.
/// Petrel's own.
public struct BadgeRequest: Sendable, Hashable {
  public var badge: Int

  public init(badge: Int) {
    self.badge = badge
  }

  public init(parsing body: Data) throws(ServiceError) {
    let reader = try MessageReader(
      parsing: body, context: MessageContext(ownerNaming: .explicit))
    badge = Int(try reader.member("badge").int())
    guard badge >= 0, badge <= ServiceLimits.badge else {
      throw ServiceError(
        .badRequest, "badge: \(badge) must be between 0 and \(ServiceLimits.badge)")
    }
  }

  public var body: Data {
    var writer = JSONWriter()
    writer.object { $0.member("badge", badge) }
    return writer.data
  }
}
