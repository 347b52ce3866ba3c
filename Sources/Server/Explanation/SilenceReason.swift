import CloudKitModel

/// The reason why a subscription did not fire on a change, or why a device got no push.
public struct SilenceReason: Sendable, Hashable {
  /// The kind of a reason. The API's answers and `petrel explain` contain its raw value.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    // The subscription.
    /// The subscription was not found in the container, and the store has no record of its
    /// deletion.
    case unknownSubscription
    /// The subscription was deleted. The store does not keep the content of a deleted subscription.
    case deletedSubscription
    /// The subscription is in the container's other environment.
    case otherEnvironment
    /// The subscription is in another database of the same environment.
    case otherDatabase
    /// The subscription was saved after the change was committed.
    case notYetSaved
    /// The subscription was edited after the change was committed. The store does not keep its
    /// earlier content.
    case changedSince

    // The subscription's conditions.
    /// The subscription is for another record type.
    case recordType
    /// The subscription is for other events, such as creations only.
    case event
    /// The subscription is for another zone.
    case zone
    /// The change is in the default zone, where zone and database subscriptions do not fire.
    case defaultZone
    /// A filter of the subscription does not match the record.
    case filter
    /// The subscriber may not read the record.
    case permission

    // The share. The change is in another user's private database.
    /// The user takes part in no share that shows the record.
    case notParticipant
    /// The user had not accepted the invitation when the change was committed.
    case notAccepted
    /// The user takes part in a share of the zone, and the record is not below its root.
    case outsideHierarchy
    /// The change waits for the dispatcher, which forwards it to participants.
    case forwardWaiting

    // The notification.
    /// The subscription should have fired. Its notification was deleted from the log, or newer ones
    /// filled the log before it was logged. Or it still waits, because the subscriber has very many. Or
    /// the subscriber could not read the record at the time of the dispatch.
    case notLogged
    /// The subscription fires once, and stays until it does. It should have fired. But no device or web
    /// courier reader was owed the notification, besides the one that made the change. Or one of the other
    /// causes of ``notLogged`` applies.
    case nothingOwed
    /// The change was too large, so its values were not kept, and the filters cannot be checked.
    case valuesNotKept

    // The device.
    /// The user's part in the shares of the zone ended before the push was sent.
    case removedSince
    /// The device made the change.
    case originDevice
    /// In this container and environment, the subscriber had no device that gets pushes.
    case noDevice
    /// The device was registered after the notification was logged.
    case registeredLater
    /// The device was removed or had expired before the notification was logged.
    case deviceGone
    /// The device's push channel was not configured, so the server could not push to the device.
    case notSetUp
    /// Too many pushes of the subscriber, or of the whole store, were waiting.
    case tooManyWaiting
    /// The device is a reader of the web courier. It fetches notifications from the log and gets no
    /// pushes.
    case courier
  }

  /// The kind of the reason.
  public var code: Code
  /// The reason as a sentence for people.
  public var text: String
  /// The filter that did not match; nil for other kinds.
  public var filter: Filter?
  /// The value that the filter compared; nil if the record had no such value, and for other kinds.
  public var value: RecordValue?
  /// The token of the device; nil for a reason that concerns the subscription.
  public var device: String?

  /// Creates a reason.
  public init(
    _ code: Code, _ text: String, filter: Filter? = nil, value: RecordValue? = nil,
    device: String? = nil
  ) {
    self.code = code
    self.text = text
    self.filter = filter
    self.value = value
    self.device = device
  }
}
