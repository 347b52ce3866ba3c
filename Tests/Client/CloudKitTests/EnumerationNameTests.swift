import Testing

@testable import CloudKit

struct EnumerationNameTests {
  @Test("The module's own texts name a value by its case; without one, by its number")
  func texts() {
    #expect("\(CKError.Code.zoneBusy)" == "zoneBusy")
    #expect("\(CKAccountStatus.available)" == "available")
    #expect("\(CKDatabase.Scope.private)" == "private")
    #expect("\(CKQueryNotification.Reason.recordDeleted)" == "recordDeleted")
    #expect("\(CKNotification.NotificationType.database)" == "database")
    #expect("\(CKSubscription.SubscriptionType.recordZone)" == "recordZone")
    #expect("\(CKShare.ParticipantRole.publicUser)" == "publicUser")
    #expect("\(CKShare.ParticipantPermission.readWrite)" == "readWrite")
    #expect("\(CKShare.ParticipantAcceptanceStatus.removed)" == "removed")
    #expect("\(CKRecord.ReferenceAction.deleteSelf)" == "deleteSelf")
    #expect("\(CKModifyRecordsOperation.RecordSavePolicy.allKeys)" == "allKeys")
    #expect("\(CKOperationGroup.TransferSize.hundredsOfGigabytes)" == "hundredsOfGigabytes")
    #expect("\(CKRecordZone.EncryptionScope.perZone)" == "perZone")
    #expect("\(CKSyncEngineEventType.didFetchRecordZoneChanges)" == "didFetchRecordZoneChanges")
    #expect("\(CKSyncEngineZoneDeletionReason.encryptedDataReset)" == "encryptedDataReset")
    #expect("\(CKSyncEngineSyncReason.manual)" == "manual")
    #expect("\(CKError.Code(rawValue: 99)!)" == "CKErrorCode(rawValue: 99)")
    #expect("\(CKAccountStatus(rawValue: .min)!)" == "CKAccountStatus(rawValue: \(Int.min))")
  }
}
