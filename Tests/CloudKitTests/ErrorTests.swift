import CloudKit
import CloudKitModel
import Testing

@Suite("CKError")
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
    #expect(error.errorUserInfo.count == 5)
    #expect(CKError(.networkFailure).retryAfterSeconds == nil)
  }

  @Test("The raw values are Apple's, without gaps from 1 to 37")
  func rawValues() {
    for raw in 1...37 { #expect(CKError.Code(rawValue: raw) != nil, "\(raw)") }
    #expect(CKError.Code(rawValue: 38) == nil)
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
