import CloudKit
import Foundation
import Testing

struct OldNameTests {
  @available(*, deprecated)
  @Test("They mean the types of today")
  func types() {
    let recordID: CKRecordID = CKRecord.ID(recordName: "r")
    let zoneID: CKRecordZoneID = CKRecordZone.ID(zoneName: "z")
    let reference: CKReference = CKRecord.Reference(recordID: recordID, action: .none)
    let info: CKNotificationInfo = CKSubscription.NotificationInfo()
    let cursor: CKQueryCursor? = nil
    let notificationID: CKNotificationID? = nil
    let scope: CKDatabaseScope = .shared
    let options: CKQuerySubscriptionOptions = [.firesOnce]
    let kind: CKSubscriptionType = .query
    let reason: CKQueryNotificationReason = .recordCreated
    let type: CKNotificationType = .database
    let action: CKReferenceAction = CKRecord_Reference_Action.deleteSelf
    let capabilities: CKRecordZoneCapabilities = [.atomic]
    let policy: CKRecordSavePolicy = .allKeys
    let size: CKOperationGroupTransferSize = .megabytes
    let code: CKErrorCode = .zoneBusy
    #expect(recordID.zoneID == CKRecordZone.ID.default && zoneID.zoneName == "z")
    #expect(reference.recordID == recordID && info.title == nil)
    #expect(cursor == nil && notificationID == nil && scope.rawValue == 3)
    #expect(options.rawValue == 8 && kind.rawValue == 1 && reason.rawValue == 1)
    #expect(type.rawValue == 4 && action.rawValue == 1 && capabilities.rawValue == 2)
    #expect(policy.rawValue == 2 && size.rawValue == 2 && code.rawValue == 23)
    #expect(CKRecordZoneDefaultName == "_defaultZone" && CKRecordTypeUserRecord == "Users")
    #expect(CKOwnerDefaultName == CKCurrentUserDefaultName)
    #expect(CKRecordTypeShare == "cloudkit.share")
    #expect(CKRecordParentKey == "___parent" && CKRecordShareKey == "___share")
    let changes: CKFetchRecordZoneChangesOptions = .init(resultsLimit: 3)
    let fetch = CKFetchRecordZoneChangesOperation(
      recordZoneIDs: [zoneID], optionsByRecordZoneID: [zoneID: changes])
    #expect(fetch.configurationsByRecordZoneID?[zoneID]?.resultsLimit == 3)
    #expect(CKQueryOperationMaximumResults == CKQueryOperation.maximumResults)
    #expect(!fetch.usesBackgroundSession)
    fetch.qualityOfService = .background
    #expect(fetch.usesBackgroundSession)
    fetch.usesBackgroundSession = false
    #expect(!fetch.usesBackgroundSession)
    fetch.activityStart()
    fetch.optionsByRecordZoneID = nil
    #expect(fetch.configurationsByRecordZoneID == nil)
    let whole = CKFetchRecordZoneChangesOperation(
      recordZoneIDs: [zoneID], optionsByRecordZoneID: nil)
    #expect(whole.recordZoneIDs == [zoneID] && whole.configurationsByRecordZoneID == nil)
  }
}
