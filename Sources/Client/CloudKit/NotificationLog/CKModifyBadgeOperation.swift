internal import CloudKitModel
internal import WebServices

/// An operation that sets the app's badge for all devices of the user.
///
/// The server counts one badge for each device, and this operation sets all these badges. The next
/// push of a subscription with `shouldBadge` counts from the new value. The operation sends no
/// push, so a device shows the new badge only with its next push.
///
/// Source: Apple, "CKModifyBadgeOperation" (macOS 10.10 to 10.13).
@available(*, deprecated, message: "Apple no longer supports it")
open class CKModifyBadgeOperation: CKOperation, @unchecked Sendable {
  /// The new badge, from 0 to 2,147,483,647. A negative number fails with `invalidArguments`.
  open var badgeValue = 0

  /// Called last; the error is `nil` when the server has set the badge.
  open var modifyBadgeCompletionBlock: (((any Error)?) -> Void)?

  /// Creates an operation that sets the badge.
  public convenience init(badgeValue: Int) {
    self.init()
    self.badgeValue = badgeValue
  }

  override func firstCall() throws(CKError) -> ServiceCall? {
    guard badgeValue >= 0 else {
      throw CKError(.invalidArguments, "badgeValue \(badgeValue) must not be negative")
    }
    return ServiceCall(
      operation: "tokens/badge", scope: nil, body: BadgeRequest(badge: badgeValue).body)
  }

  override func conclude(_ error: CKError?) {
    modifyBadgeCompletionBlock?(error)
  }

  override func releaseBlocks() {
    super.releaseBlocks()
    modifyBadgeCompletionBlock = nil
  }
}
