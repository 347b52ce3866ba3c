/// The operation of a request to the cloud. CloudKit's classes send such requests. The comments of
/// the constants name the class or the method, or say what the request does.
///
/// The raw value is the end of the request's path, as in CloudKit Web Services, such as
/// `records/modify`. The paths of uploads and downloads of assets have no such end, so their raw
/// values are this module's own.
public struct TestOperation: RawRepresentable, Sendable, Hashable {
  /// The end of the request's path, such as `records/modify`.
  public let rawValue: String

  /// Creates an operation from the end of a path. The operation needs no constant here.
  public init(rawValue: String) {
    self.rawValue = rawValue
  }

  /// `CKModifyRecordsOperation`, and other calls that save or delete records.
  public static let modifyRecords = TestOperation(rawValue: "records/modify")
  /// `CKFetchRecordsOperation`, and other calls that fetch records by their IDs.
  public static let fetchRecords = TestOperation(rawValue: "records/lookup")
  /// `CKQueryOperation`.
  public static let query = TestOperation(rawValue: "records/query")
  /// `CKModifyRecordZonesOperation`.
  public static let modifyRecordZones = TestOperation(rawValue: "zones/modify")
  /// `CKFetchRecordZonesOperation` with zone IDs.
  public static let fetchRecordZones = TestOperation(rawValue: "zones/lookup")
  /// `CKFetchRecordZonesOperation.fetchAllRecordZonesOperation()`.
  public static let fetchAllRecordZones = TestOperation(rawValue: "zones/list")
  /// `CKModifySubscriptionsOperation`.
  public static let modifySubscriptions = TestOperation(rawValue: "subscriptions/modify")
  /// `CKFetchSubscriptionsOperation` with subscription IDs.
  public static let fetchSubscriptions = TestOperation(rawValue: "subscriptions/lookup")
  /// `CKFetchSubscriptionsOperation.fetchAllSubscriptionsOperation()`.
  public static let fetchAllSubscriptions = TestOperation(rawValue: "subscriptions/list")
  /// The first request of a save of records with assets. The server's answer has the URLs for the
  /// uploads.
  public static let prepareAssetUpload = TestOperation(rawValue: "assets/upload")
  /// The upload of an asset's bytes.
  public static let uploadAsset = TestOperation(rawValue: "assets/POST")
  /// The download of an asset's bytes.
  public static let downloadAsset = TestOperation(rawValue: "assets/GET")
  /// `CKFetchDatabaseChangesOperation`.
  public static let fetchDatabaseChanges = TestOperation(rawValue: "changes/database")
  /// `CKFetchRecordZoneChangesOperation`.
  public static let fetchRecordZoneChanges = TestOperation(rawValue: "changes/zone")
  /// `CKFetchRecordChangesOperation`, which is deprecated.
  public static let fetchRecordChanges = TestOperation(rawValue: "records/changes")
  /// `CKContainer.userRecordID()` and `accountStatus()`.
  public static let fetchUser = TestOperation(rawValue: "users/caller")
  /// `CKContainer.registerForRemoteNotifications(deviceToken:)`.
  public static let registerDevice = TestOperation(rawValue: "tokens/register")
  /// `CKContainer.unregisterForRemoteNotifications()`, and the end of the device's registrations after
  /// `setWebAuthToken(_:)`.
  public static let unregisterDevice = TestOperation(rawValue: "tokens/unregister")
  /// `CKFetchNotificationChangesOperation`.
  public static let fetchNotificationChanges = TestOperation(rawValue: "notifications/changes")
  /// `CKMarkNotificationsReadOperation`.
  public static let markNotificationsRead = TestOperation(rawValue: "notifications/markRead")
  /// `CKModifyBadgeOperation`.
  public static let modifyBadge = TestOperation(rawValue: "tokens/badge")
  /// The long poll of `CKContainer.remoteNotifications()`: a request that the server answers when
  /// there is a notification, or after some time.
  public static let pollNotifications = TestOperation(rawValue: "aps")

  /// Whether the client sends requests of this operation by itself, at any moment. Only faults that
  /// name the operation apply to such requests. Other faults are meant for the requests that a test
  /// causes.
  var isInBackground: Bool {
    self == .pollNotifications || (rawValue.hasPrefix("tokens/") && self != .modifyBadge)
  }
}
