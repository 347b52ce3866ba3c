internal import CloudKitModel
internal import WebServices

/// Sets the app's badge for all of the user's devices: the next push of a subscription with
/// `shouldBadge` counts from it.
///
/// The server counts badges for each device; this sets them all. It sends no push by itself: what a
/// device shows changes with its next push.
///
/// Source: Apple, "CKModifyBadgeOperation" (macOS 10.10 to 10.13).
@available(*, deprecated, message: "Apple no longer supports it")
open class CKModifyBadgeOperation: CKOperation, @unchecked Sendable {
  /// Must not be negative; 0 begins anew.
  open var badgeValue = 0

  open var modifyBadgeCompletionBlock: (((any Error)?) -> Void)?

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
