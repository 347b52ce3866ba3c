import CloudKit
import Testing

struct EnumerationTests {
  private struct Answer: Error {
    let code: Int
  }

  /// The value of a number, as apps make it: from a number of a log, an archive or a newer server.
  private func value<Enumeration: RawRepresentable & Hashable & Sendable & BitwiseCopyable>(
    _ type: Enumeration.Type, _ number: Enumeration.RawValue
  ) throws -> Enumeration where Enumeration.RawValue: BinaryInteger {
    let value = try #require(Enumeration(rawValue: number), "\(type)")
    #expect(value.rawValue == number && value == value)
    return value
  }

  @Test("Every number is a value of an enumeration, also one that has no name yet")
  func unknownNumbers() throws {
    for number in [-1, 0, 99, Int.max] {
      _ = try value(CKError.Code.self, number)
      _ = try value(CKAccountStatus.self, number)
      _ = try value(CKDatabase.Scope.self, number)
      _ = try value(CKSubscription.SubscriptionType.self, number)
      _ = try value(CKNotification.NotificationType.self, number)
      _ = try value(CKQueryNotification.Reason.self, number)
      _ = try value(CKRecordZone.EncryptionScope.self, number)
      _ = try value(CKModifyRecordsOperation.RecordSavePolicy.self, number)
      _ = try value(CKOperationGroup.TransferSize.self, number)
      _ = try value(CKShare.ParticipantAcceptanceStatus.self, number)
      _ = try value(CKShare.ParticipantPermission.self, number)
      _ = try value(CKShare.ParticipantRole.self, number)
      _ = try value(CKSyncEngineEventType.self, number)
      _ = try value(CKSyncEngineAccountChangeType.self, number)
      _ = try value(CKSyncEngineZoneDeletionReason.self, number)
      _ = try value(CKSyncEngineSyncReason.self, number)
      _ = try value(CKSyncEnginePendingRecordZoneChangeType.self, number)
      _ = try value(CKSyncEnginePendingDatabaseChangeType.self, number)
    }
    _ = try value(CKRecord.ReferenceAction.self, UInt.max)
  }

  @Test(
    "The sync engine's enumerations for Objective-C have Apple's numbers and the names of their cases"
  )
  func syncEngineEnumerations() {
    #expect(CKSyncEngineEventType.didSendChanges.rawValue == 11)
    #expect("\(CKSyncEngineEventType.fetchedDatabaseChanges)" == "fetchedDatabaseChanges")
    #expect("\(CKSyncEngineEventType(rawValue: 8)!)" == "didFetchRecordZoneChanges")
    #expect(CKSyncEngineAccountChangeType.switchAccounts.rawValue == 2)
    #expect("\(CKSyncEngineZoneDeletionReason.encryptedDataReset)" == "encryptedDataReset")
    #expect(CKSyncEngineZoneDeletionReason.purged.rawValue == 1)
    #expect("\(CKSyncEngineSyncReason.manual)" == "manual")
    #expect(CKSyncEnginePendingRecordZoneChangeType.deleteRecord.rawValue == 1)
    #expect(CKSyncEnginePendingDatabaseChangeType.saveZone.rawValue == 0)
  }

  @available(*, deprecated)
  @Test("The enumerations that Apple gave up are open too")
  func formerEnumerations() throws {
    _ = try value(CKShare.ParticipantType.self, 2)
    _ = try value(CKContainer.ApplicationPermissionStatus.self, 4)
  }

  @Test("A switch takes numbers without a name as unknown")
  func unknownDefault() throws {
    func passes(_ code: CKError.Code) -> Bool? {
      switch code {
      case .networkFailure, .networkUnavailable, .zoneBusy: true
      case .internalError, .partialFailure, .badContainer, .serviceUnavailable,
        .requestRateLimited, .missingEntitlement, .notAuthenticated, .permissionFailure,
        .unknownItem, .invalidArguments, .serverRecordChanged, .serverRejectedRequest,
        .assetFileNotFound, .assetFileModified, .incompatibleVersion, .constraintViolation,
        .operationCancelled, .changeTokenExpired, .batchRequestFailed, .badDatabase,
        .quotaExceeded, .zoneNotFound, .limitExceeded, .userDeletedZone, .tooManyParticipants,
        .alreadyShared, .referenceViolation, .managedAccountRestricted,
        .participantMayNeedVerification, .serverResponseLost, .assetNotAvailable,
        .accountTemporarilyUnavailable, .participantAlreadyInvited, .resultsTruncated:
        false
      @unknown default: nil
      }
    }
    #expect(passes(.zoneBusy) == true && passes(.quotaExceeded) == false)
    #expect(passes(CKError.Code(rawValue: 38)!) == nil)
  }

  @Test("An error has a code that has no name yet")
  func unknownCode() throws {
    let error = CKError(CKError.Code(rawValue: Answer(code: 114).code)!)
    #expect(error.code.rawValue == 114 && error.errorCode == 114)
    #expect((error as NSError).code == 114 && error.code != .internalError)
  }

  @Test("The text of a value is its name; without one, its number")
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
    #expect("\(CKError.Code(rawValue: 99)!)" == "CKErrorCode(rawValue: 99)")
    #expect("\(CKAccountStatus(rawValue: .min)!)" == "CKAccountStatus(rawValue: \(Int.min))")
  }
}
