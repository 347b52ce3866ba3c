import CloudKit
import Foundation
import Testing

struct ErrorTests {
  @Test("Errors are caught by code, cast, and seen as NSError")
  func catching() {
    do {
      throw CKError(.unknownItem)
    } catch CKError.unknownItem {
    } catch {
      Issue.record(error)
    }
    let error: any Error = CKError(.operationCancelled, userInfo: ["a": 1])
    if case CKError.operationCancelled = error {} else { Issue.record("not matched") }
    #expect((error as? CKError)?.code == .operationCancelled)
    #expect((error as? CKError)?.errorUserInfo["a"] as? Int == 1)
    #expect((error as NSError).code == CKError.Code.operationCancelled.rawValue)
    #expect((error as NSError).domain == CKErrorDomain && CKError.errorDomain == "CKErrorDomain")
    #expect((error as? CKError)?.errorCode == 20)
    #expect((error as? CKError)?.userInfo["a"] as? Int == 1)
    #expect(!error.localizedDescription.isEmpty)
    #expect(CKError(.zoneBusy) == CKError(.zoneBusy) && CKError(.zoneBusy) != CKError(.badDatabase))
    #expect(Set([CKError(.zoneBusy), CKError(.zoneBusy)]).count == 1)
    let wrapped = CKError(_nsError: NSError(domain: CKErrorDomain, code: 26))
    #expect(wrapped.code == .zoneNotFound)
  }

  /// The cast of `catch`, `as?` and `switch`, which the compiler takes for certain if it sees the types.
  private func cast<Target>(_ value: Any, to type: Target.Type) -> Target? { value as? Target }

  @Test("Errors are NSErrors by each cast")
  func foundationErrors() throws {
    func fail() throws { throw CKError(.zoneNotFound, userInfo: ["a": 1]) }
    func code() -> Int? {
      do {
        try fail()
        return nil
      } catch let error as NSError {
        return error.userInfo["a"] as? Int == 1 ? error.code : nil
      }
    }
    #expect(code() == 26)
    let error: any Error = CKError(.zoneNotFound)
    #expect(cast(error, to: NSError.self)?.domain == CKErrorDomain)
    if let error = error as NSError?, error.code == CKError.Code.zoneNotFound.rawValue {
      #expect(error.localizedDescription == "\((error as any Error).localizedDescription)")
    } else {
      Issue.record("not cast")
    }
    let recordID = CKRecord.ID(recordName: "a")
    let partial = CKError(
      .partialFailure,
      userInfo: [
        CKPartialErrorsByItemIDKey: [recordID: CKError(.unknownItem)] as [AnyHashable: any Error]
      ])
    let items = (partial as NSError).userInfo[CKPartialErrorsByItemIDKey] as? [CKRecord.ID: NSError]
    #expect(items?[recordID]?.code == 11)
  }

  @Test("An NSError of CloudKit's domain is an error of CloudKit, another one is not")
  func errorsOfTheDomain() {
    func caught(_ error: NSError) -> CKError.Code? {
      do {
        throw error
      } catch let error as CKError {
        return error.code
      } catch {
        return nil
      }
    }
    let error = NSError(domain: CKErrorDomain, code: 23, userInfo: [CKErrorRetryAfterKey: 2])
    #expect(caught(error) == .zoneBusy)
    #expect(cast(error, to: CKError.self)?.retryAfterSeconds == 2)
    #expect(caught(NSError(domain: "other", code: 23)) == nil)
    #expect(caught(URLError(.timedOut) as NSError) == nil)
  }

  @Test("What an error tells besides its code")
  func members() {
    let record = CKRecord(recordType: "Note")
    let conflict = CKError(
      .serverRecordChanged,
      userInfo: [
        CKRecordChangedErrorServerRecordKey: record, CKRecordChangedErrorClientRecordKey: record,
        CKRecordChangedErrorAncestorRecordKey: record,
      ])
    #expect(conflict.serverRecord === record && conflict.clientRecord === record)
    #expect(conflict.ancestorRecord === record && conflict.retryAfterSeconds == nil)
    let busy = CKError(.zoneBusy, userInfo: [CKErrorRetryAfterKey: 2.5])
    #expect(busy.retryAfterSeconds == 2.5)
    let partial = CKError(
      .partialFailure,
      userInfo: [
        CKPartialErrorsByItemIDKey: [record.recordID: CKError(.unknownItem)]
          as [AnyHashable: any Error]
      ])
    let item = partial.partialErrorsByItemID?[record.recordID] as? CKError
    #expect(item?.code == .unknownItem)
    let reset = CKError(
      .zoneNotFound, userInfo: [CKErrorUserDidResetEncryptedDataKey: true])
    #expect(reset.userInfo[CKErrorUserDidResetEncryptedDataKey] as? Bool == true)
  }

  @Test("The constants have Apple's values")
  func constants() {
    #expect(CKPartialErrorsByItemIDKey == "CKPartialErrors")
    #expect(CKRecordChangedErrorAncestorRecordKey == "AncestorRecord")
    #expect(CKRecordChangedErrorServerRecordKey == "ServerRecord")
    #expect(CKRecordChangedErrorClientRecordKey == "ClientRecord")
    #expect(CKErrorRetryAfterKey == "CKRetryAfter")
    #expect(CKErrorUserDidResetEncryptedDataKey == "CKUserDidResetEncryptedData")
  }

  @available(*, deprecated)
  @Test("Every code has Apple's number, as a case and as a member of the error")
  func codes() {
    let codes: [CKError.Code] = [
      .internalError, .partialFailure, .networkUnavailable, .networkFailure, .badContainer,
      .serviceUnavailable, .requestRateLimited, .missingEntitlement, .notAuthenticated,
      .permissionFailure, .unknownItem, .invalidArguments, .resultsTruncated,
      .serverRecordChanged, .serverRejectedRequest, .assetFileNotFound, .assetFileModified,
      .incompatibleVersion, .constraintViolation, .operationCancelled, .changeTokenExpired,
      .batchRequestFailed, .zoneBusy, .badDatabase, .quotaExceeded, .zoneNotFound, .limitExceeded,
      .userDeletedZone, .tooManyParticipants, .alreadyShared, .referenceViolation,
      .managedAccountRestricted, .participantMayNeedVerification, .serverResponseLost,
      .assetNotAvailable, .accountTemporarilyUnavailable, .participantAlreadyInvited,
    ]
    #expect(codes.map(\.rawValue) == Array(1...37))
    let members: [CKError.Code] = [
      CKError.internalError, CKError.partialFailure, CKError.networkUnavailable,
      CKError.networkFailure, CKError.badContainer, CKError.serviceUnavailable,
      CKError.requestRateLimited, CKError.missingEntitlement, CKError.notAuthenticated,
      CKError.permissionFailure, CKError.unknownItem, CKError.invalidArguments,
      CKError.resultsTruncated, CKError.serverRecordChanged, CKError.serverRejectedRequest,
      CKError.assetFileNotFound, CKError.assetFileModified, CKError.incompatibleVersion,
      CKError.constraintViolation, CKError.operationCancelled, CKError.changeTokenExpired,
      CKError.batchRequestFailed, CKError.zoneBusy, CKError.badDatabase, CKError.quotaExceeded,
      CKError.zoneNotFound, CKError.limitExceeded, CKError.userDeletedZone,
      CKError.tooManyParticipants, CKError.alreadyShared, CKError.referenceViolation,
      CKError.managedAccountRestricted, CKError.participantMayNeedVerification,
      CKError.serverResponseLost, CKError.assetNotAvailable,
      CKError.accountTemporarilyUnavailable, CKError.participantAlreadyInvited,
    ]
    #expect(members == codes)
  }

  @Test("A switch over what an app handles needs no other cases than Apple's")
  func exhaustiveSwitches() {
    func name(_ status: CKAccountStatus) -> String {
      switch status {
      case .couldNotDetermine: "unknown"
      case .available: "available"
      case .restricted: "restricted"
      case .noAccount: "none"
      case .temporarilyUnavailable: "later"
      @unknown default: "new"
      }
    }
    func name(_ scope: CKDatabase.Scope) -> String {
      switch scope {
      case .public: "public"
      case .private: "private"
      case .shared: "shared"
      @unknown default: "new"
      }
    }
    let statuses = [0, 1, 2, 3, 4].compactMap(CKAccountStatus.init(rawValue:)).map { name($0) }
    #expect(statuses == ["unknown", "available", "restricted", "none", "later"])
    #expect(name(CKDatabase.Scope.shared) == "shared")
  }
}
