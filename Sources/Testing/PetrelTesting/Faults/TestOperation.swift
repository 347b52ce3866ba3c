/// The operation of a request to the cloud: one of the operations of CloudKit Web Services that
/// CloudKit's classes use.
///
/// The raw value is the end of the request's path, such as `records/modify`. The bytes of assets
/// have URLs without a name; the raw values for them are Petrel's own.
public struct TestOperation: RawRepresentable, Sendable, Hashable {
  /// The end of the request's path.
  public let rawValue: String

  /// Names an operation, also one without a constant here.
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
  /// The first request of a save of records with assets. The server answers it with the URLs for
  /// the uploads.
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
  /// `CKFetchNotificationChangesOperation`.
  public static let fetchNotificationChanges = TestOperation(rawValue: "notifications/changes")
  /// `CKMarkNotificationsReadOperation`.
  public static let markNotificationsRead = TestOperation(rawValue: "notifications/markRead")
  /// `CKModifyBadgeOperation`.
  public static let modifyBadge = TestOperation(rawValue: "tokens/badge")
  /// The long poll behind `CKContainer.remoteNotifications()`.
  public static let pollNotifications = TestOperation(rawValue: "aps")

  /// Whether the client sends such requests at any moment by itself. Only faults that name the
  /// operation apply to them. Otherwise they would use up faults that a test means for other
  /// requests.
  var isInBackground: Bool {
    self == .pollNotifications || (rawValue.hasPrefix("tokens/") && self != .modifyBadge)
  }
}
