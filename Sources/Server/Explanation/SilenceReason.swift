import CloudKitModel

/// Why a subscription did not fire on a change, or a notification was not pushed to a device.
public struct SilenceReason: Sendable, Hashable {
  public enum Code: String, Sendable, Hashable, CaseIterable {
    // The subscription.
    /// There is no such subscription, and none was deleted.
    case unknownSubscription
    /// It was deleted before the change, or fired once and was deleted by that.
    case deletedSubscription
    /// It is in the container's other environment.
    case otherEnvironment
    /// It is in another database of the same environment.
    case otherDatabase
    /// It was saved after the change was committed.
    case notYetSaved
    /// It was changed after the change was committed; what it said then is not known.
    case changedSince

    // What it asks for.
    case recordType
    case event
    case zone
    /// Zone and database subscriptions do not fire in the default zone.
    case defaultZone
    case filter
    /// The subscriber may not read the record.
    case permission

    // The notification.
    /// It was logged, and trimmed since; or who may read the record has changed.
    case notLogged
    /// The change's values were too large to be kept.
    case valuesNotKept

    // The device.
    /// The device made the change.
    case originDevice
    /// The subscriber has no device that is pushed to.
    case noDevice
    /// The device was registered after the notification was logged.
    case registeredLater
    /// The device is gone.
    case deviceGone
    /// The server had no way to the device: its channel was not set up.
    case notSetUp
    /// Too many pushes waited already, for the subscriber or on the server.
    case tooManyWaiting
    /// Readers of the web courier come for what is logged; nothing is pushed to them.
    case courier
  }

  public var code: Code
  /// For people.
  public var text: String
  /// The filter that said no.
  public var filter: Filter?
  /// What the filter saw; nil when the field was absent.
  public var value: RecordValue?
  /// The token of the device.
  public var device: String?

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
