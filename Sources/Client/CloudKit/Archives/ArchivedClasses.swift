/// The classes that keyed archives name as Apple's framework names them.
///
/// There the names are those of Objective-C. Foundation on Linux would write the module's name with
/// them (`CloudKit.CKRecordID`), and would not find a class by Apple's name.
enum ArchivedClasses {
  static let byName: [String: AnyClass] = [
    "CKAsset": CKAsset.self,
    "CKDatabaseSubscription": CKDatabaseSubscription.self,
    "CKEncryptedRecordValueStore": EncryptedRecordValueStore.self,
    "CKFetchRecordZoneChangesConfiguration": CKFetchRecordZoneChangesConfiguration.self,
    "CKLocationSortDescriptor": CKLocationSortDescriptor.self,
    "CKNotificationID": CKNotificationID.self,
    "CKNotificationInfo": CKNotificationInfo.self,
    "CKOperationGroup": CKOperationGroup.self,
    "CKQuery": CKQuery.self,
    "CKQueryCursor": CKQueryCursor.self,
    "CKQuerySubscription": CKQuerySubscription.self,
    "CKRecord": CKRecord.self,
    "CKRecordID": CKRecordID.self,
    "CKRecordValueStore": RecordValueStore.self,
    "CKRecordZone": CKRecordZone.self,
    "CKRecordZoneID": CKRecordZoneID.self,
    "CKRecordZoneSubscription": CKRecordZoneSubscription.self,
    "CKReference": CKReference.self,
    "CKServerChangeToken": CKServerChangeToken.self,
    "CKShare": CKShare.self,
    "CKShareMetadata": CKShareMetadata.self,
    "CKShareParticipant": CKShareParticipant.self,
    "CKUserIdentity": CKUserIdentity.self,
    "CKUserIdentityLookupInfo": CKUserIdentityLookupInfo.self,
    "CKSubscription": CKSubscription.self,
    "CLLocation": CLLocation.self,
  ]

  /// Apple's names by the ones that Swift prints.
  static let namesByTypeName = Dictionary(
    uniqueKeysWithValues: byName.map { (String(reflecting: $0.value), $0.key) })

  /// Lets every unarchiver of the program find the classes by Apple's names.
  fileprivate static func register() {
    for named in byName {
      NSKeyedUnarchiver.setClass(named.value, forClassName: named.key)
    }
  }
}

#if os(Linux)
/// Run by the loader before the program's own code: nothing else of the module need be called
/// before an archive can be read.
@used @section(".init_array")
private let registerAtLoad: @convention(c) () -> Void = { ArchivedClasses.register() }
#endif
