/// The classes whose names in keyed archives are those of Apple's framework.
///
/// On Apple's systems these names are Objective-C names, such as `CKRecordID`. Foundation on Linux
/// would write the name of the module too (`CloudKit.CKRecordID`). When Foundation on Linux reads
/// an archive, it would not find a class by Apple's name. This table corrects both directions.
enum ArchivedClasses {
  /// The classes by the names that Apple's framework gives them in archives.
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

  /// Apple's names by the names that Swift prints, such as `CloudKit.CKRecordID`.
  static let namesByTypeName = Dictionary(
    uniqueKeysWithValues: byName.map { (String(reflecting: $0.value), $0.key) })

  /// Registers the classes for all unarchivers of the program, so that they find the classes by
  /// Apple's names.
  fileprivate static func register() {
    for named in byName {
      NSKeyedUnarchiver.setClass(named.value, forClassName: named.key)
    }
  }
}

#if os(Linux)
/// The function that the dynamic loader calls before the program's own code runs.
///
/// An archive can therefore be read before any other code of this module has run. The ELF section
/// `.init_array` holds pointers to such functions.
@used @section(".init_array")
private let registerAtLoad: @convention(c) () -> Void = { ArchivedClasses.register() }
#endif
