import CloudKit
import CloudKitModel
import Testing

struct ErrorTests {
  private func fail(_ error: CKError) throws { throw error }

  @Test("An error is caught by its code")
  func catching() {
    var caught = ""
    do { try fail(CKError(.unknownItem)) } catch CKError.networkFailure {
      caught = "networkFailure"
    } catch CKError.unknownItem { caught = "unknownItem" } catch {}
    #expect(caught == "unknownItem")
    do { try fail(CKError(.zoneBusy)) } catch let error as CKError where error.code == .zoneBusy {
      caught = "zoneBusy"
    } catch {}
    #expect(caught == "zoneBusy")
  }

  @Test("An error is told from others by patterns and casts")
  func patterns() {
    let error: any Error = CKError(.operationCancelled)
    if case CKError.operationCancelled = error {} else { Issue.record("the pattern fails") }
    switch error {
    case CKError.operationCancelled: break
    default: Issue.record("the case fails")
    }
    switch (error as? CKError)?.code {
    case .operationCancelled: break
    default: Issue.record("the code fails")
    }
    #expect((error as NSError).code == CKError.Code.operationCancelled.rawValue)
    #expect((error as NSError).domain == CKErrorDomain)
    #expect(CKError.errorDomain == "CKErrorDomain")
    #expect((error as? CKError)?.errorCode == 20)
  }

  @Test("The helpers read the user info")
  func helpers() {
    let record = CKRecord(recordType: "T")
    let error = CKError(
      .serverRecordChanged,
      userInfo: [
        CKRecordChangedErrorServerRecordKey: record, CKRecordChangedErrorClientRecordKey: record,
        CKRecordChangedErrorAncestorRecordKey: record, CKErrorRetryAfterKey: NSNumber(value: 2.5),
        CKPartialErrorsByItemIDKey: [record.recordID: CKError(.zoneNotFound)],
      ])
    #expect(error.serverRecord === record)
    #expect(error.clientRecord === record)
    #expect(error.ancestorRecord === record)
    #expect(error.retryAfterSeconds == 2.5)
    #expect((error.partialErrorsByItemID?[record.recordID] as? CKError)?.code == .zoneNotFound)
    #expect(error.userInfo.count == 5)
    #expect(CKError(.networkFailure).retryAfterSeconds == nil)
  }

  /// The codes in the order of their numbers, each as a member of the error too.
  @available(*, deprecated)
  private static var codes: [(code: CKError.Code, member: CKError.Code)] {
    [
      (.internalError, CKError.internalError), (.partialFailure, CKError.partialFailure),
      (.networkUnavailable, CKError.networkUnavailable),
      (.networkFailure, CKError.networkFailure), (.badContainer, CKError.badContainer),
      (.serviceUnavailable, CKError.serviceUnavailable),
      (.requestRateLimited, CKError.requestRateLimited),
      (.missingEntitlement, CKError.missingEntitlement),
      (.notAuthenticated, CKError.notAuthenticated),
      (.permissionFailure, CKError.permissionFailure), (.unknownItem, CKError.unknownItem),
      (.invalidArguments, CKError.invalidArguments),
      (.resultsTruncated, CKError.resultsTruncated),
      (.serverRecordChanged, CKError.serverRecordChanged),
      (.serverRejectedRequest, CKError.serverRejectedRequest),
      (.assetFileNotFound, CKError.assetFileNotFound),
      (.assetFileModified, CKError.assetFileModified),
      (.incompatibleVersion, CKError.incompatibleVersion),
      (.constraintViolation, CKError.constraintViolation),
      (.operationCancelled, CKError.operationCancelled),
      (.changeTokenExpired, CKError.changeTokenExpired),
      (.batchRequestFailed, CKError.batchRequestFailed), (.zoneBusy, CKError.zoneBusy),
      (.badDatabase, CKError.badDatabase), (.quotaExceeded, CKError.quotaExceeded),
      (.zoneNotFound, CKError.zoneNotFound), (.limitExceeded, CKError.limitExceeded),
      (.userDeletedZone, CKError.userDeletedZone),
      (.tooManyParticipants, CKError.tooManyParticipants),
      (.alreadyShared, CKError.alreadyShared),
      (.referenceViolation, CKError.referenceViolation),
      (.managedAccountRestricted, CKError.managedAccountRestricted),
      (.participantMayNeedVerification, CKError.participantMayNeedVerification),
      (.serverResponseLost, CKError.serverResponseLost),
      (.assetNotAvailable, CKError.assetNotAvailable),
      (.accountTemporarilyUnavailable, CKError.accountTemporarilyUnavailable),
      (.participantAlreadyInvited, CKError.participantAlreadyInvited),
    ]
  }

  @available(*, deprecated)
  @Test("Each code has its number, its member, and catches its own errors only")
  func codes() {
    #expect(Self.codes.map(\.code.rawValue) == Array(1...37))
    #expect(Self.codes.allSatisfy { $0.code == $0.member })
    for (code, _) in Self.codes {
      let error: any Error = CKError(code)
      #expect(Self.codes.filter { $0.code ~= error }.map(\.code) == [code])
      #expect((error as NSError).code == code.rawValue)
      #expect((error as? CKError)?.errorCode == code.rawValue)
    }
    let other: any Error = NSError(domain: "other", code: 1)
    #expect(!Self.codes.contains { $0.code ~= other })
  }

  @Test("Text and user info are the same by every way to them")
  func views() {
    let error = CKError(
      .limitExceeded, userInfo: [NSLocalizedDescriptionKey: "too much", "more": 7])
    let anyError: any Error = error
    let foundation = error as NSError
    for text in [
      error.localizedDescription, anyError.localizedDescription, foundation.localizedDescription,
    ] { #expect(text == "too much") }
    for userInfo in [error.userInfo, error.errorUserInfo, foundation.userInfo] {
      #expect(userInfo["more"] as? Int == 7)
      #expect(userInfo.count == 2)
    }
    #expect(foundation.domain == CKErrorDomain && CKError.errorDomain == CKErrorDomain)
    #expect(foundation.code == 27 && error.errorCode == 27 && error.code == .limitExceeded)
    #expect(CKError(_nsError: foundation) == error)
    #expect(CKError(_nsError: foundation).hashValue == error.hashValue)
    #expect(Set([error, CKError(_nsError: foundation), CKError(.zoneBusy)]).count == 2)
    #expect(CKError(.limitExceeded).userInfo.isEmpty)
    #expect(!CKError(.limitExceeded).localizedDescription.isEmpty)
  }

  @Test("An error that was made an NSError can be made a CKError again")
  func bridging() throws {
    let foundation = CKError(.zoneBusy, userInfo: [CKErrorRetryAfterKey: 3]) as NSError
    #expect(CKError(_nsError: foundation).code == .zoneBusy)
    #expect(CKError(_nsError: foundation).retryAfterSeconds == 3)
    let anyError: any Error = CKError(.zoneBusy)
    #expect(anyError as? CKError == CKError(.zoneBusy))
    #expect((anyError as? CKError)?.code == .zoneBusy)
  }

  @Test("The keys are Apple's strings")
  func keys() {
    #expect(CKErrorDomain == "CKErrorDomain")
    #expect(CKPartialErrorsByItemIDKey == "CKPartialErrors")
    #expect(CKRecordChangedErrorAncestorRecordKey == "AncestorRecord")
    #expect(CKRecordChangedErrorServerRecordKey == "ServerRecord")
    #expect(CKRecordChangedErrorClientRecordKey == "ClientRecord")
    #expect(CKErrorRetryAfterKey == "CKRetryAfter")
    #expect(CKErrorUserDidResetEncryptedDataKey == "CKUserDidResetEncryptedData")
  }

  @Test("The raw values are Apple's, without gaps from 1 to 37")
  func rawValues() {
    let names = Set((1...37).compactMap { CKError.Code(rawValue: $0)?.caseName })
    #expect(names.count == 37 && names.allSatisfy { !$0.contains("rawValue") })
    #expect(CKError.Code.invalidArguments.rawValue == 12)
    #expect(CKError.Code.serverRejectedRequest.rawValue == 15)
    #expect(CKError.limitExceeded.rawValue == 27)
  }

  @Test("A broken rule of the model becomes an error with the same text")
  func modelErrors() {
    let error = CKError(ModelError(.invalidName, "no such name"))
    #expect(error.code == .invalidArguments)
    #expect(error.localizedDescription == "no such name")
    #expect(CKError(ModelError(.limitExceeded, "too big")).code == .limitExceeded)
  }
}
