/// What a request to the cloud asks for: the operations of CloudKit Web Services that the classes of
/// CloudKit use.
///
/// The raw value is the end of the request's path, such as `records/modify`. The bytes of assets have
/// URLs without a name; the raw values for them are Petrel's own.
public struct TestOperation: RawRepresentable, Sendable, Hashable {
  public let rawValue: String

  public init(rawValue: String) {
    self.rawValue = rawValue
  }

  /// `CKModifyRecordsOperation` and what saves or deletes records.
  public static let modifyRecords = TestOperation(rawValue: "records/modify")
  /// `CKFetchRecordsOperation` and what fetches records by their IDs.
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
  /// What a save of records with assets begins with: the server says where the bytes go.
  public static let prepareAssetUpload = TestOperation(rawValue: "assets/upload")
  /// The bytes of an asset, on their way to the cloud.
  public static let uploadAsset = TestOperation(rawValue: "assets/POST")
  /// The bytes of an asset, on their way from the cloud.
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

  /// Whether only faults that name the operation concern it: these requests come at any moment, and
  /// would take the faults that are meant for others.
  var isInBackground: Bool {
    self == .pollNotifications || (rawValue.hasPrefix("tokens/") && self != .modifyBadge)
  }
}
