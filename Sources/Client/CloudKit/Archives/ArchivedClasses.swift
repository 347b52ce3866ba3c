/// The classes whose names in keyed archives are those of Apple's framework.
///
/// Apple's framework writes Objective-C names to archives, such as `CKRecordID`. Foundation on
/// Linux would also write the name of the module (`CloudKit.CKRecordID`), and would find no class
/// by Apple's name. With this table, archivers write Apple's names and unarchivers find the classes
/// by them.
enum ArchivedClasses {
  static let byName: [String: AnyClass] = [
    "CKAllowedSharingOptions": CKAllowedSharingOptions.self,
    "CKAsset": CKAsset.self,
    "CKContainerID": ArchivedContainerID.self,
    "CKDatabaseSubscription": CKDatabaseSubscription.self,
    "CKEncryptedRecordValueStore": EncryptedRecordValueStore.self,
    "CKFetchRecordZoneChangesConfiguration": CKFetchRecordZoneChangesConfiguration.self,
    "CKLocationSortDescriptor": CKLocationSortDescriptor.self,
    "CKNotificationID": CKNotificationID.self,
    "CKNotificationInfo": CKNotificationInfo.self,
    "CKOperationConfiguration": ArchivedOperationConfiguration.self,
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
    "CKShareAccessRequester": CKShareAccessRequester.self,
    "CKShareBlockedIdentity": CKShareBlockedIdentity.self,
    "CKShareMetadata": CKShareMetadata.self,
    "CKShareParticipant": CKShareParticipant.self,
    "CKUserIdentity": CKUserIdentity.self,
    "CKUserIdentityLookupInfo": CKUserIdentityLookupInfo.self,
    "CKSubscription": CKSubscription.self,
    "CLLocation": CLLocation.self,
    "_NSPersonNameComponentsData": ArchivedPersonNameParts.self,
  ]

  /// Apple's names. The keys are the names that Swift prints, such as `CloudKit.CKRecordID`.
  static let namesByTypeName = Dictionary(
    uniqueKeysWithValues: written.map { (String(reflecting: $0.value), $0.key) })

  /// The classes that archivers write under Apple's names.
  static let written = byName.merging(
    [ArchivedPersonName.className: ArchivedPersonName.self]) { known, _ in known }

  fileprivate static func register() {
    for named in byName {
      NSKeyedUnarchiver.setClass(named.value, forClassName: named.key)
    }
  }
}

#if os(Linux)
/// The function that the dynamic loader calls before the program's own code runs.
///
/// Therefore even the program's first statement can read an archive. The ELF section `.init_array`
/// holds pointers to such functions.
@used @section(".init_array")
private let registerAtLoad: @convention(c) () -> Void = { ArchivedClasses.register() }
#endif
