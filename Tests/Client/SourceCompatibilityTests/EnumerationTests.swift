// Apps may do so, until the module has the conformances itself.
// swift-format-ignore-file: AvoidRetroactiveConformances

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

  @Test("The sync engine's enumerations for Objective-C have Apple's numbers")
  func syncEngineEnumerations() {
    #expect(CKSyncEngineEventType.didSendChanges.rawValue == 11)
    #expect(CKSyncEngineEventType(rawValue: 8) == .didFetchRecordZoneChanges)
    #expect(CKSyncEngineAccountChangeType.switchAccounts.rawValue == 2)
    #expect(CKSyncEngineZoneDeletionReason.encryptedDataReset.rawValue == 2)
    #expect(CKSyncEngineZoneDeletionReason.purged.rawValue == 1)
    #expect(CKSyncEngineSyncReason.manual.rawValue == 1)
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

  @Test("Apps give the enumerations and the error texts and lists of cases of their own")
  func conformancesOfApps() {
    #expect("\(CKAccountStatus.available)" == "ready")
    #expect(CKAccountStatus.noAccount.description == "not ready")
    #expect("\(CKError.Code.zoneBusy)" == "the code 23")
    #expect(CKDatabase.Scope.allCases.map { "\($0)" } == ["the scope 1", "the scope 2"])
  }

  @Test("Without a text of an app, a value prints its number")
  func texts() {
    #expect("\(CKShare.ParticipantRole.publicUser)".hasSuffix("(rawValue: 4)"))
    #expect("\(CKSyncEngineEventType(rawValue: 99)!)".hasSuffix("(rawValue: 99)"))
  }
}

extension CKAccountStatus: @retroactive CustomStringConvertible {
  public var description: String { self == .available ? "ready" : "not ready" }
}

extension CKError.Code: @retroactive CustomStringConvertible {
  public var description: String { "the code \(rawValue)" }
}

extension CKDatabase.Scope: @retroactive CustomStringConvertible, @retroactive CaseIterable {
  public static var allCases: [CKDatabase.Scope] { [.public, .private] }
  public var description: String { "the scope \(rawValue)" }
}
